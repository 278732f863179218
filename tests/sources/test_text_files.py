from __future__ import annotations

import gzip
import io
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from bertdata.errors import InputError
from bertdata.sources.formats import write_documents
from bertdata.sources.kinds import find_kind
from bertdata.sources.settings import CleaningConfig
from tests.sources.planned import plan_rows

PROSE = (
    "Salt is a mineral. It is white. People have known it for long,\nand have traded it over great distances, by ship\n"
    "and by cart. It dissolves in water.\n\nIn winter roads are strewn with it. Cars rust. Nobody minds.\nMuch of it "
    "is mined under the ground, where the seas of\nother ages dried up. It stays there for long.\n"
)
SENTENCES = "Salt is a mineral.\nIt is white.\nPeople have known it.\nIt dissolves.\n\nWinter is cold.\nCars rust.\n"


def read(paths: list[str], target: int = 1 << 20) -> tuple[list[tuple[str, str, str]], list[str], int]:
    config = CleaningConfig(range_bytes=target, whole_files=True)
    tasks, notes = plan_rows(paths, config)
    rows = []
    for task in tasks:
        write_documents(task, file := io.BytesIO())
        rows += pq.read_table(io.BytesIO(file.getvalue())).to_pylist()
    return [(row["id"], row["title"], row["text"]) for row in rows], list(notes), len(tasks)


def test_each_file_is_one_document_and_this_is_said(tmp_path: Path) -> None:
    (tmp_path / "salt.txt").write_text("Salt.\n\nIt is\nwhite.\n")
    (tmp_path / "sea.txt.gz").write_bytes(gzip.compress(b"\xef\xbb\xbfThe sea.\r\nIt is wide.\r\n"))
    rows, notes, _ = read(find_kind("documents", [str(tmp_path)]))
    assert rows == [
        ("salt.txt", "salt", "Salt.\n\nIt is\nwhite."),
        ("sea.txt.gz", "sea", "The sea.\n\nIt is wide."),
    ]
    assert notes == ["2 .txt files are one document each"]


def test_groups_of_files_give_the_same_documents(tmp_path: Path) -> None:
    for number in range(40):
        (tmp_path / f"{number:02}.txt").write_text(f"Text {number}.\n")
    paths = find_kind("documents", [str(tmp_path)])
    together, _, tallies = read(paths)
    apart, _, several = read(paths, target=50)
    assert (tallies, several, len(apart)) == (1, 7, 40)
    assert apart == together


def test_an_empty_file_is_dropped_and_counted(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text(" \n")
    [task], _ = plan_rows([str(tmp_path / "a.txt")], CleaningConfig(whole_files=True))
    counters = write_documents(task, io.BytesIO())
    assert (counters.counts, counters.drops) == ({"rows": 1}, {"no text": 1})


def test_a_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"Caf\xe9.\n")
    with pytest.raises(InputError, match=r"a\.txt: .*is not UTF-8 \(byte 0xe9\)|is not UTF-8 \(byte 0xe9\)"):
        read([str(tmp_path / "a.txt")])


def test_ordinary_text_is_told_from_one_sentence_a_line(tmp_path: Path) -> None:
    (tmp_path / "prose.txt").write_text(PROSE)
    (tmp_path / "lines.txt").write_text(SENTENCES)
    _, notes = plan_rows([str(tmp_path / "lines.txt")], CleaningConfig())
    assert notes == []
    _, notes = plan_rows(find_kind("documents", [str(tmp_path)]), CleaningConfig())
    [note] = notes
    assert note.startswith("prose.txt: looks like ordinary text")
    assert "add --whole-files" in note
