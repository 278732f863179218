"""Hostile input: the cases of shards and Arrow files that lie, and of titles that take over a terminal or a page."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from hostile_cases import PROSE, Case, case, lines, put

from bertdata.engine.fingerprints import sealed
from bertdata.io import files
from bertdata.shards import pieces

Change = Callable[[dict[str, Any]], object]


def lying_shards(
    folder: Path, change: Change, command: str, *, rows: Callable[[pa.Table], pa.Table] | None = None
) -> Case:
    """Return a case that reads a build whose manifest and shards say something else, with the digests of that."""
    corpus = Path(shutil.copytree(os.environ["BERTDATA_HOSTILE_BUILD"], folder / "corpus"))
    manifest = json.loads((corpus / "manifest.json").read_text())
    change(manifest["info"])
    for split in manifest["splits"].values():
        for shard in split["shards"]:
            path = corpus / shard["file"]
            table = pa.ipc.open_stream(path.read_bytes()).read_all()
            values = json.loads(table.schema.metadata[b"bertdata"])
            change(values)
            metadata = table.schema.metadata | {b"bertdata": json.dumps(values, sort_keys=True).encode()}
            table = (rows(table) if rows else table).replace_schema_metadata(metadata)
            with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as stream:
                stream.write_table(table)
            shard.update(bytes=path.stat().st_size, sha256=files.sha256(str(path)))
    manifest.pop("checksum", None)
    (corpus / "manifest.json").write_text(json.dumps(sealed(manifest)))
    return Case([command, str(corpus)])


def with_ids(value: int) -> Callable[[pa.Table], pa.Table]:
    """Return a change of rows: an id in the place of all that are 5 or more."""

    def change(table: pa.Table) -> pa.Table:
        column = table["input_ids"].combine_chunks()
        ids = column.values.to_numpy().copy()
        ids[ids > 4] = value
        values = pa.array(ids, column.type.value_type)
        return table.set_column(0, table.schema.field(0), pa.ListArray.from_arrays(column.offsets, values))

    return change


@case
def shards_with_a_mask_token_far_outside(folder: Path) -> Case:
    return lying_shards(folder, lambda info: info.update(mask_token_id=99_999_999_999), "show")


@case
def shards_with_a_mask_token_of_a_half(folder: Path) -> Case:
    return lying_shards(folder, lambda info: info.update(mask_token_id=4.5), "stats")


@case
def shards_with_a_negative_vocabulary(folder: Path) -> Case:
    return lying_shards(folder, lambda info: info.update(vocab_size=-5), "stats")


@case
def shards_with_a_vocabulary_of_a_million_millions(folder: Path) -> Case:
    return lying_shards(folder, lambda info: info.update(vocab_size=10**12), "show")


@case
def shards_with_padding_that_is_not_there(folder: Path) -> Case:
    return lying_shards(folder, lambda info: info.update(pad_token_id=-7), "report")


@case
def shards_without_their_sources(folder: Path) -> Case:
    return lying_shards(folder, lambda info: info.update(sources=[]), "stats")


def _of_ids(folder: Path, command: Sequence[str]) -> Case:
    made = lying_shards(folder, lambda info: None, command[0], rows=with_ids(65_000))
    return Case([*made.command, *command[1:]])


@case
def shards_whose_ids_are_not_in_the_vocabulary_are_shown(folder: Path) -> Case:
    return _of_ids(folder, ["show"])


@case
def shards_whose_ids_are_not_in_the_vocabulary_are_counted(folder: Path) -> Case:
    return _of_ids(folder, ["stats"])


@case
def shards_whose_ids_are_not_in_the_vocabulary_are_verified(folder: Path) -> Case:
    return _of_ids(folder, ["verify"])


@case
def shards_whose_ids_are_not_in_the_vocabulary_are_trained_on(folder: Path) -> Case:
    return _of_ids(folder, ["pretrain", "--config", "tiny", "--max-steps", "1", "--output", str(folder / "out")])


@case
def an_arrow_file_whose_offsets_point_outside(folder: Path) -> Case:
    path = put(folder, "a.arrow", b"")
    batch = pa.record_batch([pa.array([PROSE] * 3)], ["text"])
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, batch.schema) as stream:
        stream.write_batch(batch)
    size = len(PROSE)
    right, wrong = (np.array(ends, "<i4").tobytes() for ends in ([0, size, 2 * size], [0, 9 * size, 2 * size]))
    path.write_bytes(path.read_bytes().replace(right, wrong))
    command = ["build", "--documents", str(path), "--vocab", "bertdata-30k-uncased", "--output", str(folder / "out")]
    return Case(command)


@case
def titles_that_turn_the_text_around(folder: Path) -> Case:
    title = "a\x1b[2J\u202eb\u2066c\u200f\x9b"
    rows = [{"id": title, "title": title, "text": f"{number}. {PROSE}"} for number in range(8)]
    documents = put(folder, "a.jsonl", lines(*rows))
    folder_of_documents = folder / "out"
    command = ["build", "--documents", str(documents), "--vocab", "bertdata-30k-uncased"]
    return Case([*command, "--output", str(folder_of_documents)], lambda out: (out / "manifest.json").exists())


Pieces = list[list[Any]]


def _in_pieces(folder: Path, change: Callable[[bytes, Pieces], object], case_of: Case) -> Case:
    """Return a case that streams the build of another case by pieces, after a change of those of each shard."""
    corpus = Path(case_of.command[1])
    manifest = json.loads((corpus / "manifest.json").read_text())
    entries: dict[str, dict[str, Any]] = {}
    for split, values in manifest["splits"].items():
        for shard in values["shards"]:
            path = corpus / shard["file"]
            entry = {"sha256": shard["sha256"], "pieces": pieces.cut(str(path), 1)}
            change(path.read_bytes(), entry["pieces"])
            entries.setdefault(split, {})[shard["file"]] = entry
    pieces.save_pieces(str(corpus), entries)
    for split in entries:
        name = pieces.path_of(split)
        manifest.setdefault("files", {})[name] = files.sha256(str(corpus / name))
    manifest.pop("checksum", None)
    (corpus / "manifest.json").write_text(json.dumps(sealed(manifest)))
    streaming = ["--cache", str(folder / "cache"), "--cache-bytes", "1e8", "--shuffle-window", "2", "--by-pieces"]
    return Case(["bench", str(corpus), *streaming, "--seconds", "1", "--batch-size", "8"])


def _cut_elsewhere(data: bytes, of_shard: Pieces) -> None:
    """Cut the first piece in the middle of a message, with the right digests of both halves."""
    size, rows, _ = of_shard[0]
    half = size // 2
    parts = (data[:half], data[half:size])
    digests = [hashlib.sha256(part).hexdigest() for part in parts]
    of_shard[:1] = [[half, rows, digests[0]], [size - half, 0, digests[1]]]


@case
def pieces_of_shards_cut_inside_a_message(folder: Path) -> Case:
    return _in_pieces(folder, _cut_elsewhere, lying_shards(folder, lambda info: None, "bench"))


@case
def pieces_of_shards_with_digests_that_are_paths(folder: Path) -> Case:
    def lie(_: bytes, of_shard: Pieces) -> None:
        of_shard[0][2] = "../../../etc/passwd"

    return _in_pieces(folder, lie, lying_shards(folder, lambda info: None, "bench"))


@case
def pieces_of_shards_of_a_thousand_digits(folder: Path) -> Case:
    def lie(_: bytes, of_shard: Pieces) -> None:
        of_shard[0][0] = 10**1000

    return _in_pieces(folder, lie, lying_shards(folder, lambda info: None, "bench"))


@case
def pieces_of_shards_whose_ids_are_not_in_the_vocabulary(folder: Path) -> Case:
    return _in_pieces(folder, lambda *_: None, lying_shards(folder, lambda info: None, "bench", rows=with_ids(65_000)))
