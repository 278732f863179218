"""One process of several under torchrun: goes through cells of the matrix, from the states that others left.

python -m torch.distributed.run --nproc-per-node 2 -m tests.torch.data.company.processes WORK.json
"""

from __future__ import annotations

import json
import pickle
import re
import sys
import warnings
from itertools import chain
from pathlib import Path
from typing import Any

import torch.distributed as dist

from bertdata.loader import EpochBatchSampler
from tests.torch.data.company.pushed_together import MANY
from tests.torch.data.company.setup import DATA, EPOCHS, SIZE, Setup


def _canonical(setup: Setup, state: Any) -> EpochBatchSampler:
    """Return a sampler that counts each batch it is asked for, at a state."""
    ranks: dict[str, Any] = {"rank": dist.get_rank(), "world_size": dist.get_world_size()}
    examples = setup.dataset()
    examples.read_ahead = False
    sampler = EpochBatchSampler(examples, SIZE, seed=5, **DATA[setup.data].sampling, **ranks)
    if state is not None:
        sampler.load_state_dict(state)
    return sampler


def _walk(sampler: EpochBatchSampler, stop: str) -> int:
    """Ask for the batches up to a stop, and return how many these are."""
    taken = 0
    while (epoch := sampler.epoch) < EPOCHS:
        for _ in sampler:
            taken += 1
            at_end = sampler.epoch == 1 and stop == "end"
            if stop == "inside" or at_end or (stop == "second epoch" and sampler.epoch == epoch == 1):
                return taken
    return taken


def _cell(cell: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Run a part of a cell, and return the rows, or the error; leaves the state for the next part."""
    setup = Setup((Path(cell["builds"][0]), Path(cell["builds"][1])), cell["data"], cell["workers"])
    place = folder / re.sub(r"\W+", "_", cell["name"])
    shared = (
        pickle.loads((place / "cell.state").read_bytes()) if cell["resumed"] else {"canonical": None, "state": None}
    )
    sampler = _canonical(setup, shared["canonical"])
    epoch = sampler.epoch
    steps = _walk(sampler, cell["stop"])
    try:
        saved = place / f"saved {len(list(place.iterdir()))}"
        dist.barrier()
        used, state = MANY[cell["consumer"]](setup, shared["state"], epoch * setup.batches, steps, False, saved)
    except Exception as error:
        return {"error": f"{type(error).__name__}: {error}"}
    finally:
        _forget_accelerate()
    if dist.get_rank() == 0:
        (place / "cell.next").write_bytes(pickle.dumps({"canonical": sampler.state_dict(), "state": state}))
    return {"used": used}


def _forget_accelerate() -> None:
    """Forget what Accelerate keeps for the process, for the next loop is not its own."""
    if state := sys.modules.get("accelerate.state"):
        state.PartialState._reset_state()
        state.AcceleratorState._reset_state()
        state.GradientState._reset_state()


def main(work: str) -> None:
    """Run the cells of a file, and write what came out beside it."""
    warnings.simplefilter("ignore")
    dist.init_process_group("gloo")
    folder = Path(work).parent
    results = []
    for cell in json.loads(Path(work).read_text()):
        place = folder / re.sub(r"\W+", "_", cell["name"])
        place.mkdir(exist_ok=True)
        dist.barrier()
        result = _cell(cell, folder)
        every: list[Any] = [None] * dist.get_world_size()
        dist.all_gather_object(every, result)
        if dist.get_rank() == 0 and (place / "cell.next").exists():
            (place / "cell.next").rename(place / "cell.state")
        errors = [result["error"] for result in every if "error" in result]
        used = list(chain.from_iterable(result.get("used", ()) for result in every))
        results.append({"name": cell["name"], "error": errors[0] if errors else "", "used": used})
    if dist.get_rank() == 0:
        Path(work).with_suffix(".out").write_text(json.dumps(results))
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
