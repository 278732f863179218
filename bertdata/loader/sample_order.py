"""Sample orders: endless orders of examples as functions of a position, so that a position is all the state.

An order maps each position to an (epoch, number). `PermutedOrder` has each example once an epoch, in another order each
time, by an index permutation in O(1) memory; `window_order` has one that is random within a window of shards.
`MixedOrder` assigns its positions to other orders by weight. `Members` finds the examples of one length bin, with one
byte an example.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bertdata.arrays import Ints
from bertdata.counter_rng import bits, permutation

CYCLE = 1 << 16
"""Positions of a mixed order in which each set gets its exact share."""

_BLOCK = 512


@dataclass(frozen=True)
class PermutedOrder:
    """`size` examples in epoch 0 by one permutation, in epoch 1 by another, and so on.

    The numbers are `first` and those after it, or the members of a bin.

    >>> epochs, numbers = PermutedOrder(size=3, key=7).pairs(np.arange(6))
    >>> epochs.tolist(), sorted(numbers[:3].tolist()), sorted(numbers[3:].tolist())
    ([0, 0, 0, 1, 1, 1], [0, 1, 2], [0, 1, 2])
    """

    size: int
    key: int
    first: int = 0
    members: Members | None = None

    def pairs(self, positions: Ints) -> tuple[Ints, Ints]:
        """Return the epochs and the numbers at some positions, both int64 (P,)."""
        epochs, places = np.divmod(positions, self.size)
        numbers = np.empty_like(places)
        for epoch in np.unique(epochs).tolist():
            here = epochs == epoch
            numbers[here] = permutation(places[here], self.size, int(bits(self.key, epoch)))
        return epochs, self.first + (numbers if self.members is None else self.members.numbers(numbers))

    def located(self, positions: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the epochs and numbers, and 0 for each place: the only window is all."""
        epochs, numbers = self.pairs(positions)
        return epochs, numbers, np.zeros_like(numbers)


@dataclass(frozen=True)
class MixedOrder:
    """Positions assigned to several orders: in each cycle of 65,536, order i gets `shares[i]` of them, at random.

    `shares` add up to 65,536. A set with a weight of twice its size has its examples twice as often.

    >>> orders = [PermutedOrder(1000, 1), PermutedOrder(1000, 2, first=1000)]
    >>> epochs, numbers = MixedOrder(tuple(orders), (CYCLE // 4, CYCLE * 3 // 4), 7).pairs(np.arange(CYCLE))
    >>> int((numbers < 1000).sum()) * 4 == CYCLE
    True
    """

    orders: tuple[SampleOrder, ...]
    shares: tuple[int, ...]
    key: int

    def pairs(self, positions: Ints) -> tuple[Ints, Ints]:
        """Return the epochs and the numbers at some positions, both int64 (P,)."""
        epochs, numbers, _ = self._drawn(positions, located=False)
        return epochs, numbers

    def located(self, positions: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the epochs, the numbers and the places within the windows of each order, all int64 (P,)."""
        return self._drawn(positions, located=True)

    def _drawn(self, positions: Ints, *, located: bool) -> tuple[Ints, Ints, Ints]:
        cycles, places = np.divmod(positions, CYCLE)
        owners, inner = np.empty_like(places), np.empty_like(places)
        shares = np.array(self.shares, np.int64)
        for cycle in np.unique(cycles).tolist():
            here = cycles == cycle
            assigned, ranks = _assigned(self.shares, int(bits(self.key, cycle)))
            owners[here] = owner = assigned[places[here]]
            inner[here] = cycle * shares[owner] + ranks[places[here]]
        epochs, numbers, within = (np.zeros_like(places) for _ in range(3))
        for owner in np.unique(owners).tolist():
            here, order = owners == owner, self.orders[owner]
            if located:
                epochs[here], numbers[here], within[here] = order.located(inner[here])
            else:
                epochs[here], numbers[here] = order.pairs(inner[here])
        return epochs, numbers, within


class SampleOrder(Protocol):
    """An order of examples."""

    def pairs(self, positions: Ints) -> tuple[Ints, Ints]:
        """Return the epochs and the numbers at some positions, both int64 (P,)."""
        ...

    def located(self, positions: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the epochs, the numbers and the places within the windows of shards, all int64 (P,)."""
        ...


@lru_cache(maxsize=16)
def _assigned(shares: tuple[int, ...], key: int) -> tuple[Ints, NDArray[np.int32]]:
    """Return the order that each place of a cycle is assigned to, and the rank of the place within its order."""
    owners = np.searchsorted(np.cumsum(shares), permutation(np.arange(CYCLE), CYCLE, key), side="right")
    order = np.argsort(owners, kind="stable")
    ranks = np.empty(CYCLE, np.int32)
    ranks[order] = np.concatenate([np.arange(share) for share in shares])
    return owners, ranks


@dataclass(frozen=True, eq=False)
class Members:
    """The examples of one class, found by their rank in it without a list of them.

    blocks: the classes of all examples (B, 512); before: the members in the blocks before each block (B + 1,).
    """

    blocks: NDArray[np.unsignedinteger]
    wanted: int
    before: Ints

    def numbers(self, ranks: Ints) -> Ints:
        """Return the numbers of the members of some ranks, int64 (P,)."""
        block = np.searchsorted(self.before, ranks, side="right") - 1
        seen = np.cumsum(self.blocks[block] == self.wanted, axis=1, dtype=np.int16)
        inside = ranks - self.before[block]
        numbers: Ints = block * _BLOCK + np.argmax(seen > inside[:, None], axis=1)
        return numbers


def members_of(classes: NDArray[np.unsignedinteger], number: int) -> list[Members]:
    """Return the members of each of some classes, which share one array; `classes` are those of all examples (N,).

    >>> members_of(np.array([0, 1, 1, 0, 1], np.uint8), 2)[1].numbers(np.array([2, 0])).tolist()
    [4, 1]
    """
    padding = np.full(-len(classes) % _BLOCK, number, classes.dtype)
    blocks = np.concatenate([classes, padding]).reshape(-1, _BLOCK)
    counts = np.zeros((number, len(blocks) + 1), np.int64)
    for place, block in enumerate(blocks, 1):
        counts[:, place] = np.bincount(block, minlength=number)[:number]
    return [Members(blocks, wanted, before) for wanted, before in enumerate(counts.cumsum(axis=1))]


def apportion(total: int, weights: Sequence[float]) -> list[int]:
    """Split an integer by weights, by largest remainders; a weight over 0 gets at least 1 where there is enough.

    >>> apportion(10, [1, 1, 1]), apportion(1000, [1e-9, 1.0]), apportion(5, [0, 2])
    ([4, 3, 3], [1, 999], [0, 5])
    """
    exact = [total * weight / sum(weights) for weight in weights]
    parts = [max(int(share), 1 if weight > 0 else 0) for share, weight in zip(exact, weights, strict=True)]
    order = sorted(range(len(parts)), key=lambda i: (parts[i] - exact[i], i))
    while (rest := total - sum(parts)) > 0:
        for i in order[:rest]:
            parts[i] += 1
    while sum(parts) > total:
        large = [i for i, part in enumerate(parts) if part > 1] or [i for i, part in enumerate(parts) if part]
        parts[max(large, key=lambda i: parts[i] - exact[i])] -= 1
    return parts
