"""Whether an iteration of a sampler gives this process the rows that it should have.

A sampler divides the rows among the ranks that there were when it was made. A worker process of somebody's DataLoader
has a copy of it, which counts what no other process knows.
"""

from __future__ import annotations

import multiprocessing
import sys
import warnings
from typing import Any

from bertdata.options.option import require


def check_process(rank_given_in: int | None, made: tuple[int, int], now: tuple[int, int]) -> None:
    """Raise ConfigError where a sampler would give its rows to several ranks, or to each worker of a `DataLoader`.

    rank_given_in: the process in which it was made, if it was given a rank; made, now: the rank and the world size
    that it divides the rows by, and those of this process.
    """
    require(
        rank_given_in is not None or made == now,
        f"this sampler was made as rank {made[0]} of {made[1]}, and this process is rank {now[0]} of {now[1]} now, so "
        "rows would come to several ranks, or to none. Make the sampler after torch.distributed is initialised: with "
        "Lightning in `train_dataloader`, with Accelerate, the Trainer or DeepSpeed after Accelerator(...), "
        "TrainingArguments(...) or init_distributed(); or give it `rank` and `world_size`",
    )
    _check_worker(rank_given_in)


def _check_worker(rank_given_in: int | None) -> None:
    """Raise ConfigError in one of several workers, unless the sampler was made there with a rank.

    In a single worker the rows are right, and a UserWarning says that the state is the worker's.
    """
    module: Any = sys.modules.get("torch.utils.data")
    worker = module and module.get_worker_info()
    process = multiprocessing.current_process()
    if not worker or rank_given_in == process.pid:
        return
    require(
        worker.num_workers == 1,
        f"an iteration begins in one of {worker.num_workers} workers of a DataLoader, and each of them would have all "
        "rows. Leave the workers to ResumableLoader(..., num_workers=...); or make the sampler in the worker, with "
        "the `rank` and `world_size` that it is to have among the workers of all processes",
    )
    reader = getattr(getattr(process, "_target", None), "__module__", "")
    if not reader.startswith("torchdata."):  # which saves the state that the worker has
        warnings.warn(
            "an iteration begins in a worker of a DataLoader, and what is used there is not in the state that its main "
            "process has. Leave the workers to ResumableLoader(..., num_workers=...), or save with torchdata's "
            "StatefulDataLoader, which asks the worker",
            UserWarning,
            stacklevel=5,
        )
