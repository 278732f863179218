"""Words of BPE whose first parts are characters or bytes, the last of which may have a token of its own (`</w>`)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import inlined, kernel
from bertdata.tokenizers.encode.kernels import word_cache
from bertdata.tokenizers.encode.kernels.bitmaps import character_size
from bertdata.tokenizers.encode.kernels.byte_pair import PLACE_BITS, copy_parts, merge_parts
from bertdata.tokenizers.encode.kernels.double_array import BASE, LABEL, TAKEN, TO_BASE, TO_ID
from bertdata.tokenizers.encode.kernels.id_cache import MAX_IDS, Cache, put_ids
from bertdata.tokenizers.encode.kernels.merge_table import NO_ID, Merges, likely_rank
from bertdata.tokenizers.encode.kernels.spelled_words import Removed, skip_removed

WITHIN, LAST = range(2)
ASKED, DROPPED = -1, -2
"""What a part without a token may be instead of an unknown token: asked of `tokenizers`, or nothing."""
_U = np.uint64
_0, _1, _8 = _U(0), _U(1), _U(8)
_NO_BYTE = _U(256)
_RANK_UNKNOWN = np.uint32(0)  # that of no place in a word, which is 1 at least
_TO_RANK = np.uint32(PLACE_BITS)


class Model(NamedTuple):
    """The merges, the tokens of single parts, in a double array of two roots, and room for a word.

    The merges have the ids of characters of ASCII, or of bytes, that are parts within a word, and NO_ID for others.
    roots: the bases of the roots of parts within a word and of last ones; alike: whether these have the same parts.
    by_bytes: whether parts are bytes.
    fallback: the ids of bytes that stand for a part without a token, int64 (256,), -1 for none. unknown: the id of
    other parts without a token, ASKED or DROPPED; fuses: whether several of them are one.
    """

    merges: Merges
    cells: NDArray[np.uint64]
    roots: NDArray[np.int64]
    alike: bool
    by_bytes: bool
    fallback: NDArray[np.int64]
    unknown: int
    fuses: bool
    removed: Removed
    ids: NDArray[Any]
    room: NDArray[np.uint32]


@inlined
def _part(text: Any, at: Any, size: Any, root: Any, cells: Any) -> Any:
    """Return the id of a part plus 1, or 0."""
    base, part_id = root, _0
    for j in range(size):
        label = _U(text[at + j])
        cell = cells[base ^ label]
        if cell & LABEL != label | TAKEN:
            return _0
        part_id = cell >> TO_ID
        base = cell >> TO_BASE & BASE
    return part_id


@inlined
def _encode(cache: Any, entry: Any, text: Any, start: Any, end: Any, model: Any) -> None:
    """Give a new word its ids, unless it has a part that must be asked for."""
    at: Any = skip_removed(text, start, end, model.removed)
    ranks, parts = model.room[0], model.room[1]
    count: Any = 0
    known: Any = True
    after_unknown: Any = False
    last: Any = _NO_BYTE
    while at < end and known:
        byte = _U(text[at])
        short = model.merges.bytes[byte]
        if short != NO_ID and (model.alike or at + 1 < end):
            count += 1
            parts[count] = short
            ranks[count - 1] = _RANK_UNKNOWN
            if last != _NO_BYTE:
                ranks[count - 1] = model.merges.first[last << _8 | byte] << _TO_RANK | np.uint32(count - 1)
            last = byte
            after_unknown = False
            at += 1
            continue
        last = _NO_BYTE
        begun = count
        size: Any = 1 if model.by_bytes else character_size(text[at])
        root = model.roots[LAST] if at + size >= end else model.roots[WITHIN]
        part_id = _part(text, at, size, _U(root), model.cells)
        if part_id != _0:
            count += 1
            parts[count] = np.uint32(part_id - _1)
        is_unknown = part_id == _0 and model.fallback[text[at]] < 0
        for j in range(size if part_id == _0 and not is_unknown else 0):
            count += 1
            parts[count] = np.uint32(model.fallback[text[at + j]])
        if is_unknown:
            known = model.unknown != ASKED
            if model.unknown >= 0 and not (model.fuses and after_unknown):
                count += 1
                parts[count] = np.uint32(model.unknown)
        for j in range(begun, count):
            ranks[j] = _RANK_UNKNOWN
        after_unknown = is_unknown
        at += size
    if known and count > 0:
        for j in range(1, count):
            if ranks[j] == _RANK_UNKNOWN:
                ranks[j] = likely_rank(model.merges, parts[j], parts[j + 1]) << _TO_RANK | np.uint32(j)
        count = merge_parts(count, model.merges, model.room)
        copy_parts(model.room, count, model.ids)
    if known and count <= MAX_IDS:
        put_ids(cache, entry, model.ids, 0, count, False)


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
