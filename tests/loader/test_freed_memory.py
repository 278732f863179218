"""The memory of batches is kept from one batch to the next."""

from __future__ import annotations

import os
import platform
import subprocess
import sys

import pytest

BATCHES = """
import resource
import numpy as np
from bertdata.loader.padding import padded_rows

def faults():
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt

def batches(count):
    row = np.ones(400, np.uint16)
    for _ in range(count):
        batch = {name: padded_rows([row] * 256, 512, 0, np.int64) for name in "abcd"}

batches(5)
before = faults()
batches(50)
print((faults() - before) / 50)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="what malloc keeps is glibc's")
def test_pages_are_not_faulted_in_again_for_each_batch() -> None:
    # Dask has processes give memory back by such a variable, and leaves it in the environment
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MALLOC_")}
    command = [sys.executable, "-c", BATCHES]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    assert float(done.stdout) < 64  # one of four arrays has 256 pages
