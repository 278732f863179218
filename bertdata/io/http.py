"""One file over HTTP, whole and checked: resumed with Range, tried again after cuts, compared with its SHA-1.

One connection at a time, a user agent that says who asks, pauses that the server decides (Retry-After) or that grow.
Redirects are followed to http and https alone. What is not whole and checked is named `.part`. `bertdata download` uses
it, and the cache of shards that are read over HTTP (`shards.cache`); file systems such as `s3://` go through fsspec.
"""

from __future__ import annotations

import contextlib
import functools
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
from typing import Any, BinaryIO

from bertdata import __version__
from bertdata.errors import InputError, OutputError
from bertdata.io import files

USER_AGENT = f"bertdata/{__version__}"
_CHUNK = 1 << 20
_LARGEST_LIST = 64 << 20
_LONGEST_PAUSE = 60.0
_LONGEST_RETRY_AFTER = 600.0
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_ABSENT = frozenset({403, 404, 410})

Advance = Callable[[int, int | None], None]


class NotThereError(InputError):
    """The server has no such file, or shows it to nobody (HTTP 404, 410, 403)."""


class _TryAgainError(Exception):
    """What may pass: a cut connection, a busy server. `after` is how many seconds the server asks to wait."""

    def __init__(self, reason: str, after: float = 0.0) -> None:
        super().__init__(reason)
        self.after = after


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to http and https alone; urllib's own handler follows them to ftp, too."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        if not re.match(r"https?://", newurl, re.IGNORECASE):
            raise InputError(
                f"the server redirects to {newurl!r}; expected http or https: check --mirror", path=req.full_url
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


@functools.cache
def _opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(_Redirects)


@dataclass(frozen=True)
class Client:
    """How files are fetched: tries without progress before giving up; seconds before the second try, doubled with each
    further one, of silence before a connection counts as cut, and between two files.
    """

    attempts: int = 8
    backoff: float = 1.0
    timeout: float = 60.0
    pause: float = 0.0
    sleep: Callable[[float], None] = time.sleep
    quiet: bool = False

    def fetch(self, url: str, path: str, *, sha1: str | None = None) -> str:
        """Fetch a file to a local path and return the path; a file that is there with this SHA-1 is left as it is.

        A part that an earlier run left is gone on with only where `sha1` will tell whether it fits. Raises
        NotThereError, InputError where the server refuses, does not answer or sends other bytes than it said, and
        OutputError where the file cannot be written.
        """
        if os.path.exists(path):
            _check_finished(path, sha1)
            return path
        part = path + ".part"
        with _open_part(part) as file:
            if sha1 is None:
                file.truncate(0)
            resumed = _end(file) > 0
            self._fetch_whole(url, file, path)
            if sha1 is not None and resumed and _sha1(file) != sha1:
                self._say(f"{files.name(path)}: the part from an earlier run does not fit, so from the start")
                file.truncate(0)
                self._fetch_whole(url, file, path)
            if sha1 is not None and (found := _sha1(file)) != sha1:
                os.unlink(part)
                raise InputError(
                    f"has the SHA-1 {found}, the server's list says {sha1}; what came was deleted: "
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
        """Append what is missing of a file, over as many connections as it takes, one after another."""
        validator: str | None = None
        failures = 0
        with _progress(None if self.quiet else path, _end(file)) as advance:
            while True:
                before = _end(file)
                try:
                    response, validator = self._ask(url, file, validator)
                    if response is not None:
                        with response:
                            _copy(response, file, advance)
                    return
                except _TryAgainError as error:
                    failures = 1 if _end(file) > before else failures + 1
                    if failures >= self.attempts:
                        raise InputError(
                            f"gave up after {failures} tries without progress ({error}); run the same command again "
                            "to go on, or choose another --mirror",
                            path=url,
                        ) from error
                    if error.after > _LONGEST_RETRY_AFTER:
                        raise InputError(
                            f"the server asks to come back in {error.after:.0f} seconds ({error}); run the same "
                            "command again then, or choose another --mirror",
                            path=url,
                        ) from error
                    pause = max(error.after, min(_LONGEST_PAUSE, self.backoff * 2 ** (failures - 1)))
                    self._say(f"{files.name(url)}: {error}; again in {pause:.0f} s")
                    self.sleep(pause)

    def _ask(self, url: str, file: BinaryIO, validator: str | None) -> tuple[Any, str | None]:
        """Ask for what is behind the end of a file; the answer is None where nothing is."""
        start = _end(file)
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
                raise _TryAgainError("what is there is longer than the server's file") from error
        except (OSError, http.client.HTTPException) as error:
            reason = getattr(error, "reason", error)
            if isinstance(reason, ssl.SSLCertVerificationError):
                raise InputError(
                    f"the server's certificate is not valid ({reason}); check --mirror", path=url
                ) from error
            raise _TryAgainError(_text(reason)) from error
        except ValueError as error:
            raise InputError(f"is, or redirects to, no valid address ({error}); check --mirror", path=url) from error
        if start and not _begins_at(response, start):
            file.truncate(0)
            file.seek(0)
            if response.status == 206:
                response.close()
                raise _TryAgainError("the server sent another range than it was asked for")
        _check_response(response, file, url)
        tag = response.headers.get("ETag", "")
        return response, tag if tag.startswith('"') else response.headers.get("Last-Modified")

    def _say(self, text: str) -> None:
        if not self.quiet:
            print(text, file=sys.stderr)


@contextlib.contextmanager
def _progress(path: str | None, done: int) -> Iterator[Advance]:
    """Give what shows progress, as (bytes there, bytes in all or None); nothing is shown where there is no path."""
    if path is None:
        yield lambda done, total: None
        return
    from tqdm import tqdm

    terminal = sys.stderr.isatty()
    bar: tqdm[Any] | None = None

    def advance(done: int, total: int | None) -> None:
        nonlocal bar
        if bar is None:
            bar = tqdm(
                initial=done,
                desc=files.name(path),
                unit="B",
                unit_scale=True,
                file=sys.stderr,
                mininterval=0.2 if terminal else 30.0,
                ascii=not terminal,
            )
        bar.total = total
        bar.update(done - bar.n)

    try:
        yield advance
    finally:
        if bar is not None:
            bar.close()


@contextlib.contextmanager
def _writing(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(f"cannot be written ({reason}); make room, or choose another --output", path=path) from error


@contextlib.contextmanager
def _open_part(path: str) -> Iterator[BinaryIO]:
    """Open a part for this process alone; an empty one is not left behind."""
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


def _end(file: BinaryIO) -> int:
    return file.seek(0, os.SEEK_END)


def _text(error: object) -> str:
    return str(getattr(error, "strerror", None) or error) or type(error).__name__


def _length(response: Any) -> int | None:
    """Return the bytes that a response announces, None where its header is missing or no number of ASCII digits.

    >>> from types import SimpleNamespace
    >>> [_length(SimpleNamespace(headers={"Content-Length": text})) for text in ("12", "\u00b2", "", "9" * 5000)]
    [12, None, None, None]
    """
    value = response.headers.get("Content-Length") or ""
    return int(value) if re.fullmatch(r"[0-9]{1,18}", value) else None


def _begins_at(response: Any, start: int) -> bool:
    given = response.headers.get("Content-Range") or ""
    return response.status == 206 and re.match(rf"bytes {start}-", given) is not None


def _check_response(response: Any, file: BinaryIO, url: str) -> None:
    length, path = _length(response) or 0, getattr(file, "name", None)
    if response.headers.get_content_type() == "text/html" and not url.endswith(("/", ".html")):
        response.close()
        raise InputError("the server sent a web page instead of the file; check --mirror", path=url)
    free = _LARGEST_LIST if path is None else shutil.disk_usage(os.path.dirname(path) or ".").free
    if length > free:
        response.close()
        if path is None:
            raise InputError(f"has {length:,} bytes; expected a short list: check --mirror", path=url)
        raise OutputError(f"{length:,} bytes are missing, {free:,} are free; make room, or move --output", path=path)


def _copy(response: Any, file: BinaryIO, advance: Advance) -> None:
    """Append a response's body to a file; raises _TryAgainError where it is cut."""
    done, length = _end(file), _length(response)
    total = None if length is None else done + length
    advance(done, total)
    cut: str | None = None
    while cut is None:
        try:
            data = response.read(_CHUNK)
        except http.client.IncompleteRead as error:
            data, cut = error.partial, "the connection was cut"
        except (OSError, http.client.HTTPException) as error:
            data, cut = b"", _text(error)
        if not data:
            break
        _write(file, data)
        done += len(data)
        advance(done, total)
    if cut or (total is not None and done < total):
        raise _TryAgainError(cut or f"the connection was cut at byte {done:,} of {total:,}")


def _write(file: BinaryIO, data: bytes) -> None:
    if isinstance(file, io.BytesIO) and file.tell() + len(data) > _LARGEST_LIST:
        raise InputError("the server sends more than a short list; check --mirror")
    with _writing(getattr(file, "name", "memory")):
        view = memoryview(data)
        while view:
            view = view[file.write(view) :]


def _http_error(error: urllib.error.HTTPError, url: str) -> Exception:
    if error.code in _PASSING:
        return _TryAgainError(f"HTTP {error.code} {error.reason}", _retry_after(error.headers.get("Retry-After")))
    if error.code in _ABSENT:
        return NotThereError(f"is not there (HTTP {error.code}); check the name and --mirror", path=url)
    return InputError(f"the server refused (HTTP {error.code} {error.reason}); check --mirror", path=url)


def _retry_after(value: str | None) -> float:
    """Return the seconds of a Retry-After header, a number or a date; 0 where it says neither.

    >>> _retry_after("7"), _retry_after("soon"), _retry_after("Thu, 01 Jan 1970 00:00:00 GMT")
    (7.0, 0.0, 0.0)
    """
    if value is None or re.fullmatch(r"\s*[0-9]{1,18}\s*", value):
        return float(value or 0)
    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return 0.0


def _sha1(file: BinaryIO) -> str:
    digest = hashlib.sha1(usedforsecurity=False)
    file.seek(0)
    while data := file.read(_CHUNK):
        digest.update(data)
    return digest.hexdigest()


def _check_finished(path: str, sha1: str | None) -> None:
    if sha1 is None:
        return
    with open(path, "rb") as file:
        found = _sha1(file)
    if found != sha1:
        raise InputError(
            f"is there, but has the SHA-1 {found}, and the server's list says {sha1}; "
            "delete it and run the same command again",
            path=path,
        )
