"""One HTTP request: redirects to http and https only, a short time to connect, errors that say whether to try again.

Used by `io.http`, which repeats requests and writes files.
"""

from __future__ import annotations

import http.client
import re
import ssl
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from functools import cache
from typing import Any

from bertdata.errors import InputError

CONNECT_SECONDS = 10.0
"""A server that cannot be connected to within this time counts as unreachable, whatever the timeout for its answer."""
_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})
_ABSENT = frozenset({403, 404, 410})


class NotThereError(InputError):
    """The server has no such file, or does not give access to it (HTTP 404, 410, 403)."""


class TryAgainError(Exception):
    """A temporary error, such as a lost connection or a busy server; `after`: the seconds the server asks to wait."""

    def __init__(self, reason: str, after: float = 0.0) -> None:
        super().__init__(reason)
        self.after = after


class UnreachableError(TryAgainError):
    """No connection: the name is unknown, nobody listens, or nothing answers within `CONNECT_SECONDS`."""


class NoSuchRangeError(Exception):
    """HTTP 416: the file has no byte at the start of the range; `length` is that of the file, None if not stated."""

    def __init__(self, length: int | None) -> None:
        super().__init__()
        self.length = length


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to http and https only, not to ftp as urllib does."""

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        if not re.match(r"https?://", newurl, re.IGNORECASE):
            raise InputError(
                f"the server redirects to {newurl!r}; expected http or https: check --mirror", path=req.full_url
            )
        return super().redirect_request(req, fp, code, msg, headers, newurl)


class _QuickConnect(http.client.HTTPConnection):
    """Waits less long for a connection than for an answer."""

    def connect(self) -> None:
        patience, self.timeout = self.timeout, min(self.timeout or CONNECT_SECONDS, CONNECT_SECONDS)
        try:
            super().connect()
        finally:
            self.timeout = patience
        self.sock.settimeout(patience)


class _QuickConnectTls(_QuickConnect, http.client.HTTPSConnection):
    """The same over TLS."""


class _Http(urllib.request.HTTPHandler):
    def http_open(self, req: Any) -> Any:
        return self.do_open(_QuickConnect, req)


class _Https(urllib.request.HTTPSHandler):
    def https_open(self, req: Any) -> Any:
        return self.do_open(_QuickConnectTls, req)


@cache
def _opener() -> urllib.request.OpenerDirector:
    return urllib.request.build_opener(_Redirects, _Http, _Https)


def open_url(url: str, headers: Mapping[str, str], *, timeout: float, method: str = "GET") -> Any:
    """Return the response to one request.

    Raises TryAgainError for what may pass, UnreachableError where there is no connection, NotThereError,
    NoSuchRangeError, and InputError for what will not pass: a refusal, a wrong certificate or a wrong address.
    """
    try:
        return _opener().open(urllib.request.Request(url, headers=dict(headers), method=method), timeout=timeout)
    except urllib.error.HTTPError as error:
        with error:
            raise _http_error(error, url) from error
    except urllib.error.URLError as error:
        if isinstance(error.reason, ssl.SSLCertVerificationError):
            raise InputError(
                f"the server's certificate is not valid ({error.reason}); check --mirror", path=url
            ) from error
        raise UnreachableError(reason_of(error.reason)) from error
    except (OSError, http.client.HTTPException) as error:
        raise TryAgainError(reason_of(error)) from error
    except ValueError as error:
        raise InputError(f"is, or redirects to, no valid address ({error}); check --mirror", path=url) from error


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


def _http_error(error: urllib.error.HTTPError, url: str) -> Exception:
    """Return the error for a response with an error code: TryAgainError if it may be temporary."""
    if error.code in _PASSING:
        return TryAgainError(f"HTTP {error.code} {error.reason}", _retry_after(error.headers.get("Retry-After")))
    if error.code in _ABSENT:
        return NotThereError(f"is not there (HTTP {error.code}); check the name and --mirror", path=url)
    if error.code == 416:
        whole = re.fullmatch(r"bytes \*/([0-9]{1,18})", (error.headers.get("Content-Range") or "").strip())
        return NoSuchRangeError(int(whole[1]) if whole else None)
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
