"""The plan of batches: which bin each step takes its examples from, as a function of the positions in the bins.

In a step all ranks take their batches from consecutive positions of one bin, so that they have rows of similar length
at the same time. The bin with the smallest share of its examples taken comes next. A step depends only on the
positions, so a resumed run has the same steps.

At the end of an iteration, the examples left in a bin are divided among all ranks. Bins with fewer examples left than
ranks are pooled in the last step, narrow bins first; if these are still too few, the widest bin that can spare examples
adds the missing ones. So all ranks take the same number of steps, unless fewer examples than ranks are left in total.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from bertdata.loader.bins import Bin
from bertdata.options.option import require

Segment = tuple[int, int, int]
"""(bin, start, stop): consecutive positions in the order of a bin."""


@dataclass(frozen=True)
class BatchPlan:
    """The steps over some bins for `world_size` ranks; an iteration has `epochs` epochs, None: no end."""

    bins: tuple[Bin, ...]
    world_size: int
    epochs: int | None
    drop_last: bool

    jumps = True
    """Whether all full steps of a bin have as many examples, so that many of them can be gone at once."""

    @property
    def examples(self) -> int:
        """The number of examples in an epoch."""
        return sum(length_bin.size for length_bin in self.bins)

    def ends(self, positions: Sequence[int]) -> list[int] | None:
        """Return the end of the iteration in each bin, given positions in it; None where it has no end."""
        if self.epochs is None:
            return None
        iteration = sum(positions) // (self.epochs * self.examples)
        return [
            max(position, (iteration + 1) * self.epochs * length_bin.size)
            for position, length_bin in zip(positions, self.bins, strict=True)
        ]

    def begin_of(self, iteration: int) -> tuple[int, ...]:
        """Return the positions where an iteration begins; where it has no end, those where an epoch begins."""
        return tuple(iteration * (self.epochs or 1) * length_bin.size for length_bin in self.bins)

    def begins_iteration(self, positions: Sequence[int]) -> bool:
        """Tell whether an iteration after the first begins at some positions."""
        iteration, rest = divmod(sum(positions), (self.epochs or 1) * self.examples)
        return iteration > 0 and not rest

    def iterations_of(self, positions: Sequence[int]) -> list[int]:
        """Return the numbers that `set_epoch` may have for the iteration that some positions are in.

        A run without end is one iteration, 0, which users also count in epochs.
        """
        iteration = sum(positions) // ((self.epochs or 1) * self.examples)
        return [iteration] if self.epochs else [0, iteration]

    def steps(self, positions: Sequence[int]) -> Iterator[list[Segment]]:
        """Yield the steps from some positions to the end of the iteration, none of them empty."""
        places, ends = list(positions), self.ends(positions)
        if ends is None:
            while True:
                number = self._least_taken(places, range(len(places)))
                yield [_advance(places, number, self.bins[number].batch * self.world_size)]
        main, pool = self._unpooled_ends(places, ends)
        while open_bins := [number for number in range(len(main)) if places[number] < main[number]]:
            number = self._least_taken(places, open_bins)
            rest = main[number] - places[number]
            sizes = self._sizes(rest, self.bins[number].batch)
            if not sizes:
                main[number] = places[number]
                continue
            yield [_advance(places, number, sizes[0])]
        if pool and not self.drop_last:
            yield from self._pooled(places, ends, pool)

    def count(self, positions: Sequence[int]) -> list[int]:
        """Return how many batches each rank still gets in the iteration; it must have an end."""
        ends = self.ends(positions)
        assert ends is not None
        main, pool = self._unpooled_ends(list(positions), ends)
        counts = [0] * self.world_size
        sizes: list[int] = []
        for number, length_bin in enumerate(self.bins):
            full, tail = self._shares(main[number] - positions[number], length_bin.batch)
            counts = [count + full for count in counts]
            sizes += tail
        if pool and not self.drop_last:
            pooled = sum(ends[number] - main[number] for number in pool)
            full, tail = self._shares(pooled, self.bins[pool[-1]].batch)
            counts = [count + full for count in counts]
            sizes += tail
        return [count + sum(rank < size for size in sizes) for rank, count in enumerate(counts)]

    def part(self, step: Sequence[Segment], number: int, rank: int) -> tuple[int, int]:
        """Return the positions in one bin of a rank's part of a step: its begin and end."""
        each, more = divmod(sum(stop - start for _, start, stop in step), self.world_size)
        first, last = (other * each + min(other, more) for other in (rank, rank + 1))
        for owner, start, stop in step:
            if owner == number:
                return max(start, start + first), max(min(stop, start + last), start)
            first, last = first - (stop - start), last - (stop - start)
        return 0, 0

    def _unpooled_ends(self, places: list[int], ends: list[int]) -> tuple[list[int], list[int]]:
        """Return up to which position each bin has steps of its own, and the bins that are pooled after that."""
        rests = [end - place for end, place in zip(ends, places, strict=True)]
        main = list(ends)
        if len(self.bins) == 1 or self.drop_last:
            return main, []
        pool = [number for number, rest in enumerate(rests) if 0 < rest < self.world_size]
        missing = self.world_size - sum(rests[number] for number in pool)
        if pool and missing > 0:
            large = [number for number, rest in enumerate(rests) if rest >= self.world_size]
            spare = [number for number in large if rests[number] - missing >= self.world_size]
            if spare:
                main[spare[-1]] -= missing
                pool.append(spare[-1])
            elif large:
                main[large[-1]] = places[large[-1]]
                pool.append(large[-1])
        for number in pool:
            if main[number] == ends[number]:
                main[number] = places[number]
        return main, sorted(pool)

    def _pooled(self, places: list[int], ends: list[int], pool: list[int]) -> Iterator[list[Segment]]:
        batch = self.bins[pool[-1]].batch
        while rest := sum(ends[number] - places[number] for number in pool):
            size, step = self._sizes(rest, batch)[0], []
            for number in pool:
                taken = min(size, ends[number] - places[number])
                if taken:
                    step.append(_advance(places, number, taken))
                    size -= taken
            yield step

    def _least_taken(self, places: Sequence[int], numbers: Sequence[int]) -> int:
        """Return the bin with the smallest share of its examples taken; of equal ones the first."""
        best = numbers[0]
        for number in numbers[1:]:
            if places[number] * self.bins[best].size < places[best] * self.bins[number].size:
                best = number
        return best

    def _sizes(self, rows: int, batch: int) -> list[int]:
        """Return the sizes of the next steps, or of the first of them; none where `drop_last` omits the rest."""
        full, tail = self._shares(rows, batch)
        return [batch * self.world_size] if full else tail

    def _shares(self, rows: int, batch: int) -> tuple[int, list[int]]:
        """Return the number of full steps, and the sizes of the one or two that divide the rest among all ranks."""
        group = self.world_size * batch
        full, rest = divmod(rows, group)
        if self.drop_last or not rest:
            return full, []
        if not full or rest >= self.world_size:
            return full, [rest]
        both = group + rest
        return full - 1, [both] if batch == 1 else [both - both // 2, both // 2]


class Walk:
    """The way of an iteration through the bins, from the positions where it begins."""

    def __init__(self, plan: BatchPlan, begin: tuple[int, ...]) -> None:
        self.plan, self.begin = plan, begin
        self._last = (0, begin)

    def ends(self) -> tuple[int, ...]:
        """Return the positions after the iteration; it must have an end."""
        ends = self.plan.ends(self.begin)
        assert ends is not None
        return tuple(ends)

    def after(self, batches: int) -> tuple[int, ...]:
        """Return the positions after a number of steps; raises ConfigError for more than the iteration has."""
        require(batches >= 0, f"{batches} batches were taken; expected 0 or more")
        plan = self.plan
        done, places = self._last if self._last[0] <= batches else (0, self.begin)
        if len(plan.bins) == 1 and plan.jumps:
            group = plan.world_size * plan.bins[0].batch
            jump = batches - done
            if (ends := plan.ends(places)) is not None:
                jump = max(0, min(jump, (ends[0] - places[0]) // group - 1))
            done, places = done + jump, (places[0] + jump * group,)
        steps, reached = plan.steps(places), list(places)
        for step in islice(steps, batches - done):
            done += 1
            for number, _, stop in step:
                reached[number] = stop
        require(done == batches, f"{batches} batches were taken, but this iteration has {done}; count from its start")
        if next(steps, None) is None:
            return self.ends()
        self._last = (done, tuple(reached))
        return self._last[1]


def _advance(places: list[int], number: int, size: int) -> Segment:
    start = places[number]
    places[number] += size
    return number, start, places[number]
