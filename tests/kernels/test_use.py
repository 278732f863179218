"""Kernels run once they pay in a process, in one call or in many."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from bertdata import SentenceSegmenter, clean_book
from bertdata.kernels import warmup
from bertdata.kernels.jit import is_kept
from bertdata.kernels.use import LOADED_FROM, Kernels
from bertdata.kernels.warmup import COMPILED_FROM, compiling_always
from bertdata.sentences import segmenter
from bertdata.sources.books import read
from tests.outside import ROOT


class Counted(Kernels):
    """Kernels that are on disk or not, and how often that was looked up."""

    def __init__(self, *, kept: bool) -> None:
        super().__init__()
        self.kept, self.looked_up = kept, 0

    def _are_kept(self) -> bool:
        self.looked_up += 1
        return self.kept


def bytes_in_python(kernels: Kernels, size: int) -> int:
    """Return how many bytes, in calls of one size, plain Python does before kernels run."""
    done = 0
    while not kernels.pay(size) and done <= 2 * COMPILED_FROM:
        done += size
    assert all(kernels.pay(1) for _ in range(3))
    return done


@pytest.mark.parametrize("size", [999, 1 << 16, 900_000])
@pytest.mark.parametrize(("kept", "least"), [(True, LOADED_FROM), (False, COMPILED_FROM)])
def test_many_small_calls_run_compiled_from_a_total_on(kept: bool, least: int, size: int) -> None:
    kernels = Counted(kept=kept)
    assert bytes_in_python(kernels, size) == (least - 1) // size * size
    assert kernels.looked_up == 1


def test_one_large_call_runs_compiled_at_once() -> None:
    assert Counted(kept=True).pay(LOADED_FROM)
    assert not Counted(kept=False).pay(COMPILED_FROM - 1)
    assert Counted(kept=False).pay(COMPILED_FROM)


def test_what_the_caller_says_is_done_and_kernels_that_ran_run_again() -> None:
    kernels = Counted(kept=False)
    assert not kernels.pay(COMPILED_FROM, compiled=False)
    assert not kernels.pay(1)
    assert kernels.pay(1, compiled=True)
    assert kernels.pay(1)
    assert not kernels.pay(1, compiled=False)
    with compiling_always():
        assert Counted(kept=False).pay(1)


_LOOK = """
import sys
import numpy as np
from bertdata.kernels.jit import is_kept
from bertdata.sources.books.layout_kernel import LINE_COLUMNS, STARTS, lines_kernel
from bertdata.sources.books.read import KERNELS
if sys.argv[1:]:
    print(is_kept(lines_kernel), end=" ")
    lines_kernel(np.zeros(1, np.uint8), np.empty((1, LINE_COLUMNS), np.int32), STARTS)
print(is_kept(lines_kernel), KERNELS._are_kept())
"""


@pytest.mark.costly
def test_machine_code_is_looked_for_on_disk_where_it_was_compiled_for_this_processor(tmp_path: Path) -> None:
    def kept(*arguments: str, **variables: str) -> str:
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)} | variables
        command = [sys.executable, "-c", _LOOK, *arguments]
        return subprocess.run(command, env=environment, cwd=ROOT, capture_output=True, check=True, text=True).stdout

    assert kept("compile") == "False True False\n"  # before, after, and all three of the kernels for books
    assert kept() == "True False\n"
    assert kept(NUMBA_CPU_NAME="generic") == "False False\n"
    assert not is_kept(len)  # as under NUMBA_DISABLE_JIT


@pytest.mark.costly
def test_books_and_sentences_count_their_calls_too(monkeypatch: pytest.MonkeyPatch) -> None:
    book = "It was late, and the clock in the hall had\nstruck twice before anybody in the house woke.\n\n" * 30
    text = "It was late. Dr. Brown had left for St. James St. at 3 p.m. The clock struck. " * 4
    monkeypatch.setattr(warmup, "COMPILED_FROM", 3 * len(book))
    runs = [clean_book(book, compiled=False), SentenceSegmenter.from_pretrained().segment(text)]
    for module in (read, segmenter):
        monkeypatch.setattr(module, "KERNELS", Kernels(*module.KERNELS._names))
    for _ in range(30):
        assert [clean_book(book), SentenceSegmenter.from_pretrained().segment(text)] == runs
    assert read.KERNELS.pay(0)
    assert segmenter.KERNELS.pay(0)
