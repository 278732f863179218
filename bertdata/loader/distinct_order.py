"""Batches in which no text occurs twice: their order and their steps, as functions of the seed and the epoch.

The rows of an epoch are drawn as without (`PermutedOrder`), divided into global batches by `first_fit`, and then stand
batch by batch. So a position in that order is all the state there is, and a resumed run plans its epoch again. The
last batches of an epoch are short: what they wait for are rows with other texts, and none are left.
"""

from __future__ import annotations

import hashlib
import heapq
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bertdata.arrays import Ints
from bertdata.counter_rng import key
from bertdata.errors import ConfigError
from bertdata.loader.batch_plan import BatchPlan, Segment
from bertdata.loader.bins import Bin
from bertdata.loader.first_fit import first_fit
from bertdata.loader.sample_order import PermutedOrder
from bertdata.options.option import require

_EPOCHS_HELD = 2
_BORDERS_HELD = 64
"""Epochs whose borders are kept, so that a run whose length was asked for plans each epoch twice at most."""
_MANY = 1.25
"""How many times the batches that hold the rows there may be before a warning says that a text is in too many rows."""


@dataclass(frozen=True)
class EpochBatches:
    """The batches of an epoch: the rows, batch by batch, int64 (N,), and where each batch begins and the last ends."""

    rows: Ints
    borders: Ints

    @property
    def sizes(self) -> Ints:
        """The rows of each batch, int64 (B,)."""
        return np.diff(self.borders)


class DistinctOrder:
    """The order of examples whose global batches hold each text once; `pairs` and `located` as of any `SampleOrder`.

    order: that of the rows before they are divided; texts: the numbers of the texts of each row, integers (N, K); size:
    the rows of a full batch over all ranks; ranks: how many rows a batch needs at least, so that each rank has one.

    Raises ConfigError where `texts` are not those of the rows.
    """

    def __init__(self, order: PermutedOrder, texts: NDArray[np.integer], size: int, ranks: int) -> None:
        texts = np.asarray(texts)
        require(
            texts.ndim == 2 and np.issubdtype(texts.dtype, np.integer) and len(texts) == order.size,
            f"distinct is {texts.dtype} of the shape {texts.shape}; expected the numbers of the texts of each row, "
            f"integers ({order.size}, texts of a row), as text_numbers returns",
        )
        numbers = texts.astype(np.int64).ravel()
        if numbers.size and not 0 <= numbers.min() <= numbers.max() < 2 * numbers.size:
            numbers = np.unique(numbers, return_inverse=True)[1]
        self.texts = numbers.astype(np.int32).reshape(texts.shape)
        self.order, self.size, self.ranks = order, size, ranks
        self._held: dict[int, EpochBatches] = {}
        self._borders: dict[int, Ints] = {}
        self._told = False

    def identity(self) -> list[object]:
        """Return what the batches depend on beside the seed and the rows, as JSON."""
        return [self.size, self.ranks, hashlib.sha256(self.texts.tobytes()).hexdigest()]

    def epoch(self, epoch: int) -> EpochBatches:
        """Return the batches of an epoch.

        Raises ConfigError where there are not enough rows with other texts to give each rank one of every batch.
        """
        if epoch not in self._held:
            while len(self._held) >= _EPOCHS_HELD:
                del self._held[next(iter(self._held))]
            size = self.order.size
            rows = self.order.pairs(np.arange(epoch * size, (epoch + 1) * size))[1]
            batch_of = first_fit(rows, self.texts, self.size)
            sizes = np.bincount(batch_of)
            self._tell(sizes)
            rows, sizes = self._for_all_ranks(rows[np.argsort(batch_of, kind="stable")], sizes)
            self._held[epoch] = EpochBatches(rows, np.concatenate([[0], np.cumsum(sizes)]))
            self._borders[epoch] = self._held[epoch].borders
            if len(self._borders) > _BORDERS_HELD:
                del self._borders[next(iter(self._borders))]
        return self._held[epoch]

    def borders(self, epoch: int) -> Ints:
        """Return where the batches of an epoch begin and the last ends, int64 (B + 1,)."""
        return self._borders[epoch] if epoch in self._borders else self.epoch(epoch).borders

    def pairs(self, positions: Ints) -> tuple[Ints, Ints]:
        """Return the epochs and the numbers at some positions, both int64 (P,)."""
        epochs, places = np.divmod(positions, self.order.size)
        numbers = np.empty_like(places)
        for epoch in np.unique(epochs).tolist():
            here = epochs == epoch
            numbers[here] = self.epoch(epoch).rows[places[here]]
        return epochs, numbers

    def located(self, positions: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the epochs and numbers, and 0 for each place: the only window is all."""
        epochs, numbers = self.pairs(positions)
        return epochs, numbers, np.zeros_like(numbers)

    def most_frequent(self) -> tuple[int, int]:
        """Return a row with the text that most rows have, and in how many rows it is."""
        one_each = np.sort(self.texts, axis=1)
        repeated = np.zeros(one_each.shape, np.bool_)
        repeated[:, 1:] = one_each[:, 1:] == one_each[:, :-1]
        counts = np.bincount(one_each[~repeated])
        text = int(counts.argmax())
        return int((self.texts == text).any(axis=1).argmax()), int(counts[text])

    def _tell(self, sizes: Ints) -> None:
        """Warn, once, where the rows need many more batches than they would fill."""
        full = -(-self.order.size // self.size)
        if self._told or len(sizes) <= full * _MANY + 1:
            return
        self._told = True
        row, rows = self.most_frequent()
        short = sizes[sizes < self.size]
        warnings.warn(
            f"without equal texts in a batch, the {self.order.size:,} rows of an epoch make {len(sizes):,} batches, "
            f"where they would fill {full:,}; {len(short):,} are short, half of these of up to "
            f"{int(np.median(short)):,} rows of {self.size:,}. A text of row {row:,} is in {rows:,} rows, and a batch "
            "holds it once. Take fewer of its rows, a smaller batch, or batches in which texts may be equal and the "
            "loss leaves copies out",
            UserWarning,
            stacklevel=2,
        )

    def _for_all_ranks(self, rows: Ints, sizes: Ints) -> tuple[Ints, Ints]:
        """Return rows and sizes of batches of which those of fewer rows than ranks have taken some of the largest."""
        short = np.flatnonzero(sizes < self.ranks).tolist()
        if not short:
            return rows, sizes
        borders = np.concatenate([[0], np.cumsum(sizes)]).tolist()
        batches = [rows[begin:end].tolist() for begin, end in pairwise(borders)]
        largest = [(-size, batch) for batch, size in enumerate(sizes.tolist()) if size > self.ranks]
        heapq.heapify(largest)
        for batch in short:
            batch_texts = set(self.texts[batches[batch]].ravel().tolist())
            while len(batches[batch]) < self.ranks:
                row = self._taken(batches, largest, batch_texts)
                if row is None:
                    raise self._too_few(sizes)
                batches[batch].append(row)
                batch_texts.update(self.texts[row].tolist())
        return np.array([row for batch in batches for row in batch], np.int64), np.array(list(map(len, batches)))

    def _taken(self, batches: list[list[int]], largest: list[tuple[int, int]], batch_texts: set[int]) -> int | None:
        """Take a row without some texts out of the largest batch that has one, None where none can spare any."""
        without, taken = [], None
        while largest and taken is None:
            size, batch = heapq.heappop(largest)
            rows = batches[batch]
            for place in range(len(rows) - 1, -1, -1):
                if batch_texts.isdisjoint(self.texts[rows[place]].tolist()):
                    taken = rows.pop(place)
                    break
            if taken is None:
                without.append((size, batch))
            elif len(rows) > self.ranks:
                without.append((size + 1, batch))
        for entry in without:
            heapq.heappush(largest, entry)
        return taken

    def _too_few(self, sizes: Ints) -> ConfigError:
        row, rows = self.most_frequent()
        return ConfigError(
            f"an epoch of {self.order.size:,} rows makes {len(sizes):,} batches without equal texts, of which "
            f"{int((sizes < self.ranks).sum()):,} have fewer rows than the {self.ranks} ranks, and there are too few "
            f"rows with other texts to fill these: a text of row {row:,} is in {rows:,} rows. Take fewer of its rows, "
            "fewer ranks, or drop_last=True, which leaves out the batches that are short"
        )


def distinct_bins(
    examples: int,
    texts: NDArray[np.integer],
    batch_size: int | None,
    world_size: int,
    seed: int,
    *,
    drop_last: bool,
    others: Mapping[str, object],
) -> tuple[Bin]:
    """Return the bin of all examples in the order of distinct texts, for `DistinctPlan`.

    others: settings that need an order of their own. Raises ConfigError where one is given, and for no batch size.
    """
    given = [name for name, value in others.items() if value is not None]
    require(
        not given,
        f"distinct and {', '.join(given)} are given; texts are kept apart in batches of batch_size rows over all data: "
        "leave out one of them",
    )
    require(
        batch_size is not None and batch_size >= 1, f"batch_size is {batch_size}; with distinct expected at least 1"
    )
    require(examples >= 1, "the data set holds no examples; expected at least one")
    size = (batch_size or 1) * world_size
    order = PermutedOrder(examples, key(seed, "sampler epoch"))
    distinct = DistinctOrder(order, texts, size, 1 if drop_last else world_size)
    return (Bin(0, examples, batch_size or 1, distinct),)


@dataclass(frozen=True)
class DistinctPlan(BatchPlan):
    """The steps over the batches of a `DistinctOrder`, the order of its only bin."""

    @property
    def distinct(self) -> DistinctOrder:
        """The order of the bin."""
        order = self.bins[0].order
        assert isinstance(order, DistinctOrder)
        return order

    jumps = False

    def steps(self, positions: Sequence[int]) -> Iterator[list[Segment]]:
        """Yield the steps from a position to the end of the iteration: each a batch that no text is in twice."""
        ends, size = self.ends(positions), self.distinct.order.size
        epoch, place = divmod(positions[0], size)
        while ends is None or epoch * size < ends[0]:
            for begin, end in self._batches(epoch, place):
                yield [(0, epoch * size + begin, epoch * size + end)]
            epoch, place = epoch + 1, 0

    def count(self, positions: Sequence[int]) -> list[int]:
        """Return how many batches each rank still gets in the iteration; it must have an end."""
        ends, size = self.ends(positions), self.distinct.order.size
        assert ends is not None
        epoch, place = divmod(positions[0], size)
        steps = len(self._batches(epoch, place)) if place or epoch * size < ends[0] else 0
        steps += sum(len(self._batches(later, 0)) for later in range(epoch + 1, ends[0] // size))
        return [steps] * self.world_size

    def _batches(self, epoch: int, place: int) -> list[tuple[int, int]]:
        """Return where the batches of an epoch begin and end, from the one that begins at a place, or after it."""
        borders, full = self.distinct.borders(epoch), self.distinct.size
        batches = list(pairwise(borders.tolist()))
        if self.drop_last:
            batches = [(begin, end) for begin, end in batches if end - begin == full]
        require(
            bool(batches),
            f"drop_last leaves no batch of epoch {epoch}: none of its {len(borders) - 1:,} batches without equal texts "
            f"has {full:,} rows over all ranks; take smaller batches, or keep the last",
        )
        return [(begin, end) for begin, end in batches if begin >= place]
