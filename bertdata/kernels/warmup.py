"""Decide when compiled kernels are used for text, and notify listeners when a kernel is compiled.

On little text the plain Python versions finish before the compiler would.
"""

from __future__ import annotations

from collections.abc import Callable

COMPILED_FROM = 32 << 20
"""Bytes of text from which compiled passes over them are worth building, or loading from disk."""


def compiling_pays(size: int, compiled: bool | None) -> bool:
    """Tell whether work on `size` bytes of text runs compiled: as `compiled` says, or by the size where it is None.

    It looks at the work alone and never at what the process did before, so that the same call takes the same path.

    >>> compiling_pays(1000, None), compiling_pays(COMPILED_FROM, None), compiling_pays(1000, True)
    (False, True, True)
    """
    return size >= COMPILED_FROM if compiled is None else compiled


listeners: list[Callable[[], None]] = []
"""What is called when a kernel is about to be compiled rather than loaded, which takes seconds."""


def compilation_begins() -> None:
    """Tell the listeners."""
    for listener in listeners:
        listener()
