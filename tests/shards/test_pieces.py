"""Digests of the pieces of shards: all bytes of a shard, and refused where they are not those of its manifest."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from bertdata.errors import ConfigError, InputError
from bertdata.io import files
from bertdata.shards import open_shards
from bertdata.shards.pieces import Piece, batches_in, changed_piece, cut, path_of, piece_rows, read_pieces
from tests.many_shards import cut as cut_build
from tests.many_shards import write_pieces
from tests.torch.build import write_build

PIECE_BYTES = 3000


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pieces")
    build = cut_build(write_build(folder / "build", documents=60), folder / "corpus", rows=100, batch_rows=10)
    return write_pieces(build, PIECE_BYTES)


def manifest_of(corpus: Path) -> dict[str, Any]:
    manifest: dict[str, Any] = json.loads((corpus / "manifest.json").read_text())
    return manifest


def test_pieces_are_all_bytes_of_a_shard_and_its_record_batches(corpus: Path) -> None:
    shards = open_shards(corpus)
    pieces = read_pieces(str(corpus), "train", manifest_of(corpus))
    assert len(pieces) == len(shards.paths) > 1
    for path, of_shard in zip(shards.paths, pieces.values(), strict=True):
        data = Path(path).read_bytes()
        table = pa.ipc.open_stream(data).read_all()
        assert len(of_shard) > 1
        assert of_shard[0].begin == 0
        assert all(before.begin + before.size == after.begin for before, after in pairwise(of_shard))
        assert all(PIECE_BYTES <= piece.size < 2 * PIECE_BYTES for piece in of_shard[:-1])
        parts = [data[piece.begin : piece.begin + piece.size] for piece in of_shard]
        assert b"".join(parts) == data
        assert [hashlib.sha256(part).hexdigest() for part in parts] == [piece.sha256 for piece in of_shard]
        batches = [batches_in(pa.py_buffer(part), table.schema) for part in parts]
        assert [sum(map(len, rows)) for rows in batches] == [piece.rows for piece in of_shard]
        assert pa.Table.from_batches([batch for rows in batches for batch in rows]).equals(table)
        assert not changed_piece(path, of_shard, table.schema)


def test_a_shard_without_rows_is_one_piece(tmp_path: Path) -> None:
    schema = pa.schema([("a", pa.int64())])
    path = tmp_path / "empty.arrow"
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, schema):
        pass
    [[size, rows, _]] = cut(str(path))
    assert (size, rows) == (path.stat().st_size, 0)
    assert batches_in(pa.py_buffer(path.read_bytes()), schema) == []


def test_what_is_no_stream_has_no_pieces(tmp_path: Path) -> None:
    (tmp_path / "text.arrow").write_bytes(b"no Arrow stream, but text" * 9)
    with pytest.raises(InputError, match=r"text.arrow: is not an Arrow stream"):
        cut(str(tmp_path / "text.arrow"))


def with_entry(content: Any, change: Callable[[Any], object]) -> Any:
    change(next(iter(content["shards"].values())))
    return content


Change = Callable[[Any], Any]
LIES: dict[str, Change] = {
    "a list": lambda content: [content],
    "no shards": lambda content: {},
    "shards that are a text": lambda content: {"shards": "none"},
    "shards that are a list": lambda content: {"shards": [1, 2]},
    "a shard of another name": lambda content: {"shards": {"../../etc/passwd": {"sha256": "0", "pieces": []}}},
    "another shard": lambda content: with_entry(content, lambda entry: entry.update(sha256="0" * 64)),
    "no pieces": lambda content: with_entry(content, lambda entry: entry.update(pieces=[])),
    "pieces that are a number": lambda content: with_entry(content, lambda entry: entry.update(pieces=7)),
    "a piece of two": lambda content: with_entry(content, lambda entry: entry["pieces"][0].pop()),
    "a piece too few": lambda content: with_entry(content, lambda entry: entry["pieces"].pop()),
    "bytes below 0": lambda content: with_entry(content, lambda entry: move(entry, 0, 10**6)),
    "bytes that are a float": lambda content: with_entry(content, lambda entry: put(entry, 0, 3000.0)),
    "bytes that are true": lambda content: with_entry(content, lambda entry: put(entry, 0, True)),
    "other bytes": lambda content: with_entry(content, lambda entry: put(entry, 0, 10**15)),
    "rows below 0": lambda content: with_entry(content, lambda entry: move(entry, 1, 10**6)),
    "other rows": lambda content: with_entry(content, lambda entry: put(entry, 1, 10**15)),
    "rows of a thousand digits": lambda content: with_entry(content, lambda entry: put(entry, 1, 10**1000)),
    "a digest that is a path": lambda content: with_entry(content, lambda entry: put(entry, 2, "../" * 20 + "abcd")),
    "a digest that is none": lambda content: with_entry(content, lambda entry: put(entry, 2, None)),
    "a digest with a line end": lambda content: with_entry(content, lambda entry: put(entry, 2, "a" * 64 + "\n")),
}


def put(entry: Any, place: int, value: Any) -> None:
    """Change a value of the first piece."""
    entry["pieces"][0][place] = value


def move(entry: Any, place: int, number: int) -> None:
    """Move bytes or rows from the first piece to the second, so that their sum stays."""
    entry["pieces"][0][place] -= number
    entry["pieces"][1][place] += number


@pytest.mark.parametrize("lie", LIES)
def test_what_does_not_agree_with_the_manifest_is_refused_in_one_line(lie: str, corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "pieces").mkdir()
    manifest = manifest_of(corpus)
    place = tmp_path / "pieces/train.json"
    place.write_text(json.dumps(LIES[lie](json.loads((corpus / path_of("train")).read_text()))))
    manifest["files"] = {"pieces/train.json": files.sha256(str(place))}
    with pytest.raises(InputError, match=r"pieces/train.json: does not say what the pieces of train are") as raised:
        read_pieces(str(tmp_path), "train", manifest)
    assert len(str(raised.value).splitlines()) == 1
    assert len(str(raised.value)) < 700


def test_a_file_that_was_changed_or_is_missing_is_refused(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "pieces").mkdir()
    manifest = manifest_of(corpus)
    place = tmp_path / "pieces/train.json"
    with pytest.raises(InputError, match=r"pieces/train.json: is missing"):
        read_pieces(str(tmp_path), "train", manifest)
    place.write_bytes((corpus / "pieces/train.json").read_bytes() + b" ")
    with pytest.raises(InputError, match=r"pieces/train.json: its SHA-256 is \w+, manifest.json says \w+"):
        read_pieces(str(tmp_path), "train", manifest)


def test_a_build_whose_manifest_names_none_has_none(corpus: Path) -> None:
    manifest = manifest_of(corpus) | {"files": {}}
    assert read_pieces(str(corpus), "train", manifest) == {}
    with pytest.raises(ConfigError, match=r"has no digests of pieces of the shards of train.*verify --piece-bytes"):
        piece_rows(str(corpus), "train", manifest, open_shards(corpus).shard_rows)


def test_a_shard_without_pieces_is_one(corpus: Path, tmp_path: Path) -> None:
    (tmp_path / "pieces").mkdir()
    content = json.loads((corpus / "pieces/train.json").read_text())
    first = next(iter(content["shards"]))
    counts = [rows for _, rows, _ in content["shards"].pop(first)["pieces"]]
    place = tmp_path / "pieces/train.json"
    place.write_text(json.dumps(content))
    manifest = manifest_of(corpus) | {"files": {"pieces/train.json": files.sha256(str(place))}}
    shard_rows = open_shards(corpus).shard_rows
    whole = piece_rows(str(corpus), "train", manifest_of(corpus), shard_rows)
    assert np.array_equal(
        piece_rows(str(tmp_path), "train", manifest, shard_rows), [sum(counts), *whole[len(counts) :]]
    )


def test_a_piece_of_other_messages_is_refused(corpus: Path) -> None:
    shards = open_shards(corpus)
    schema = shards.unchecked_table.schema
    other = pa.RecordBatch.from_pydict({"a": [1]})
    for wrong in (
        other.schema.serialize(),
        b"text" * 9,
        schema.serialize().to_pybytes() * 2 + b"\xff\xff",
        Path(shards.paths[0]).read_bytes()[:-100],
    ):
        with pytest.raises((pa.ArrowException, OSError)):
            batches_in(pa.py_buffer(wrong), schema)


def test_a_piece_that_was_changed_is_named(corpus: Path) -> None:
    [path, *_] = open_shards(corpus).paths
    [first, *_] = next(iter(read_pieces(str(corpus), "train", manifest_of(corpus)).values()))
    schema = open_shards(corpus).unchecked_table.schema
    assert "have another SHA-256" in changed_piece(path, [Piece(8, first.size, first.rows, first.sha256)], schema)
    data = Path(path).read_bytes()[: first.size]
    digest = hashlib.sha256(data).hexdigest()
    assert "rows, pieces says" in changed_piece(path, [Piece(0, first.size, first.rows + 7, digest)], schema)
