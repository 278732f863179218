"""Runs of several ranks without data: what is sampled is a list of lengths."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import islice
from typing import Any

import numpy as np
from hypothesis import strategies as st

from bertdata.loader import EpochBatchSampler

Pair = tuple[int, ...]


class Lengths:
    """A data set that is known by the lengths of its examples, and of how many sets they are."""

    def __init__(self, lengths: Sequence[int], sizes: Sequence[int] | None = None, *, repeat: int = 1) -> None:
        self.lengths = np.tile(np.array(lengths, np.int32), repeat)
        self.sizes = tuple(sizes or [len(self.lengths)])

    def __len__(self) -> int:
        return len(self.lengths)


lengths = st.lists(st.integers(1, 64), min_size=1, max_size=80).map(Lengths)
bins = st.sampled_from([None, (64,), (16, 64), (8, 16, 24, 32, 48, 64), (63, 64)])
settings_of_a_run = st.fixed_dictionaries(
    {"world_size": st.integers(1, 7), "bins": bins},
    optional={"epochs": st.integers(1, 3)},
).flatmap(
    lambda keywords: st.one_of(
        st.integers(1, 9).map(lambda size: keywords | {"batch_size": size}),
        st.integers(64, 300).map(lambda tokens: keywords | {"max_tokens": tokens}),
    )
)


def ranks(data: Any, world_size: int, **keywords: Any) -> list[EpochBatchSampler]:
    """Return the samplers of all ranks."""
    return [EpochBatchSampler(data, rank=rank, world_size=world_size, **keywords) for rank in range(world_size)]


def run(samplers: Sequence[EpochBatchSampler], steps: int | None = None) -> list[list[list[Pair]]]:
    """Return the batches of each rank, up to a number of steps."""
    return [list(islice(sampler, steps)) for sampler in samplers]


def counted(outputs: Sequence[Sequence[Sequence[Pair]]]) -> Counter[Pair]:
    """Count the pairs of all ranks."""
    return Counter(pair for batches in outputs for batch in batches for pair in batch)


def once(examples: int, epochs: int) -> Counter[Pair]:
    """Return what is counted where each example came once an epoch."""
    return Counter((epoch, number) for epoch in range(epochs) for number in range(examples))
