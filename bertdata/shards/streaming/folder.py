"""A folder of shards that never holds more than so many bytes, shared by the processes of a machine.

    NAME.arrow      a shard, whole and checked; NAME is its SHA-256
    NAME.fetching   the place kept for a shard that is being fetched: it has the size of the shard, and its process a
                    lock on it
    NAME.data       what has come of it
    needs/          for each process that plans, the shards that it needs next, in their order
    lock            held for a moment by whoever makes room
    crowded         touched by whoever finds no room, so that others close what they do not need now

All locks are those of the kernel (flock), which end with their process: what a killed one leaves is deleted by the
next who makes room. A shard that is mapped has a shared lock as long as its memory is, and is not deleted. Of the
others those go first that no process needs, the one used longest ago before others; then the one needed last, if it is
needed later than what takes its place.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import mmap
import os
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO, cast

from bertdata.errors import ConfigError, OutputError
from bertdata.shards.cache import ShardFile, shard_name
from bertdata.shards.checked import changed, is_wanted, remember

_WHOLE, _PLACE, _DATA = ".arrow", ".fetching", ".data"
_NEEDS, _LOCK, _CROWDED = "needs", "lock", "crowded"
_LOOK_AGAIN = 0.005
PATIENCE = 120.0
"""Seconds that a reader waits for room that other processes hold."""

_no_fork = threading.Lock()
"""Held where a lock of the kernel is, so that no process that is forked meanwhile inherits it."""
os.register_at_fork(before=_no_fork.acquire, after_in_parent=_no_fork.release, after_in_child=_no_fork.release)


class CacheFolder:
    """A folder for shards of at most `max_bytes` together; raises OutputError where it cannot be written."""

    def __init__(self, directory: str, max_bytes: int) -> None:
        self.directory, self.max_bytes = os.path.abspath(directory), max_bytes
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
        with self._writing(), contextlib.suppress(FileNotFoundError), open(path, "rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH)
            status = os.fstat(file.fileno())
            if not status.st_nlink:
                return None
            if status.st_size == shard.size and not self._is_damaged(path, shard):
                os.utime(file.fileno())
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)  # shares the lock of the file
            _unlink(path)
        return None

    def _is_damaged(self, path: str, shard: ShardFile) -> bool:
        """Tell whether a shard is another than the manifest names; each is read for this once a machine."""
        if shard.sha256 is None or not is_wanted():
            return False
        with _no_fork:
            return bool(changed([(path, shard.sha256)]))

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
                reserved = open(place, "ab")  # noqa: SIM115
                if is_mine := _try_lock(reserved):
                    if not self._make_room(shard.size, turn):
                        _unlink(place)
                        reserved.close()
                        return False
                    os.ftruncate(reserved.fileno(), shard.size)
            if not is_mine:
                while _is_same(reserved, place) and not _try_lock(reserved):
                    time.sleep(_LOOK_AGAIN)
                reserved.close()
                return True
            try:
                copy(data)
                path = self.path(shard)
                with open(data, "rb") as file:
                    fcntl.flock(file, fcntl.LOCK_SH)  # not deleted before it is noted
                    os.replace(data, path)
                    if shard.sha256 is not None:
                        with _no_fork:
                            remember(path, shard.sha256)
            finally:
                _unlink(data)
                _unlink(place)
                reserved.close()
        return True

    def _make_room(self, size: int, turn: int) -> bool:
        """Delete shards until so many bytes fit, as far as others do not use them; say so where they do not fit."""
        total, shards, data = 0, [], []
        for entry in os.scandir(self.directory):
            with contextlib.suppress(FileNotFoundError):
                if entry.name.endswith(_PLACE):
                    total += self._kept_place(entry.path)
                elif _DATA in entry.name:
                    data.append(entry.path)
                elif entry.name.endswith(_WHOLE):
                    status = entry.stat()
                    total += status.st_size
                    shards.append((entry.name.removesuffix(_WHOLE), status.st_mtime_ns, status.st_size, entry.path))
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
                "w+b", dir=os.path.join(self.directory, _NEEDS), suffix=".json", delete=False
            )
            fcntl.flock(file, fcntl.LOCK_EX)
        with file:
            yield cast("BinaryIO", file)
            with self._writing():
                _unlink(file.name)

    def write_needs(self, file: BinaryIO, names: Sequence[str]) -> None:
        """Say which shards a process needs from now on, the next one first."""
        with self._writing(), self._locked():
            file.seek(0)
            file.write(json.dumps(names).encode())
            file.truncate()
            file.flush()

    def _needs(self) -> dict[str, int]:
        """Return the shards that any process needs, with the smallest number of those that it needs before."""
        turns: dict[str, int] = {}
        for entry in os.scandir(os.path.join(self.directory, _NEEDS)):
            with open(entry.path, "rb") as file:
                if _try_lock(file):
                    _unlink(entry.path)
                    continue
                for turn, name in enumerate(json.loads(file.read() or b"[]")):
                    turns[name] = min(turn, turns.get(name, turn))
        return turns

    def no_room(self, shard: ShardFile) -> ConfigError:
        """Return the error of a shard for which there was no room."""
        return ConfigError(
            f"the cache may hold {self.max_bytes:,} bytes, and for {PATIENCE:.0f} s there was no room in it for the "
            f"{shard.size:,} of {shard.url}: what is in it is being read, by this process or by others that use the "
            "same folder; raise cache_bytes, take a smaller shuffle_window, or give each training a folder of its own",
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


def _try_lock(file: BinaryIO) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


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
