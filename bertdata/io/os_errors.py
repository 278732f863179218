"""Errors of the operating system: what ran out, as a message with a remedy, and files that raise errors of bertdata."""

from __future__ import annotations

import errno
import io
import os
import re
import resource
from typing import Any

from bertdata.errors import ConfigError, InputError, OutputError
from bertdata.io.checksums import checksums_of

MEMORY = "there is not enough memory; give it more (ulimit -v says what it may use), or use fewer --workers"

_FILES = "too many files are open; allow more (ulimit -n 4096), or use fewer --workers"
_DISK = "no space left on the disk; free some (temporary files go to TMPDIR) and run the same command again"
_DRIVE = "the disk or the network drive failed (input/output error); check it, and copy the file"
_BY_NUMBER = {
    errno.EMFILE: _FILES,
    errno.ENFILE: _FILES,
    errno.ENOMEM: MEMORY,
    errno.EIO: _DRIVE,
    errno.ENOSPC: _DISK,
    errno.EDQUOT: _DISK,
}
_NO_MEMORY = re.compile(
    "MemoryError|Cannot allocate memory|can't start new thread|failed to map segment|malloc of size .{1,40} failed|"
    "bad_alloc|LLVM.{0,200}memory|Out of memory"
)


def limit_of(error: BaseException) -> str | None:
    """Return what ran out or failed on this machine, and what to do; None if no error in the chain of causes says so.

    >>> limit_of(OSError(errno.EMFILE, "Too many open files"))
    'too many files are open; allow more (ulimit -n 4096), or use fewer --workers'
    """
    seen: set[int] = set()
    cause: BaseException | None = error
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        if isinstance(cause, OSError) and cause.errno in _BY_NUMBER:
            return _BY_NUMBER[cause.errno]
        text = f"{type(cause).__name__}: {cause}"
        if "Too many open files" in text:
            return _FILES
        if _NO_MEMORY.search(text) or (isinstance(cause, SystemError) and "without" in text and _memory_is_limited()):
            return MEMORY
        cause = cause.__cause__ or cause.__context__
    return None


def lacks_memory(error: BaseException) -> bool:
    """Tell whether an error is that memory ran out; it is not where a damaged length asked for more than there is.

    >>> [lacks_memory(MemoryError(f"malloc of size {size} failed")) for size in (64, 1 << 60)]
    [True, False]
    """
    size = re.search(r"of size ([0-9]{1,20}) ", str(error))
    installed = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return isinstance(error, MemoryError) and not (size and int(size[1]) > installed)


def disk_error(error: BaseException | None) -> OSError | None:
    """Return the error of a disk that is full or may not be written, of an error or its causes; None if none is.

    >>> disk_error(OSError(errno.ENOSPC, "No space left on device"))
    OSError(28, 'No space left on device')
    """
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EROFS):
            return error
        error = error.__cause__
    return None


def _memory_is_limited() -> bool:
    """Tell whether `ulimit -v` is set: an extension module that gets no memory then often fails without a reason."""
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def require_address_space(least: int, what: str) -> None:
    """Raise ConfigError where the address space is limited (`ulimit -v`) to fewer than the `least` bytes of `what`.

    Libraries that get no memory for their threads abort the process or wait forever, so the error is raised before they
    start.
    """
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit != resource.RLIM_INFINITY and limit < least:
        raise ConfigError(
            f"there is not enough memory: the address space is limited to {limit >> 20:,} MiB (ulimit -v), and {what} "
            f"takes at least {least >> 20:,} MiB; raise the limit, or set none"
        )


class ReadFile(io.FileIO):
    """A local file being read, whose errors are InputErrors that name it.

    What it reads is noted where that is asked for (`bertdata.io.checksums`).
    """

    def __init__(self, path: str) -> None:
        super().__init__(path, "rb")
        self._path, self._checksums = path, checksums_of(path)

    def readinto(self, buffer: Any) -> int:
        try:
            size = super().readinto(buffer)
            if self._checksums:
                self._checksums.add(self._path, self.tell() - size, memoryview(buffer).cast("B")[:size])
            return size
        except OSError as error:
            raise input_error(error, self._path) from error

    def readall(self) -> bytes:
        try:
            data = super().readall()
            if self._checksums:
                self._checksums.add(self._path, self.tell() - len(data), data)
            return data
        except OSError as error:
            raise input_error(error, self._path) from error


class WrittenFile(io.FileIO):
    """A local file being written under a temporary name, whose errors are OutputErrors that name its final path."""

    def __init__(self, descriptor: int, path: str) -> None:
        super().__init__(descriptor, "wb")
        self._path = path

    def write(self, data: Any) -> int:
        try:
            return super().write(data)
        except OSError as error:
            raise output_error(error, self._path) from error


def input_error(error: OSError, path: str) -> InputError:
    """Return what to raise where the operating system cannot read a file."""
    if isinstance(error, IsADirectoryError):
        return InputError("is a folder; expected a file: name those in it", path=path)
    if limit := limit_of(error):
        return InputError(f"cannot be read: {limit}", path=path)
    remedy = "check that it can be reached"
    if isinstance(error, PermissionError):
        remedy = "make it readable (chmod u+r, of a folder u+rx), or ask its owner to"
    return InputError(f"cannot be read ({error.strerror or error}); {remedy}", path=path)


def output_error(error: OSError, path: str) -> OutputError:
    """Return what to raise where the operating system cannot write a file."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return OutputError(
            "no space left to write this file; make room and run the same command again: what is done is kept",
            path=path,
        )
    return OutputError(f"cannot be written ({error.strerror or error}); choose another place", path=path)
