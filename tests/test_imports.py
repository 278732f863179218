"""Imports in which the garbage collector waits, and of Beam without the packages that it does without."""

from __future__ import annotations

import gc
import subprocess
import sys

import pytest

from bertdata.imports import collector_paused

_HIDDEN = """
import sys
from bertdata.imports import without_packages_of_beam
with without_packages_of_beam():
    import apache_beam
assert "pandas" not in sys.modules, "Beam imported it"
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


def test_beam_is_imported_without_pandas_which_can_be_imported_later() -> None:
    subprocess.run([sys.executable, "-W", "ignore", "-c", _HIDDEN], check=True)
