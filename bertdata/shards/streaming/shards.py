"""A split whose shards come to this machine when their rows are read: what is known before is in its manifest.

A shard comes as a whole. Where it is larger than a tenth of the cache, or windows are of pieces, its pieces come
(`bertdata.shards.pieces`), if there are any.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa

from bertdata.arrays import Ints
from bertdata.errors import ConfigError, InputError, printable
from bertdata.io import files
from bertdata.plugins import Consent, adopt, consent
from bertdata.shards.cache import ShardFile
from bertdata.shards.pieces import PIECES_FROM, read_pieces
from bertdata.shards.reader import MANIFEST, Shards, open_shards, read_info, shard_files
from bertdata.shards.schema import ShardInfo
from bertdata.shards.streaming.fetching import batches_of, copy_shard
from bertdata.shards.streaming.folder import CacheFolder, Patience

_HEAD = 1 << 16
_LOOK_AGAIN = 0.02
_PART_OF_CACHE = 10
"""A shard that is larger than this part of its cache comes in pieces."""


class StreamedShards(Shards):
    """The examples of one split at a URL, or in a folder that is slow; can be pickled.

    It has no table of all shards: `record_batches` reads what is fetched at a time. paths: the URLs of the shards;
    files: what is fetched at a time, shards or pieces of them; file_rows: the rows of each, int64; folder: where they
    are kept; by_pieces: whether windows are of pieces, so that pieces are fetched of all shards that have any. Raises
    InputError where the manifest does not say what streaming needs, ConfigError where the cache is too small.
    """

    def __init__(
        self, build: str, split: str, manifest: dict[str, Any], folder: CacheFolder, by_pieces: bool = False
    ) -> None:
        self.build, self.split, self.manifest, self.folder = build, split, manifest, folder
        self.by_pieces = by_pieces
        self.cache = None
        self._entries = shard_files(build, split, manifest)
        self.local_paths = self.paths = [shard.url for shard in self._entries]
        where = files.join(build, MANIFEST)
        try:
            counts = [shard["counts"] for shard in manifest["splits"][split]["shards"]]
            rows = [int(count.get("rows", count["examples"])) for count in counts]
            self.info = ShardInfo.from_values(manifest["info"], where)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise InputError(
                f"does not say how many rows each shard of {split} has, and how they were made "
                f"({type(error).__name__}: {error}), which streaming needs; build again, or copy the shards here",
                path=where,
            ) from error
        if missing := [shard.url for shard in self._entries if shard.sha256 is None]:
            raise InputError(f"has no SHA-256 of {missing[0]}, so a copy cannot be checked; build again", path=where)
        self._ends = np.cumsum(rows, dtype=np.int64)
        self.files, self.file_rows = self._fetched(rows)
        self._file_ends = np.cumsum(self.file_rows)
        largest = max(self.files, key=lambda shard: shard.size)
        if largest.size > folder.max_bytes:
            is_piece = largest.begin is not None
            raise ConfigError(
                f"the cache may hold {folder.max_bytes:,} bytes, and {largest.url} has {'a piece of ' * is_piece}"
                f"{largest.size:,}; raise --cache-bytes, or write {'smaller' if is_piece else 'digests of its'} pieces "
                "(`bertdata verify --piece-bytes`)",
                path=folder.directory,
            )

    def _fetched(self, rows: Sequence[int]) -> tuple[list[ShardFile], Ints]:
        """Return what is fetched at a time, and the rows of each, given the rows of each shard."""
        large = {shard for shard in self._entries if shard.size * _PART_OF_CACHE > self.folder.max_bytes}
        pieces = read_pieces(self.build, self.split, self.manifest) if large or self.by_pieces else {}
        fetched, fetched_rows = [], []
        names = [shard["file"] for shard in self.manifest["splits"][self.split]["shards"]]
        for shard, name, number in zip(self._entries, names, rows, strict=True):
            of_shard = pieces.get(name, ()) if self.by_pieces or shard in large else ()
            if len(of_shard) > 1:
                fetched += [ShardFile(shard.url, piece.size, piece.sha256, piece.begin) for piece in of_shard]
                fetched_rows += [piece.rows for piece in of_shard]
            else:
                fetched.append(shard)
                fetched_rows.append(number)
        if whole := [shard.size for shard in large.intersection(fetched) if shard.size > PIECES_FROM]:
            logging.getLogger("bertdata").warning(
                "%s: shards of %s bytes come as a whole through a cache of %s bytes, since the build has no digests of "
                "their pieces; `bertdata verify --piece-bytes` writes them",
                *(printable(self.build), f"{max(whole):,}", f"{self.folder.max_bytes:,}"),
            )
        return fetched, np.array(fetched_rows, np.int64)

    def __reduce__(self) -> tuple[Any, ...]:
        return _opened_again, (consent(), (self.build, self.split, self.manifest, self.folder, self.by_pieces))

    def __len__(self) -> int:
        return int(self._ends[-1])

    @property
    def shards(self) -> list[ShardFile]:
        """The shards as a whole, as the manifest names them."""
        return self._entries

    @property  # type: ignore[misc]
    def table(self) -> pa.Table:
        """Nothing: raises ConfigError, for the shards are not on this machine together."""
        raise ConfigError(
            "these shards are streamed, and not on this machine together; read their rows by number, or open them "
            "without a cache folder",
            path=self.build,
        )

    def columns(self, names: Sequence[str]) -> pa.Table:
        """Return copies of some columns of all rows; the shards come one after another."""
        sink = pa.BufferOutputStream()
        schema = self.record_batches(0)[0].select(names).schema
        with pa.ipc.new_stream(sink, schema) as stream:
            for number in range(len(self.files)):
                for batch in self.record_batches(number):
                    stream.write_batch(batch.select(names))
        return pa.ipc.open_stream(sink.getvalue()).read_all()

    @cached_property
    def _said(self) -> ShardInfo:  # type: ignore[override]
        """What the first shard says of itself in its first bytes, asked for alone where the store can do that."""
        shard = self.files[0]
        if not shard.url.startswith(("http://", "https://")) and not self.folder.has(shard):
            try:
                schema = pa.ipc.open_stream(files.read_part(shard.url, 0, _HEAD)).schema
            except MemoryError:
                raise
            except pa.ArrowException:  # a schema that is longer
                schema = self._first_schema()
        else:
            schema = self._first_schema()
        return read_info(schema, shard.url)

    def _first_schema(self) -> pa.Schema:
        """Return the schema in the first shard, which is fetched where it is not there."""
        self.record_batches(0)
        while (memory := self.folder.map(self.files[0])) is None:
            self.record_batches(0)
        return pa.ipc.open_stream(pa.py_buffer(memory)).schema

    def record_batches(self, number: int, meanwhile: Callable[[], object] = lambda: None) -> list[pa.RecordBatch]:
        """Return the rows of one of `files`, fetched where it is not there; it stays as long as they are used.

        meanwhile: called again and again while there is no room for it. Raises InputError, which names it, where it
        cannot be fetched or is not what the manifest says; OutputError where the disk is full; ConfigError where there
        has been no room for two minutes, in which nothing in the cache changed.
        """
        patience: Patience | None = None
        while (batches := self.batches_if_room(number)) is None:
            patience = patience or Patience(self.folder)
            if patience.is_over():
                raise self.folder.no_room(self.files[number])
            meanwhile()
            time.sleep(_LOOK_AGAIN)
        return batches

    def batches_if_room(self, number: int) -> list[pa.RecordBatch] | None:
        """Return the rows of one of `files` as `record_batches` does, or None while the cache is too full."""
        shard = self.files[number]
        while (memory := self.folder.map(shard)) is None:
            if not self.fetch(number):
                return None
        batches = batches_of(pa.py_buffer(memory), shard, self.info)
        if sum(map(len, batches)) != self.file_rows[number]:
            raise InputError(
                f"has {sum(map(len, batches)):,} rows, the manifest says {self.file_rows[number]:,}; build again",
                path=shard.shown,
            )
        return batches

    def fetch(self, number: int, turn: int = -1) -> bool:
        """Fetch one of `files` unless it is there; returns False while the cache is too full (`CacheFolder.fetch`)."""
        shard = self.files[number]
        return self.folder.fetch(shard, partial(copy_shard, shard, self.info), turn)

    def _row(self, index: int) -> pa.Table:
        if not -len(self) <= index < len(self):
            raise IndexError(f"example {index} of {len(self)}")
        place = index % len(self)
        number = int(np.searchsorted(self._file_ends, place, side="right"))
        begin = int(self._file_ends[number] - self.file_rows[number])
        return pa.Table.from_batches(self.record_batches(number)).slice(place - begin, 1)

    def beside(self, split: str) -> Shards:
        """Open another split of the same build, streamed through the same folder."""
        return StreamedShards(self.build, split, self.manifest, self.folder, self.by_pieces)

    def check_sizes(self) -> None:
        """Do nothing: a shard is compared with its manifest when it is fetched."""


def stream_shards(path: str, split: str | None, folder: CacheFolder, by_pieces: bool = False) -> StreamedShards:
    """Open one split of a build at a URL as `open_shards` does, and keep what is read of it in a folder."""

    def kind(build: str, split: str, manifest: dict[str, Any]) -> StreamedShards:
        return StreamedShards(build, split, manifest, folder, by_pieces)

    shards = open_shards(path, split, kind=kind)
    assert isinstance(shards, StreamedShards)
    return shards


def most_bytes(shards: Sequence[ShardFile], number: int) -> int:
    """Return the bytes of the largest of some shards, so many of them."""
    return sum(sorted((shard.size for shard in shards), reverse=True)[:number])


def _opened_again(agreed: Consent, values: tuple[Any, ...]) -> StreamedShards:
    adopt(agreed)
    return StreamedShards(*values)
