"""Responses of HTTP servers: headers and bodies are checked, temporary errors are distinguished from others."""

from __future__ import annotations

import contextlib
import http.client
import io
import os
import re
import shutil
import time
import urllib.error
from collections.abc import Iterator
from email.utils import parsedate_to_datetime
from typing import Any, BinaryIO

from bertdata.errors import InputError, OutputError
from bertdata.io.files import CHUNK

_LARGEST_LIST = 64 << 20
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_ABSENT = frozenset({403, 404, 410})


class NotThereError(InputError):
    """The server has no such file, or does not give access to it (HTTP 404, 410, 403)."""


class TryAgainError(Exception):
    """A temporary error, such as a lost connection or a busy server; `after`: the seconds the server asks to wait."""

    def __init__(self, reason: str, after: float = 0.0) -> None:
        super().__init__(reason)
        self.after = after


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


def reason_of(error: object) -> str:
    """Return the message of an error, or its class if it has none."""
    return str(getattr(error, "strerror", None) or error) or type(error).__name__


def length_of(response: Any) -> int | None:
    """Return the Content-Length of a response, None where it is missing or not a number in ASCII digits.

    >>> from types import SimpleNamespace
    >>> [length_of(SimpleNamespace(headers={"Content-Length": text})) for text in ("12", "\u00b2", "", "9" * 5000)]
    [12, None, None, None]
    """
    value = response.headers.get("Content-Length") or ""
    return int(value) if re.fullmatch(r"[0-9]{1,18}", value) else None


def begins_at(response: Any, start: int) -> bool:
    """Return whether a response is the range of a file that begins at a byte."""
    content_range = response.headers.get("Content-Range") or ""
    return response.status == 206 and content_range.startswith(f"bytes {start}-")


def check_response(response: Any, file: BinaryIO, url: str) -> None:
    """Raise InputError for a web page or a list that is too long, OutputError where the disk is too small."""
    length, path = length_of(response) or 0, getattr(file, "name", None)
    if response.headers.get_content_type() == "text/html" and not url.endswith(("/", ".html")):
        response.close()
        raise InputError("the server sent a web page instead of the file; check --mirror", path=url)
    free = _LARGEST_LIST if path is None else shutil.disk_usage(os.path.dirname(path) or ".").free
    if length > free:
        response.close()
        if path is None:
            raise InputError(f"has {length:,} bytes; expected a short list: check --mirror", path=url)
        raise OutputError(f"{length:,} bytes are missing, {free:,} are free; make room, or move --output", path=path)


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


def _write(file: BinaryIO, data: bytes) -> None:
    if isinstance(file, io.BytesIO) and file.tell() + len(data) > _LARGEST_LIST:
        raise InputError("the server sends more than a short list; check --mirror")
    with writing(getattr(file, "name", "memory")):
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]


def http_error(error: urllib.error.HTTPError, url: str) -> Exception:
    """Return the error for a response with an error code: TryAgainError if it may be temporary."""
    if error.code in _PASSING:
        return TryAgainError(f"HTTP {error.code} {error.reason}", retry_after(error.headers.get("Retry-After")))
    if error.code in _ABSENT:
        return NotThereError(f"is not there (HTTP {error.code}); check the name and --mirror", path=url)
    return InputError(f"the server refused (HTTP {error.code} {error.reason}); check --mirror", path=url)


def retry_after(value: str | None) -> float:
    """Return the seconds of a Retry-After header, a number or a date; 0 for anything else.

    >>> retry_after("7"), retry_after("soon"), retry_after("Thu, 01 Jan 1970 00:00:00 GMT")
    (7.0, 0.0, 0.0)
    """
    if value is None or re.fullmatch(r"\s*[0-9]{1,18}\s*", value):
        return float(value or 0)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return 0.0
