"""What other people's frameworks say of themselves in this process, and what their calls of `set_epoch` say of them."""

from __future__ import annotations

import gc
import sys
from dataclasses import dataclass
from typing import Any


def accelerate_processes() -> int | None:
    """Return the number of processes that Accelerate runs, None where it was not begun."""
    state = sys.modules.get("accelerate.state")
    shared: dict[str, Any] = state.PartialState._shared_state if state else {}
    return shared.get("num_processes")


def is_read_ahead_by_ray(loader: Any) -> bool:
    """Tell whether Ray Train's `prepare_data_loader` was given a loader: it takes a batch before the last one is used.

    Where Ray Train was imported, all objects of the process are gone through, in some tenths of a second.
    """
    kind = getattr(sys.modules.get("ray.train.torch.train_loop_utils"), "_WrappedDataLoader", None)
    return kind is not None and any(
        type(wrapper) is kind and wrapper.__dict__.get("_dataloader") is loader for wrapper in gc.get_objects()
    )


@dataclass
class EpochCalls:
    """Calls of `set_epoch` since an iteration of a sampler began.

    of_sampler: calls of the sampler's own; of_listener: of that of its `sampler`; again: the epoch that was said though
    a loader that skips batches had just read it to its end. A loader that Accelerate prepared calls both, one that
    dispatches batches or skips some only the second, and the Trainer of transformers, which prepares none of ours, only
    the first.
    """

    of_sampler: int = 0
    of_listener: int = 0
    again: int | None = None

    @property
    def by_prepared(self) -> bool:
        """Whether a loader that Accelerate prepared, and that skips nothing, reads the batches."""
        return 0 < self.of_listener <= self.of_sampler

    @property
    def by_count(self) -> bool:
        """Whether a loader told its own count of iterations, and nobody told it the epoch."""
        return self.of_listener == 1 and self.of_sampler <= 1
