"""`once_for_contents`: what is made of the bytes of a file is made once in a process, wherever equal files are."""

from __future__ import annotations

import functools
import hashlib
import threading
from collections.abc import Callable
from typing import Any, TypeVar

Made = TypeVar("Made")
_KEPT, _NOTHING = 16, object()


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
