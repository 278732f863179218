"""How kernels are compiled: without the GIL, and kept on disk where there is a place for it.

Machine code is kept as long as no kernel beside it changes, nor what the kernels import, nor what that imports: numba
by itself looks at the file of a function and not at those whose functions and constants it takes in. Where nothing can
be kept, or what was kept cannot be read, it compiles anew and says nothing. Under NUMBA_DISABLE_JIT a kernel is plain
Python. What is numba's own and not promised by it (`_nrt`, `_cache`) is used here and nowhere else.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numba

from bertdata.kernels.warmup import compilation_begins

Function = TypeVar("Function", bound=Callable[..., Any])

_IMPORT = re.compile(r"^(?:from (bertdata[\w.]*) import (\([^()]*\)|.*)|import (bertdata[\w.]*))", re.M)
_PACKAGE = Path(__file__).parents[1]


@functools.cache
def sources_digest(path: str) -> str:
    """Return 12 hexadecimal digits of the module of a kernel and all modules of this package that it builds on."""
    paths = sources_of([Path(path)], _PACKAGE.parent)
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()[:12]


def sources_of(kernels: Iterable[Path], root: Path) -> list[Path]:
    """Return the files of kernels and of what they import of this package at their top, directly or not, in order."""
    found: set[Path] = set()
    waiting = list(kernels)
    while waiting:
        path = waiting.pop()
        if path not in found:
            found.add(path)
            waiting += _imported(path, root)
    return sorted(found)


def _imported(path: Path, root: Path) -> Iterator[Path]:
    for module, names, plain in _IMPORT.findall(path.read_text(encoding="utf-8")):
        place = root.joinpath(*(module or plain).split("."))
        yield from (one for one in (place.with_suffix(".py"), place / "__init__.py") if one.is_file())
        for name in re.findall(r"\w+", re.sub(r"#.*|\bas\s+\w+", "", names)):
            if (place / f"{name}.py").is_file():
                yield place / f"{name}.py"


def compiled(function: Function, **options: Any) -> Function:
    """Compile a function when it is first called; `options` are numba's."""
    function.__qualname__ = _versioned_name(function)
    try:
        dispatcher: Any = numba.njit(cache=True, nogil=True, **options)(function)
    except (RuntimeError, OSError):  # numba finds no folder to write to, or cannot
        compilation_begins()
        return numba.njit(nogil=True, **options)(function)  # type: ignore[no-any-return]
    kept: Any = getattr(dispatcher, "_cache", None)
    if kept is not None:
        load = _or_nothing(kept.load_overload)

        def load_or_tell(*arguments: Any) -> Any:
            found = load(*arguments)
            if found is None:
                compilation_begins()
            return found

        kept.load_overload, kept.save_overload = load_or_tell, _or_nothing(kept.save_overload)
    return dispatcher  # type: ignore[no-any-return]


def uncounted(function: Function, **options: Any) -> Function:
    """Compile a function that makes no arrays: references to those it is given are not counted, which takes time."""
    return compiled(function, _nrt=False, **options)


def inner(function: Function, **options: Any) -> Function:
    """Compile a function that only kernels call: it is kept inside them, and Python has no way in.

    It makes no arrays, so references to those it is given are not counted: that would be two atomic operations a call.
    Two functions of one module must have two names, for machine code is linked by name.
    """
    if numba.config.DISABLE_JIT:
        return function
    function.__qualname__ = _versioned_name(function)
    options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
    return numba.njit(nogil=True, **options)(function)  # type: ignore[no-any-return]


def compiled_for(*signatures: Any) -> Callable[[Function], Function]:
    """Compile a function at once, for these types and no others."""

    def decorate(function: Function) -> Function:
        dispatcher: Any = compiled(function)
        if hasattr(dispatcher, "disable_compile"):
            for signature in signatures:
                dispatcher.compile(signature)
            dispatcher.disable_compile()
        return dispatcher  # type: ignore[no-any-return]

    return decorate


def _versioned_name(function: Callable[..., Any]) -> str:
    """Return the name under which numba keeps a function's machine code: it changes with the function's sources."""
    path = inspect.getfile(function)
    return f"{function.__name__}_{sources_digest(path)}" if Path(path).is_file() else function.__name__


def _or_nothing(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def attempt(*arguments: Any) -> Any:
        try:
            return method(*arguments)
        except Exception:  # whatever is wrong with what was kept, the source is there
            return None

    return attempt
