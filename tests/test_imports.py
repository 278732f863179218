"""Imports in which the garbage collector waits, and of Beam without the packages that it does without."""

from __future__ import annotations

import gc
import os
import platform
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

from bertdata.io.imports import collect_seldom, collector_paused
from tests.pipelines.builds import FLAGS

ROOT = Path(__file__).parents[1]

_HIDDEN = """
import sys
from bertdata.io.imports import without_packages_of_beam
with without_packages_of_beam():
    import apache_beam
for name in ("pandas", "pymongo", "bson", "hdfs", "apache_beam.io.gcp.bigquery"):
    assert name not in sys.modules, f"Beam imported {name}"
import apache_beam.io.gcp.bigquery
try:
    import pandas
except ModuleNotFoundError as error:
    assert "halted" not in str(error), error
"""


@pytest.mark.parametrize("running", [True, False])
def test_the_collector_goes_on_as_before(running: bool) -> None:
    was = gc.isenabled()
    (gc.enable if running else gc.disable)()
    try:
        with collector_paused():
            assert not gc.isenabled()
        assert gc.isenabled() == running
        with pytest.raises(ImportError), collector_paused():
            raise ImportError
        assert gc.isenabled() == running
    finally:
        (gc.enable if was else gc.disable)()


@pytest.mark.costly
def test_beam_is_imported_without_what_it_does_without_which_can_be_imported_later() -> None:
    subprocess.run([sys.executable, "-W", "ignore", "-c", _HIDDEN], check=True)


_ARRAYS = """
import sys
import numpy as np
from bertdata.io.imports import keep_pandas_out_of_pyarrow
keep_pandas_out_of_pyarrow()
import pyarrow as pa
assert pa.array(["a"]).to_pylist() == ["a"]
assert pa.array(np.arange(2)).to_pylist() == [0, 1]
assert "pandas" not in sys.modules
{first}
import pandas
assert pa.array(pandas.Series([1.0, None])).null_count == 1
assert pa.table(dict(a=[1])).to_pandas()["a"].tolist() == [1]
"""


@pytest.mark.costly
@pytest.mark.parametrize("first", ["pass", "import pandas", "pa.table(dict(a=[1])).to_pandas()"])
def test_arrays_of_lists_are_made_without_pandas_and_of_a_series_once_somebody_imports_it(first: str) -> None:
    pytest.importorskip("pandas")
    subprocess.run([sys.executable, "-c", _ARRAYS.format(first=first)], check=True)


_SERIES = """
def keep(text):
    import pandas, pyarrow
    assert pyarrow.array(pandas.Series([1.0, None])).null_count == 1
    return True
"""
_BUILD = """
import atexit, os, sys
from bertdata.__main__ import main
packages = {"apache_beam", "numba", "pandas", "pymongo"}

def report():
    import pyarrow as pa
    threads, pool = os.environ["OPENBLAS_NUM_THREADS"], pa.default_memory_pool().backend_name
    print(*sorted(packages & set(sys.modules)), threads, pool)

atexit.register(report)
main()
"""


_SET_BY_COMMANDS = ("OPENBLAS_NUM_THREADS", "ARROW_DEFAULT_MEMORY_POOL")


@pytest.mark.costly
def test_a_build_by_two_workers_without_beam_takes_code_of_others_that_has_arrays_of_series(tmp_path: Path) -> None:
    pytest.importorskip("pandas")
    (tmp_path / "own_series.py").write_text(_SERIES)
    call = ["build", *FLAGS, "--output", str(tmp_path / "out"), "--workers", "2", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-c", _BUILD, *call, "--filter", "own_series:keep"],
        check=True,
        env={name: value for name, value in os.environ.items() if name not in _SET_BY_COMMANDS}
        | {"PYTHONPATH": f"{tmp_path}:{ROOT}"},
        capture_output=True,
        text=True,
    )
    *imported, threads, allocator = done.stdout.split()
    assert imported == ["numba", "pandas"]
    assert threads == "1"
    assert allocator == ("system" if platform.libc_ver()[0] == "glibc" else pa.default_memory_pool().backend_name)


@pytest.mark.costly
def test_a_build_by_one_worker_imports_neither_beam_nor_what_numba_does_without(tmp_path: Path) -> None:
    program = _BUILD.replace('"pymongo"', '"scipy.linalg"')
    call = ["build", *FLAGS, "--output", str(tmp_path / "out"), "--workers", "1", "--quiet"]
    done = subprocess.run(
        [sys.executable, "-c", program, *call],
        check=True,
        env=os.environ
        | {"PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "2", "ARROW_DEFAULT_MEMORY_POOL": "mimalloc"},
        capture_output=True,
        text=True,
    )
    assert done.stdout.split() == ["numba", "2", "mimalloc"]


_LATER = """
from bertdata.io.imports import keep_scipy_out_of_numba
keep_scipy_out_of_numba()
import sys, numba.np.arraymath
assert "scipy.linalg" not in sys.modules
import scipy.linalg
assert scipy.linalg.norm([3.0, 4.0]) == 5.0
"""


def test_scipy_is_there_for_others_once_numba_did_without_it() -> None:
    pytest.importorskip("scipy")
    subprocess.run([sys.executable, "-c", _LATER], check=True)


def test_a_package_of_public_names_loads_a_module_when_its_name_is_used() -> None:
    code = """
import sys
import bertdata.loader
before = {name for name in sys.modules if name.startswith("bertdata")}
assert len(before) < 35, sorted(before)
from bertdata.loader import ShardExamples
assert ShardExamples.__module__ == "bertdata.loader.examples"
assert not [name for name in sys.modules if name.startswith(("bertdata.torch", "bertdata.beam"))]
for name in bertdata.loader.__all__:
    assert getattr(bertdata.loader, name)
"""
    subprocess.run([sys.executable, "-c", code], check=True)


def test_what_was_imported_is_not_collected_again_once_a_build_begins() -> None:
    before = gc.get_threshold()
    try:
        collect_seldom()
        assert gc.get_freeze_count() > 1000
        assert gc.get_threshold()[0] > before[0]
    finally:
        gc.unfreeze()
        gc.set_threshold(*before)


_WITHOUT_PANDAS = """
import sys
class NotInstalled:
    def find_spec(self, name, *_):
        if name == "pandas":
            raise ModuleNotFoundError("No module named 'pandas'")
sys.meta_path.insert(0, NotInstalled())
from bertdata.__main__ import main
main()
"""


@pytest.mark.costly
@pytest.mark.parametrize("units", ["paragraphs", "sentences"])
def test_repeated_text_is_left_out_without_pandas_which_no_extra_declares(units: str, tmp_path: Path) -> None:
    book = "It rained all day in the town.\n\nNobody went out of the house, and it rained.\n"
    (tmp_path / "first.txt").write_text(book)
    (tmp_path / "second.txt").write_text(book + "\nSomebody did.\n")
    call = ["build", "--books", str(tmp_path), "--vocab", "bertdata-30k-uncased", "--objective", "full-sentences"]
    call += ["--dedup-spans", units, "--output", str(tmp_path / "out"), "--quiet"]
    subprocess.run([sys.executable, "-c", _WITHOUT_PANDAS, *call], check=True, cwd=ROOT)
    assert (tmp_path / "out" / "manifest.json").exists()
