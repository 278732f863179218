"""Requests to Google Cloud Storage that failed are tried again soon, where gcsfs waits 1 to 2 s before it does.

Of a build's requests many follow one another, so with a fault in twenty the waits were longer than the work. A first
fault is most often one server's, so the first wait is short. The others grow as gcsfs's do, and last as long together:
a store that is away for half a minute is waited for.
"""

from __future__ import annotations

import functools
import inspect
import random
from collections.abc import Awaitable, Callable
from typing import Any

WAITS = (0.05, 0.4, 1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds before each further attempt; half as much again is added at random."""


def retry_soon(fs: Any) -> None:
    """Make a file system of gcsfs try again after `WAITS`; one whose private parts are other ones is left as it is."""
    request = getattr(type(fs), "_request", None)
    once = getattr(request, "__wrapped__", None)
    if "_request" in vars(fs) or once is None or not inspect.iscoroutinefunction(once):
        return
    try:
        from gcsfs.retry import is_retriable
    except ImportError:
        return
    fs._request = functools.partial(with_retries, functools.partial(once, fs), is_retriable)


async def with_retries(
    once: Callable[..., Awaitable[Any]], is_retriable: Callable[[Exception], bool], *args: Any, **options: Any
) -> Any:
    """Return what a request returns, tried again after each error of which `is_retriable` is true; raises the last."""
    import asyncio  # late: it takes a sixth of the start of a process that cleans one page

    for wait in WAITS:
        try:
            return await once(*args, **options)
        except Exception as error:
            if not is_retriable(error):
                raise
        await asyncio.sleep(wait * (1 + random.random() / 2))
    return await once(*args, **options)
