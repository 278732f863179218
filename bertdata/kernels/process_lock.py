"""A lock by name among processes that share a folder, so that one of them compiles a kernel and the others load it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import threading
import zlib
from collections.abc import Iterator

FILE = ".bertdata-lock"
"""The file whose bytes are locked: that at the CRC-32 of a name is the lock of the name."""
_threads = threading.RLock()
_files: dict[tuple[int, str], int] = {}


@contextlib.contextmanager
def held(folder: str | None, name: str) -> Iterator[None]:
    """Hold the lock of a name until the context is left; where there is no folder that can be locked, hold nothing.

    One thread of a process holds locks at a time, also several. The operating system releases those of a process that
    dies.
    """
    if not folder:
        yield
        return
    with _threads:
        place = zlib.crc32(name.encode())
        file = None
        with contextlib.suppress(OSError):
            file = _opened(folder)
            fcntl.lockf(file, fcntl.LOCK_EX, 1, place)
        try:
            yield
        finally:
            if file is not None:
                with contextlib.suppress(OSError):
                    fcntl.lockf(file, fcntl.LOCK_UN, 1, place)


def _opened(folder: str) -> int:
    """Return a descriptor of the file of a folder, opened once by each process: closing it would release all locks."""
    key = os.getpid(), folder
    if key not in _files:
        _files[key] = os.open(os.path.join(folder, FILE), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    return _files[key]
