"""Decide when compiled kernels are used for text, and tell when a kernel is compiled.

On little text the plain Python versions finish before the kernels are loaded from disk, and on more of it before the
compiler would. The result is the same.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator
from importlib import import_module

COMPILED_FROM = 32 << 20
"""Bytes of text from which compiled passes over them are worth building, or loading from disk."""
LOADED_FROM = 1 << 20
"""Bytes of text, of all calls in a process, from which kernels are loaded that are compiled already."""


_always = False


def compiling_pays(size: int, compiled: bool | None, least: int | None = None) -> bool:
    """Tell whether work that is done once, on `size` bytes of text, runs compiled: as `compiled` says, or by its size.

    least: the size from which it does, COMPILED_FROM where it is None. `Kernels` decides for work that is done again
    and again.

    >>> compiling_pays(1000, None), compiling_pays(COMPILED_FROM, None), compiling_pays(1000, True)
    (False, True, True)
    """
    if compiled is not None:
        return compiled
    return _always or size >= (COMPILED_FROM if least is None else least)


class Kernels:
    """The kernels of one kind of work, which plain Python can do as well, and whether this process runs them.

    names: those that every call of the work uses, as "module:function".

    >>> rot13 = Kernels("my_kernels:rot13")
    >>> rot13.pay(1000), rot13.pay(1000, compiled=True), rot13.pay(1000)
    (False, True, True)
    """

    def __init__(self, *names: str) -> None:
        self._names = names
        self._bytes = 0
        self._run = self._looked = False

    def pay(self, size: int, compiled: bool | None = None) -> bool:
        """Tell whether a call for `size` bytes of text runs compiled: as `compiled` says, else by all calls so far.

        It does from LOADED_FROM bytes in this process on where machine code for this processor is on disk, else from
        COMPILED_FROM on; and after a call that ran compiled.
        """
        if compiled is not None:
            self._run |= compiled
            return compiled
        if self._run or _always:
            return True
        self._bytes += size
        if self._bytes >= COMPILED_FROM:
            self._run = True
        elif self._bytes >= LOADED_FROM and not self._looked:
            self._looked = True
            self._run = self._are_kept()
        return self._run

    def _are_kept(self) -> bool:
        from bertdata.kernels.jit import is_kept

        places = (name.partition(":") for name in self._names)
        return all(is_kept(getattr(import_module(module), function)) for module, _, function in places)


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
