"""Remote shards as local files: fetched once, checked, kept in a folder that is bounded in bytes.

A file is named by its SHA-256 in the manifest, so equal shards of two builds are one file. It gets its name only when
it is whole and its checksum is right. Several processes may use one folder: each holds the shards it has opened, whose
bytes are reserved before they are fetched and which are not deleted. Of the others, those used longest ago are deleted
first. A random order reads all shards of a split all the time, so a split that does not fit as a whole is an error;
otherwise every epoch would fetch it again.

`gs://`, `s3://` and others need their fsspec package; `http://` and `https://` do not. Local shards are not copied.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import hashlib
import json
import os
import re
import tempfile
import weakref
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from bertdata.errors import BertDataError, ConfigError, InputError, OutputError
from bertdata.io import files, remote
from bertdata.io.digests import damaged
from bertdata.io.os_errors import disk_error
from bertdata.io.store_errors import store_problem
from bertdata.shards.checked import cache_directory, is_wanted
from bertdata.shards.stamps import is_marked_whole, mark_used, mark_whole

if TYPE_CHECKING:
    from bertdata.io.http import Client

_SUFFIX, _PART, _PINS, _LOCKS = ".arrow", ".fetching", ".pins", ".locks"
_SHARD = re.compile(r"[0-9a-f]{64}\.")
_PLAN = re.compile(rf"\A{re.escape(tempfile.gettempprefix())}\w+\.json\Z")
_AT_ONCE = 4
_ATTEMPTS = 5


@dataclass(frozen=True)
class ShardFile:
    """A shard as the manifest names it: its path or URL, bytes and SHA-256 (None where the manifest has none).

    begin: of a piece of a shard (`bertdata.shards.pieces`) where its bytes begin, None for a whole one.
    """

    url: str
    size: int
    sha256: str | None
    begin: int | None = None

    @property
    def shown(self) -> str:
        """What it is called in messages."""
        return self.url if self.begin is None else f"{self.url}, {self.size:,} bytes from {self.begin:,} on"


@dataclass(frozen=True)
class ShardCache:
    """A folder for remote shards that never holds more than `max_bytes` of them."""

    directory: str
    max_bytes: int = 256 << 30

    @staticmethod
    def default() -> ShardCache:
        """Return the cache that BERTDATA_CACHE and BERTDATA_CACHE_BYTES name; else ~/.cache/bertdata and 256 GiB."""
        limit = os.environ.get("BERTDATA_CACHE_BYTES") or str(256 << 30)
        if not limit.isdecimal():
            raise ConfigError(f"BERTDATA_CACHE_BYTES is {limit!r}; expected a number of bytes, as {256 << 30}")
        return ShardCache(cache_directory(), int(limit))

    def hold(self, shards: Sequence[ShardFile]) -> Held:
        """Return the local paths of shards, fetched and checked; they are not deleted as long as the list is kept.

        Raises ConfigError where they do not fit together, or not beside those that others hold, InputError that names
        the shard where one is missing, cut off or has another checksum, OutputError where the folder cannot be written.
        """
        total = sum(shard.size for shard in shards)
        if total > self.max_bytes:
            raise ConfigError(
                f"the shards have {total:,} bytes together, and the cache may hold {self.max_bytes:,}; "
                "raise BERTDATA_CACHE_BYTES, copy the shards to a local disk, or stream them: "
                "ShardDataset(url, cache=FOLDER, cache_bytes=BYTES), and `bertdata pretrain --cache FOLDER`",
                path=os.path.dirname(shards[0].url),
            )
        try:
            for folder in (_PINS, _LOCKS):
                os.makedirs(os.path.join(self.directory, folder), exist_ok=True)
            wanted = {os.path.basename(self.path(shard)): shard.size for shard in shards}
            with _locked(self.directory, "all"):
                self._make_room(wanted)
                paths = Held([self.path(shard) for shard in shards], _pin(self.directory, wanted))
            cached = [shard for shard in shards if self._touched(shard)]
            bad = self._unlink_damaged(cached) if is_wanted() else set()
            missing = [shard for shard in shards if shard not in cached or self.path(shard) in bad]
            with ThreadPoolExecutor(_AT_ONCE, "bertdata-fetch") as pool:
                list(pool.map(self._fetched, missing))
        except OSError as error:
            raise OutputError(
                f"the cache cannot be written ({error.strerror or error}); make room, or choose another BERTDATA_CACHE",
                path=self.directory,
            ) from error
        return paths

    def path(self, shard: ShardFile) -> str:
        """Return where a shard is kept."""
        return os.path.join(self.directory, shard_name(shard) + _SUFFIX)

    def _touched(self, shard: ShardFile) -> bool:
        """Return whether a shard is there, and note that it is used."""
        path = self.path(shard)
        try:
            if os.stat(path).st_size != shard.size:
                return False
            mark_used(path)
        except FileNotFoundError:
            return False
        return True

    def _unlink_damaged(self, shards: Sequence[ShardFile]) -> set[str]:
        """Delete the shards that are not what their SHA-256 says, and return their paths; each is read for it once."""
        unknown = {
            self.path(shard): shard.sha256
            for shard in shards
            if shard.sha256 is not None and not is_marked_whole(os.stat(self.path(shard)), shard.sha256)
        }
        bad = dict(damaged(list(unknown.items()), "check shards"))
        for path, sha256 in unknown.items():
            if path in bad:
                _unlink(path)
            else:
                mark_whole(path, sha256)
        return set(bad)

    def _fetched(self, shard: ShardFile) -> None:
        path = self.path(shard)
        with _locked(self.directory, os.path.basename(path)[:2]):
            if not self._touched(shard):
                part = path + _PART
                try:
                    fetch(shard.url, part)
                    require_same(part, shard)
                    if shard.sha256 is not None:
                        mark_whole(part, shard.sha256)
                    os.replace(part, path)
                finally:
                    _unlink(part)

    def _make_room(self, wanted: Mapping[str, int]) -> None:
        """Delete shards, those used longest ago first, until `wanted` fits; those that a process holds stay and count.

        Raises ConfigError where it does not fit beside what others hold.
        """
        pinned = _pinned(self.directory) | dict(wanted)
        cached = []
        for entry in own_files(self.directory):
            if entry.name.endswith(_PART) and entry.name.removesuffix(_PART) not in pinned:
                _unlink(entry.path)
            elif entry.name.endswith(_SUFFIX) and entry.name not in pinned:
                status = entry.stat()
                cached.append((status.st_atime_ns, entry.path, status.st_size))
        needed = sum(pinned.values())
        if needed > self.max_bytes:
            raise ConfigError(
                f"other processes hold {needed - sum(wanted.values()):,} bytes of the cache, and with these shards "
                f"that makes {needed:,} of the {self.max_bytes:,} it may hold; raise BERTDATA_CACHE_BYTES, wait for "
                "them, or choose another BERTDATA_CACHE",
                path=self.directory,
            )
        total = needed + sum(size for *_, size in cached)
        for _, path, size in sorted(cached):
            if total <= self.max_bytes:
                break
            _unlink(path)
            total -= size


class Held(list[str]):
    """Local paths of shards that no process deletes from the cache while this list exists."""

    def __init__(self, paths: Sequence[str], pin: BinaryIO) -> None:
        super().__init__(paths)
        self._pin = pin
        weakref.finalize(self, pin.close)


def _pin(directory: str, wanted: Mapping[str, int]) -> BinaryIO:
    """Write the shards that this process holds into a file that is locked until it is closed."""
    number, _ = tempfile.mkstemp(dir=os.path.join(directory, _PINS), suffix=".json")
    file = os.fdopen(number, "w+b")
    fcntl.flock(file, fcntl.LOCK_EX)
    file.write(json.dumps(wanted).encode())
    file.flush()
    return file


def _pinned(directory: str) -> dict[str, int]:
    """Return the sizes of the shards that processes hold, by name; files of processes that have ended are deleted."""
    pinned: dict[str, int] = {}
    for entry in own_files(os.path.join(directory, _PINS), plans=True):
        with open(entry.path, "rb") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                pinned |= json.loads(file.read())
            else:
                _unlink(entry.path)
    return pinned


def _unlink(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(path)


def read(url: str) -> bytes | None:
    """Return the bytes of a small file, None where there is none; raises InputError where it cannot be read."""
    if _is_http(url):
        from bertdata.io.http_request import NotThereError

        try:
            return _client().read(url)
        except NotThereError:
            return None
    return files.read_if_there(url)


def fetch(url: str, path: str, begin: int | None = None, size: int = 0) -> None:
    """Copy a remote file, or so many bytes of it from a place on, to a local path, after some tries.

    Raises InputError where it cannot be read, OSError where the disk is full or cannot be written.
    """
    for attempt in range(_ATTEMPTS):
        _unlink(path)
        try:
            if _is_http(url):
                if begin is None:
                    _client().fetch(url, path)
                else:
                    _client().fetch_range(url, begin, size, path)
            elif begin is None:
                fs, place = remote.file_system(url)
                fs.get_file(place, path)
            else:
                fs, place = remote.file_system(url)
                data = fs.cat_file(place, start=begin, end=begin + size)
                with open(path, "wb") as file:
                    file.write(data)
            return
        except FileNotFoundError as error:
            raise InputError("there is no such shard; the build is not whole, or was moved", path=url) from error
        except OutputError as error:  # of the client of HTTP, for which a path is what a user names
            raise disk_error(error) or OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)) from None
        except OSError as error:
            if (of_disk := disk_error(error)) is not None:
                raise of_disk from None
            if attempt == _ATTEMPTS - 1:
                raise InputError(f"cannot be fetched ({error}); check that it can be reached", path=url) from error


def fetched(url: str, path: str) -> str:
    """Copy a remote file to a local path, and return the path; raises InputError, OutputError where that fails."""
    try:
        fetch(url, path)
    except (BertDataError, FileNotFoundError):
        raise
    except OSError as error:
        raise OutputError(
            f"cannot be written ({error.strerror or error}); make room, or name another folder by TMPDIR", path=path
        ) from error
    except Exception as error:  # whatever a client of a store raises
        raise InputError(store_problem(error, url), path=url) from error
    return path


def require_size(path: str, size: int, shown: str) -> None:
    """Raise InputError, which names the file as `shown`, where a file has another size than its manifest says."""
    if (actual := files.size(path)) != size:
        problem = f"has {actual} bytes, the manifest says {size}: it was cut off or changed; build again"
        raise InputError(problem, path=shown)


def shard_name(shard: ShardFile) -> str:
    """Return what a shard is called in a cache: its SHA-256, or a hash of its URL and size."""
    return shard.sha256 or hashlib.sha256(f"{shard.url}\x1f{shard.size}".encode()).hexdigest()


def own_files(directory: str, *, plans: bool = False) -> Iterator[os.DirEntry[str]]:
    """Yield the files of a folder that have names of a cache's shards, or of the plans of processes.

    A cache may be put into a folder with other files, which are nobody's to delete: links and folders are not yielded.
    """
    with os.scandir(directory) as entries:
        for entry in entries:
            if (_PLAN if plans else _SHARD).match(entry.name) and entry.is_file(follow_symlinks=False):
                yield entry


def require_same(path: str, shard: ShardFile) -> None:
    """Raise InputError, which names a shard by its URL, where its copy has another size or SHA-256 than it should."""
    require_size(path, shard.size, shard.shown)
    if shard.sha256 is not None and (actual := files.sha256(path)) != shard.sha256:
        raise InputError(
            f"has the SHA-256 {actual}, the manifest says {shard.sha256}: it was damaged or changed; "
            "copy it again from where it was built, or build again",
            path=shard.shown,
        )


def _client() -> Client:
    """Return a client that waits for a server that restarts, which a training run should outlive."""
    from bertdata.io import http

    return http.Client(quiet=True, first_attempts=8, as_stored=True)


def _is_http(url: str) -> bool:
    return url.startswith(("http://", "https://"))


@contextlib.contextmanager
def _locked(directory: str, name: str) -> Iterator[None]:
    """Hold a lock of a cache that other processes on this machine wait for; its empty file is kept."""
    with open(os.path.join(directory, _LOCKS, name), "ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
