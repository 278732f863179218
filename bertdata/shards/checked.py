"""Local shards are compared with the SHA-256 in their manifest, and their rows checked, once, before one is read.

The result is noted in the user's cache folder by path, size, times and inode, so that other processes, the workers of a
DataLoader and later runs need not read the file again; a file that changes is compared again. One process reads on all
cores, and others that open the same shards wait for it. If the cache folder cannot be written, each process compares
for itself. BERTDATA_CHECK_SHARDS=0 or `open_shards(..., check=False)` turns the comparison off.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from typing import BinaryIO

from bertdata.engine.fingerprints import fingerprint
from bertdata.errors import ConfigError, InputError
from bertdata.io.digests import damaged
from bertdata.io.os_errors import input_error

VARIABLE = "BERTDATA_CHECK_SHARDS"
_FOLDER = "checked"
_whole: set[str] = set()
"""The marks of files that this process has found whole."""


def cache_directory() -> str:
    """Return the folder that BERTDATA_CACHE names, else ~/.cache/bertdata."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.environ.get("BERTDATA_CACHE") or os.path.join(home, "bertdata")


def is_wanted() -> bool:
    """Return whether shards are compared; raises ConfigError where BERTDATA_CHECK_SHARDS is neither 0 nor 1."""
    value = os.environ.get(VARIABLE) or "1"
    if value not in ("0", "1"):
        raise ConfigError(f"{VARIABLE} is {value!r}; expected 1, or 0 to read shards without comparing their SHA-256")
    return value == "1"


def require_whole(expected: Sequence[tuple[str, str]]) -> None:
    """Raise InputError for the first of some files (path, SHA-256) that was changed."""
    for path, problem in changed(expected).items():
        raise InputError(
            f"{problem}: this shard was damaged or changed; copy it again from where it was built, or run the same "
            f"`bertdata build` again, which makes it again ({VARIABLE}=0 reads it as it is)",
            path=path,
        )


def changed(expected: Sequence[tuple[str, str]]) -> dict[str, str]:
    """Return the files (path, SHA-256) that are not as they were written, each with what was found instead."""
    return once_each(expected, lambda files: dict(damaged(files, "check shards")))


def once_each(
    expected: Sequence[tuple[str, str]], find: Callable[[Sequence[tuple[str, str]]], dict[str, str]]
) -> dict[str, str]:
    """Return what `find` returns for files (path, what is expected of it), each of which it is called for once.

    It returns the problems of files by path; a file without one is noted, and not looked at again until it changes.
    """
    marks = {pair: _mark(*pair) for pair in expected}
    if not (unchecked := [pair for pair, mark in marks.items() if mark not in _whole]):
        return {}
    bad: dict[str, str] = {}
    with _noted(os.path.dirname(os.path.realpath(unchecked[0][0]))) as (noted, note):
        unknown = [pair for pair in unchecked if marks[pair] not in noted]
        bad = find(unknown) if unknown else {}
        note([marks[pair] for pair in unknown if pair[0] not in bad])
    _whole.update(marks[pair] for pair in unchecked if pair[0] not in bad)
    return bad


def _mark(path: str, expected: str) -> str:
    """Return the mark of a file and what is expected of it, which changes when it is written again or moved."""
    try:
        status = os.stat(path)
    except OSError as error:
        raise input_error(error, path) from error
    times = [status.st_mtime_ns, status.st_ctime_ns]
    return fingerprint(os.path.realpath(path), status.st_size, times, status.st_ino, expected)


@contextlib.contextmanager
def _noted(folder: str) -> Iterator[tuple[set[str], Callable[[Sequence[str]], None]]]:
    """Lock the notes of a folder; gives the marks in them, and a function that adds marks."""
    with contextlib.ExitStack() as stack:
        file: BinaryIO | None = None
        try:
            place = os.path.join(cache_directory(), _FOLDER)
            os.makedirs(place, exist_ok=True)
            file = stack.enter_context(open(os.path.join(place, fingerprint(folder)), "a+b"))
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            noted = set(file.read().decode("ascii", "replace").split("\n"))
        except OSError:
            noted = set()

        def note(marks: Sequence[str]) -> None:
            with contextlib.suppress(OSError):
                if file is not None and marks:
                    file.write("".join(f"{mark}\n" for mark in marks).encode())
                    file.flush()

        yield noted, note
