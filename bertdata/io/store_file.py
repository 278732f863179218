"""Files at URLs as Python's own files: fsspec's lack parts of that protocol, as `readline` with a limit and `peek`."""

from __future__ import annotations

import io
from typing import Any

from bertdata.errors import BertDataError, InputError
from bertdata.io.store_errors import store_problem


class StoreFile(io.RawIOBase):
    """A file of an fsspec file system being read, whose errors are InputErrors that name its URL.

    It keeps its file system: those of archives close their files when nothing refers to them.
    """

    def __init__(self, fs: Any, file: Any, url: str) -> None:
        super().__init__()
        self._fs, self._file, self._url = fs, file, url

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return bool(self._file.seekable())

    def readinto(self, buffer: Any) -> int:
        try:
            data = self._file.read(len(buffer))
        except (BertDataError, MemoryError):
            raise
        except Exception as error:
            raise InputError(store_problem(error, self._url), path=self._url) from error
        buffer[: len(data)] = data
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return int(self._file.seek(offset, whence))

    def tell(self) -> int:
        return int(self._file.tell())

    def close(self) -> None:
        if not self.closed:
            self._file.close()
        super().close()
