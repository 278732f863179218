"""Byte-level BPE (Sennrich et al. 2016; Radford et al. 2019): pairs are merged, the lowest rank first."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import always_inlined, inlined, kernel
from bertdata.tokenizers.encode.kernels import word_cache
from bertdata.tokenizers.encode.kernels.id_cache import Cache, put_ids
from bertdata.tokenizers.encode.kernels.merges import NO_ID, NO_RANK, Merges, likely_rank, merges_to
from bertdata.tokenizers.encode.kernels.word_cache import NewWords, is_new

PLACE_BITS = 10
"""Bits of a place in a word, beside which there are those of a rank."""
LONGEST = (1 << PLACE_BITS) - 2
"""Bytes of the longest word; the time for one grows as their square."""
SCANNED = 8
"""Ranks that are compared together."""
N_ROOM = 4
_U = np.uint64
_NONE, _TO_RANK, _PLACE = np.uint32(NO_RANK << PLACE_BITS), np.uint32(PLACE_BITS), np.uint32((1 << PLACE_BITS) - 1)


@inlined
def _least(ranks: Any, n: Any) -> Any:
    """Return the least of the ranks of the places from 1 to n - 1, with its place in the lowest bits."""
    least = _NONE
    for i in range(1, n, SCANNED):
        a, b = min(ranks[i], ranks[i + 1]), min(ranks[i + 2], ranks[i + 3])
        c, d = min(ranks[i + 4], ranks[i + 5]), min(ranks[i + 6], ranks[i + 7])
        a, b = min(a, b), min(c, d)
        least = min(least, a, b)
    return least


@always_inlined
def _merge(data: Any, start: Any, n: Any, merges: Merges, ids: Any, room: Any) -> Any:
    """Write the ids of `n` bytes, at most LONGEST, to `ids`; returns how many.

    room: uint32 (N_ROOM, n + 2 + SCANNED): the rank of the pair that begins at each place, with the place in the lowest
    bits, the parts of the word, and the places of the parts before and after. A part is where its first byte is, from 1
    on; before and after the word there is one that is not merged.
    """
    ranks, parts, before, after = room[0], room[1], room[2], room[3]
    for j in range(n + SCANNED):
        ranks[j] = _NONE
    parts[0] = parts[n + 1] = np.uint32(NO_ID)
    for j in range(n + 2):
        before[j], after[j] = max(j, 1) - 1, j + 1
    for j in range(n):
        parts[j + 1] = merges.bytes[data[start + j]]
    for j in range(1, n):
        rank = merges.first[np.int64(data[start + j - 1]) << 8 | np.int64(data[start + j])]
        ranks[j] = rank << _TO_RANK | np.uint32(j)
    least = _least(ranks, n)
    while least < _NONE:
        at = _U(least & _PLACE)
        gone = _U(after[at])
        made = merges_to(merges.records[least >> _TO_RANK], parts[at], parts[gone])
        if made == NO_ID:
            ranks[at] = _NONE
        else:
            left, right = _U(before[at]), _U(after[gone])
            parts[at], ranks[gone] = made, _NONE
            after[at], before[right] = right, at
            ranks[at] = likely_rank(merges, made, parts[right]) << _TO_RANK | np.uint32(at)
            ranks[left] = likely_rank(merges, parts[left], made) << _TO_RANK | np.uint32(left)
        least = _least(ranks, n)
    count: Any = 0
    place: Any = 1
    while place <= n:
        ids[count] = parts[place]
        count += 1
        place = np.int64(after[place])
    return count


class Model(NamedTuple):
    """The merges, and room for the ids of the longest word of a cache, of the output's type, and for `encode_word`."""

    merges: Merges
    ids: NDArray[Any]
    room: NDArray[np.uint32]


@inlined
def _encode(cache: Any, entry: Any, text: Any, start: Any, end: Any, model: Any) -> None:
    """Give a new word its ids."""
    put_ids(cache, entry, model.ids, 0, _merge(text, start, end - start, model.merges, model.ids, model.room), False)


@kernel
def write_known(
    text: Any, begin: int, positions: Any, n_words: int, offsets: Any, row: int, stop: int, cache: Cache,
    out: Any, written: int, word_starts: Any, ends: Any, left: Any, longs: Any, window: Any, model: Model,
) -> Any:  # fmt: skip
    """Write the ids of words, as `word_cache.write_known`."""
    return word_cache.write_known(
        text, begin, positions, n_words, offsets, row, stop, cache,
        out, written, word_starts, ends, left, longs, window, _encode, model,
    )  # fmt: skip


@kernel
def encode_left(cache: Cache, new: NewWords, model: Model) -> None:
    """Give ids to new words that are left."""
    for k in range(len(new.left)):
        entry, word = new.left[k, 1], new.left[k, 2]
        if is_new(cache, entry, new.first):
            start, end = np.int64(new.positions[word]), np.int64(new.positions[word + 1])
            _encode(cache, entry, new.text, new.begin + start, new.begin + end, model)


@kernel
def encode_word(text: Any, start: int, n: int, merges: Merges, ids: Any, room: Any) -> Any:
    """Write the ids of the `n` bytes, at most LONGEST, of a text from `start` on; returns how many.

    room: uint32 (N_ROOM, n + 2 + SCANNED).
    """
    return _merge(text, start, n, merges, ids, room)
