"""A folder of shards that never holds more than so many bytes, shared by the processes of a machine.

    NAME.arrow      a shard or a piece of one, whole and checked; NAME is its SHA-256
    NAME.fetching   the place kept for a shard that is being fetched: it has the size of the shard, and its process a
                    lock on it
    NAME.data       what has come of it
    needs/          for each process that plans, the shards that it needs next, in their order
    lock            held for a moment by whoever makes room
    crowded         touched by whoever finds no room, so that others close what they do not need now
    turn            held by the one process that waits for room while it holds shards

All locks are those of the kernel (flock), which end with their process: what a killed one leaves is deleted by the
next who makes room. A shard that is mapped has a shared lock as long as its memory is, and is not deleted. Of the
others those go first that no process needs, the one used longest ago before others; then the one needed last, if it is
needed later than what takes its place.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import json
import mmap
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from io import BufferedReader
from typing import BinaryIO, cast

from bertdata.errors import ConfigError, OutputError
from bertdata.shards.cache import ShardFile, own_files, shard_name
from bertdata.shards.checked import is_wanted
from bertdata.shards.stamps import is_marked_whole, mark_used, mark_whole

_WHOLE, _PLACE, _DATA = ".arrow", ".fetching", ".data"
_NEEDS, _LOCK, _CROWDED, _TURN = "needs", "lock", "crowded", "turn"
_LOOK_AGAIN = 0.005
PATIENCE = 120.0
"""Seconds without a change in the folder after which a reader no longer waits for room that others hold."""

_no_fork = threading.RLock()
"""Held where a lock of the kernel is, so that no process that is forked meanwhile inherits it.

Of what is locked for longer, the place of a shard is deleted by its name, and memory is let go of by its readers.
"""
os.register_at_fork(before=_no_fork.acquire, after_in_parent=_no_fork.release, after_in_child=_no_fork.release)

_turn_of_thread = threading.RLock()


def _new_turn() -> None:
    global _turn_of_thread  # noqa: PLW0603
    _turn_of_thread = threading.RLock()


os.register_at_fork(after_in_child=_new_turn)


class CacheFolder:
    """A folder for shards of at most `max_bytes` together; raises OutputError where it cannot be written."""

    def __init__(self, directory: str, max_bytes: int) -> None:
        self.directory, self.max_bytes = os.path.realpath(directory), max_bytes  # one name, for locks of a process
        with self._writing():
            os.makedirs(os.path.join(self.directory, _NEEDS), exist_ok=True)
            with self._locked():
                self._make_room(0, -1)

    def __repr__(self) -> str:
        return f"CacheFolder({self.directory!r}, {self.max_bytes})"

    def __reduce__(self) -> tuple[type[CacheFolder], tuple[str, int]]:
        return type(self), (self.directory, self.max_bytes)

    def path(self, shard: ShardFile) -> str:
        """Return where a shard is when it is there."""
        return os.path.join(self.directory, shard_name(shard) + _WHOLE)

    def has(self, shard: ShardFile) -> bool:
        """Return whether a shard is there."""
        return os.path.exists(self.path(shard))

    def map(self, shard: ShardFile) -> mmap.mmap | None:
        """Return the memory of a shard, None where it is not there; it is not deleted as long as that is used.

        One that was damaged since it was written is deleted.
        """
        path = self.path(shard)
        with self._writing(), contextlib.suppress(FileNotFoundError), _no_fork, open(path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            status = os.fstat(file.fileno())
            if not status.st_nlink:
                return None
            if status.st_size == shard.size and _is_whole(file, shard):
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)  # shares the lock of the file
            _unlink(path)
        return None

    def fetch(self, shard: ShardFile, copy: Callable[[str], None], turn: int = -1) -> bool:
        """Have a shard written by `copy`, which gets a path, or wait for the process that does; False: no room for it.

        turn: how many shards are needed before it, which are not deleted for it. Raises what `copy` raises.
        """
        place = self.path(shard).removesuffix(_WHOLE) + _PLACE
        data = place.removesuffix(_PLACE) + _DATA
        with self._writing():
            with self._locked():
                if self.has(shard):
                    return True
                has_room = self._make_room(shard.size, turn)  # clears the places of processes that have ended
                others = _opened(place)
                if others is None and not has_room:
                    return False
                if others is None:
                    reserved = open(place, "ab")  # noqa: SIM115
                    fcntl.flock(reserved, fcntl.LOCK_EX)
                    os.ftruncate(reserved.fileno(), shard.size)
            if others is not None:
                with others:
                    while _is_same(others, place) and not _try_lock(others):
                        time.sleep(_LOOK_AGAIN)
                return True
            try:
                copy(data)
                path = self.path(shard)
                with _no_fork, open(data, "rb") as file:
                    fcntl.flock(file, fcntl.LOCK_SH)  # not deleted before it is marked
                    if shard.sha256 is not None:
                        mark_whole(file.fileno(), shard.sha256)
                    with self._locked():  # who adds up what is there sees either the place or the shard, not neither
                        os.replace(data, path)
                        _unlink(place)
            except BaseException:
                _unlink(data)
                _unlink(place)
                raise
            finally:
                reserved.close()
        return True

    def drop(self, shard: ShardFile) -> None:
        """Delete a shard unless somebody uses it."""
        with self._writing(), self._locked():
            _unlink_unused(self.path(shard))

    def _make_room(self, size: int, turn: int) -> bool:
        """Delete shards until so many bytes fit, as far as others do not use them; say so where they do not fit."""
        total, shards, data = 0, [], []
        for entry in own_files(self.directory):
            with contextlib.suppress(FileNotFoundError):
                if entry.name.endswith(_PLACE):
                    total += self._kept_place(entry.path)
                elif _DATA in entry.name:
                    data.append(entry.path)
                elif entry.name.endswith(_WHOLE):
                    status = entry.stat()
                    total += status.st_size
                    shards.append((entry.name.removesuffix(_WHOLE), status.st_atime_ns, status.st_size, entry.path))
        for path in data:
            if not os.path.exists(path.rpartition(_DATA)[0] + _PLACE):
                _unlink(path)
        if total + size <= self.max_bytes:
            return True
        needs = self._needs()
        for name, _, bytes_held, path in sorted(shards, key=lambda shard: (-needs.get(shard[0], 1 << 62), shard[1])):
            if needs.get(name, 1 << 62) <= turn:
                break
            if _unlink_unused(path):
                total -= bytes_held
                if total + size <= self.max_bytes:
                    return True
        with open(os.path.join(self.directory, _CROWDED), "wb"):
            pass
        return False

    def _kept_place(self, path: str) -> int:
        """Return the bytes of a place kept; delete one whose process has ended."""
        with open(path, "rb") as file:
            if not _try_lock(file):
                return os.fstat(file.fileno()).st_size
            _unlink(path.removesuffix(_PLACE) + _DATA)
            _unlink(path)
        return 0

    def crowded(self) -> int:
        """Return a number that changes when somebody finds no room."""
        try:
            return os.stat(os.path.join(self.directory, _CROWDED)).st_mtime_ns
        except FileNotFoundError:
            return 0

    @contextlib.contextmanager
    def needs_file(self) -> Iterator[BinaryIO]:
        """Yield a file for `write_needs`, which counts until the end of the block or of the process."""
        with self._writing(), self._locked():
            file = tempfile.NamedTemporaryFile(  # noqa: SIM115
                "w+b", 0, dir=os.path.join(self.directory, _NEEDS), suffix=".json", delete=False
            )
            fcntl.flock(file, fcntl.LOCK_EX)
        with file:
            yield cast("BinaryIO", file)
            with self._writing():
                _unlink(file.name)

    def write_needs(self, file: BinaryIO, names: Sequence[str]) -> None:
        """Say which shards a process needs from now on, the next one first; where the disk is full, none."""
        with self._writing(), self._locked():
            file.truncate(0)
            file.seek(0)
            try:
                data = memoryview(json.dumps(names).encode())
                while data:
                    data = data[file.write(data) :]
            except OSError:
                file.truncate(0)
                raise

    def _needs(self) -> dict[str, int]:
        """Return the shards that any process needs, with the smallest number of those that it needs before."""
        turns: dict[str, int] = {}
        for entry in own_files(os.path.join(self.directory, _NEEDS), plans=True):
            with open(entry.path, "rb") as file:
                if _try_lock(file):
                    _unlink(entry.path)
                    continue
                for turn, name in enumerate(json.loads(file.read() or b"[]")):
                    turns[name] = min(turn, turns.get(name, turn))
        return turns

    def state(self) -> frozenset[tuple[str, int]]:
        """Return what is there and how much of it has come, which changes as long as anybody gets on."""
        with self._writing(), os.scandir(self.directory) as entries:
            return frozenset((entry.name, _size(entry)) for entry in entries)

    @contextlib.contextmanager
    def turn(self) -> Iterator[None]:
        """Hold the turn to wait for room, which one process of all has that use this folder.

        Let go of all shards before: otherwise two that hold some of what they need wait for each other's. A lock of the
        process, not of the file: a process that is forked meanwhile must not inherit it.
        """
        with _turn_of_thread, open(os.path.join(self.directory, _TURN), "ab") as file:
            while True:
                try:
                    fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    break
                except (BlockingIOError, PermissionError):
                    time.sleep(_LOOK_AGAIN)
            yield

    def no_room(self, shard: ShardFile) -> ConfigError:
        """Return the error of a shard for which there was no room."""
        return ConfigError(
            f"the cache may hold {self.max_bytes:,} bytes, and there was no room in it for the {shard.size:,} of "
            f"{shard.url}, while nothing in it changed for {PATIENCE:.0f} s: what is in it is being read, by this "
            "process or by others that use the same folder; raise --cache-bytes, take a smaller --shuffle-window, or "
            "give each training a folder of its own",
            path=self.directory,
        )

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        with _no_fork, open(os.path.join(self.directory, _LOCK), "ab") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise OutputError(
                f"the cache cannot be written ({error.strerror or error}); make room on its disk, or choose another "
                "folder",
                path=self.directory,
            ) from error


class Patience:
    """How long a reader waits for room: as long as anything in a folder changes, and `PATIENCE` after that."""

    def __init__(self, folder: CacheFolder) -> None:
        self._folder, self._state, self._end = folder, folder.state(), time.monotonic() + PATIENCE

    def is_over(self) -> bool:
        """Tell whether nothing has changed for so long."""
        if (state := self._folder.state()) != self._state:
            self._state, self._end = state, time.monotonic() + PATIENCE
        return time.monotonic() > self._end


def _is_whole(file: BufferedReader, shard: ShardFile) -> bool:
    """Note that a shard is used, and tell whether it is whole; one that was written to is read for that."""
    if shard.sha256 is None or not is_wanted() or is_marked_whole(os.fstat(file.fileno()), shard.sha256):
        mark_used(file.fileno())
        return True
    if hashlib.file_digest(file, "sha256").hexdigest() != shard.sha256:
        return False
    mark_whole(file.fileno(), shard.sha256)
    return True


def _size(entry: os.DirEntry[str]) -> int:
    try:
        return entry.stat().st_size
    except FileNotFoundError:
        return 0


def _try_lock(file: BinaryIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _opened(path: str) -> BinaryIO | None:
    try:
        return open(path, "rb")
    except FileNotFoundError:
        return None


def _is_same(file: BinaryIO, path: str) -> bool:
    """Tell whether an open file is the one at a path."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), os.stat(path))
    except FileNotFoundError:
        return False


def _unlink_unused(path: str) -> bool:
    """Delete a shard unless its memory is in use."""
    try:
        with open(path, "rb") as file:
            if not _try_lock(file):
                return False
            _unlink(path)
    except FileNotFoundError:
        pass
    return True


def _unlink(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)
