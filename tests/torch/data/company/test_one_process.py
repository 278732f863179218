"""The matrix in one process: loops by workers, stops and kinds of data; a few cells are not slow."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from typing import Any

import pytest

from bertdata.errors import ConfigError
from tests.torch.data.company.__main__ import PAGE
from tests.torch.data.company.pulled import PULLED, run
from tests.torch.data.company.pushed import PUSHED
from tests.torch.data.company.setup import (
    DATA,
    EPOCHS,
    STOPS,
    WORKERS,
    Digests,
    Setup,
    Stop,
    rows_of,
    stops_of,
    write_builds,
)
from tests.torch.data.company.table import LOOPS, LOST, REFUSALS, SAME, WARNED, Loop, table

pytestmark = pytest.mark.filterwarnings("ignore")

OWN_ORDER = ("trainer, told the epoch", "trainer")
"""Loops whose order is not ours."""
ENDLESS = ("lightning, max_steps", "trainer, our loader", "composer, our state")
WARNING_OF_LOSS = ("was left after its first batch", "your dataloader is not resumable")
"""What our loader says, and Lightning."""
"""Loops of one iteration without an end."""
COSTLY = {"torch checkpoint", "fabric, counted", "ray, counted", "ray"}
"""Loops whose packages take long to import; tests/torch/data/test_wrong_readers.py has a quick one of the first."""
QUICK = {
    ("resumable", "2", "twice", "bins"),
    ("stateful", "2", "second epoch", "rows"),
    ("lightning", "0", "after the end", "rows"),
    ("resumable", "2", "twice", "streamed"),
    ("stateful", "2", "second epoch", "streamed"),
    ("lightning", "2", "second epoch", "streamed"),
    ("lightning, epochs=None", "0", "inside", "rows"),
}


def cells() -> list[Any]:
    """Return the parameters of all cells, the slow ones marked.

    Plain rows with all workers and stops; the other kinds of data with two workers, in the second epoch and twice.
    """
    every = []
    for loop in (loop for loop in LOOPS if loop.alone):
        for data in loop.data or DATA:
            for workers in loop.workers or WORKERS:
                for stop, outcome in zip(STOPS, loop.outcomes, strict=True):
                    cell = (loop.alone, workers, stop, data)
                    if data != "rows" and (workers != "2" or stop not in ("second epoch", "twice")):
                        continue
                    cheap = (
                        loop.alone in PULLED and loop.alone not in COSTLY and cell[1:] == ("0", "second epoch", "rows")
                    )
                    marks = [] if cheap or cell in QUICK else [pytest.mark.slow]
                    every.append(pytest.param(loop, workers, stop, data, outcome, marks=marks, id=", ".join(cell)))
    return every


@pytest.fixture(scope="module")
def builds(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return write_builds(tmp_path_factory.mktemp("builds"))


UNDISTURBED: dict[tuple[str, str, str], Digests] = {}


def run_of(loop: Loop, setup: Setup, stops: list[Stop], folder: Path) -> Digests:
    if loop.alone in PULLED:
        return run(PULLED[loop.alone], setup, stops, folder)
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    return PUSHED[loop.alone](setup, stops, folder)


def undisturbed(loop: Loop, setup: Setup, folder: Path) -> Digests:
    """Return the batches of a run of the loop that is not stopped."""
    key = (loop.alone, setup.data, setup.workers)
    if key not in UNDISTURBED:
        UNDISTURBED[key] = run_of(loop, setup, [], folder / "undisturbed")
    return UNDISTURBED[key]


@pytest.mark.costly
@pytest.mark.parametrize(("loop", "workers", "stop", "data", "outcome"), cells())
def test_a_run_that_was_stopped_has_the_rows_and_masks_of_one_that_was_not_or_is_refused(
    loop: Loop, workers: str, stop: str, data: str, outcome: str, builds: tuple[Path, Path], tmp_path: Path
) -> None:
    for package in loop.packages.split():
        pytest.importorskip(package)
    setup = Setup(builds, data, workers)
    stops = stops_of(stop, setup.batches)
    if outcome in REFUSALS:
        with pytest.raises(ConfigError, match=REFUSALS[outcome]):
            run_of(loop, setup, stops, tmp_path)
        return
    whole = undisturbed(loop, setup, tmp_path)
    assert len(whole) == EPOCHS * setup.batches
    if loop.alone in ENDLESS:
        assert whole == setup.endless(len(whole))
    elif loop.alone in OWN_ORDER:
        assert rows_of(whole) == rows_of(setup.undisturbed)
    else:
        assert whole == setup.undisturbed
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        seen = run_of(loop, setup, stops, tmp_path / "stopped")
    if outcome == SAME:
        assert seen == whole
        return
    if outcome == LOST:
        assert seen != whole
        assert any(words in str(warning.message) for warning in warned for words in WARNING_OF_LOSS)
        return
    assert outcome == WARNED
    differing = {
        number // setup.batches for number, pair in enumerate(zip(seen, whole, strict=True)) if pair[0] != pair[1]
    }
    assert differing == {place.batches // setup.batches for place in stops}
    if workers == "0":
        assert any("nobody told the data set or the collator the epoch" in str(warning.message) for warning in warned)


def test_the_page_has_the_table_of_these_cells() -> None:
    assert table() in PAGE.read_text(encoding="utf-8"), "run: python -m tests.torch.data.company"


def test_every_loop_is_in_the_table_once() -> None:
    assert sorted(loop.alone for loop in LOOPS if loop.alone) == sorted([*PULLED, *PUSHED])
