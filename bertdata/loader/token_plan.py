"""The plan of batches by tokens: each rank takes, one after another, the next examples that fit in so many tokens.

Packed rows of such batches can be filled up to the same length at each step, which compiled kernels like. A step
depends only on the position in the order, so a resumed run has the same steps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np

from bertdata.arrays import Ints
from bertdata.errors import ConfigError
from bertdata.loader.batch_plan import BatchPlan, Segment
from bertdata.options.option import require

_LOOKED_UP = 1 << 14
"""Examples whose lengths are looked up at once."""


@dataclass(frozen=True)
class TokenPlan(BatchPlan):
    """The steps of batches of up to `tokens` tokens; a step has the batch of each rank as a segment, in their order.

    lengths: of all examples, int (N,). There is one bin. In the last step of an iteration the rest is divided among the
    ranks so that each has about as many tokens; where fewer examples than ranks are left, the others have none.
    """

    tokens: int
    lengths: Any = field(repr=False, compare=False)

    jumps = False

    def steps(self, positions: Sequence[int]) -> Iterator[list[Segment]]:
        """Yield the steps from a position to the end of the iteration, none of them empty."""
        ends = self.ends(positions)
        place, end = positions[0], None if ends is None else ends[0]
        first, sums = place, np.zeros(1, np.int64)
        while end is None or place < end:
            step: list[Segment] = []
            begin = place
            for _ in range(self.world_size):
                while (end is None or first + len(sums) - 1 < end) and sums[-1] - sums[place - first] <= self.tokens:
                    looked_up = sums[-1] - sums[place - first]
                    first, sums = self._further(begin, first, sums, end)
                    assert sums[-1] - sums[place - first] > looked_up, "no example is empty"
                stop = first + int(np.searchsorted(sums, sums[place - first] + self.tokens, side="right")) - 1
                step.append((0, place, stop))
                place = stop
            if place == end:
                if self.drop_last and not self._is_full(step, sums, first):
                    return
                step = self._divided(begin, place, first, sums) or step
            yield step

    def _further(self, begin: int, first: int, sums: Ints, end: int | None) -> tuple[int, Ints]:
        """Return where a step begins, and the sums of lengths from there on, over more examples than were known."""
        last = first + len(sums) - 1
        ahead = min(_LOOKED_UP, max(16, self.bins[0].size))  # an epoch of few examples is looked up by itself
        stop = last + ahead if end is None else min(end, last + ahead)
        _, numbers = self.bins[0].order.pairs(np.arange(last, stop, dtype=np.int64))
        more = sums[-1] + np.cumsum(self.lengths[numbers], dtype=np.int64)
        return begin, np.concatenate([sums[begin - first :], more])

    def _is_full(self, step: Sequence[Segment], sums: Ints, first: int) -> bool:
        """Tell whether the last batch of a step has no room for a longest example."""
        _, start, stop = step[-1]
        return bool(sums[stop - first] - sums[start - first] + int(self.lengths.max()) > self.tokens)

    def _divided(self, start: int, stop: int, first: int, sums: Ints) -> list[Segment] | None:
        """Return the last examples divided among the ranks, None where a batch would have too many tokens."""
        count = stop - start
        if count < self.world_size:
            cuts = np.minimum(np.arange(self.world_size + 1), count)
        else:
            totals = sums[start - first : stop - first + 1] - sums[start - first]
            wished = totals[-1] * np.arange(self.world_size + 1) / self.world_size
            cuts = np.abs(totals[:, None] - wished).argmin(0)
            for rank in range(1, self.world_size):  # at least one example for each
                cuts[rank] = min(max(cuts[rank], cuts[rank - 1] + 1), count - (self.world_size - rank))
        places = start - first + cuts
        if np.diff(sums[places]).max() > self.tokens:
            return None
        return [(0, start + int(begin), start + int(end)) for begin, end in pairwise(cuts)]

    def part(self, step: Sequence[Segment], number: int, rank: int) -> tuple[int, int]:
        """Return the positions of the batch of a rank."""
        return step[rank][1:]

    def count(self, positions: Sequence[int]) -> list[int]:
        """Return how many batches each rank still gets in the iteration, which is gone through for it."""
        counts = np.zeros(self.world_size, np.int64)
        for step in self.steps(positions):
            counts += [stop > start for _, start, stop in step]
        return [int(number) for number in counts]


def check_batch_tokens(tokens: int, dataset: Any, others: dict[str, Any]) -> None:
    """Raise ConfigError where batches of so many tokens cannot be made; others: settings that say something else."""
    given = [name for name, value in others.items() if value]
    require(
        not given,
        f"batch_tokens and {' and '.join(given)} say two things of a batch; give batch_tokens alone",
    )
    require(hasattr(dataset, "lengths"), "batch_tokens needs a data set with `lengths`, as ShardDataset has")
    require(
        not (getattr(dataset, "bins", None) or ()),
        "these shards were built in bins, whose batches have rows of one bin; leave batch_tokens out, or build without "
        "--bin-size",
    )
    longest = int(dataset.lengths.max())
    if not 0 < longest <= tokens:
        raise ConfigError(
            f"batch_tokens is {tokens}, but the longest row has {longest} tokens; expected room for it in a batch"
        )
