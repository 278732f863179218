"""When compiled passes over text pay: for small work the readable twins are done before the compiler is."""

from __future__ import annotations

COMPILED_FROM = 32 << 20
"""Bytes of text from which compiled passes over them are worth building, or loading from disk."""


def compiling_pays(size: int, compiled: bool | None) -> bool:
    """Tell whether work on `size` bytes of text runs compiled: as `compiled` says, or by the size where it is None.

    It looks at the work alone and never at what the process did before, so that the same call takes the same path.

    >>> compiling_pays(1000, None), compiling_pays(COMPILED_FROM, None), compiling_pays(1000, True)
    (False, True, True)
    """
    return size >= COMPILED_FROM if compiled is None else compiled
