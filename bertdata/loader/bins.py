"""The length bins of a run: examples of similar length, with an order and a batch size of their own.

Without length bins there is one bin of all examples. Sets are mixed by weight within each bin, so that the weights hold
over all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.counter_rng import key
from bertdata.loader.padding import padded_length
from bertdata.loader.sample_order import CYCLE, Members, MixedOrder, PermutedOrder, SampleOrder, apportion, members_of
from bertdata.loader.window_order import WindowedOrder, rows_of_classes
from bertdata.options.option import require

AUTOMATIC_BINS = 8


@dataclass(frozen=True)
class Bin:
    """The examples of at most `width` tokens that no narrower bin has.

    size: examples in an epoch; batch: examples in a batch of one rank; order: their order.
    """

    width: int
    size: int
    batch: int
    order: SampleOrder


Weights = Sequence[float] | Mapping[str, float]
"""A weight for each set of shards, or for each source by its name."""


def bins_of(
    dataset: Any,
    *,
    batch_size: int | None,
    max_tokens: int | None,
    widths: Sequence[int] | None,
    weights: Weights | None,
    seed: int,
    window: int | None = None,
) -> tuple[Bin, ...]:
    """Return the bins of a data set, without the empty ones; raises ConfigError for settings that cannot be met.

    `widths` are the longest rows of the bins, and `max_tokens` the most tokens of a batch, padding included; without
    `widths`, it makes eight bins of equal width. Shards that were built in bins keep these. window: how many shards
    rows are mixed over (`window_order`), None for all of them.
    """
    require((batch_size is None) != (max_tokens is None), "give either batch_size or max_tokens, and not both")
    require(batch_size is None or batch_size >= 1, f"batch_size is {batch_size}; expected at least 1")
    examples = len(dataset)
    require(examples >= 1, "the data set holds no examples; expected at least one")
    sizes, owners = _parts(dataset, weights)
    shares = [weights[name] for name in dataset.source_names] if isinstance(weights, Mapping) else weights
    if shares is not None:
        _check_weights(shares, sizes)
    shards = _ShardsOfParts(dataset, sizes, owners, window) if window is not None else None
    chances = [1.0] if shares is None else [share / sum(shares) for share in shares]
    if widths is None:
        widths = getattr(dataset, "bins", None) or None
    if widths is None and max_tokens is None:
        members = None if owners is None else members_of(owners, len(sizes))
        return (Bin(0, examples, batch_size or 0, _order(sizes, members, chances, seed, 0, shards)),)

    require(hasattr(dataset, "lengths"), "bins and max_tokens need a data set with `lengths`, as ShardDataset has")
    edges = _edges(widths, int(dataset.lengths.max()))
    classes = len(sizes) * len(edges)
    kind = np.min_scalar_type(classes)
    parts = np.repeat(np.arange(len(sizes), dtype=kind), sizes) if owners is None else owners.astype(kind)
    parts *= kind.type(len(edges))
    parts += np.searchsorted(edges, dataset.lengths).astype(kind)
    counts = np.bincount(parts, minlength=classes).reshape(len(sizes), len(edges))
    members = members_of(parts, classes)
    if shards is not None:
        shards.divide(parts, classes)
    rates = np.array(chances)[:, None] * counts / np.array(sizes)[:, None]
    epoch = apportion(examples, rates.sum(0).tolist())
    bins = []
    for number, width in enumerate(edges):
        padded = padded_length(width)
        batch = batch_size or (max_tokens or 0) // padded
        require(
            batch >= 1,
            f"max_tokens is {max_tokens}, but the bin up to {width} tokens has rows of {padded} when padded to a "
            "multiple of 8; expected room for at least one row",
        )
        if epoch[number]:
            of_bin, shares = members[number :: len(edges)], rates[:, number].tolist()
            order = _order(counts[:, number].tolist(), of_bin, shares, seed, number, shards, len(edges))
            bins.append(Bin(width, epoch[number], batch, order))
    return tuple(bins)


def _parts(dataset: Any, weights: Weights | None) -> tuple[Sequence[int], NDArray[np.unsignedinteger] | None]:
    """Return the sizes of the parts to mix, and the part of each example, None where they lie one after another.

    They are all examples as one part, the sets of shards, or their sources.
    """
    if weights is None:
        return [len(dataset)], None
    if isinstance(weights, Mapping):
        names = tuple(getattr(dataset, "source_names", ()))
        require(
            bool(names) and set(weights) == set(names),
            f"weights are given for {', '.join(weights) or 'no source'}, but the sources of these shards are "
            f"{', '.join(names) or 'unknown'}; expected one for each",
        )
        return np.bincount(dataset.sources, minlength=len(names)).tolist(), dataset.sources
    sizes = tuple(getattr(dataset, "sizes", (len(dataset),)))
    require(
        len(weights) == len(sizes),
        f"{len(weights)} weights are given for {len(sizes)} sets of shards; expected one for each, "
        "with a ShardDataset of a list of sets",
    )
    return sizes, None


def _order(
    sizes: Sequence[int],
    members: Sequence[Members] | None,
    chances: Sequence[float],
    seed: int,
    number: int,
    shards: _ShardsOfParts | None = None,
    bins: int = 1,
) -> SampleOrder:
    """Return the order of a bin, its parts mixed by their probabilities where there are several.

    members: the examples of each part, None where the parts lie one after another; shards: the shards of each part,
    None where rows are mixed over all of them; bins: the number of bins.
    """
    name = f"sampler epoch, bin {number}" if number else "sampler epoch"
    firsts = np.cumsum([0, *sizes]).tolist()
    orders: list[SampleOrder] = []
    filled = []
    for part, size in enumerate(sizes):
        if size:
            first, numbers = (0, members[part]) if members else (firsts[part], None)
            part_key = key(seed, f"{name}, set {part}" if len(sizes) > 1 else name)
            if shards is None:
                orders.append(PermutedOrder(size, part_key, first, numbers))
            else:
                rows, turns = shards.rows(part, number, bins), key(seed, f"shard order, part {part}")
                orders.append(WindowedOrder(size, part_key, rows, shards.window, turns, first, numbers))
            filled.append(chances[part])
    if len(sizes) == 1:
        return orders[0]
    return MixedOrder(tuple(orders), tuple(apportion(CYCLE, filled)), key(seed, f"{name}, mixture"))


def windows_of_step(bins: Sequence[Bin], world_size: int) -> int:
    """Return in how many windows of shards the rows of a step may lie, at least two, which are held; 1 without any."""
    most = 1
    for length_bin in bins:
        for order in getattr(length_bin.order, "orders", (length_bin.order,)):
            if isinstance(order, WindowedOrder):
                rows = np.cumsum(np.sort(order.rows[order.rows > 0]))
                inside = int(np.searchsorted(rows, length_bin.batch * world_size, side="right"))
                most = max(most, 2 + inside // order.window)
    return most


class _ShardsOfParts:
    """The rows that each shard has of each part of a data set that is mixed, or of each bin of these."""

    def __init__(
        self,
        dataset: Any,
        sizes: Sequence[int],
        owners: NDArray[np.unsignedinteger] | None,
        window: int,
    ) -> None:
        require(
            hasattr(dataset, "shard_rows"),
            "shuffle_window needs a data set that says the rows of its shards (`shard_rows`), as ShardDataset does",
        )
        require(window >= 1, f"--shuffle-window is {window}; expected at least 1 shard, or None for all")
        self.window, self._all = window, np.concatenate(dataset.shard_rows)
        if owners is not None:
            self.divide(owners, len(sizes))
        elif len(sizes) == 1:
            self._rows = self._all[:, None]
        else:
            self.divide(np.repeat(np.arange(len(sizes)), sizes), len(sizes))

    def divide(self, classes: NDArray[Any], number: int) -> None:
        """Count the rows of each class in each shard, given the class of every row."""
        self._rows = rows_of_classes(classes, self._all, number)

    def rows(self, part: int, number: int, bins: int) -> NDArray[np.int64]:
        """Return the rows of one of the bins of a part in each shard that has rows of the part, int64 (S,)."""
        rows = self._rows[:, part * bins : (part + 1) * bins]
        of_bin: NDArray[np.int64] = rows[rows.any(axis=1), number]
        return of_bin


def _edges(widths: Sequence[int] | None, longest: int) -> list[int]:
    if widths is None:
        step = -(-longest // (8 * AUTOMATIC_BINS)) * 8
        return list(range(step, longest + step, step))
    edges = list(widths)
    require(
        bool(edges) and len(edges) < 255 and edges == sorted(set(edges)) and edges[0] >= 1,
        f"bins are {edges}; expected lengths that rise, as 64, 128, 256, 512",
    )
    require(edges[-1] >= longest, f"bins go up to {edges[-1]} tokens, but the longest row has {longest}; add a bin")
    return edges


def _check_weights(weights: Sequence[float], sizes: Sequence[int]) -> None:
    require(
        all(weight > 0 and np.isfinite(weight) for weight in weights),
        f"weights are {', '.join(map(str, weights))}; expected numbers over 0 (leave out a set that is not wanted)",
    )
    require(
        min(weights) * CYCLE >= sum(weights),
        f"weights are {', '.join(map(str, weights))}; expected none below 1/{CYCLE} of their sum",
    )
    require(all(sizes), "a set of shards or a source to be mixed holds no examples; leave it out")
