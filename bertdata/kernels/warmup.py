"""Decide when compiled kernels are used for text, and notify listeners when a kernel is compiled.

On little text the plain Python versions finish before the compiler would.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator

COMPILED_FROM = 32 << 20
"""Bytes of text from which compiled passes over them are worth building, or loading from disk."""


_always = False


def compiling_pays(size: int, compiled: bool | None, least: int | None = None) -> bool:
    """Tell whether work on `size` bytes of text runs compiled: as `compiled` says, else from a least size on.

    least: that size, COMPILED_FROM where it is None.

    It looks at the work alone and never at what the process did before, so that the same call takes the same path.

    >>> compiling_pays(1000, None), compiling_pays(COMPILED_FROM, None), compiling_pays(1000, True)
    (False, True, True)
    """
    if compiled is not None:
        return compiled
    return _always or size >= (COMPILED_FROM if least is None else least)


@contextlib.contextmanager
def compiling_always() -> Iterator[None]:
    """Run work of any size compiled, in this process, until the context is left."""
    global _always  # noqa: PLW0603
    before, _always = _always, True
    try:
        yield
    finally:
        _always = before


listeners: list[Callable[[], None]] = []
"""What is called when a kernel is about to be compiled rather than loaded, which takes seconds."""


def compilation_begins() -> None:
    """Tell the listeners."""
    for listener in listeners:
        listener()
