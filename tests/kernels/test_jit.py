"""A kernel gives what its Python gives; machine code that was kept is used only while its sources are the same."""

from __future__ import annotations

import operator
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any, cast

import numba
import numpy as np
import pytest
from numba.core import caching

import bertdata
from bertdata.kernels.jit import inlined, plain, typed_kernel
from bertdata.kernels.mixer import sort_draws

PACKAGE = Path(bertdata.__file__).parent

KERNEL = """
import numpy as np
import numba
from bertdata.kernels.jit import inlined, typed_kernel
from bertdata.kernels.warmup import listeners
told = []
listeners.append(lambda: told.append(1))

@typed_kernel(makes_arrays=True)
def doubled(values):
    return values * 2

@inlined
def added(one, other):
    return one + other

@typed_kernel(numba.int64(numba.types.Array(numba.int64, 1, "C", readonly=True)))
def total(values):
    found = 0
    for value in values:
        found = added(found, value)
    return found

values = np.arange(4)
print(doubled(values).tolist(), total(values), len(told), end=" ")
print(doubled(values.astype(float)).tolist(), len(told))
"""


@pytest.mark.costly
def test_a_kernel_says_that_it_is_compiled_and_nothing_where_it_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(KERNEL)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "kept"), "PYTHONPATH": str(PACKAGE.parent)}

    def told() -> str:
        command = [sys.executable, str(tmp_path / "kernel.py")]
        return subprocess.run(command, env=environment, capture_output=True, check=True, text=True).stdout.strip()

    printed = "[0, 2, 4, 6] 6 {} [0.0, 2.0, 4.0, 6.0] {}"
    assert told() == printed.format(2, 3)
    assert told() == printed.format(0, 0)
    for path in (tmp_path / "kept").rglob("*.nbi"):
        path.write_bytes(b"damaged")
    assert told() == printed.format(2, 3)


READ_ONLY = """
import errno, tempfile
def refused(*_, **__):
    raise OSError(errno.EROFS, "Read-only file system")
tempfile.TemporaryFile = refused
"""
"""How numba finds out that it cannot write into a folder."""


@pytest.mark.costly
def test_machine_code_is_loaded_where_nothing_can_be_written(tmp_path: Path) -> None:
    """As in a container whose root is read-only, of an image in which `bertdata compile` ran."""
    file = tmp_path / "kernel.py"
    file.write_text(KERNEL)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "kept"), "PYTHONPATH": str(PACKAGE.parent)}

    def told(script: str) -> str:
        command = [sys.executable, "-c", f"{script}import runpy\nrunpy.run_path({str(file)!r})\n"]
        return subprocess.run(command, env=environment, capture_output=True, check=True, text=True).stdout.strip()

    assert told("") == "[0, 2, 4, 6] 6 2 [0.0, 2.0, 4.0, 6.0] 3"
    assert told(READ_ONLY) == "[0, 2, 4, 6] 6 0 [0.0, 2.0, 4.0, 6.0] 0"


GATHERED = """
import sys
import numpy as np
import numba
from bertdata.kernels.jit import inlined, kernel, typed_kernel

@inlined
def squared(value):
    return value * value

@kernel
def total(values, factor):
    result = 0.0
    for value in values:
        result += squared(value) * np.sqrt(factor)
    return result

@typed_kernel(makes_arrays=True)
def doubled(values):
    return values * 2

values = np.arange(4)
print(total(values, 4.0), "numba.np.arraymath" in sys.modules, end=" ")
if "more" in sys.argv:
    print(doubled(values).tolist(), total(values.astype(np.float32), 9.0), numba.njit(lambda a: a[1:].sum())(values))
"""


@pytest.mark.costly
def test_what_numba_compiles_with_is_gathered_where_a_kernel_is_compiled_or_makes_arrays(tmp_path: Path) -> None:
    (tmp_path / "kernel.py").write_text(GATHERED)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "kept"), "PYTHONPATH": str(PACKAGE.parent)}

    def told(*more: str) -> str:
        command = [sys.executable, str(tmp_path / "kernel.py"), *more]
        return subprocess.run(command, env=environment, capture_output=True, check=True, text=True).stdout.strip()

    assert told() == "28.0 True"
    assert told() == "28.0 False"
    assert told("more") == "28.0 False [0, 2, 4, 6] 42.0 6"
    assert told("more") == "28.0 False [0, 2, 4, 6] 42.0 6"


@pytest.mark.costly
def test_a_kernel_of_no_file_is_compiled_each_time_and_says_so() -> None:
    command = [sys.executable, "-c", KERNEL]
    run = subprocess.run(command, cwd=PACKAGE.parent, capture_output=True, check=True, text=True)
    assert run.stdout.strip() == "[0, 2, 4, 6] 6 2 [0.0, 2.0, 4.0, 6.0] 3"


@typed_kernel(numba.int64(numba.int64, numba.int64), numba.float64(numba.float64, numba.float64))
def _product(one: Any, other: Any) -> Any:
    return _times(one, other)


@inlined
def _times(one: Any, other: Any) -> Any:
    return one * other


def test_a_kernel_with_signatures_takes_what_converts_to_one_of_them_and_nothing_else() -> None:
    assert (_product(6, 7), _product(1.5, 2), _product(np.int32(6), True)) == (42, 3.0, 6)
    for wrong in ("6", 6, np.arange(2)), (1, 2, 3):
        with pytest.raises(TypeError):
            _product(*wrong)


def test_the_signature_for_types_is_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    two_forms = typed_kernel(numba.int64(numba.int64, numba.int64), numba.float64(numba.float64, numba.float64))
    difference: Any = two_forms(lambda one, other: one - other)
    assert difference(np.int16(6), 7) == -1
    monkeypatch.setattr(difference, "_compile_for_args", pytest.fail)
    assert difference(np.int16(5), 7) == -2


def test_python_cannot_call_what_is_compiled_into_kernels_but_can_call_its_python() -> None:
    assert _product(2, 3) == 6
    with pytest.raises(TypeError, match=r"compiled into the kernels that call it; in Python call plain\(_times\)"):
        _times(2, 3)
    assert plain(_times)(2, 3) == 6


def test_machine_code_is_not_kept_in_the_package_which_would_leave_its_folders_there() -> None:
    cache: Any = cast("Any", sort_draws)._cache
    assert not Path(cache.cache_path).is_relative_to(PACKAGE)


@pytest.mark.slow
def test_operators_on_numbers_mean_what_they_do_without_bertdata() -> None:
    def mixed(a: Any, b: Any) -> Any:
        return a + b, a - b, a * b, a // b, a % b, a / b, a < b, a == b, -a

    values: list[Any] = [np.int8(5), np.uint8(7), np.int64(-9), np.uint64(3), np.uint32(11), 6, 5.0, -9.0, 0.1]
    ours, theirs = typed_kernel(makes_arrays=True)(mixed), numba.njit(mixed)
    for a in values:
        for b in values:
            assert repr(ours(a, b)) == repr(theirs(a, b))


@inlined
def _element(values: Any, place: Any) -> Any:
    if place < 0:
        raise ValueError("a place is 0 or more")
    return values[place]


@typed_kernel()
def _first_and(values: Any, place: Any) -> Any:
    return _element(values, 0) + _element(values, place)


def test_a_function_of_kernels_is_compiled_once_for_constants_and_variables() -> None:
    element: Any = inlined(lambda values, place: values[place])
    sum_of_two: Any = typed_kernel()(lambda values, place: element(values, 0) + element(values, place))
    sum_of_two._cache = caching.NullCache()  # with machine code that an earlier run kept, nothing would be compiled
    assert sum_of_two(np.array([3, 4]), 1) == 7
    assert len(element.overloads) == 1


def test_compiling_leaves_the_operators_of_other_code_as_numba_has_them() -> None:
    assert _first_and(np.array([3.0, 4.0]), 1) == 7
    context = numba.njit(lambda: 0).typingctx
    assert "get_call_type" not in vars(context.resolve_value_type(operator.add))


def test_an_error_in_a_function_of_kernels_reaches_python() -> None:
    with pytest.raises(ValueError, match="a place is 0 or more"):
        _first_and(np.arange(2), -1)


@pytest.mark.costly
def test_bounds_are_checked_in_functions_of_kernels_too() -> None:
    assert _first_and(np.arange(2), 1) == 1  # machine code without the check is kept, and not used below
    program = "import numpy; from tests.kernels.test_jit import _first_and; _first_and(numpy.arange(2), 2)"
    environment = os.environ | {"NUMBA_BOUNDSCHECK": "1"}
    command = [sys.executable, "-c", program]
    run = subprocess.run(command, cwd=PACKAGE.parent, env=environment, capture_output=True, text=True, check=False)
    assert "IndexError: index is out of bounds" in run.stderr


def test_what_numba_does_not_promise_is_used_in_one_file() -> None:
    private = re.compile(r"\b_nrt\b|\bdispatcher\b.*\b_cache\b|_kind\b.*unicode")
    using = [path.name for path in PACKAGE.rglob("*.py") if private.search(path.read_text(encoding="utf-8"))]
    assert using == ["jit.py"]
