"""The order of shards that are larger than a disk: random within a window of shards, the windows one after another.

Each epoch has an order of the shards, a permutation. So many of them in a row are a window, and the rows of a window
come by a permutation of them. Both are computed, for any position, from the seed and the epoch: there is no buffer, a
position is all the state, and a run goes on from any place on any number of ranks. Windows of an epoch differ by a
shard at most. The first epoch begins with windows of 2, 4, 8 shards and so on, so that the first batch waits for two.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.arrays import Ints
from bertdata.counter_rng import bits, permutation
from bertdata.loader.sample_order import Members

_FIRST_WINDOW = 2
_EPOCHS_HELD = 4


@dataclass(frozen=True)
class Windows:
    """The windows of an epoch.

    shards: the numbers of the shards in the order of the epoch (S,); row_ends: how many rows they have up to each of
    them (S,); ends: the rows before each window, and all of them (W + 1,).
    """

    shards: Ints
    row_ends: Ints
    ends: Ints


@dataclass(frozen=True, eq=False)
class WindowedOrder:
    """`size` examples that lie in shards, each once an epoch, random within `window` shards.

    rows: the examples of each shard (S,), which are `size` together; shards_key: what the order of the shards is drawn
    by, the same for all length bins; first, members: as in `PermutedOrder`.

    >>> order = WindowedOrder(size=6, key=7, rows=np.array([2, 2, 2]), window=1, shards_key=1)
    >>> epochs, numbers = order.pairs(np.arange(12))
    >>> [sorted(numbers[start : start + 6].tolist()) for start in (0, 6)]
    [[0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5]]
    >>> [abs(a - b) for a, b in numbers[6:].reshape(3, 2).tolist()]
    [1, 1, 1]
    """

    size: int
    key: int
    rows: Ints
    window: int
    shards_key: int
    first: int = 0
    members: Members | None = None
    _of_epoch: dict[int, Windows] = field(default_factory=dict, repr=False)

    def pairs(self, positions: Ints) -> tuple[Ints, Ints]:
        """Return the epochs and the numbers at some positions, both int64 (P,)."""
        epochs, numbers, _ = self.located(positions)
        return epochs, numbers

    def located(self, positions: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the epochs, the numbers and the places within the window at some positions, all int64 (P,).

        A place is 0 to 2**32 - 1, and grows with the shards in their order: rows of one shard have places beside each
        other, and the rows of a window are evenly spread over all of them.
        """
        epochs, places = np.divmod(positions, self.size)
        ranks, within = np.empty_like(places), np.empty_like(places)
        starts = np.cumsum(self.rows) - self.rows
        for epoch in np.unique(epochs).tolist():
            windows = self.windows(epoch)
            in_epoch = np.flatnonzero(epochs == epoch)
            window_of = np.searchsorted(windows.ends, places[in_epoch], side="right") - 1
            for window in np.unique(window_of).tolist():
                here = in_epoch[window_of == window]
                begin, end = int(windows.ends[window]), int(windows.ends[window + 1])
                inside = permutation(places[here] - begin, end - begin, int(bits(self.key, epoch, window)))
                within[here] = inside * (1 << 32) // (end - begin)
                turn = np.searchsorted(windows.row_ends, begin + inside, side="right")
                shard = windows.shards[turn]
                ranks[here] = starts[shard] + begin + inside - (windows.row_ends[turn] - self.rows[shard])
        return epochs, self.first + (ranks if self.members is None else self.members.numbers(ranks)), within

    def windows(self, epoch: int) -> Windows:
        """Return the windows of an epoch."""
        windows = self._of_epoch.get(epoch)
        if windows is None:
            number = len(self.rows)
            shards = permutation(np.arange(number), number, int(bits(self.shards_key, epoch)))
            row_ends = np.cumsum(self.rows[shards])
            ends = np.concatenate([[0], row_ends])[borders(number, self.window, cold=epoch == 0)]
            while len(self._of_epoch) >= _EPOCHS_HELD:
                self._of_epoch.pop(next(iter(self._of_epoch)))
            windows = self._of_epoch[epoch] = Windows(shards, row_ends, ends)
        return windows


def borders(shards: int, window: int, *, cold: bool) -> list[int]:
    """Return where the windows of some shards in a row begin and end; `cold` ones begin small, and double.

    >>> borders(10, 4, cold=False), borders(20, 8, cold=True)
    ([0, 3, 6, 10], [0, 2, 6, 13, 20])
    """
    edges, size = [0], _FIRST_WINDOW
    while cold and size < window and edges[-1] + size < shards:
        edges.append(edges[-1] + size)
        size *= 2
    begin, rest = edges[-1], shards - edges[-1]
    number = -(-rest // window)
    return edges + [begin + rest * (turn + 1) // number for turn in range(number)]


def rows_of_classes(classes: NDArray[Any], shard_rows: Ints, number: int) -> Ints:
    """Return how many rows of each class each shard has, int64 (S, number), given the class of every row.

    >>> rows_of_classes(np.array([0, 1, 1, 0]), np.array([3, 1]), 2).tolist()
    [[1, 2], [1, 0]]
    """
    counts, begin = np.empty((len(shard_rows), number), np.int64), 0
    for shard, rows in enumerate(shard_rows.tolist()):
        counts[shard] = np.bincount(classes[begin : begin + rows], minlength=number)
        begin += rows
    return counts
