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
from bertdata.loader.sample_order import CYCLE, Members, MixedOrder, PermutedOrder, SampleOrder, apportion, blocks_of
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
) -> tuple[Bin, ...]:
    """Return the bins of a data set, without the empty ones; raises ConfigError for settings that cannot be met.

    `widths` are the longest rows of the bins, and `max_tokens` the most tokens of a batch, padding included; without
    `widths`, it makes eight bins of equal width. Shards that were built in bins keep these.
    """
    require((batch_size is None) != (max_tokens is None), "give either batch_size or max_tokens, and not both")
    require(batch_size is None or batch_size >= 1, f"batch_size is {batch_size}; expected at least 1")
    examples = len(dataset)
    require(examples >= 1, "the data set holds no examples; expected at least one")
    parts = _parts(dataset, weights)
    shares = [weights[name] for name in dataset.source_names] if isinstance(weights, Mapping) else weights
    if shares is not None:
        _check_weights(shares, [part.size for part in parts])
    chances = [1.0] if shares is None else [share / sum(shares) for share in shares]
    if widths is None:
        widths = getattr(dataset, "bins", None) or None
    if widths is None and max_tokens is None:
        [some] = _members(parts, None, 1)
        pieces = [_Piece(part.first, part.size, one) for part, one in zip(parts, some, strict=True)]
        return (Bin(0, examples, batch_size or 0, _order(pieces, chances, seed, 0)),)

    require(hasattr(dataset, "lengths"), "bins and max_tokens need a data set with `lengths`, as ShardDataset has")
    edges = _edges(widths, int(dataset.lengths.max()))
    classes = np.searchsorted(edges, dataset.lengths).astype(np.uint8)
    counts = np.stack([np.bincount(part.of(classes), minlength=len(edges)) for part in parts])
    members = _members(parts, classes, len(edges))
    rates = np.array(chances)[:, None] * counts / np.array([part.size for part in parts])[:, None]
    epoch = apportion(examples, rates.sum(0).tolist())
    bins = []
    for number, width in enumerate(edges):
        padded = -(-width // 8) * 8
        batch = batch_size or (max_tokens or 0) // padded
        require(
            batch >= 1,
            f"max_tokens is {max_tokens}, but the bin up to {width} tokens has rows of {padded} when padded to a "
            "multiple of 8; expected room for at least one row",
        )
        pieces = [
            _Piece(part.first, int(count), one)
            for part, count, one in zip(parts, counts[:, number], members[number], strict=True)
        ]
        if epoch[number]:
            bins.append(Bin(width, epoch[number], batch, _order(pieces, rates[:, number].tolist(), seed, number)))
    return tuple(bins)


@dataclass(frozen=True)
class _Part:
    """What has one weight: consecutive examples, or those of one source; `owners` is the source of each example."""

    first: int
    size: int
    owners: NDArray[np.uint8] | None = None
    source: int = 0
    sources: int = 1

    def of(self, classes: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Return the classes of its examples."""
        if self.owners is None:
            return classes[self.first : self.first + self.size]
        own: NDArray[np.uint8] = classes[self.owners == self.source]
        return own


def _members(parts: Sequence[_Part], classes: NDArray[np.uint8] | None, bins: int) -> list[list[Members | None]]:
    """Return for each bin the examples of each part, None for all of a part; bins share one byte an example."""
    owners, sources = parts[0].owners, parts[0].sources
    if owners is None:
        if classes is None:
            return [[None for _ in parts]]
        blocks = [blocks_of(part.of(classes)) for part in parts]
        return [[Members(block, number) for block in blocks] for number in range(bins)]
    require(
        bins * sources < 255, f"{bins} bins and {sources} sources are too many together; expected under 255 of both"
    )
    shared = blocks_of(owners if classes is None else (classes * np.uint8(sources) + owners).astype(np.uint8))
    return [[Members(shared, number * sources + part.source) for part in parts] for number in range(bins)]


def _parts(dataset: Any, weights: Weights | None) -> list[_Part]:
    """Return the parts to mix: all examples as one part, the sets of shards, or their sources."""
    if weights is None:
        return [_Part(0, len(dataset))]
    if isinstance(weights, Mapping):
        names = tuple(getattr(dataset, "source_names", ()))
        require(
            bool(names) and set(weights) == set(names),
            f"weights are given for {', '.join(weights) or 'no source'}, but the sources of these shards are "
            f"{', '.join(names) or 'unknown'}; expected one for each",
        )
        owners = dataset.sources
        counts = np.bincount(owners, minlength=len(names)).tolist()
        return [_Part(0, count, owners, number, len(names)) for number, count in enumerate(counts)]
    sizes = tuple(getattr(dataset, "sizes", (len(dataset),)))
    require(
        len(weights) == len(sizes),
        f"{len(weights)} weights are given for {len(sizes)} sets of shards; expected one for each, "
        "with a ShardDataset of a list of sets",
    )
    starts = np.cumsum([0, *sizes]).tolist()
    return [_Part(first, size) for first, size in zip(starts, sizes, strict=False)]


@dataclass(frozen=True)
class _Piece:
    """The examples of one part in a bin: the part's first number, how many examples, and which (None: all)."""

    first: int
    size: int
    members: Members | None


def _order(pieces: Sequence[_Piece], chances: Sequence[float], seed: int, number: int) -> SampleOrder:
    """Return the order of a bin, its parts mixed by their probabilities where there are several."""
    name = f"sampler epoch, bin {number}" if number else "sampler epoch"
    if len(pieces) == 1:
        return PermutedOrder(pieces[0].size, key(seed, name), pieces[0].first, pieces[0].members)
    filled = [(place, piece) for place, piece in enumerate(pieces) if piece.size]
    orders = tuple(
        PermutedOrder(piece.size, key(seed, f"{name}, set {place}"), piece.first, piece.members)
        for place, piece in filled
    )
    shares = apportion(CYCLE, [chances[place] for place, _ in filled])
    return MixedOrder(orders, tuple(shares), key(seed, f"{name}, mixture"))


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
