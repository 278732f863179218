"""Pieces of shards: the digests by which a range of a shard is checked, so that a large one need not come as a whole.

A piece is some record batches of a shard in a row: bytes BEGIN to END of its file. The pieces of a shard are all of its
bytes, so the first has the schema too, and the last the end of the stream. No byte of a shard depends on them. They
stand beside the shards, in `pieces/SPLIT.json`, whose SHA-256 is in the manifest:

    {"shards": {"train/data-00000-of-00001.arrow": {
        "sha256": "of the shard, as in the manifest",
        "pieces": [[16801234, 21000, "SHA-256 of these bytes"], [16790016, 20000, "..."], ...]}}}

with the bytes and the rows of each piece. A build writes them for shards of more than `PIECES_FROM` bytes, `bertdata
verify --piece-bytes` for any. A file may come from anyone, so what it says has to agree with the manifest.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from bertdata.arrays import Ints
from bertdata.errors import ConfigError, InputError, printable, shortened
from bertdata.io import files, listing
from bertdata.io.arrow_messages import require_uncompressed
from bertdata.shards.cache import read

FOLDER = "pieces"
PIECE_BYTES = 16 << 20
"""The bytes from which a piece is ended."""
PIECES_FROM = 4 * PIECE_BYTES
"""The bytes of a shard from which a build writes pieces of it: smaller ones are read as a whole."""
PIECES = "pieces"
"""The name of the pieces of a shard in its record."""
_SHA256 = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Piece:
    """Record batches of a shard: where their bytes begin, how many these are, their rows, the SHA-256 of the bytes."""

    begin: int
    size: int
    rows: int
    sha256: str


Pieces = dict[str, tuple[Piece, ...]]
"""The pieces of shards, by the names that the manifest has of them."""


class PieceDigests:
    """Takes the messages of a shard one after another, and tells its pieces, each ended at `piece_bytes` bytes or more.

    >>> digests = PieceDigests(8)
    >>> for message, rows in ((b"schema", 0), (b"batch", 3), (b"more", 2), (b"end", 0)): digests.add(message, rows)
    >>> [[size, rows] for size, rows, _ in digests.entries()]
    [[11, 3], [7, 2]]
    """

    def __init__(self, piece_bytes: int = PIECE_BYTES) -> None:
        self._piece_bytes = piece_bytes
        self._done: list[tuple[int, int, Any]] = []
        self._size, self._rows, self._digest = 0, 0, hashlib.sha256()

    def add(self, message: Any, rows: int) -> None:
        """Take the bytes of the next message, and how many rows it has."""
        if rows and self._rows and self._size >= self._piece_bytes:
            self._done.append((self._size, self._rows, self._digest))
            self._size, self._rows, self._digest = 0, 0, hashlib.sha256()
        self._digest.update(message)
        self._size += len(message)
        self._rows += rows

    def entries(self) -> list[list[Any]]:
        """Return the bytes, the rows and the SHA-256 of each piece."""
        every = [*self._done, (self._size, self._rows, self._digest)]
        return [[size, rows, digest.hexdigest()] for size, rows, digest in every]


def cut(path: str, piece_bytes: int = PIECE_BYTES) -> list[list[Any]]:
    """Return the pieces of a local shard, as `PieceDigests.entries` does; raises InputError where it is none."""
    digests = PieceDigests(piece_bytes)
    try:
        source = pa.memory_map(path)
        reader, view = pa.ipc.MessageReader.open_stream(source), memoryview(source.read_buffer(source.size()))
        source.seek(0)
        schema, begin = None, 0
        while (message := _next(reader)) is not None:
            end = source.tell()
            require_uncompressed(message)
            if message.type == "schema":
                schema = pa.ipc.read_schema(message)
            rows = pa.ipc.read_record_batch(message, schema).num_rows if message.type == "record batch" else 0
            digests.add(view[begin:end], rows)
            begin = end
        digests.add(view[begin:], 0)
    except MemoryError:
        raise
    except (pa.ArrowException, OSError, TypeError) as error:
        raise InputError(f"is not an Arrow stream ({error}); build again", path=path) from error
    return digests.entries()


def _next(reader: Any) -> Any:
    try:
        return reader.read_next_message()
    except StopIteration:
        return None


def changed_piece(path: str, pieces: Iterable[Piece], schema: pa.Schema) -> str:
    """Return what is not as it says of the pieces of a local shard, "" where all is; they are read one by one."""
    for piece in pieces:
        where = f"the {piece.size:,} bytes from {piece.begin:,} on"
        data = files.read_part(path, piece.begin, piece.size)
        if hashlib.sha256(data).hexdigest() != piece.sha256:
            return f"{where} have another SHA-256 than {FOLDER} says"
        try:
            rows = sum(map(len, batches_in(pa.py_buffer(data), schema)))
        except MemoryError:
            raise
        except (pa.ArrowException, OSError) as error:
            return f"{where} are not record batches ({error})"
        if rows != piece.rows:
            return f"{where} have {rows:,} rows, {FOLDER} says {piece.rows:,}"
    return ""


def batches_in(memory: pa.Buffer, schema: pa.Schema) -> list[pa.RecordBatch]:
    """Return the record batches of a piece without a copy; raises ArrowException or EOFError where it has others.

    schema: that of the shard, which only its first piece has in it.
    """
    reader, batches = pa.ipc.MessageReader.open_stream(pa.BufferReader(memory)), []
    while (message := _next(reader)) is not None:
        require_uncompressed(message)
        if message.type == "record batch":
            batches.append(pa.ipc.read_record_batch(message, schema))
        elif message.type != "schema" or batches:
            raise pa.ArrowInvalid(f"a message of the type {message.type} where a record batch should be")
        elif not pa.ipc.read_schema(message).remove_metadata().equals(schema.remove_metadata()):
            raise pa.ArrowInvalid("its schema is not that of its settings")
    return batches


def path_of(split: str) -> str:
    """Return where the pieces of a split are, from the folder of its build."""
    return f"{FOLDER}/{split}.json"


def save_pieces(build: str, entries: Mapping[str, Mapping[str, Any]]) -> None:
    """Write the pieces of the shards of some splits, or delete those of an earlier build where there are none.

    entries: by split, then by name, {"sha256": ..., "pieces": ...} of each shard that has any.
    """
    if listing.names(folder := files.join(build, FOLDER)):
        files.remove(folder)
    for split, shards in entries.items():
        if shards:
            files.write_json(files.join(build, *path_of(split).split("/")), {"shards": shards}, indent=None)


def read_pieces(build: str, split: str, manifest: Mapping[str, Any]) -> Pieces:
    """Return the pieces of the shards of a split, {} where it has none; of a shard that has none there is no entry.

    Raises InputError where the file is missing, damaged, or says other things than the manifest.
    """
    name = path_of(split)
    expected = manifest.get("files", {}).get(name)
    if expected is None:
        return {}
    path = files.join(build, *name.split("/"))
    if (data := read(path)) is None:
        raise InputError("is missing; restore it, or write it again by `bertdata verify --piece-bytes`", path=path)
    if (actual := hashlib.sha256(data).hexdigest()) != expected:
        raise InputError(
            f"its SHA-256 is {actual[:12]}, manifest.json says {str(expected)[:12]}: it was changed; restore it, or "
            "write it again by `bertdata verify --piece-bytes`",
            path=path,
        )
    content = files.parse_json(data, path)
    try:
        return _checked(content, manifest["splits"][split]["shards"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"does not say what the pieces of {split} are ({type(error).__name__}: {printable(str(error))}); write it "
            "again by `bertdata verify --piece-bytes`",
            path=path,
        ) from error


def _checked(content: Any, shards: Iterable[Mapping[str, Any]]) -> Pieces:
    """Return what a file says of the pieces of shards; raises ValueError where that is not of these shards."""
    entries, pieces = dict(content["shards"]), {}
    for shard in shards:
        if (entry := entries.pop(shard["file"], None)) is None:
            continue
        if entry["sha256"] != shard["sha256"]:
            raise ValueError(f"the pieces are of another {shard['file']}")
        of_shard, begin = [], 0
        for size, rows, sha256 in entry["pieces"]:
            numbers = type(size) is type(rows) is int and size > 0 and rows >= 0
            if not numbers or not isinstance(sha256, str) or not _SHA256.fullmatch(sha256):  # names files of a cache
                raise ValueError(f"a piece of {shard['file']} is {shortened([size, rows, sha256])}")
            of_shard.append(Piece(begin, size, rows, sha256))
            begin += size
        counts = shard["counts"]
        if begin != shard["bytes"] or sum(piece.rows for piece in of_shard) != counts.get("rows", counts["examples"]):
            raise ValueError(f"the pieces of {shard['file']} do not add up to its bytes and rows")
        pieces[shard["file"]] = tuple(of_shard)
    if entries:
        raise ValueError(f"the manifest names no shard {next(iter(entries))}")
    return pieces


def piece_rows(build: str, split: str, manifest: Mapping[str, Any], shard_rows: Ints) -> Ints:
    """Return the rows of each piece of a split, int64 (P,); a shard without pieces is one.

    shard_rows: the rows of each shard, int64 (S,). Raises ConfigError where no shard has pieces.
    """
    if not (pieces := read_pieces(build, split, manifest)):
        raise ConfigError(
            f"has no digests of pieces of the shards of {split}, and --by-pieces mixes rows over pieces; write them by "
            "`bertdata verify --piece-bytes`, or leave it out",
            path=build,
        )
    rows = []
    for shard, number in zip(manifest["splits"][split]["shards"], shard_rows.tolist(), strict=True):
        of_shard = pieces.get(shard["file"])
        rows += [number] if of_shard is None else [piece.rows for piece in of_shard]
    return np.array(rows, np.int64)
