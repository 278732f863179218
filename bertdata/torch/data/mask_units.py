"""Whole words, n-grams and spans on tensors: the units of `bertdata.masking`, found for all rows at once.

The compiled kernel goes from word to word and from unit to unit. Here cumulative sums along the rows replace the first,
and pointer jumping the second: each word points to the beginning of the next unit, and each step doubles the distance.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor


@dataclass(frozen=True)
class Units:
    """The units of rows (N, L): `of` is the unit of each token, int64, meaningless at special tokens; by unit, `first`
    is the position where it begins and `sizes` its tokens, 0 after the last unit; all (N, L). `most` is the most places
    that a unit has on the circle (see `bertdata.masking.masking`), (N, 1).
    """

    of: Tensor
    first: Tensor
    sizes: Tensor
    most: Tensor


def places_of(units: Units) -> Tensor:
    """Return how many places the circle of each row has, int64 (N, 1)."""
    return torch.minimum(units.sizes, units.most).sum(1, keepdim=True)


def continuing(ids: Tensor, continuation: Tensor) -> Tensor:
    """Return which ids (N, L) continue a word, by a table of the vocabulary, bool (V,); ids outside of it do not."""
    return continuation[ids.clamp(0, len(continuation) - 1)] & (ids >= 0) & (ids < len(continuation))


def split_rows(
    special: Tensor, continues: Tensor, drawn: Tensor, thresholds: Tensor, share: int | Tensor, limit: int = 0
) -> Units:
    """Split rows into units of whole words.

    special, continues: which tokens are special, and which continue a word, bool (N, L); drawn: the high halves of the
    draws of lengths, int64 (N, L); thresholds: of 1, 2, ... words, int64; share: the threshold of being predicted, or
    (N, 1); limit: the most predictions of a row, 0 for none.

    >>> special = torch.tensor([[True, False, False, False, True]])
    >>> continues = torch.tensor([[False, False, True, False, False]])
    >>> drawn, thresholds = torch.zeros(1, 5, dtype=torch.int64), torch.tensor([1 << 32])
    >>> units = split_rows(special, continues, drawn, thresholds, 1 << 31)
    >>> units.first[0, :2].tolist(), units.sizes[0].tolist()
    ([1, 3], [2, 1, 0, 0, 0])
    """
    length, place = special.shape[1], torch.arange(special.shape[1], device=special.device).expand_as(special)
    after_special = torch.ones_like(special)
    after_special[:, 1:] = special[:, :-1]
    begins = ~special & (~continues | after_special)
    sizes = _sizes(begins, special)
    most = _most_places(sizes, share)
    if len(thresholds) > 1:
        longest = most.clamp(max=limit) if limit else most
        begins = begins & _starts(begins, after_special, drawn, thresholds, sizes, longest)
        sizes = _sizes(begins, special)
    unit = begins.cumsum(1) - 1
    first = place.new_zeros(len(special), length + 1).scatter_(1, torch.where(begins, unit, length), place)
    return Units(unit.clamp(min=0), first[:, :length], sizes, most)


def _sizes(begins: Tensor, special: Tensor) -> Tensor:
    """Return the tokens of each word or unit, 0 after the last, int64 (N, L)."""
    length = begins.shape[1]
    inside = torch.where(special, length, begins.cumsum(1) - 1)
    sizes = inside.new_zeros(len(begins), length + 1)
    return sizes.scatter_add_(1, inside, torch.ones_like(inside))[:, :length]


def _most_places(sizes: Tensor, share: int | Tensor) -> Tensor:
    """Return the most places that a unit has on the circle, which is the share of all places, (N, 1)."""
    most = ((sizes.sum(1, keepdim=True) * share) >> 32).clamp(min=1)
    while True:
        fewer = ((torch.minimum(sizes, most).sum(1, keepdim=True) * share) >> 32).clamp(min=1)
        if bool((most <= fewer).all()):
            return most
        most = torch.minimum(most, fewer)


def _starts(
    words: Tensor, after_special: Tensor, drawn: Tensor, thresholds: Tensor, sizes: Tensor, longest: Tensor
) -> Tensor:
    """Return at which of the words' first tokens a unit begins, bool (N, L).

    A unit ends after as many words as are drawn at its first, or at the end of the segment, or before the word that
    would make it longer than `longest` tokens (N, 1); sizes: the tokens of each word.
    """
    count, length = words.shape
    word = torch.where(words, words.cumsum(1) - 1, length)
    place = torch.arange(length, device=words.device).expand_as(word)
    at = word.new_zeros(count, length + 1).scatter_(1, word, place)[:, :length]
    number = words.sum(1, keepdim=True)
    real = place < number
    heads = (words & after_special).gather(1, at) & real
    steps = 1 + (drawn.gather(1, at)[..., None] >= thresholds[:-1]).sum(-1)
    later = torch.where(heads, place, length)
    later = torch.cat([later[:, 1:], later.new_full((count, 1), length)], dim=1)
    border = later.flip(1).cummin(1).values.flip(1)
    ends = sizes.cumsum(1)
    too_long = torch.searchsorted(ends, ends - sizes + longest, right=True)
    following = torch.minimum(torch.minimum(place + steps, border), torch.maximum(too_long, place + 1))
    following = torch.minimum(following, number)
    following = torch.where(real & (following < number), following, length)
    following = torch.cat([following, following.new_full((count, 1), length)], dim=1)
    reached = torch.cat([heads, heads.new_zeros(count, 1)], dim=1)
    for _ in range(length.bit_length()):
        reached = reached.scatter(1, torch.where(reached, following, length), torch.ones_like(reached))
        following = following.gather(1, following)
    reached[:, length] = False
    return reached.gather(1, word)


def take(units: Units, draws: Tensor, window: Tensor, wanted: Tensor, limit: int) -> Tensor:
    """Return how many tokens of each unit are predicted, int64 (N, L), counted from its first.

    draws: those of the units' order, as signed numbers of the same order, int64 (N, L); window, wanted: where the arc
    begins on the circle, and how many places it has, both (N, 1); limit: as in `split_rows`.
    """
    length = draws.shape[1]
    place = torch.arange(length, device=draws.device).expand_as(draws)
    order = _ordered(draws, units.sizes > 0)
    sizes = units.sizes.gather(1, order)
    places = torch.minimum(sizes, units.most)
    around = places.sum(1, keepdim=True)
    distance = (places.cumsum(1) - places - window) % around.clamp(min=1)
    distance = torch.where(sizes > 0, distance, around + place)
    counts = torch.where(distance < wanted, sizes, 0)
    if limit:
        turn = distance.argsort(dim=1, stable=True)
        limited = torch.zeros_like(counts).scatter(1, turn, _limited(sizes.gather(1, turn), limit))
        counts = torch.where(counts.sum(1, keepdim=True) > limit, limited, counts)
    return torch.zeros_like(counts).scatter(1, order, counts)


def _ordered(draws: Tensor, there: Tensor) -> Tensor:
    """Return the order of the draws, those of no unit last."""
    by_draw = draws.argsort(dim=1, stable=True)
    absent = (~there).gather(1, by_draw).to(torch.int8)
    return by_draw.gather(1, absent.argsort(dim=1, stable=True))


def _limited(counts: Tensor, limit: int) -> Tensor:
    """Leave out, from first to last, units that exceed the limit; of the first unit only its tail."""
    taken, allowed = counts.new_zeros(len(counts)), []
    for column in counts[:, : int((counts > 0).sum(1).max())].unbind(1):
        fits = taken + column <= limit
        more = torch.where(fits, column, torch.where(taken == 0, limit, 0))
        allowed.append(more)
        taken = taken + more
    rest = counts.new_zeros(len(counts), counts.shape[1] - len(allowed))
    return torch.cat([torch.stack(allowed, 1), rest], dim=1) if allowed else counts
