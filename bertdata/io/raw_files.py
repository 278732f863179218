"""Local files whose own errors are raised as InputError and OutputError, with what to do."""

from __future__ import annotations

import errno
import io
from typing import Any

from bertdata.errors import InputError, OutputError
from bertdata.io.limits import limit_of


class ReadFile(io.FileIO):
    """A file being read, whose errors name it."""

    def __init__(self, path: str) -> None:
        super().__init__(path, "rb")
        self._path = path

    def readinto(self, buffer: Any) -> int:
        try:
            return super().readinto(buffer)
        except OSError as error:
            raise input_error(error, self._path) from error

    def readall(self) -> bytes:
        try:
            return super().readall()
        except OSError as error:
            raise input_error(error, self._path) from error


class WrittenFile(io.FileIO):
    """A file being written under a temporary name, whose errors name its final path."""

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
    if told := limit_of(error):
        return InputError(f"cannot be read: {told}", path=path)
    return InputError(f"cannot be read ({error.strerror or error}); check that it can be reached", path=path)


def output_error(error: OSError, path: str) -> OutputError:
    """Return what to raise where the operating system cannot write a file."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return OutputError(
            "no space left to write this file; make room and run the same command again: what is done is kept",
            path=path,
        )
    return OutputError(f"cannot be written ({error.strerror or error}); choose another place", path=path)
