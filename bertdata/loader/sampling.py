"""`Sampling`: the keywords of samplers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

from bertdata.loader.bins import Weights


class Sampling(TypedDict, total=False):
    """The keywords of `EpochBatchSampler`, where they are explained."""

    max_tokens: int | None
    batch_tokens: int | None
    bins: Sequence[int] | None
    weights: Weights | None
    shuffle_window: int | None
    epochs: int | None
    run_epochs: float | None
    seed: int
    rank: int | None
    world_size: int | None
    drop_last: bool
    distinct: NDArray[np.integer] | None
    with_epochs: bool
