"""How kernels are compiled: `kernel` and `typed_kernel` for functions that Python calls, `inlined` for what these call.

A kernel is compiled when it is first called, without the GIL, and its machine code is kept on disk where there is a
place for it; it is compiled again where it, a kernel beside it or anything that they import has changed (numba by
itself looks at the file of a function and not at those whose functions and constants it takes in). Where nothing can
be kept, or what was kept cannot be read, it is compiled anew and nothing is said. Under NUMBA_DISABLE_JIT a kernel is
plain Python.

numba by itself optimises each function, and makes machine code of it, again in every function that calls it; it
compiles a function anew for each constant it is called with, and looks up what an operator on numbers means each time
it meets it. Here `inlined` functions are optimised with the kernels that call them, for the types of their arguments
alone, and what an operator means is looked up once: compiling takes less than half the time
(`benchmarks/kernels.py --compile`).

What is numba's own and not promised by it (`_nrt`, `_cache`, `_insert`, code libraries) is used here and nowhere else.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import inspect
import operator
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import caching, sigutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

from bertdata.kernels.process_lock import held
from bertdata.kernels.sources import sources_digest
from bertdata.kernels.warmup import compilation_begins

Function = TypeVar("Function", bound=Callable[..., Any])


def kernel(function: Function) -> Function:
    """Compile a function that Python calls, for whatever types it is called with. It makes no arrays.

    References to the arrays it is given are not counted, which takes time.

    >>> @kernel
    ... def double(n):
    ...     return 2 * n
    >>> double(21)
    42
    """
    return _kernel(function, (), makes_arrays=False)


def typed_kernel(*signatures: Any, makes_arrays: bool = False) -> Callable[[Function], Function]:
    """Compile a function that Python calls, for these signatures only, or for any types if none are given.

    Each signature is compiled when it is first called. A function that makes arrays must say so.
    """
    return lambda function: _kernel(function, signatures, makes_arrays)


def inlined(function: Function) -> Function:
    """Compile a function into the kernels that call it; Python has no way in. It makes no arrays.

    Two functions of one module must have two names, for machine code is linked by name.
    """
    if numba.config.DISABLE_JIT:
        return function
    return _inlined(function, always=False)


def always_inlined(function: Function) -> Function:
    """Compile a function into each kernel that calls it, however large: a tuple of arrays is slow to hand over."""
    if numba.config.DISABLE_JIT:
        return function
    return _inlined(function, always=True)


def _inlined(function: Function, *, always: bool) -> Function:
    function.__qualname__ = _versioned_name(function)
    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False, "forceinline": always}
    dispatcher: Any = numba.njit(nogil=True, pipeline_class=_InlinedCompiler, **options)(function)
    dispatcher._insert = lambda *_, **__: None  # Python cannot call it: its machine code is part of the kernels
    dispatcher._compile_for_args = functools.partial(_refuse, function.__name__)
    dispatcher.get_call_template = _without_constants(dispatcher.get_call_template)
    return dispatcher  # type: ignore[no-any-return]


def plain(function: Function) -> Function:
    """Return the Python of a compiled function, for where Python calls what kernels call."""
    return getattr(function, "py_func", function)


def _refuse(name: str, *_: Any) -> None:
    raise TypeError(f"{name} is compiled into the kernels that call it; in Python call plain({name})")


def _kernel(function: Function, signatures: tuple[Any, ...], makes_arrays: bool) -> Function:
    function.__qualname__ = _versioned_name(function)
    options: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True, "pipeline_class": _KernelCompiler}
    if not makes_arrays:
        options["_nrt"] = False
    dispatcher: Any = numba.njit(**options)(function)
    if hasattr(dispatcher, "_cache"):
        with contextlib.suppress(RuntimeError, OSError):  # numba finds no folder to write to, or cannot
            dispatcher._cache = (_Cache if makes_arrays else _CacheOfPlainKernels)(function)
        cache = dispatcher._cache
        cache.load_overload = _or_telling(_or_nothing(cache.load_overload))
        cache.save_overload = _or_nothing(cache.save_overload)
        dispatcher.compile = _one_process_at_a_time(dispatcher.compile, cache, function.__qualname__)
        if signatures:
            dispatcher.compile = _compile_one_of(dispatcher, signatures)
    return dispatcher  # type: ignore[no-any-return]


def is_kept(function: Callable[..., Any]) -> bool:
    """Return whether machine code of a kernel, for arguments of some types, is on disk for this processor."""
    dispatcher: Any = function
    return bool(_or_nothing(_kept_signatures)(dispatcher))


def _kept_signatures(dispatcher: Any) -> list[Any]:
    """Return the signatures of a kernel whose machine code would be loaded."""
    codegen, cache = dispatcher.targetctx.codegen(), dispatcher._cache
    keys = cache._cache_file._load_index()
    return [signature for signature, *rest in keys if (signature, *rest) == cache._index_key(signature, codegen)]


_LOCATORS = ("UserProvided", "UserWide", "InTree")
_PLACES = tuple(
    getattr(caching, f"{name}CacheLocator", None) or getattr(caching, f"_{name}CacheLocator") for name in _LOCATORS
)


def _that_only_reads(locator: Any) -> Any:
    """Return numba's class of a place of machine code for where that cannot be written, as in a read-only container."""

    class Locator(locator):  # type: ignore[misc]
        def ensure_cache_path(self) -> None:
            if not os.path.isdir(self.get_cache_path()):
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), self.get_cache_path())

    return Locator


class _CacheImpl(caching.CompileResultCacheImpl):  # type: ignore[misc]
    """Keeps machine code in the user's cache folder, or beside the module where that folder cannot be used.

    Where neither can be written, what an earlier run kept there is read. What is written into the folder of an
    installed package stays there when the package is removed, and hides the package that is installed next.
    """

    _locator_classes = (*_PLACES, *map(_that_only_reads, _PLACES))


class _Cache(caching.FunctionCache):  # type: ignore[misc]
    _impl_class = _CacheImpl


class _CacheOfPlainKernels(_Cache):
    """Loads machine code without what numba gathers first of all it can compile, which takes 0.4 s in each process.

    Code that makes no arrays needs nothing of that; where there is none on disk, numba gathers it before it compiles.
    """

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


def _or_telling(load: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that tells the listeners where there is nothing to load, so that compiling follows."""

    def load_or_tell(*arguments: Any) -> Any:
        loaded = load(*arguments)
        if loaded is None:
            compilation_begins()
        return loaded

    return load_or_tell


def _one_process_at_a_time(compile_any: Callable[[Any], Any], cache: Any, name: str) -> Callable[[Any], Any]:
    """Return a method that compiles a kernel while others that keep it in the same place wait, and then load it.

    Processes with another Python or numba have machine code of their own, so they do not wait for each other.
    """
    lock = f"{name} {sys.implementation.cache_tag} {numba.__version__}"

    def compile_alone(given: Any) -> Any:
        with held(cache.cache_path, lock):
            return compile_any(given)

    return compile_alone


def _compile_one_of(dispatcher: Any, signatures: tuple[Any, ...]) -> Callable[[Any], Any]:
    """Return a method that compiles the first of the signatures that arguments of some types can be given to."""
    compile_any = dispatcher.compile

    def loss(types: tuple[Any, ...], signature: Any) -> float:
        """Return what the worst conversion of an argument loses, as numba rates it: 0 or more, infinity for none."""
        losses = [dispatcher.typingctx.can_convert(*pair) for pair in zip(types, signature.args, strict=False)]
        return float("inf") if len(types) != len(signature.args) or None in losses else max(losses, default=0)

    def compile_one(given: Any) -> Any:
        types, _ = sigutils.normalize_signature(given)
        best = min(signatures, key=functools.partial(loss, types))
        if loss(types, best) == float("inf"):
            raise TypeError(f"{dispatcher.py_func.__name__} is not compiled for {types}")
        entry = compile_any(best)
        if types != best.args:  # the next call with these types finds the code without looking for the signature
            dispatcher._insert([numba.types.unliteral(kind)._code for kind in types], entry, False)
        return entry

    return compile_one


def _versioned_name(function: Callable[..., Any]) -> str:
    """Return the name under which numba keeps a function's machine code.

    It changes with the function's sources, and where bounds are checked, which numba's own key does not.
    """
    path = inspect.getfile(function)
    digest = f"_{sources_digest(path)}" if Path(path).is_file() else ""
    return f"{function.__name__}{digest}{'_checked' if numba.config.BOUNDSCHECK else ''}"


def _without_constants(resolve: Callable[..., Any]) -> Callable[..., Any]:
    """Return a dispatcher's method for calls, which sees the types of arguments and not their values."""

    def get_call_template(arguments: Any, keywords: Any) -> Any:
        unliteral = numba.types.unliteral
        return resolve(tuple(map(unliteral, arguments)), {name: unliteral(kind) for name, kind in keywords.items()})

    return get_call_template


class _InlinedLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The LLVM code of a function that only kernels call: it is optimised and becomes machine code with each kernel."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    @property
    def codegen(self) -> Any:
        return _NoMachineCode


class _NoMachineCode:
    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        """Do nothing: what is not loaded has no global variable for its environment."""


class _KernelCompiler(Compiler):  # type: ignore[misc]
    """numba's compiler, which looks up once what an operator on numbers and elements of arrays means."""

    def _compile_core(self) -> Any:
        with _remembered_operators(self.state.typingctx):
            return super()._compile_core()


class _InlinedCompiler(_KernelCompiler):
    def define_pipelines(self) -> Any:
        self.state.library = _InlinedLibrary(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return super().define_pipelines()


_OPERATORS = (
    *("add", "sub", "mul", "floordiv", "truediv", "mod", "lshift", "rshift", "and_", "or_", "xor", "neg", "invert"),
    *("iadd", "isub", "imul", "ifloordiv", "imod", "ilshift", "irshift", "iand", "ior", "ixor", "not_"),
    *("eq", "ne", "lt", "le", "gt", "ge", "getitem", "setitem"),
)
_REMEMBERED = (numba.types.Number, numba.types.Boolean, numba.types.Array)


@contextlib.contextmanager
def _remembered_operators(context: Any) -> Iterator[None]:
    """Use what is known of operators while a kernel is compiled, under numba's lock; other code never sees it."""
    functions = [context.resolve_value_type(getattr(operator, name)) for name in _OPERATORS]
    changed = [function for function in functions if "get_call_type" not in vars(function)]
    for function in changed:
        function.get_call_type = functools.partial(_call_type, function)
    try:
        yield
    finally:
        for function in changed:
            del function.get_call_type


_call_types: dict[Any, Any] = {}


def _call_type(function: Any, context: Any, arguments: Any, keywords: Any) -> Any:
    """Return the signature of an operator for arguments of these types."""
    plain = tuple(map(numba.types.unliteral, arguments))
    if keywords or not all(isinstance(kind, _REMEMBERED) for kind in plain):
        return type(function).get_call_type(function, context, arguments, keywords)
    key = (context, function, plain)
    if key not in _call_types:
        _call_types[key] = type(function).get_call_type(function, context, plain, keywords)
    return _call_types[key]


def _or_nothing(method: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(method)
    def attempt(*arguments: Any) -> Any:
        try:
            return method(*arguments)
        except Exception:  # whatever is wrong with what was kept, the source is there
            return None

    return attempt
