"""The body of a response is written to a file, whole or a range of it.

Used by `io.http`, which asks again where it is cut off.
"""

from __future__ import annotations

import contextlib
import http.client
import io
import os
from collections.abc import Iterator
from typing import Any, BinaryIO

from bertdata.errors import InputError, OutputError
from bertdata.io.files import CHUNK
from bertdata.io.http_request import TryAgainError, length_of, reason_of

LARGEST_LIST = 64 << 20
"""The bytes of a small file, at most."""


@contextlib.contextmanager
def writing(path: str) -> Iterator[None]:
    """Raise OutputError for an OSError in the block."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(f"cannot be written ({reason}); make room, or choose another --output", path=path) from error


def end_of(file: BinaryIO) -> int:
    """Return the length of a file, and go to its end."""
    return file.seek(0, os.SEEK_END)


def copy_body(response: Any, file: BinaryIO, progress: Any) -> None:
    """Append a response's body to a file, and update a tqdm progress bar; raises TryAgainError where it is cut off."""
    done, length = end_of(file), length_of(response)
    total = progress.total = None if length is None else done + length
    progress.update(done - progress.n)
    cut: str | None = None
    while cut is None:
        try:
            data = response.read(CHUNK)
        except http.client.IncompleteRead as error:
            data, cut = error.partial, "the connection was cut"
        except (OSError, http.client.HTTPException) as error:
            data, cut = b"", reason_of(error)
        if not data:
            break
        _write(file, data)
        done += len(data)
        progress.update(len(data))
    if cut or (total is not None and done < total):
        raise TryAgainError(cut or f"the connection was cut at byte {done:,} of {total:,}")


def read_past(response: Any, size: int) -> None:
    """Read so many bytes of a response's body and forget them; raises TryAgainError where it is cut off."""
    while size:
        data = _read(response, min(CHUNK, size))
        if not data:
            raise TryAgainError("the connection was cut")
        size -= len(data)


def copy_range(response: Any, file: BinaryIO, size: int) -> None:
    """Append so many bytes of a response's body to a file; raises TryAgainError where it is cut off."""
    length, done = length_of(response), 0
    while done < size and (data := _read(response, min(CHUNK, size - done))):
        _write(file, data)
        done += len(data)
    if done < size and (length is None or done < length):
        raise TryAgainError(f"the connection was cut after {done:,} of {size:,} bytes")


def _read(response: Any, size: int) -> bytes:
    try:
        data: bytes = response.read(size)
    except http.client.IncompleteRead as error:
        return error.partial
    except (OSError, http.client.HTTPException) as error:
        raise TryAgainError(reason_of(error)) from error
    return data


def _write(file: BinaryIO, data: bytes) -> None:
    if isinstance(file, io.BytesIO) and file.tell() + len(data) > LARGEST_LIST:
        raise InputError("the server sends more than a short list; check --mirror")
    with writing(getattr(file, "name", "memory")):
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]
