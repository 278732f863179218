"""When compiled code pays: a process that meets little text is done before the compiler is."""

from __future__ import annotations

COMPILED_FROM = 32 << 20
"""Bytes of text that a process meets before compiled passes over them are worth building, or loading from disk."""


def compiling_pays(size: int, met: list[int]) -> bool:
    """Add what is met now to what this process has met, and tell whether that is enough.

    >>> met = [0]
    >>> compiling_pays(1000, met), compiling_pays(COMPILED_FROM, met)
    (False, True)
    """
    met[0] += size
    return met[0] >= COMPILED_FROM
