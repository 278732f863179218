"""Whether a process runs the kernels of one kind of work that plain Python can do as well, with the same result.

On little text plain Python ends before the kernels are loaded from disk, and on more of it before they are compiled.
"""

from __future__ import annotations

from importlib import import_module

from bertdata.kernels import warmup

LOADED_FROM = 1 << 20
"""Bytes of text, of all calls in a process, from which kernels are loaded that are compiled already."""


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
        if self._run or warmup.always():
            return True
        self._bytes += size
        if self._bytes >= warmup.COMPILED_FROM:
            self._run = True
        elif self._bytes >= LOADED_FROM and not self._looked:
            self._looked = True
            self._run = self._are_kept()
        return self._run

    def _are_kept(self) -> bool:
        from bertdata.kernels.jit import is_kept

        places = (name.partition(":") for name in self._names)
        return all(is_kept(getattr(import_module(module), function)) for module, _, function in places)
