"""The matrix on several processes under torchrun (gloo): on 2, and from 2 to 2 or to 4, and back to 2."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from tests.torch.data.company.pushed_together import MANY
from tests.torch.data.company.setup import DATA, Digests, Setup, rows_of, write_builds
from tests.torch.data.company.table import LOOPS, REFUSALS

ROOT = Path(__file__).resolve().parents[4]
WAYS = [
    *(("rows", workers, stop) for workers in ("0", "2") for stop in ("inside", "end", "second epoch", "twice")),
    ("rows", "persistent", "twice"),
    ("streamed", "2", "twice"),
    *((data, "0", stop) for data in DATA if data != "rows" for stop in ("second epoch", "twice")),
]
"""The kind of data, the workers, and the stop."""

ENDLESS = ("trainer, our loader",)
"""Loops of one iteration without an end."""

Cells = dict[str, dict[str, Any]]


def launch(processes: int, cells: Cells, folder: Path) -> dict[str, dict[str, Any]]:
    """Go through cells on so many processes, and return what came out of each, by its name."""
    work = folder / f"work-{len(list(folder.iterdir()))}.json"
    work.write_text(json.dumps([cell | {"name": name} for name, cell in cells.items()]))
    command = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(processes)]
    done = subprocess.run(
        [sys.executable, *command, "-m", "tests.torch.data.company.processes", str(work)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""},
    )
    assert done.returncode == 0, done.stderr[-5000:]
    return {result["name"]: result for result in json.loads(work.with_suffix(".out").read_text())}


def is_whole(used: Digests, setup: Setup, *, endless: bool) -> bool:
    """Tell whether batches, of all processes, have the rows and the masks of a run that was not stopped.

    Where a run without end has length bins, the processes take batches of one bin at a step, so which bins had their
    turn depends on how many processes there are: no row may come twice in an epoch, and two epochs are whole.
    """
    if not endless:
        return rows_of(used) == rows_of(setup.undisturbed)
    if setup.data != "bins":
        return rows_of(used) == rows_of(setup.endless(len(used)))
    whole_epochs = rows_of(setup.undisturbed[: 2 * setup.batches])
    return whole_epochs <= rows_of(used) <= rows_of(setup.endless(2 * len(used)))


def test_every_loop_is_in_the_table_once() -> None:
    assert sorted(loop.many for loop in LOOPS if loop.many) == sorted(MANY)


@pytest.mark.slow
def test_on_several_processes_each_row_and_mask_comes_once_or_the_loop_is_refused(tmp_path: Path) -> None:
    builds = [str(build) for build in write_builds(tmp_path)]
    folder = tmp_path / "work"
    folder.mkdir()
    loops = {
        loop.many: loop for loop in LOOPS if loop.many and all(map(importlib.util.find_spec, loop.packages.split()))
    }
    assert loops
    cells: Cells = {}
    for consumer in loops:
        for data, workers, stop in WAYS:
            cell: dict[str, Any] = {"consumer": consumer, "data": data, "workers": workers, "builds": builds}
            cell |= {"resumed": False, "stop": "inside" if stop == "twice" else stop}
            for then in ("4",) if stop == "twice" else ("2", "4"):
                cells[f"{consumer}/{data}/{workers}/{stop}/{then}"] = cell
    first = launch(2, cells, folder)
    going = {name: cell | {"resumed": True, "stop": ""} for name, cell in cells.items() if not first[name]["error"]}
    twice = {name: cell | {"stop": "second epoch"} for name, cell in going.items() if "/twice/" in name}
    second = launch(2, {name: cell for name, cell in going.items() if name.endswith("/2")}, folder)
    second |= launch(4, {name: cell for name, cell in going.items() if name.endswith("/4")} | twice, folder)
    third = launch(2, {name: going[name] for name in twice if not second[name]["error"]}, folder)
    wrong = []
    for name, cell in cells.items():
        parts = [part[name] for part in (first, second, third) if name in part]
        outcome = loops[cell["consumer"]].together
        errors = [part["error"] for part in parts if part["error"]]
        if outcome in REFUSALS:
            correct = bool(errors and re.search(REFUSALS[outcome], errors[0]))
        else:
            setup = Setup((Path(builds[0]), Path(builds[1])), cell["data"])
            used = list(chain.from_iterable(part["used"] for part in parts))
            gone_on = all(part["used"] for part in parts)
            correct = not errors and gone_on and is_whole(used, setup, endless=cell["consumer"] in ENDLESS)
        if not correct:
            wrong.append((name, errors[:1]))
    assert not wrong
