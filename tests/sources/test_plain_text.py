from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.engine.parts import Counters
from bertdata.errors import InputError
from bertdata.io import files
from bertdata.io.checksums import checksums
from bertdata.sources import plain_text
from bertdata.sources.formats import write_documents
from bertdata.sources.kinds import find_kind
from tests.generated import examples
from tests.sources.planned import plan_documents

SAMPLE = "Salt is a mineral.\nIt dissolves.\n\nÉté is summer.\n"


def documents_of(data: bytes) -> list[tuple[int, str]]:
    """The twin of the kernel: where each document begins, and its paragraphs."""
    documents: list[tuple[int, list[bytes]]] = []
    inside, place = False, 0
    mark = 3 * data.startswith(b"\xef\xbb\xbf")
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if not line.strip():
            inside = False
        elif inside:
            documents[-1][1].append(line.strip())
        else:
            documents.append((place, [line.strip()]))
            inside = True
        place, mark = place + len(line) + 1 + mark, 0
    return [(place, b"\n\n".join(paragraphs).decode()) for place, paragraphs in documents]


def write(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    return str(path)


def read_all(path: str, target: int = 1 << 30) -> tuple[list[dict[str, Any]], list[Counters]]:
    rows: list[dict[str, Any]] = []
    tallies = []
    for task in plan_documents([path], "out", target):
        file = io.BytesIO()
        tallies.append(write_documents(task, file))
        rows += pq.read_table(io.BytesIO(file.getvalue())).to_pylist()
    return rows, tallies


@pytest.mark.parametrize("most", [1, 7, 30, 51])
def test_a_file_that_is_read_in_small_pieces_is_read_whole(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(io.BytesIO):
        def read(self, size: int | None = -1) -> bytes:
            return super().read(most if size is None or size < 0 else min(size, most))

    monkeypatch.setattr(files, "open_raw", lambda path: Slow(SAMPLE.encode()))
    texts = [text for documents in plain_text.read_texts("a.txt", 0, 99) for text in documents.texts.to_pylist()]
    assert texts == ["Salt is a mineral.\n\nIt dissolves.", "Été is summer."]


def test_a_line_becomes_a_paragraph_and_a_blank_line_ends_a_document(tmp_path: Path) -> None:
    [first, second], [counters] = read_all(write(tmp_path / "wiki.txt", SAMPLE.encode()))
    assert first == {
        "id": "wiki.txt:0",
        "source": "documents",
        "title": "",
        "url": "",
        "text": "Salt is a mineral.\n\nIt dissolves.",
    }
    assert (second["id"], second["text"]) == ("wiki.txt:34", "Été is summer.")
    assert counters.counts == {"rows": 2, "documents": 2, "text_bytes": 49}
    assert counters.details["row_groups"] == [[2, 49]]
    assert sum(count for _, count, _ in counters.details["slots"]) == 2


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"One.\r\nTwo.\r\n\r\nThree.\r\n", ["One.\n\nTwo.", "Three."]),
        (b"One.\n \t \nTwo.", ["One.", "Two."]),
        (b"\n\n\n  One. \t\n\n\n\n", ["One."]),
        (b"\xef\xbb\xbfOne.\n", ["One."]),
        (b"\n\xef\xbb\xbfOne.\n", ["\ufeffOne."]),
        (b"One\xc2\xa0\nTwo", ["One\xa0\n\nTwo"]),
        (b" \n\n", []),
    ],
)
def test_ends_of_lines_and_blank_lines_of_every_kind(data: bytes, expected: list[str], tmp_path: Path) -> None:
    rows, _ = read_all(write(tmp_path / "x.txt", data))
    assert [row["text"] for row in rows] == expected
    assert [(int(row["id"].split(":")[1]), row["text"]) for row in rows] == documents_of(data)


@settings(deadline=None, max_examples=examples(150))
@given(data=st.data())
def test_a_file_cut_anywhere_gives_each_document_once(data: st.DataObject, tmp_path_factory: Any) -> None:
    lines = st.sampled_from(["", "", " ", "\r", "a", " b\t", "Été", "c\rd", "ef ef ef"])
    content = "\n".join(data.draw(st.lists(lines, max_size=25))).encode()
    content = data.draw(st.sampled_from([b"", b"\xef\xbb\xbf"])) + (content or b"x")
    path = write(tmp_path_factory.getbasetemp() / "cut.txt", content)
    target, piece = data.draw(st.integers(1, len(content) + 3)), data.draw(st.integers(3, 30))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plain_text, "PIECE", piece)
        rows, _ = read_all(path, target)
    assert [(int(row["id"].split(":")[1]), row["text"]) for row in rows] == documents_of(content)


@pytest.mark.parametrize("suffix", plain_text.SUFFIXES)
def test_a_compressed_file_gives_the_same_documents_and_a_folder_takes_them(suffix: str, tmp_path: Path) -> None:
    packers: dict[str, Callable[[bytes], bytes]] = {
        "txt": bytes,
        "gz": gzip.compress,
        "bz2": bz2.compress,
        "zst": zstandard.compress,
        "xz": lzma.compress,
    }
    pack = packers[suffix.rpartition(".")[2]]
    path = write(tmp_path / f"x{suffix}", pack(SAMPLE.encode() * 100))
    assert find_kind("documents", [str(tmp_path)]) == [path]
    rows, _ = read_all(path, 100)
    assert [(int(row["id"].rsplit(":")[-1]), row["text"]) for row in rows] == documents_of(SAMPLE.encode() * 100)


def test_a_document_that_spans_ranges_is_read_by_the_first_and_searched_by_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    content = b"a\n\n" + b"b c\n" * 5000 + b"\nd\n"
    path = write(tmp_path / "x.txt", content)
    taken = [0]

    class Counted(io.BytesIO):
        def read(self, size: int | None = -1, /) -> bytes:
            data = super().read(size)
            taken[0] += len(data)
            return data

    monkeypatch.setattr(plain_text, "PIECE", 100)
    tasks = plan_documents([path], "out", 200)
    monkeypatch.setattr(files, "open_raw", lambda path: Counted(content))
    counts = [int(write_documents(task, io.BytesIO()).counts.get("documents", 0)) for task in tasks]
    assert counts == [2, *[0] * (len(tasks) - 2), 1]
    assert taken[0] < 4 * len(content)


@pytest.mark.parametrize("target", [7, 1 << 20])
def test_bytes_that_are_no_utf8_are_refused_with_their_place(target: int, tmp_path: Path) -> None:
    path = write(tmp_path / "x.txt", b"One.\n\nTwo.\n\nCaf\xe9.\n\nThree.\n")
    with pytest.raises(InputError) as caught:
        read_all(path, target)
    assert str(caught.value).startswith(f"{path}, byte 15: is not UTF-8 (byte 0xe9)")


def test_a_file_without_blank_lines_is_not_held_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plain_text, "PIECE", 64)
    monkeypatch.setattr(plain_text, "LONGEST", 1000)
    path = write(tmp_path / "x.txt", b"One.\n\n" + b"A document in a line.\n" * 1000)
    with pytest.raises(InputError, match=r"x\.txt, byte 6: a document of over 0 MiB begins here"):
        read_all(path)


def test_an_empty_file_and_a_cut_off_one_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="this file is empty"):
        plan_documents([write(tmp_path / "x.txt", b"")], "out", 100)
    whole = gzip.compress("".join(f"{number**9}\n\n" for number in range(5000)).encode())
    with pytest.raises(InputError, match="inside the gz stream"):
        read_all(write(tmp_path / "x.txt.gz", whole[: len(whole) // 2]))


@pytest.mark.costly
@pytest.mark.parametrize("setting", ["NUMBA_DISABLE_JIT", pytest.param("NUMBA_BOUNDSCHECK", marks=pytest.mark.slow)])
def test_the_kernel_reads_within_its_bounds_and_is_the_same_without_a_compiler(setting: str, tmp_path: Path) -> None:
    path = write(tmp_path / "x.txt", b"\n \na\r\n b\n\n\t\n" + "Été \n".encode() * 40 + b"\nc")
    script = (
        "import io, sys\nfrom bertdata.sources import plain_text as texts\ntexts.PIECE = 7\n"
        "for end in (1, 9, 300):\n"
        "    for found in texts.read_texts(sys.argv[1], 0, end):\n"
        "        print(end, found.places.tolist(), found.texts.to_pylist())\n"
    )
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONIOENCODING": "utf-8"}
    said = [
        subprocess.run([sys.executable, "-c", script, path], env=environment | more, capture_output=True, check=True)
        for more in ({}, {setting: "1"})
    ]
    assert said[0].stdout == said[1].stdout != b""


@pytest.mark.parametrize(("name", "line"), [("x.txt", b"It rained.\n\n"), ("x.jsonl", b'{"text": "It rained."}\n')])
def test_a_range_of_a_file_reads_little_beyond_its_end(name: str, line: bytes, tmp_path: Path) -> None:
    path = write(tmp_path / name, line * 200_000)
    tasks = plan_documents([path], "out", 1 << 20)
    assert len(tasks) > 1
    with checksums([path]) as read:
        write_documents(tasks[0], io.BytesIO())
    assert sum(length for _, length, _ in read._runs[path]) < tasks[0].payload.end + (1 << 17)


def test_carriage_returns_alone_are_refused_and_what_the_message_says_makes_lines(tmp_path: Path) -> None:
    data = b"One.\rTwo.\r\rThree.\r"
    path = write(tmp_path / "x.txt", data)
    with pytest.raises(InputError, match=r"carriage return alone.* tr '\\r' '\\n' < FILE > NEW"):
        list(plain_text.read_texts(str(path), 0, len(data)))
    path = write(tmp_path / "y.txt", data.replace(b"\r", b"\n"))
    assert [batch.texts.to_pylist() for batch in plain_text.read_texts(str(path), 0, len(data))] == [
        ["One.\n\nTwo.", "Three."]
    ]
