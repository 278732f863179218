"""Reading ahead of the order: what comes is known, so its shards are fetched while the rows before them are used.

A sampler says which rows come (`ReadAhead`), one step for every few. From them a thread makes the list of shards in
the order in which they are needed, as far as the cache holds them. It is written into the cache folder, where it keeps
other processes from deleting them, and threads fetch what of it is not there. A batch never depends on it: a reader
that finds a shard missing fetches it.
"""

from __future__ import annotations

import contextlib
import math
import os
import threading
import time
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from typing import BinaryIO

import numpy as np

from bertdata.arrays import Ints
from bertdata.errors import BertDataError, ConfigError
from bertdata.loader.row_access import StreamedRows
from bertdata.shards import Shards
from bertdata.shards.cache import shard_name
from bertdata.shards.streaming import CacheFolder, StreamedShards
from bertdata.shards.streaming.shards import most_bytes

AT_ONCE = 4
"""Shards that are fetched at once."""
_LAG = 64
"""Steps after which a batch is read that was asked for, at the latest: workers fetch some ahead."""
_MOST_ENTRIES = 4096
_LOOK_AGAIN = 0.5
_TRY_AGAIN = 30.0
"""Seconds after which a shard that could not be fetched is tried again."""


class ReadAhead:
    """Fetches the shards of the rows that come; it ends when nothing refers to it.

    coming: for how many steps the rows after it stand, and their numbers, again and again. Call `advance` with the
    steps that were asked for.
    """

    def __init__(self, rows: StreamedRows, coming: Iterator[tuple[int, Ints]]) -> None:
        self._work = _Work(rows, coming)
        threads = [threading.Thread(target=self._work.plan, name="bertdata-plan", daemon=True)]
        threads += [
            threading.Thread(target=self._work.fetch, name=f"bertdata-fetch-{number}", daemon=True)
            for number in range(AT_ONCE)
        ]
        for thread in threads:
            thread.start()
        self._ended = weakref.finalize(self, self._work.stop)

    def advance(self, steps: int) -> None:
        """Say that so many more steps were asked for."""
        self._work.advance(steps)

    def close(self) -> None:
        """Stop fetching."""
        self._ended()


class _Work:
    """What the threads of a `ReadAhead` share.

    horizon: for stretches of steps, their last step and the shards that they need; needed: the shards in the order in
    which they are needed; failed: those that could not be fetched, and when: they are tried again later, and a reader
    that needs one sooner raises the error.
    """

    def __init__(self, rows: StreamedRows, coming: Iterator[tuple[int, Ints]]) -> None:
        self._rows, self._coming = rows, coming
        self._process = os.getpid()
        self._change = threading.Condition()
        self._stopped = False
        self._asked = self._planned = 0
        self._horizon: deque[tuple[int, list[int]]] = deque()
        self._needed: list[int] = []
        self._busy: set[int] = set()
        self._failed: dict[int, float] = {}
        self._streamed = {
            owner for owner, (shard_set, _) in enumerate(rows.files) if isinstance(shard_set, StreamedShards)
        }

    def stop(self) -> None:
        if os.getpid() != self._process:
            return  # in a process that was forked, whose threads are not there
        with self._change:
            self._stopped = True
            self._change.notify_all()

    def advance(self, steps: int) -> None:
        with self._change:
            self._asked += steps
            self._change.notify_all()

    def plan(self) -> None:
        """Keep the list of needed shards up to date until stopped; where the disk is full, try again."""
        while not self._stopped:
            with contextlib.suppress(BertDataError):
                self._plan()
            with self._change:
                if not self._stopped:
                    self._change.wait(_LOOK_AGAIN)

    def _plan(self) -> None:
        with contextlib.ExitStack() as stack:
            needs = [(folder, stack.enter_context(folder.needs_file())) for folder in self._rows.folders]
            written: list[int] = []
            while not self._stopped:
                while self._horizon and self._horizon[0][0] + _LAG < self._asked:
                    self._horizon.popleft()
                order = list(dict.fromkeys(owner for _, owners in self._horizon for owner in owners))
                order = self._extended(order)
                if order != written:
                    for folder, file in needs:
                        self._write(folder, file, order)
                    written = order
                    with self._change:
                        self._needed = order
                        self._change.notify_all()
                with self._change:
                    if not self._stopped and self._is_far_enough():
                        self._change.wait(_LOOK_AGAIN)

    def _is_far_enough(self) -> bool:
        return not self._horizon or self._horizon[0][0] + _LAG >= self._asked

    def _extended(self, order: list[int]) -> list[int]:
        """Look at what comes until the cache is full of it, or all shards are in the list."""
        coming, sizes = dict.fromkeys(order), self._sizes_of(order)
        while (
            len(coming) < len(self._streamed)
            and len(self._horizon) < _MOST_ENTRIES
            and all(sizes.get(id(folder), 0) <= folder.max_bytes for folder in self._rows.folders)
            and not self._stopped
        ):
            steps, numbers = next(self._coming)
            owners = np.unique(np.searchsorted(self._rows.ends, numbers, side="right")).tolist()
            owners = [owner for owner in owners if owner in self._streamed]
            self._planned += steps
            self._horizon.append((self._planned, owners))
            new = [owner for owner in owners if owner not in coming]
            coming |= dict.fromkeys(new)
            for place, size in self._sizes_of(new).items():
                sizes[place] = sizes.get(place, 0) + size
            if new and not self._needed:  # the first shards at once
                with self._change:
                    self._needed = list(coming)
                    self._change.notify_all()
        return list(coming)

    def _sizes_of(self, owners: Sequence[int]) -> dict[int, int]:
        sizes: dict[int, int] = {}
        for owner in owners:
            shard_set, number = self._rows.files[owner]
            assert isinstance(shard_set, StreamedShards)
            sizes[id(shard_set.folder)] = sizes.get(id(shard_set.folder), 0) + shard_set.files[number].size
        return sizes

    def _write(self, folder: CacheFolder, file: BinaryIO, order: Sequence[int]) -> None:
        shards = [self._rows.files[owner] for owner in order]
        names = [
            shard_name(shard_set.files[number])
            for shard_set, number in shards
            if isinstance(shard_set, StreamedShards) and shard_set.folder is folder
        ]
        folder.write_needs(file, names)

    def fetch(self) -> None:
        """Fetch what is needed next and is not there until stopped."""
        while (job := self._next()) is not None:
            owner, turn = job
            shard_set, number = self._rows.files[owner]
            assert isinstance(shard_set, StreamedShards)
            has_room = False
            try:
                has_room = shard_set.fetch(number, turn)
            except BertDataError:
                self._failed[owner] = time.monotonic()
            with self._change:
                self._busy.discard(owner)
                if not has_room and not self._stopped:
                    self._change.wait(_LOOK_AGAIN)

    def _next(self) -> tuple[int, int] | None:
        """Return the shard that is needed next of those that are not there, and how many are needed before it."""
        with self._change:
            while not self._stopped:
                for turn, owner in enumerate(self._needed):
                    shard_set, number = self._rows.files[owner]
                    assert isinstance(shard_set, StreamedShards)
                    failed = time.monotonic() - self._failed.get(owner, -math.inf) < _TRY_AGAIN
                    taken = owner in self._busy or failed
                    if not taken and not shard_set.folder.has(shard_set.files[number]):
                        self._busy.add(owner)
                        return owner, turn
                self._change.wait(_LOOK_AGAIN)
        return None


def fetch_nothing(coming: Iterator[tuple[int, Ints]]) -> None:
    """Leave the order of a data set be whose rows are all here."""


def require_room(
    sets: Sequence[Shards], window: int | None, world_size: int, windows: int, *, by_pieces: bool = False
) -> None:
    """Raise ConfigError where the shards that rows are mixed over do not fit into their cache.

    window: how many shards these are, or, `by_pieces`, pieces of shards, None for all; windows: how many have to fit,
    two, the one that is read and the next, or more where a step has the rows of more. Of several machines each needs
    its part of a window, by LOCAL_WORLD_SIZE, the ranks of a machine, as torchrun sets it.
    """
    machines = max(1, world_size // max(1, int(os.environ.get("LOCAL_WORLD_SIZE") or world_size)))
    by_folder: dict[tuple[str, int], int] = {}
    for shard_set in sets:
        if isinstance(shard_set, StreamedShards):
            mixed = shard_set.files if by_pieces else shard_set.shards
            if window is None or window >= len(mixed):
                room = most_bytes(mixed, len(mixed))
            else:
                beside = 2 if machines > 1 else 0
                room = most_bytes(mixed, windows * (-(-window // machines) + beside))
                if len(mixed) < len(shard_set.files):  # of a part of a window come the pieces that are in it
                    part = -(-most_bytes(mixed, windows * window) // machines)
                    room = min(room, part + windows * most_bytes(shard_set.files, beside))
            place = (shard_set.folder.directory, shard_set.folder.max_bytes)
            by_folder[place] = by_folder.get(place, 0) + room
    for (directory, most), needed in by_folder.items():
        if needed > most:
            over, remedy = (
                ("all shards", "give --shuffle-window, the shards that rows are mixed over at a time,")
                if window is None
                else (
                    f"windows of {window} {'pieces of ' * by_pieces}shards, two or more of which are held",
                    f"take a smaller --shuffle-window{'' if by_pieces else ', or one of pieces (--by-pieces)'},",
                )
            )
            raise ConfigError(
                f"rows are mixed over {over}: {needed:,} bytes, and the cache may hold {most:,}, so shards would be "
                f"fetched again and again; {remedy} or raise --cache-bytes",
                path=directory,
            )
