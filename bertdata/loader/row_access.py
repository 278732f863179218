"""Where the rows of a data set lie: in the record batches of mapped shards, or in shards that are streamed."""

from __future__ import annotations

import contextlib
import os
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from bertdata.arrays import Ints
from bertdata.loader.column_arrays import Column, column_of
from bertdata.shards import Shards
from bertdata.shards.streaming import StreamedShards

Views = dict[str, Column]

_ASK_AGAIN = 0.02
"""Seconds in which a process that reads asks once whether somebody needs room, which takes a call of the system."""
_LOOK_AGAIN = 0.1
"""Seconds between two looks at whether somebody needs the room of shards that a process has open and does not read."""


class Rows(Protocol):
    """The rows of some sets of shards, one set after another."""

    names: list[str]
    size: int

    def at(self, places: Ints) -> tuple[list[Views], list[int]]:
        """Return the columns of the record batch that each row is in, and its number there."""
        ...

    def every(self, name: str, take: Callable[[pa.Array], Any]) -> list[Any]:
        """Return what a function makes of each part of a column, in the order of the rows."""
        ...


class MappedRows:
    """The rows of shards that are memory-mapped as a whole."""

    def __init__(self, sets: Sequence[Shards]) -> None:
        tables = [shards.table for shards in sets]
        self.names = [name for name in tables[0].column_names if all(name in table.column_names for table in tables)]
        self._columns = {name: [chunk for table in tables for chunk in table[name].chunks] for name in self.names}
        self._ends: Ints = np.cumsum([len(chunk) for chunk in self._columns["example_id"]], dtype=np.int64)
        self._begins = np.concatenate([[0], self._ends])
        self.size = int(self._begins[-1])
        self._views: dict[int, Views] = {}

    def at(self, places: Ints) -> tuple[list[Views], list[int]]:
        """Return the columns of the record batch that each row is in, without a copy, and its number there."""
        chunks = np.searchsorted(self._ends, places, side="right")
        return [self._chunk(chunk) for chunk in chunks.tolist()], (places - self._begins[chunks]).tolist()

    def _chunk(self, chunk: int) -> Views:
        views = self._views.get(chunk)
        if views is None:
            views = self._views[chunk] = {key: column_of(chunks[chunk]) for key, chunks in self._columns.items()}
        return views

    def every(self, name: str, take: Callable[[pa.Array], Any]) -> list[Any]:
        """Return what a function makes of each record batch of a column."""
        return [take(chunk) for chunk in self._columns[name]]


class _OpenShard:
    """The record batches of a shard, their columns viewed when they are first read."""

    def __init__(self, batches: Sequence[pa.RecordBatch], names: Sequence[str]) -> None:
        self.batches, self._names = batches, names
        self.ends: Ints = np.cumsum([len(batch) for batch in batches], dtype=np.int64)
        self.begins = np.concatenate([[0], self.ends])
        self._views: dict[int, Views] = {}

    def views(self, number: int) -> Views:
        views = self._views.get(number)
        if views is None:
            batch = self.batches[number]
            views = self._views[number] = {name: column_of(batch[name]) for name in self._names}
        return views


class _OpenBatches:
    """The record batches of the shards that are open, their columns viewed when they are first read.

    begins, ends: the rows of each batch among those of all sets, int64 (B,), in their order.
    """

    def __init__(self, open_shards: Mapping[int, _OpenShard], first_rows: Ints) -> None:
        owners = sorted(open_shards)
        nothing = [np.zeros(0, np.int64)]
        self.begins: Ints = np.concatenate(
            nothing + [first_rows[owner] + open_shards[owner].begins[:-1] for owner in owners]
        )
        self.ends: Ints = np.concatenate(nothing + [first_rows[owner] + open_shards[owner].ends for owner in owners])
        self._places = [
            (open_shards[owner], number) for owner in owners for number in range(len(open_shards[owner].ends))
        ]
        self._views: dict[int, Views] = {}

    def find(self, rows: Ints) -> tuple[Ints, bool]:
        """Return the batch that each row is in, and whether each is in one."""
        numbers = np.searchsorted(self.ends, rows, side="right")
        inside = numbers < len(self.ends)
        return numbers, bool(inside.all() and (self.begins[numbers] <= rows).all())

    def views(self, numbers: Ints) -> list[Views]:
        """Return the columns of the batch of each row."""
        views, every = self._views, numbers.tolist()
        for number in set(every) - views.keys():
            shard, place = self._places[number]
            views[number] = shard.views(place)
        return [views[number] for number in every]


class StreamedRows:
    """The rows of sets of shards of which one or more are streamed.

    files: what is fetched at a time, shards or pieces of them, each with its set and its number there; ends: the rows
    up to the end of each, int64 (S,). Below, a shard may be a piece of one. A shard that was read stays open until
    somebody finds no room in its folder. A process that reads closes what it does not need now; one that waits, as a
    worker whose batches are not wanted yet, closes all, in a thread: otherwise the reader that it waits for would wait
    for its shards. A process that is forked begins with none open.
    """

    def __init__(self, sets: Sequence[Shards]) -> None:
        self.sets = tuple(sets)
        rows = [shards.file_rows if isinstance(shards, StreamedShards) else shards.shard_rows for shards in sets]
        self.files = [
            (shards, number) for shards, of_set in zip(sets, rows, strict=True) for number in range(len(of_set))
        ]
        self.ends: Ints = np.cumsum(np.concatenate(rows), dtype=np.int64)
        self._begins = np.concatenate([[0], self.ends])
        self.size = int(self._begins[-1])
        schemas = [[field.name for field in shards.info.columns()] for shards in sets]
        self.names = [name for name in schemas[0] if all(name in names for names in schemas)]
        self.folders = list(
            {id(shards.folder): shards.folder for shards in sets if isinstance(shards, StreamedShards)}.values()
        )
        self._open: dict[int, _OpenShard]
        self._crowded = [folder.crowded() for folder in self.folders]
        self._begin_process()
        _all_rows.add(self)

    def _begin_process(self) -> None:
        """Begin with no shard open, and no thread."""
        self._open, self._batches_open = {}, _OpenBatches({}, self._begins)
        self._reading, self._is_watched, self._reads = threading.Lock(), False, 0
        self._asked = -_ASK_AGAIN

    def at(self, places: Ints) -> tuple[list[Views], list[int]]:
        """Return the columns of the record batch that each row is in, and its number there.

        Shards that are not on this machine are fetched; raises InputError, ConfigError as `record_batches` does.
        """
        with self._reading:
            self._reads += 1
            crowded = self._is_crowded()
            numbers, are_open = self._batches_open.find(places)
            if crowded or not are_open:
                self._open_all(np.unique(np.searchsorted(self.ends, places, side="right")).tolist())
                numbers, _ = self._batches_open.find(places)
                self._watch()
            return self._batches_open.views(numbers), (places - self._batches_open.begins[numbers]).tolist()

    def _is_crowded(self) -> bool:
        """Tell whether a process found no room since this one last closed shards; asks every 20 ms at most."""
        now = time.monotonic()
        if now < self._asked + _ASK_AGAIN:
            return False
        self._asked = now
        return self._crowded != [folder.crowded() for folder in self.folders]

    def _open_all(self, wanted: Sequence[int]) -> None:
        """Open shards; where there is no room for one, let go of all, and open them when it is this process's turn."""
        self._let_go(wanted)
        if not all(self._open_if_room(owner) for owner in wanted):
            self._keep(())
            with contextlib.ExitStack() as stack:
                for _, folder in sorted({folder.directory: folder for folder in self.folders}.items()):
                    stack.enter_context(folder.turn())
                for owner in wanted:
                    self._shard(owner, wanted)
        self._batches_open = _OpenBatches(self._open, self._begins)

    def _open_if_room(self, owner: int) -> bool:
        shards, number = self.files[owner]
        if owner not in self._open:
            batches = shards.batches_if_room(number) if isinstance(shards, StreamedShards) else self._local(owner)
            if batches is None:
                return False
            self._open[owner] = _OpenShard(batches, self.names)
        return True

    def _shard(self, owner: int, wanted: Sequence[int]) -> _OpenShard:
        """Return a shard, opened when there is room for it; of the others only those wanted stay open meanwhile."""
        if not self._open_if_room(owner):
            shards, number = self.files[owner]
            assert isinstance(shards, StreamedShards)
            self._open[owner] = _OpenShard(shards.record_batches(number, lambda: self._keep(wanted)), self.names)
        return self._open[owner]

    def _local(self, owner: int) -> list[pa.RecordBatch]:
        shards, number = self.files[owner]
        rows = shards.shard_rows
        part: list[pa.RecordBatch] = shards.table.slice(int(rows[:number].sum()), int(rows[number])).to_batches()
        return part

    def _let_go(self, wanted: Sequence[int]) -> None:
        """Close the shards that are not wanted now where somebody found no room since."""
        crowded = [folder.crowded() for folder in self.folders]
        if crowded != self._crowded:
            self._crowded = crowded
            self._keep(wanted)

    def _keep(self, wanted: Sequence[int]) -> None:
        self._open = {owner: self._open[owner] for owner in wanted if owner in self._open}
        self._batches_open = _OpenBatches(self._open, self._begins)

    def every(self, name: str, take: Callable[[pa.Array], Any]) -> list[Any]:
        """Return what a function makes of each record batch of a column; every shard is read once for it."""
        values = []
        for owner in range(len(self.files)):
            with self._reading:
                self._reads += 1
                self._let_go([owner])
                values += [take(batch[name]) for batch in self._shard(owner, [owner]).batches]
                self._watch()
        return values

    def _watch(self) -> None:
        """Have a thread look at whether what is open is still read."""
        if not self._is_watched:
            self._is_watched = True
            threading.Thread(
                target=_close_when_idle, args=(weakref.ref(self),), name="bertdata-idle", daemon=True
            ).start()

    def close_unless_read(self, reads: int) -> int | None:
        """Close all shards where somebody needs room and nothing was read since there had been so many reads.

        Returns the number of reads until now, None where nothing is open.
        """
        if not self._reading.acquire(blocking=False):
            return self._reads
        try:
            if reads == self._reads:
                self._let_go(())
            self._is_watched = bool(self._open)
            return self._reads if self._is_watched else None
        finally:
            self._reading.release()


_all_rows: weakref.WeakSet[StreamedRows] = weakref.WeakSet()


def _close_when_idle(reference: weakref.ref[StreamedRows]) -> None:
    reads: int | None = -1
    while reads is not None and (rows := reference()) is not None:
        reads = rows.close_unless_read(reads)
        del rows
        time.sleep(_LOOK_AGAIN)


def _begin_forked() -> None:
    """Close in a forked process what its parent had open: both would hold the locks, and it may never read."""
    for rows in list(_all_rows):
        rows._begin_process()


os.register_at_fork(after_in_child=_begin_forked)


def rows_of(sets: Sequence[Shards]) -> MappedRows | StreamedRows:
    """Return the rows of some sets of shards."""
    return StreamedRows(sets) if any(isinstance(shards, StreamedShards) for shards in sets) else MappedRows(sets)
