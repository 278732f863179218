"""What the loader costs before its first batch."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.loader.test_rules import python

HEAVY = ("apache_beam", "numba", "torch", "nltk", "transformers", "datasets", "fsspec")


@pytest.mark.parametrize("allowed", [(), ("torch",)])
def test_importing_the_loader_imports_neither_beam_nor_numba(allowed: tuple[str, ...]) -> None:
    module = "bertdata.torch" if allowed else "bertdata.loader"
    loaded = json.loads(python(f"import sys, json, {module}; print(json.dumps(sorted(sys.modules)))"))
    tops = {name.split(".")[0] for name in loaded}
    assert tops & {"apache_beam", "numba", "nltk"} == set()
    if not allowed:
        assert tops & set(HEAVY) == set()


@pytest.mark.slow
def test_the_first_batch_of_a_fresh_process_takes_less_than_two_seconds(dynamic_build: Path) -> None:
    # CPU seconds of the whole process, the interpreter's start included; the compiled masks come from numba's cache.
    code = f"""
from bertdata.loader import numpy_batches
next(iter(numpy_batches({str(dynamic_build)!r}, 32)))
import time
print(time.process_time())
"""
    assert min(float(python(code)) for _ in range(4)) < 2
