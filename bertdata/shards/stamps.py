"""Copies in a cache folder say by their times that they are whole, and when they were used.

The time of modification of a copy that was compared with its SHA-256 is a function of that SHA-256, in the years 1970
to 1987. Whoever writes to it later changes the time, and it is compared again. The time of access is that of the last
use, whether or not the file system keeps it by itself.
"""

from __future__ import annotations

import contextlib
import os
import time

_SECOND = 1_000_000_000


def whole_time(sha256: str) -> int:
    """Return the time of modification of a whole copy, in nanoseconds since 1970: even seconds, as any disk keeps.

    >>> whole_time("00000b" + "0" * 58)
    352000000000
    """
    return 2 * int(sha256[:7], 16) * _SECOND


def mark_whole(file: str | int, sha256: str) -> None:
    """Say of a file, by path or descriptor, that it was compared with its SHA-256 just now, and is used."""
    os.utime(file, ns=(time.time_ns(), whole_time(sha256)))


def mark_used(file: str | int) -> None:
    """Say of a file, by path or descriptor, that it is used; of another user's only the file system can."""
    with contextlib.suppress(PermissionError):
        os.utime(file, ns=(time.time_ns(), os.stat(file).st_mtime_ns))


def is_marked_whole(status: os.stat_result, sha256: str) -> bool:
    """Tell whether a file was compared with its SHA-256, and not written to since."""
    return status.st_mtime_ns == whole_time(sha256)
