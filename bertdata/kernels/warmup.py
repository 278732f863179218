"""Decide when compiled kernels are used for text, and tell when a kernel is compiled.

On little text the plain Python versions finish before the compiler would. `use` decides for work that is done again and
again.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator

COMPILED_FROM = 32 << 20
"""Bytes of text from which compiled passes over them are worth building, or loading from disk."""


_always = False


def compiling_pays(size: int, compiled: bool | None, least: int | None = None) -> bool:
    """Tell whether work that is done once, on `size` bytes of text, runs compiled: as `compiled` says, or by its size.

    least: the size from which it does, COMPILED_FROM where it is None.

    >>> compiling_pays(1000, None), compiling_pays(COMPILED_FROM, None), compiling_pays(1000, True)
    (False, True, True)
    """
    if compiled is not None:
        return compiled
    return _always or size >= (COMPILED_FROM if least is None else least)


def always() -> bool:
    """Tell whether work of any size runs compiled in this process at the moment."""
    return _always


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
_said = False


def compilation_begins() -> None:
    """Tell the listeners; where there are none, log one line in the life of a process."""
    global _said  # noqa: PLW0603
    for listener in listeners:
        listener()
    if not listeners and not _said:
        _said = True
        logging.getLogger("bertdata").warning(
            "compiling kernels that no earlier process on this machine has compiled, which can take half a minute; "
            "`bertdata compile` does it beforehand"
        )
