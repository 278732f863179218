"""How the kernels are compiled: when first called, and kept on disk where there is a place for it.

Machine code is kept as long as neither the kernels nor the modules whose constants are frozen into it change; numba by
itself looks at the file of a function alone. Where nothing can be kept, or what was kept cannot be read, it compiles
anew and says nothing.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])

_OPTIONS = {"nogil": True, "_nrt": False}
"""Without numba's run time: the kernels allocate nothing, and counting references would take half of their time."""


@functools.cache
def sources_digest() -> bytes:
    """Return the SHA-256 of all the source that the kernels are made of."""
    digest = hashlib.sha256()
    for name in ("compiled.py", "kernel.py", "kernel_words.py", "lookup.py", "parameters.py"):
        digest.update((Path(__file__).parent / name).read_bytes())
    return digest.digest()


def compiled(function: Function) -> Function:
    """Compile a function when it is first called, without the GIL; plain Python under NUMBA_DISABLE_JIT."""
    try:
        dispatcher: Any = numba.njit(cache=True, **_OPTIONS)(function)
    except RuntimeError:  # numba finds no folder that it may write to
        return numba.njit(**_OPTIONS)(function)  # type: ignore[no-any-return]
    kept: Any = getattr(dispatcher, "_cache", None)
    if kept is not None:
        file: Any = getattr(kept, "_cache_file", None)
        if hasattr(file, "_source_stamp"):
            file._source_stamp = (file._source_stamp, sources_digest())
        for name in ("load_overload", "save_overload"):
            setattr(kept, name, _or_nothing(getattr(kept, name)))
    return dispatcher  # type: ignore[no-any-return]


def _or_nothing(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def attempt(*arguments: Any) -> Any:
        try:
            return method(*arguments)
        except Exception:  # whatever is wrong with what was kept, the source is there
            return None

    return attempt
