from __future__ import annotations

import hashlib
import io
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from bertdata.engine.parts import Counters
from bertdata.errors import ConfigError, InputError
from bertdata.sources.formats import write_documents
from bertdata.sources.kinds import find_kind
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.token_ids import TOKEN_IDS, differing
from tests.small_build import tokenizer
from tests.sources.mds_files import write_mds
from tests.sources.planned import plan_rows
from tests.sources.read import documents_of

SALT, STONE = "The salt warms the stone.", "A river hides a lamp."


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder for files, beside which is the tokenizer of their ids."""
    tokenizer().save_pretrained(str(tmp_path / "tokenizer"))
    (tmp_path / "files").mkdir()
    return tmp_path / "files"


def read(paths: Sequence[str], **settings: Any) -> tuple[list[dict[str, Any]], Counter[str]]:
    """Return the documents of files, and what was counted of all."""
    rows: list[dict[str, Any]] = []
    counts: Counter[str] = Counter()
    for task in plan_rows(find_kind("documents", paths), CleaningConfig(**settings))[0]:
        file = io.BytesIO()
        tally: Counters = write_documents(task, file)
        counts.update(tally.counts)
        rows += pq.read_table(file).to_pylist()
    return rows, counts


def ids_of(*texts: str) -> list[int]:
    """Return a row with the special ids around each text."""
    pieces = tokenizer()
    return [number for text in texts for number in [pieces.cls_token_id, *pieces.encode(text), pieces.sep_token_id]]


@pytest.mark.parametrize("ending", [".mds", ".mds.zstd"])
def test_samples_of_text_are_documents(ending: str, tmp_path: Path) -> None:
    write_mds(tmp_path / f"shard.00000{ending}", {"text": [SALT, STONE], "id": ["a", "b"], "len": [1, 2]})
    rows, _ = read([str(tmp_path)])
    assert [(row["id"], row["text"]) for row in rows] == [("a", SALT), ("b", STONE)]


@pytest.mark.parametrize("column", ["input_ids", "tokens"])
def test_samples_of_ids_are_documents_between_special_ids(column: str, folder: Path) -> None:
    write_mds(folder / "shard.00000.mds", {column: [ids_of(SALT), ids_of(STONE, SALT)], "id": ["a", "b"]})
    rows, counts = read([str(folder)], source_tokenizer=(str(folder.parent / "tokenizer"),))
    expected = [("a", SALT.lower()), ("b.0", STONE.lower()), ("b.1", SALT.lower())]
    assert [(row["id"], row["text"]) for row in rows] == expected
    assert counts["special ids left out"] == 6
    assert counts["ids read"] == sum(map(len, (ids_of(SALT), ids_of(STONE, SALT))))
    assert "documents whose text has other ids" not in counts


def test_what_the_text_of_ids_changes_is_counted(folder: Path) -> None:
    pieces = tokenizer()
    [keep, ending] = pieces.encode("keeper")
    chunk = [ending, *pieces.encode("the salt."), pieces.unk_token_id]  # begins inside a word, and has a lost one
    write_mds(folder / "shard.00000.mds", {"input_ids": [chunk, [keep, ending]]})
    rows, counts = read([str(folder)], source_tokenizer=(f"documents={folder.parent / 'tokenizer'}",))
    assert [row["text"] for row in rows] == ["##er the salt.", "keeper"]
    assert counts["documents whose text has other ids"] == 1
    assert counts["ids that are others in the text"] == 6  # the text has #, # and er, and not the lost word
    assert [TOKEN_IDS in row["columns"] for row in rows] == [False, True]


def test_ranges_give_the_same_documents_as_the_whole(tmp_path: Path) -> None:
    path = write_mds(tmp_path / "a.mds", {"text": [f"Salt {number}." for number in range(300)]})
    whole, [_] = documents_of([path])
    parts, tallies = documents_of([path], target=1000)
    assert whole == parts
    assert len(tallies) > 3


def test_ids_without_their_tokenizer_are_refused_by_the_flag(folder: Path) -> None:
    write_mds(folder / "a.mds", {"input_ids": [[2, 5, 3]]})
    with pytest.raises(
        InputError,
        match="holds token ids in the column 'input_ids', and no text",
    ):
        read([str(folder)])
    with pytest.raises(ConfigError, match=r"there is no tokenizer\.json"):
        read([str(folder)], source_tokenizer=(str(folder),))


def test_ids_of_another_tokenizer_are_refused_with_the_sample(folder: Path) -> None:
    write_mds(folder / "a.mds", {"input_ids": [[2, 5, 3], [2, 50_000, 3]]})
    with pytest.raises(InputError, match="sample 1 has the id 50000, and the tokenizer ends at"):
        read([str(folder)], source_tokenizer=(str(folder.parent / "tokenizer"),))


@pytest.mark.parametrize("ending", [".mds", ".mds.zstd"])
def test_a_file_that_is_cut_off_or_goes_on_is_refused(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{ending}"
    whole = Path(write_mds(path, {"text": [SALT, STONE] * 9})).read_bytes()
    for data in (whole[:-3], whole + b"more"):
        path.write_bytes(data)
        with pytest.raises(InputError, match=r"a\.mds"):
            read([str(tmp_path)])


def test_a_file_without_text_and_ids_names_its_columns(tmp_path: Path) -> None:
    write_mds(tmp_path / "a.mds", {"len": [1, 2]})
    with pytest.raises(InputError, match="has no column 'text'; its columns are 'len'"):
        read([str(tmp_path)])


@pytest.mark.parametrize(
    ("ids", "others", "expected"),
    [([], [], 0), ([1], [1], 0), ([1, 1, 1], [1], 2), ([1, 2], [2], 1), ([1, 2, 3], [4, 5], 3)],
)
def test_ids_differ_between_what_both_begin_and_end_with(ids: list[int], others: list[int], expected: int) -> None:
    assert differing(np.array(ids, np.int64), np.array(others, np.int64)) == expected


def test_files_of_mosaicml_streaming_are_read(folder: Path) -> None:
    streaming = pytest.importorskip("streaming", reason="needs mosaicml-streaming")
    rows = [ids_of(SALT), ids_of(STONE)] * 50
    for place, compression in (("plain", None), ("packed", "zstd:3")):
        out, columns = str(folder / place), {"input_ids": "ndarray:uint32", "id": "str", "len": "int"}
        with streaming.MDSWriter(out=out, columns=columns, compression=compression, size_limit=1 << 12) as writer:
            for number, row in enumerate(rows):
                writer.write({"input_ids": np.array(row, np.uint32), "id": str(number), "len": len(row)})
        documents, counts = read([out], source_tokenizer=(str(folder.parent / "tokenizer"),))
        assert [document["text"] for document in documents] == [SALT.lower(), STONE.lower()] * 50
        assert counts["ids read"] == sum(map(len, rows))


@pytest.mark.costly
def test_a_head_that_lies_is_refused_or_read_alike(tmp_path: Path) -> None:
    texts = [f"{number}. {SALT}" for number in range(3)]
    path = tmp_path / "shard.00000.mds"
    write_mds(path, {"text": texts, "id": ["a", "b", "c"]})
    data = path.read_bytes()
    for place in range(data.index(b"}") + 1):
        for byte in (0, 255, data[place] ^ 1):
            path.write_bytes(data[:place] + bytes([byte]) + data[place + 1 :])
            try:
                rows, _ = read([str(tmp_path)])
            except InputError:
                continue
            assert [row["text"] for row in rows] == texts, (place, byte)


def test_a_column_of_pictures_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / "shard.00000.mds"
    write_mds(path, {"text": [SALT, STONE]})
    path.write_bytes(path.read_bytes().replace(b'["str"]', b'["png"]'))
    with pytest.raises(InputError, match="encoding 'png' for the column 'text'"):
        read([str(tmp_path)])


def test_a_file_that_was_changed_after_its_index_is_refused_whatever_part_is_read(tmp_path: Path) -> None:
    path = Path(write_mds(tmp_path / "shard.00000.mds", {"text": [SALT, STONE]}))
    about = {"basename": path.name, "bytes": path.stat().st_size}
    shard = {"raw_data": about | {"hashes": {"sha1": hashlib.sha1(path.read_bytes()).hexdigest()}}, "zip_data": None}
    (tmp_path / "index.json").write_text(json.dumps({"version": 2, "shards": [shard]}))
    assert len(read([str(tmp_path)])[0]) == 2
    path.write_bytes(path.read_bytes().replace(b"salt", b"silt"))
    with pytest.raises(InputError, match=r"shard\.00000\.mds: its sha1 is "):
        read([str(tmp_path)])
