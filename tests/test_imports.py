"""Imports in which the garbage collector waits, and of Beam without the packages that it does without."""

from __future__ import annotations

import gc
import subprocess
import sys
from pathlib import Path

import pytest

from bertdata.imports import collector_paused
from tests.pipelines.builds import FLAGS

_HIDDEN = """
import sys
from bertdata.imports import without_packages_of_beam
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


def test_beam_is_imported_without_what_it_does_without_which_can_be_imported_later() -> None:
    subprocess.run([sys.executable, "-W", "ignore", "-c", _HIDDEN], check=True)


_BUILD = """
import atexit, sys
from bertdata.__main__ import main
atexit.register(lambda: print(*sorted({"apache_beam", "numba", "pandas", "pymongo"} & set(sys.modules))))
main()
"""


def test_the_process_that_starts_a_build_leaves_kernels_to_its_workers(tmp_path: Path) -> None:
    call = ["build", *FLAGS, "--output", str(tmp_path), "--workers", "2", "--quiet"]
    done = subprocess.run([sys.executable, "-c", _BUILD, *call], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["apache_beam"]
