"""Files that must not change while they are read: their states before, compared with those after.

A state is what a file system says of a file without reading it: of a local file its size, and the times of its last
modification and of the last change of its entry, which no program sets, so that a file of the same size and the same
time of modification has another state; of a file in a store its size and its ETag or version. What a block reads of
local files is read again as well (`bertdata.io.checksums`): one that is mapped to memory changes without a time.
"""

from __future__ import annotations

import contextlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from bertdata.errors import InputError
from bertdata.io import files, listed, listing, remote
from bertdata.io.checksums import Checksums, checksums
from bertdata.io.os_errors import input_error
from bertdata.io.paths import folder as folder_of

GONE = "gone"
_LISTED = 8
"""A folder of which so many files are asked for is listed."""
_REMEDY = (
    "what was read would be a mixture, so nothing of it is kept: wait until it is written, or give a copy that nobody "
    "writes, and run the same command again"
)


def file_states(paths: Iterable[str], *, again: bool = False) -> dict[str, str]:
    """Return the state of each file, `GONE` where there is none; `again` asks stores anew, not their listings.

    Files at URLs are asked for many at once, those of one folder by a listing of it where they are several.
    """
    paths = list(dict.fromkeys(paths))
    states = {path: _state(path, again) for path in paths if not files.is_remote(path)}
    remaining = [path for path in paths if path not in states]
    if again:
        folders = Counter(folder_of(path) for path in remaining)
        for folder in (candidate for candidate, number in folders.items() if number >= _LISTED):
            of_name = listing.entries(folder)
            for path in (path for path in remaining if folder_of(path) == folder):
                entry = of_name.get(files.name(path))
                if entry is None or entry.version:
                    states[path] = f"{entry.size}:{entry.version}" if entry else GONE
        remaining = [path for path in remaining if path not in states]
    states |= zip(remaining, remote.at_once(lambda path: _state(path, again), remaining), strict=True)
    return {path: states[path] for path in paths}


def _state(path: str, again: bool) -> str:
    try:
        if not files.is_remote(path):
            status = os.stat(path)
            return f"{status.st_size}:{status.st_mtime_ns}:{status.st_ctime_ns}"
        with remote.reading(path) as (fs, place):
            listed_info = None if again else listed.info(path)
            if again:
                fs.invalidate_cache()
            info = listed_info or fs.info(place)
            return f"{info['size']}:{remote.version(info) or listed.tag(fs, info)}"
    except (FileNotFoundError, NotADirectoryError):
        return GONE
    except OSError as error:
        raise input_error(error, path) from error


def changed(states: Mapping[str, str]) -> dict[str, str]:
    """Return the files whose state has changed, with their new states."""
    now = file_states(states, again=True)
    return {path: now[path] for path, state in states.items() if now[path] != state}


def require_unchanged(states: Mapping[str, str]) -> None:
    """Raise InputError for the first file whose state has changed, naming it and what changed."""
    for path, now in changed(states).items():
        raise _error(path, states[path], now)


@contextlib.contextmanager
def unchanged(states: Mapping[str, str]) -> Iterator[None]:
    """Raise InputError where a file changes in a block, also in the place of an error that the block raises.

    So is a local file whose bytes are others now than those that this thread read of it in the block.
    """
    with checksums(path for path in states if not files.is_remote(path)) as read:
        try:
            yield
        except Exception as error:
            for path, now in changed(states).items():
                raise _error(path, states[path], now) from error
            _require_as_read(read, error)
            raise
    require_unchanged(states)
    _require_as_read(read)


def _require_as_read(read: Checksums, cause: Exception | None = None) -> None:
    """Raise InputError for the first file whose bytes are no longer those that were read."""
    try:
        for path, place in read.changed():
            where = "in a part that was mapped to memory" if place is None else f"after the first {place:,}"
            what = f"its bytes {where} are others than those that were read, though its times are the same"
            raise _changed(path, what) from cause
    except OSError as error:
        raise input_error(error, str(error.filename)) from error


def is_same_version(before: str, after: str) -> bool:
    """Return whether states of a file have the same size and time of modification, by which parts are known.

    >>> is_same_version("9:1:1", "9:1:2"), is_same_version("9:1:1", "9:2:2"), is_same_version("9:tag", GONE)
    (True, False, False)
    """
    return before.split(":")[:2] == after.split(":")[:2]


def _error(path: str, before: str, after: str) -> InputError:
    if after == GONE:
        return InputError(f"was deleted or moved while it was read; {_REMEDY}", path=path)
    if before == GONE:
        return InputError(f"was written while it was read; {_REMEDY}", path=path)
    (size, *old), (other, *new) = before.split(":"), after.split(":")
    if size != other:
        what = f"it had {int(size):,} bytes and has {int(other):,} now"
    elif files.is_remote(path):
        what = f"the store has another version of it ({':'.join(new)} in the place of {':'.join(old)})"
    elif old[0] != new[0]:
        what = f"it was written again at {_time(new[0])}"
    else:
        what = f"it was replaced, or its time was set, at {_time(new[1])}"
    return _changed(path, what)


def _changed(path: str, what: str) -> InputError:
    return InputError(f"changed while it was read: {what}; {_REMEDY}", path=path)


def _time(nanoseconds: str) -> str:
    return datetime.fromtimestamp(int(nanoseconds) // 10**9).isoformat(" ")
