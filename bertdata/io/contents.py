"""What is made of the bytes of a file is made once: in a process, or, of what is large, while something is opened."""

from __future__ import annotations

import functools
import hashlib
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from bertdata.io import files

Made = TypeVar("Made")
_KEPT, _NOTHING = 16, object()
_parsed: ContextVar[dict[bytes, Any] | None] = ContextVar("_parsed", default=None)


def once_for_contents(make: Callable[..., Made]) -> Callable[..., Made]:
    """Let `make(path, *contents)` return what it returned for equal contents, of the last 16 that it made.

    path: where the contents were read, which only errors may name; contents: the bytes of one file or of several, None
    of one that is missing. What is returned is shared, so it must not be changed. Errors are not kept.

    >>> parse = once_for_contents(lambda path, data: [path, data.decode()])
    >>> parse("a.txt", b"rain"), parse("b.txt", b"rain")
    (['a.txt', 'rain'], ['a.txt', 'rain'])
    """
    cache: dict[tuple[bytes | None, ...], Any] = {}
    lock = threading.Lock()

    @functools.wraps(make)
    def made(path: str, *contents: bytes | None) -> Any:
        key = tuple(None if data is None else hashlib.sha256(data).digest() for data in contents)
        result = cache.get(key, _NOTHING)  # in one step, as another thread may leave it out at any moment
        if result is _NOTHING:
            result = make(path, *contents)
            with lock:
                if len(cache) >= _KEPT:
                    cache.pop(next(iter(cache)))
                cache[key] = result
        return result

    return made


@contextmanager
def parsing_once() -> Iterator[None]:
    """Let `parse_once` parse equal bytes once until the context is left."""
    before = _parsed.get()
    token = _parsed.set({} if before is None else before)
    try:
        yield
    finally:
        _parsed.reset(token)


def parse_once(data: bytes, path: str) -> Any:
    """Return what the bytes of a JSON file hold, as `files.parse_json`; it is shared, so it must not be changed."""
    parsed = _parsed.get()
    if parsed is None:
        return files.parse_json(data, path)
    if data not in parsed:
        parsed[data] = files.parse_json(data, path)
    return parsed[data]
