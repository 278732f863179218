"""The private parts of numba on which kernels are built, each with what to do where a new version changes it."""

from __future__ import annotations

import re
from typing import Any

import numba
import numpy as np
import pytest
from numba.core import caching

from bertdata.kernels import jit
from bertdata.kernels.sources import sources_digest
from tests.private_parts import Part, private_names

_SLOWER = "kernels then compile in more time, with the same results"
PARTS = {
    "optimize": Part(
        "numba.core.codegen:JITCodeLibrary._optimize_final_module",
        ("self",),
        "leaving a function that only kernels call to be optimised with them",
        f"Without it, take `_InlinedLibrary` and `_InlinedCompiler` out of kernels/jit.py: {_SLOWER}.",
    ),
    "finalize": Part(
        "numba.core.codegen:JITCodeLibrary._finalize_final_module",
        ("self",),
        "making no machine code of a function that only kernels call",
        f"Without it, take `_InlinedLibrary` and `_InlinedCompiler` out of kernels/jit.py: {_SLOWER}.",
    ),
    "globals": Part(
        "numba.core.codegen:JITCodeLibrary._finalize_dynamic_globals",
        ("self",),
        "what numba's own `_finalize_final_module` does first",
        "Compare `_InlinedLibrary` of kernels/jit.py with numba's method, step by step.",
    ),
    "compile": Part(
        "numba.core.compiler:Compiler._compile_core",
        ("self",),
        "looking up once what an operator means",
        f"Without it, take `_remembered_operators` out of kernels/jit.py: {_SLOWER}.",
    ),
    "call template": Part(
        "numba.core.dispatcher:Dispatcher.get_call_template",
        ("self", "args", "kws"),
        "compiling a function once for constants and variables",
        f"Without it, take `_without_constants` out of kernels/jit.py: {_SLOWER}.",
    ),
    "call": Part(
        "numba.core.dispatcher:Dispatcher._compile_for_args",
        ("self", "args", "kws"),
        "refusing a call from Python of what is compiled into kernels",
        "Without it, `inlined` functions crash where Python calls them: find what numba calls for new types.",
    ),
    "load": Part(
        "numba.core.caching:FunctionCache.load_overload",
        ("self", "sig", "target_context"),
        "telling that a kernel is compiled where none is on disk",
        "Without it, `compilation_begins` is not called: hook the method that loads machine code.",
    ),
    "load inside": Part(
        "numba.core.caching:FunctionCache._load_overload",
        ("self", "sig", "target_context"),
        "loading machine code before numba has gathered what it compiles with",
        "Without it, take `_CacheOfPlainKernels` out of kernels/jit.py: each process then starts 0.4 s later.",
    ),
    "guard": Part(
        "numba.core.caching:FunctionCache._guard_against_spurious_io_errors",
        ("self",),
        "what numba's own `load_overload` does around `_load_overload`",
        "Without it, take `_CacheOfPlainKernels` out of kernels/jit.py: each process then starts 0.4 s later.",
    ),
    "save": Part(
        "numba.core.caching:FunctionCache.save_overload",
        ("self", "sig", "data"),
        "going on where machine code cannot be written",
        "Without it, a full disk ends a build: catch errors where numba writes its cache.",
    ),
    "index": Part(
        "numba.core.caching:IndexDataCacheFile._load_index",
        ("self",),
        "telling whether machine code of a kernel is on disk",
        "Without it `is_kept` is False, and small inputs go the way of Python: read the index in another way.",
    ),
    "index key": Part(
        "numba.core.caching:FunctionCache._index_key",
        ("self", "sig", "codegen"),
        "telling whether machine code is for this processor",
        "Without it `is_kept` is False, and small inputs go the way of Python: make the key in another way.",
    ),
    "signature": Part(
        "numba.core.sigutils:normalize_signature",
        ("sig",),
        "the types of the arguments that a kernel is compiled for",
        "Look at what `dispatcher.compile` is given, in `_compile_one_of` of kernels/jit.py.",
    ),
    "locators": Part(
        "numba.core.caching:CompileResultCacheImpl._locator_classes",
        None,
        "keeping machine code in the user's cache folder before the package's",
        "Without it, machine code lands beside the modules: set the order of places in another way.",
    ),
}


@pytest.mark.parametrize("name", PARTS)
def test_a_private_part_of_numba_is_as_it_was(name: str) -> None:
    PARTS[name].check()


def test_every_private_name_that_kernels_use_of_numba_has_its_contract() -> None:
    used = private_names("bertdata/kernels/jit.py")
    tried_below = {"_nrt", "_insert", "_code", "_cache", "_cache_file"}
    assert tried_below - {"_nrt"} <= used <= tried_below | {part.where.rpartition(".")[2] for part in PARTS.values()}


def test_a_kernel_of_numba_that_counts_no_references_is_made_with_its_option() -> None:
    counting, free = (
        numba.njit(**options)(lambda array: array[1:].sum() + array[:2].sum()) for options in ({}, {"_nrt": False})
    )
    given = np.arange(4)
    assert counting(given) == free(given) == 7
    counted = ["NRT_incref" in "".join(function.inspect_llvm().values()) for function in (counting, free)]
    assert counted == [True, False], (
        f"numba {numba.__version__}: `_nrt=False` has no effect; take it out of `_kernel` and `_inlined` of "
        "kernels/jit.py, and measure calls (benchmarks/kernels.py)"
    )


def test_a_dispatcher_of_numba_finds_what_was_inserted_for_types() -> None:
    double: Any = numba.njit(lambda n: 2 * n)
    entry = double.compile((numba.int64,))
    double._insert([numba.float64._code], entry, False)
    assert isinstance(double(3.0), int), (
        f"numba {numba.__version__}: `dispatcher._insert` is no longer what a call goes by; take it out of "
        "`_compile_one_of` of kernels/jit.py, which then looks for the signature at each call"
    )


def test_a_cache_of_numba_is_in_the_places_that_a_class_names() -> None:
    places = jit._CacheImpl._locator_classes
    names = [kind.__name__ for kind in places[: len(jit._LOCATORS)]]
    assert [re.sub(r"^_|CacheLocator$", "", name) for name in names] == list(jit._LOCATORS), (
        f"numba {numba.__version__} has other places for machine code; see `_LOCATORS` of kernels/jit.py"
    )
    only_read = places[len(jit._LOCATORS) :]
    assert [kind.__base__ for kind in only_read] == list(places[: len(jit._LOCATORS)])
    assert issubclass(jit._Cache, caching.FunctionCache)
    assert jit._Cache._impl_class is jit._CacheImpl
    cache = jit._Cache(sources_digest.__wrapped__)
    assert cache._cache_file._load_index() is not None
