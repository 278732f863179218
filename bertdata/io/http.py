"""Downloads of single files over HTTP: resumed with Range, retried after failures, compared with their SHA-1.

One connection at a time; pauses are those of Retry-After, or grow exponentially; redirects are followed to http and
https only. A file that is not complete and checked is named `.part`. Used by `bertdata download` and by the cache of
shards that are read over HTTP (`shards.cache`); other file systems, such as `s3://`, are fsspec's.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import io
import os
import re
import shutil
import ssl
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import cache, partial
from typing import Any, BinaryIO

from bertdata import __version__
from bertdata.errors import InputError, OutputError
from bertdata.io import files
from bertdata.io.files import CHUNK

USER_AGENT = f"bertdata/{__version__}"
_LONGEST_PAUSE = 60.0
_LONGEST_RETRY_AFTER = 600.0
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


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to http and https only, not to ftp as urllib does."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        if not re.match(r"https?://", newurl, re.IGNORECASE):
            raise InputError(
                f"the server redirects to {newurl!r}; expected http or https: check --mirror", path=req.full_url
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


@cache
def _opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(_Redirects)


@dataclass(frozen=True)
class Client:
    """How files are fetched.

    attempts: tries without progress before giving up; the pauses between them grow exponentially. timeout: seconds
    without data after which a connection counts as lost. pause: seconds between two files.
    """

    attempts: int = 8
    timeout: float = 60.0
    pause: float = 0.0
    sleep: Callable[[float], None] = time.sleep
    quiet: bool = False

    def fetch(self, url: str, path: str, *, sha1: str | None = None) -> str:
        """Fetch a file to a local path, unless it exists, and return the path.

        A partial file of an earlier run is resumed only where `sha1` is given to check the result. Raises
        NotThereError; InputError where the server refuses, does not answer or sends wrong bytes, or where an existing
        file has another SHA-1; and OutputError where the file cannot be written.
        """
        if os.path.exists(path):
            with open(path, "rb") as file:
                if sha1 is not None and (digest := _sha1(file)) != sha1:
                    raise InputError(
                        f"exists, but has the SHA-1 {digest}, and the server's list says {sha1}; "
                        "delete it and run the same command again",
                        path=path,
                    )
            return path
        part = path + ".part"
        with _open_part(part) as file:
            if sha1 is None:
                file.truncate(0)
            resumed = _end_of(file) > 0
            self._fetch_whole(url, file, path)
            if sha1 is not None and resumed and _sha1(file) != sha1:
                self._say(f"{files.name(path)}: the part of an earlier run is of another file: starting again")
                file.truncate(0)
                self._fetch_whole(url, file, path)
            if sha1 is not None and (digest := _sha1(file)) != sha1:
                os.unlink(part)
                raise InputError(
                    f"has the SHA-1 {digest}, the server's list says {sha1}; the download was deleted: "
                    "run the same command again, or choose another --mirror",
                    path=url,
                )
            with _writing(path):
                os.fsync(file.fileno())
                os.replace(part, path)
        self.sleep(self.pause)
        return path

    def read(self, url: str) -> bytes:
        """Return the bytes of a small file, such as a list of checksums, of at most 64 MiB; raises as `fetch` does."""
        file = io.BytesIO()
        self._fetch_whole(url, file, None)
        return file.getvalue()

    def _fetch_whole(self, url: str, file: BinaryIO, path: str | None) -> None:
        """Append the missing bytes of a file, over several connections if need be."""
        validator: str | None = None
        failures = 0
        with _progress_bar(None if self.quiet else path, _end_of(file)) as progress:
            while True:
                before = _end_of(file)
                try:
                    response, validator = self._ask(url, file, validator)
                    if response is not None:
                        with response:
                            _copy_body(response, file, progress)
                    return
                except TryAgainError as error:
                    failures = 1 if _end_of(file) > before else failures + 1
                    problem = ""
                    if failures >= self.attempts:
                        problem = f"gave up after {failures} tries without progress"
                    elif error.after > _LONGEST_RETRY_AFTER:
                        problem = f"the server asks to come back in {error.after:.0f} seconds"
                    if problem:
                        remedy = "run the same command again later, which continues, or choose another --mirror"
                        raise InputError(f"{problem} ({error}); {remedy}", path=url) from error
                    pause = max(error.after, min(_LONGEST_PAUSE, 2.0 ** (failures - 1)))
                    self._say(f"{files.name(url)}: {error}; again in {pause:.0f} s")
                    self.sleep(pause)

    def _ask(self, url: str, file: BinaryIO, validator: str | None) -> tuple[Any, str | None]:
        """Request the bytes after the end of a file; returns the response, None if there are none, and a validator."""
        start = _end_of(file)
        headers = {"User-Agent": USER_AGENT, "Accept-Encoding": "identity"}
        if start:
            headers["Range"] = f"bytes={start}-"
            if validator:
                headers["If-Range"] = validator
        try:
            response = _opener().open(urllib.request.Request(url, headers=headers), timeout=self.timeout)
        except urllib.error.HTTPError as error:
            with error:
                if error.code != 416 or not start:
                    raise _http_error(error, url) from error
                if error.headers.get("Content-Range", "").strip() == f"bytes */{start}":
                    return None, validator
                file.truncate(0)
                raise TryAgainError("the partial file is longer than the server's file") from error
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            if isinstance(reason, ssl.SSLCertVerificationError):
                raise InputError(
                    f"the server's certificate is not valid ({reason}); check --mirror", path=url
                ) from error
            raise TryAgainError(_reason_of(reason)) from error
        except ValueError as error:
            raise InputError(f"is, or redirects to, no valid address ({error}); check --mirror", path=url) from error
        content_range = response.headers.get("Content-Range") or ""
        if start and not (response.status == 206 and content_range.startswith(f"bytes {start}-")):
            file.truncate(0)
            file.seek(0)
            if response.status == 206:
                response.close()
                raise TryAgainError("the server sent another range than the one requested")
        _check_response(response, file, url)
        tag = response.headers.get("ETag", "")
        return response, tag if tag.startswith('"') else response.headers.get("Last-Modified")

    def _say(self, text: str) -> None:
        if not self.quiet:
            print(text, file=sys.stderr)


def _progress_bar(path: str | None, done: int) -> Any:
    """Return a tqdm progress bar that begins at some bytes; it shows nothing without a path."""
    from tqdm import tqdm

    terminal = sys.stderr.isatty()
    return tqdm(
        initial=done,
        desc=files.name(path or ""),
        unit="B",
        unit_scale=True,
        file=sys.stderr,
        mininterval=0.2 if terminal else 30.0,
        ascii=not terminal,
        disable=path is None,
    )


@contextlib.contextmanager
def _open_part(path: str) -> Iterator[BinaryIO]:
    """Open and lock a partial file; one that stays empty is deleted."""
    import fcntl

    with _writing(path):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        file = open(path, "a+b", buffering=0)  # noqa: SIM115
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise OutputError("another download is writing this file; wait for it", path=path) from error
        try:
            yield file
        finally:
            if os.fstat(file.fileno()).st_size == 0:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(path)


def _sha1(file: BinaryIO) -> str:
    file.seek(0)
    return hashlib.file_digest(file, partial(hashlib.sha1, usedforsecurity=False)).hexdigest()  # type: ignore[arg-type]


@contextlib.contextmanager
def _writing(path: str) -> Iterator[None]:
    """Raise OutputError for an OSError in the block."""
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(f"cannot be written ({reason}); make room, or choose another --output", path=path) from error


def _end_of(file: BinaryIO) -> int:
    """Return the length of a file, and go to its end."""
    return file.seek(0, os.SEEK_END)


def _reason_of(error: object) -> str:
    """Return the message of an error, or its class if it has none."""
    return str(getattr(error, "strerror", None) or error) or type(error).__name__


def _length_of(response: Any) -> int | None:
    """Return the Content-Length of a response, None where it is missing or not a number in ASCII digits.

    >>> from types import SimpleNamespace
    >>> [_length_of(SimpleNamespace(headers={"Content-Length": text})) for text in ("12", "\u00b2", "", "9" * 5000)]
    [12, None, None, None]
    """
    value = response.headers.get("Content-Length") or ""
    return int(value) if re.fullmatch(r"[0-9]{1,18}", value) else None


def _check_response(response: Any, file: BinaryIO, url: str) -> None:
    """Raise InputError for a web page or a list that is too long, OutputError where the disk is too small."""
    length, path = _length_of(response) or 0, getattr(file, "name", None)
    if response.headers.get_content_type() == "text/html" and not url.endswith(("/", ".html")):
        response.close()
        raise InputError("the server sent a web page instead of the file; check --mirror", path=url)
    free = _LARGEST_LIST if path is None else shutil.disk_usage(os.path.dirname(path) or ".").free
    if length > free:
        response.close()
        if path is None:
            raise InputError(f"has {length:,} bytes; expected a short list: check --mirror", path=url)
        raise OutputError(f"{length:,} bytes are missing, {free:,} are free; make room, or move --output", path=path)


def _copy_body(response: Any, file: BinaryIO, progress: Any) -> None:
    """Append a response's body to a file, and update a tqdm progress bar; raises TryAgainError where it is cut off."""
    done, length = _end_of(file), _length_of(response)
    total = progress.total = None if length is None else done + length
    progress.update(done - progress.n)
    cut: str | None = None
    while cut is None:
        try:
            data = response.read(CHUNK)
        except http.client.IncompleteRead as error:
            data, cut = error.partial, "the connection was cut"
        except (OSError, http.client.HTTPException) as error:
            data, cut = b"", _reason_of(error)
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
    with _writing(getattr(file, "name", "memory")):
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]


def _http_error(error: urllib.error.HTTPError, url: str) -> Exception:
    """Return the error for a response with an error code: TryAgainError if it may be temporary."""
    if error.code in _PASSING:
        return TryAgainError(f"HTTP {error.code} {error.reason}", _retry_after(error.headers.get("Retry-After")))
    if error.code in _ABSENT:
        return NotThereError(f"is not there (HTTP {error.code}); check the name and --mirror", path=url)
    return InputError(f"the server refused (HTTP {error.code} {error.reason}); check --mirror", path=url)


def _retry_after(value: str | None) -> float:
    """Return the seconds of a Retry-After header, a number or a date; 0 for anything else.

    >>> _retry_after("7"), _retry_after("soon"), _retry_after("Thu, 01 Jan 1970 00:00:00 GMT")
    (7.0, 0.0, 0.0)
    """
    if value is None or re.fullmatch(r"\s*[0-9]{1,18}\s*", value):
        return float(value or 0)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return 0.0
