"""How the kernels of this package are compiled: when first called, and kept on disk where there is a place for it.

Machine code is kept as long as no kernel of the package changes: numba by itself looks at the file of a function and
not at those of the functions it calls. Where nothing can be kept, or what was kept cannot be read, it compiles anew
and says nothing.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import numba

Function = TypeVar("Function", bound=Callable[..., Any])


@functools.cache
def sources_digest() -> bytes:
    """Return the SHA-256 of all the source that the kernels of this package are made of."""
    digest = hashlib.sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        if path.name.startswith(("kernel", "state", "criteria", "compiled")):
            digest.update(path.read_bytes())
    return digest.digest()


def compiled(function: Function) -> Function:
    """Compile a function when it is first called, without the GIL; for plain Python under NUMBA_DISABLE_JIT."""
    try:
        dispatcher: Any = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # numba finds no folder that it may write to
        return numba.njit(nogil=True)(function)  # type: ignore[no-any-return]
    kept = getattr(dispatcher, "_cache", None)
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
        except OSError:
            return None

    return attempt
