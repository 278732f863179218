"""Downloads of single files over HTTP: resumed with Range, retried after failures, compared with their checksums.

Pauses are those of Retry-After, or grow exponentially. A file that is not complete and checked is named `.part`. Used
by `io.downloads`, for several files at once, and by the cache of shards that are read over HTTP (`shards.cache`); other
file systems, such as `s3://`, are fsspec's.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, BinaryIO, TypeVar
from urllib.parse import urlsplit

from bertdata import __version__
from bertdata.errors import InputError, OutputError
from bertdata.io import files, log
from bertdata.io.http_body import LARGEST_LIST, copy_body, copy_range, end_of, read_past, writing
from bertdata.io.http_request import (
    NoSuchRangeError,
    NotThereError,
    TryAgainError,
    UnreachableError,
    length_of,
    open_url,
)
from bertdata.io.progress_bar import byte_progress

USER_AGENT = f"bertdata/{__version__}"
_LONGEST_PAUSE = 60.0
_LONGEST_RETRY_AFTER = 600.0
_ALGORITHMS = {40: "sha1", 64: "sha256"}
"""The algorithm of a checksum, by its hexadecimal digits."""
T = TypeVar("T")


@dataclass(frozen=True)
class Client:
    """How files are fetched.

    attempts: tries without progress before giving up; the pauses between them grow exponentially. first_attempts: the
    same as long as a server has never been reached, so that without a network the error comes at once. timeout:
    seconds without data after which a connection counts as lost. pause: seconds between two files. contact: an address
    by which the user can be reached, for the User-Agent. as_stored: refuse an answer that the server has compressed
    though it was asked not to; without it, such an answer is a file that is stored compressed, as old servers say it.
    """

    attempts: int = 8
    first_attempts: int = 1
    timeout: float = 60.0
    pause: float = 0.0
    contact: str = ""
    sleep: Callable[[float], None] = time.sleep
    quiet: bool = False
    as_stored: bool = False
    _reached: set[str] = field(default_factory=set, init=False, repr=False, compare=False)

    def fetch(self, url: str, path: str, *, checksum: str | None = None, progress: Any = None) -> str:
        """Fetch a file to a local path, unless it exists, and return the path.

        `checksum` is a SHA-1 or a SHA-256 in hexadecimal digits; a partial file of an earlier run is resumed only where
        there is one to check the result. `progress` takes the place of a progress bar: it has `n`, `total` and
        `update`, as a tqdm. Raises NotThereError; InputError where the server refuses, does not answer or sends wrong
        bytes, or where an existing file has another checksum; and OutputError where the file cannot be written.
        """
        if os.path.exists(path):
            with open(path, "rb") as file:
                if problem := _differs(file, checksum):
                    raise InputError(f"exists, but {problem}; delete it and run the same command again", path=path)
            return path
        part = path + ".part"
        with _open_part(part) as file:
            if checksum is None:
                file.truncate(0)
            resumed = end_of(file) > 0
            self._fetch_whole(url, file, path, progress)
            if resumed and _differs(file, checksum):
                self.say(f"{files.name(path)}: the part of an earlier run is of another file: starting again")
                file.truncate(0)
                self._fetch_whole(url, file, path, progress)
            if problem := _differs(file, checksum):
                os.unlink(part)
                raise InputError(
                    f"{problem}; the download was deleted: run the same command again, or choose another --mirror",
                    path=url,
                )
            with writing(path):
                os.fsync(file.fileno())
                os.replace(part, path)
        self.sleep(self.pause)
        return path

    def fetch_range(self, url: str, begin: int, size: int, path: str) -> None:
        """Write so many bytes of a file, from a place on, to a local path; fewer where the file ends before.

        What a server sends before them, as one does that knows no ranges, is read and left out. Raises as `fetch` does.
        """
        with writing(path):
            file = open(path, "wb", buffering=0)  # noqa: SIM115

        def ask() -> None:
            start = begin + end_of(file)
            try:
                response = self._request(url, {"Range": f"bytes={start}-{begin + size - 1}"})
            except NoSuchRangeError:
                return
            with response:
                if response.status != 206:
                    read_past(response, start)
                elif not (response.headers.get("Content-Range") or "").startswith(f"bytes {start}-"):
                    raise TryAgainError("the server sent another range than the one requested")
                copy_range(response, file, begin + size - start)

        with file:
            self._retrying(url, ask, lambda: end_of(file))

    def read(self, url: str) -> bytes:
        """Return the bytes of a small file, such as a list of checksums, of at most 64 MiB; raises as `fetch` does."""
        file = io.BytesIO()
        self._fetch_whole(url, file, None)
        return file.getvalue()

    def size(self, url: str) -> int | None:
        """Return the bytes of a file, None where the server does not say; raises as `fetch` does."""

        def ask() -> int | None:
            with self._request(url, {}, method="HEAD") as response:
                return length_of(response)

        try:
            return self._retrying(url, ask)
        except NotThereError:
            raise
        except InputError:
            if urlsplit(url).netloc in self._reached:
                return None
            raise

    def say(self, text: str) -> None:
        """Show a message on stderr, above a progress bar if there is one."""
        from tqdm import tqdm

        if not self.quiet:
            tqdm.write(log.timed(text), file=sys.stderr)

    def _fetch_whole(self, url: str, file: BinaryIO, path: str | None, bar: Any = None) -> None:
        """Append the missing bytes of a file, over several connections if need be."""
        validator: str | None = None
        given_bar = contextlib.nullcontext(bar) if bar is not None else None
        with given_bar or _progress(None if self.quiet else path, end_of(file)) as progress:

            def ask() -> None:
                nonlocal validator
                response, validator = self._ask(url, file, validator)
                if response is not None:
                    with response:
                        copy_body(response, file, progress)

            self._retrying(url, ask, lambda: end_of(file))

    def _retrying(self, url: str, attempt: Callable[[], T], done: Callable[[], int] = lambda: 0) -> T:
        """Return what `attempt` returns, after pauses between failures; `done` is the progress it has made."""
        failures = 0
        while True:
            before = done()
            try:
                return attempt()
            except TryAgainError as error:
                failures = 1 if done() > before else failures + 1
                problem = ""
                if isinstance(error, UnreachableError) and urlsplit(url).netloc not in self._reached:
                    if failures >= self.first_attempts:
                        raise InputError(
                            f"the server cannot be reached ({error}); check the network, the proxy if there is one "
                            "(https_proxy), or choose another --mirror",
                            path=url,
                        ) from error
                elif failures >= self.attempts:
                    problem = f"gave up after {failures} tries without progress"
                elif error.after > _LONGEST_RETRY_AFTER:
                    problem = f"the server asks to come back in {error.after:.0f} seconds"
                if problem:
                    remedy = "run the same command again later, which continues, or choose another --mirror"
                    raise InputError(f"{problem} ({error}); {remedy}", path=url) from error
                pause = max(error.after, min(_LONGEST_PAUSE, 2.0 ** (failures - 1)))
                self.say(f"{files.name(url)}: {error}; again in {pause:.0f} s")
                self.sleep(pause)

    def _request(self, url: str, headers: dict[str, str], *, method: str = "GET") -> Any:
        agent = f"{USER_AGENT} ({self.contact})" if self.contact else USER_AGENT
        headers = {"User-Agent": agent, "Accept-Encoding": "identity", **headers}
        try:
            response = open_url(url, headers, timeout=self.timeout, method=method)
        except UnreachableError:
            raise
        except (TryAgainError, InputError, NoSuchRangeError):
            self._reached.add(urlsplit(url).netloc)
            raise
        self._reached.add(urlsplit(url).netloc)
        encoding = response.headers.get("Content-Encoding") or "identity"
        if self.as_stored and encoding.lower() != "identity":
            response.close()
            raise InputError(
                f"the server sends it compressed (Content-Encoding: {encoding}), though it was asked for it as it is; "
                "turn that off for .arrow and .json files in the settings of the server, or of what is before it",
                path=url,
            )
        return response

    def _ask(self, url: str, file: BinaryIO, validator: str | None) -> tuple[Any, str | None]:
        """Request the bytes after the end of a file; returns the response, None if there are none, and a validator."""
        start = end_of(file)
        headers = {}
        if start:
            headers["Range"] = f"bytes={start}-"
            if validator:
                headers["If-Range"] = validator
        try:
            response = self._request(url, headers)
        except NoSuchRangeError as error:
            if not start:
                raise InputError("the server refused (HTTP 416); check --mirror", path=url) from error
            if error.length == start:
                return None, validator
            file.truncate(0)
            raise TryAgainError("the partial file is longer than the server's file") from error
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


def _progress(path: str | None, done: int) -> Any:
    """Return the progress of a file that begins at some bytes; without a path one that shows nothing."""
    return contextlib.nullcontext(_Silent(done)) if path is None else byte_progress(files.name(path), initial=done)


@dataclass
class _Silent:
    """What `copy_body` uses of a progress bar, for one that shows nothing."""

    n: int
    total: int | None = None

    def update(self, count: int) -> None:
        self.n += count


@contextlib.contextmanager
def _open_part(path: str) -> Iterator[BinaryIO]:
    """Open and lock a partial file; one that stays empty is deleted."""
    import fcntl

    with writing(path):
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


def _differs(file: BinaryIO, checksum: str | None) -> str:
    """Return how the checksum of a file differs from the server's, "" where it does not or there is none."""
    if checksum is None:
        return ""
    algorithm = _ALGORITHMS[len(checksum)]
    file.seek(0)
    digest = hashlib.file_digest(file, partial(hashlib.new, algorithm, usedforsecurity=False))  # type: ignore[arg-type]
    name = algorithm.upper().replace("SHA", "SHA-")
    actual = digest.hexdigest()
    return "" if actual == checksum else f"has the {name} {actual}, and the server's list says {checksum}"


def _check_response(response: Any, file: BinaryIO, url: str) -> None:
    """Raise InputError for a web page or a list that is too long, OutputError where the disk is too small."""
    length, path = length_of(response) or 0, getattr(file, "name", None)
    if response.headers.get_content_type() == "text/html" and not url.endswith(("/", ".html")):
        response.close()
        raise InputError("the server sent a web page instead of the file; check --mirror", path=url)
    free = LARGEST_LIST if path is None else shutil.disk_usage(os.path.dirname(path) or ".").free
    if length > free:
        response.close()
        if path is None:
            raise InputError(f"has {length:,} bytes; expected a short list: check --mirror", path=url)
        raise OutputError(f"{length:,} bytes are missing, {free:,} are free; make room, or move --output", path=path)
