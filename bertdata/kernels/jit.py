"""How kernels are compiled: `kernel` and `typed_kernel` for functions that Python calls, `inlined` for what these call.

A kernel is compiled when it is first called, without the GIL, and its machine code is kept on disk where there is a
place for it; it is compiled again where it, a kernel beside it or anything that they import has changed (numba by
itself looks at the file of a function and not at those whose functions and constants it takes in). Where nothing can
be kept, or what was kept cannot be read, it is compiled anew and nothing is said. Under NUMBA_DISABLE_JIT a kernel is
plain Python.

Compiling is quick for two reasons (`benchmarks/kernels.py --compile`): numba would optimise each function, and make
machine code of it, again in each function that calls it; here an `inlined` function is only typed, and optimised with
the kernel it is part of. And for each operator numba would try dozens of rules each time it comes; what an operator on
numbers is is remembered. What is numba's own and not promised by it is used here and nowhere else.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import operator
import re
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba.core import sigutils
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

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
    """Compile a function that Python calls for these signatures alone, of any types if there are none.

    Each signature is compiled when it is first called. A function that makes arrays must say so.
    """
    return lambda function: _kernel(function, signatures, makes_arrays)


def inlined(function: Function) -> Function:
    """Compile a function into the kernels that call it; Python has no way in. It makes no arrays.

    Two functions of one module must have two names, for machine code is linked by name.
    """
    if numba.config.DISABLE_JIT:
        return function
    function.__qualname__ = _versioned_name(function)
    options = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True, "_nrt": False}
    dispatcher: Any = numba.njit(nogil=True, pipeline_class=_InlinedCompiler, **options)(function)
    dispatcher._insert = lambda *_, **__: None  # there is no machine code of it alone that Python could call
    dispatcher._compile_for_args = functools.partial(_refuse, function.__name__)
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
    try:
        dispatcher: Any = numba.njit(cache=True, **options)(function)
    except (RuntimeError, OSError):  # numba finds no folder to write to, or cannot
        dispatcher = numba.njit(**options)(function)
    if hasattr(dispatcher, "compile"):
        kept: Any = getattr(dispatcher, "_cache", None)
        kept.load_overload, kept.save_overload = _or_nothing(kept.load_overload), _or_nothing(kept.save_overload)
        if signatures:
            dispatcher.compile = _compile_one_of(dispatcher, signatures)
    return dispatcher  # type: ignore[no-any-return]


def _compile_one_of(dispatcher: Any, signatures: tuple[Any, ...]) -> Callable[[Any], Any]:
    """Return a method that compiles the first of the signatures that arguments of some types can be given to."""
    compile_any, waiting = dispatcher.compile, set(signatures)

    def loss(types: tuple[Any, ...], signature: Any) -> float:
        """Return what the worst conversion of an argument loses, as numba rates it: 0 or more, infinity for none."""
        found = [dispatcher.typingctx.can_convert(*pair) for pair in zip(types, signature.args, strict=False)]
        return float("inf") if len(types) != len(signature.args) or None in found else max(found, default=0)

    def compile_one(given: Any) -> Any:
        types, _ = sigutils.normalize_signature(given)
        best = min(signatures, key=functools.partial(loss, types))
        if loss(types, best) == float("inf"):
            raise TypeError(f"{dispatcher.py_func.__name__} is not compiled for {types}")
        entry = compile_any(best)
        waiting.discard(best)
        if not waiting:
            dispatcher.disable_compile()
        return entry

    return compile_one


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


class _Library(JITCodeLibrary):  # type: ignore[misc]
    """The code of a function, not optimised as long as it stands alone."""

    _linking_libraries: Any

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout


class _InlinedLibrary(_Library):
    """The code of a function that only kernels call: LLVM gets it with each kernel, and not before."""

    def finalize(self) -> None:
        self._raise_if_finalized()
        self._finalized = True

    @property
    def codegen(self) -> Any:
        return _NotLoaded


class _NotLoaded:
    @staticmethod
    def set_env(name: str, environment: Any) -> None:
        """Do nothing: code that is not loaded has no place for its environment."""


class _KernelLibrary(_Library):
    """The code of a kernel: it and all that it calls are optimised together and become machine code once."""

    _linking_libraries: list[Any]

    def finalize(self) -> None:
        libraries: dict[Any, None] = {}
        waiting = list(self._linking_libraries)
        while waiting:
            library = waiting.pop()
            if library not in libraries:
                libraries[library] = None
                if isinstance(library, _InlinedLibrary):
                    waiting += library._linking_libraries
        self._linking_libraries = list(libraries)
        super().finalize()

    def _optimize_final_module(self) -> None:
        made = self._codegen._module_pass_manager()
        if isinstance(made, tuple):  # since 0.62: all passes once, not first the cheap ones for counts of references
            passes, builder = made
            passes.run(self._final_module, builder)
        else:
            super()._optimize_final_module()


class _Compiler(Compiler):  # type: ignore[misc]
    """numba's compiler without the passes for what no kernel has: closures, generators, literal loops."""

    library: type[_Library]

    def define_pipelines(self) -> Any:
        _remember_operators(self.state.typingctx)
        self.state.library = self.library(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        self.state.library.enable_object_caching()
        pipelines = super().define_pipelines()
        for pipeline in pipelines:
            pipeline.passes = [one for one in pipeline.passes if one[0].__name__ not in _UNNEEDED]
            pipeline.finalize()
        return pipelines


class _InlinedCompiler(_Compiler):
    library = _InlinedLibrary


class _KernelCompiler(_Compiler):
    library = _KernelLibrary

    def define_pipelines(self) -> Any:
        compilation_begins()
        return super().define_pipelines()


_UNNEEDED = {
    *("WithLifting", "InlineClosureLikes", "RewriteDynamicRaises", "MakeFunctionToJitFunction", "InlineInlinables"),
    *("FindLiterallyCalls", "LiteralUnroll", "LiteralPropagationSubPipelinePass", "InlineOverloads", "DeadBranchPrune"),
    *("RewriteSemanticConstants", "NoPythonSupportedFeatureValidation", "AnnotateTypes", "DumpParforDiagnostics"),
}
_OPERATORS = (
    *("add", "sub", "mul", "floordiv", "truediv", "mod", "lshift", "rshift", "and_", "or_", "xor", "neg", "invert"),
    *("iadd", "isub", "imul", "ifloordiv", "imod", "ilshift", "irshift", "iand", "ior", "ixor", "not_"),
    *("eq", "ne", "lt", "le", "gt", "ge", "getitem", "setitem"),
)
_PLAIN = (numba.types.Number, numba.types.Boolean, numba.types.Array)


@functools.cache
def _remember_operators(context: Any) -> None:
    """Let what operators on numbers and on elements of arrays become be found once, not in each function."""
    for name in _OPERATORS:
        function = context.resolve_value_type(getattr(operator, name))
        function.get_call_type = _remembering(function.get_call_type)


def _remembering(resolve: Callable[..., Any]) -> Callable[..., Any]:
    known: dict[Any, Any] = {}

    def get_call_type(context: Any, arguments: Any, keywords: Any) -> Any:
        plain = tuple(map(numba.types.unliteral, arguments))
        if keywords or not all(isinstance(one, _PLAIN) for one in plain):
            return resolve(context, arguments, keywords)
        if plain not in known:
            known[plain] = resolve(context, plain, keywords)
        return known[plain]

    return get_call_type
