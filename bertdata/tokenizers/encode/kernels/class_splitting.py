"""Segments of a unit of text, cut further between characters by what a pre-tokenizer makes of each of them.

The same as `splitting.py` does for the patterns of such pre-tokenizers, 64 bytes at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bertdata.kernels.jit import inlined, kernel
from bertdata.kernels.simd import (
    BLOCK,
    digit_bits,
    equal_bits,
    high_bits,
    letter_bits,
    lowest_bit,
    punctuation_bits,
    space_bits,
)
from bertdata.kernels.utf8 import decode
from bertdata.tokenizers.encode.kernels.bitmaps import bytes_of_block, set_bit
from bertdata.tokenizers.encode.kernels.splitting import ISOLATES, JOINS, REMOVES

NOT_ASKED, JOINED, APART, REMOVED = range(4)
"""What is known of a code point: nothing yet; it stays with its neighbours; it does not; it is removed."""
NOTHING, PUNCTUATION, DIGITS, NO_WORD = range(4)
"""Which characters of ASCII are APART: none, punctuation, digits, all but letters, digits, _ and white space."""
_MARK = (0xE2, 0x96, 0x81)
_U = np.uint64
_0, _1, _8, _63, _64 = _U(0), _U(1), _U(8), _U(63), _U(64)


@inlined
def _apart_of_ascii(text: Any, i: Any, kind: Any, space: Any, high: Any) -> Any:
    if kind == PUNCTUATION:
        return punctuation_bits(text, i)
    if kind == DIGITS:
        return digit_bits(text, i)
    if kind == NO_WORD:
        return ~(letter_bits(text, i) | digit_bits(text, i) | equal_bits(text, i, np.uint8(0x5F)) | space | high)
    return _0


@kernel
def split_by_classes(
    text: Any, begin: int, n: int, cuts: Any, gone: Any, new_cuts: Any, new_gone: Any,
    classes: Any, ascii_apart: int, each: bool, between: int,
) -> Any:  # fmt: skip
    """Cut segments between characters; returns -1, or the byte of a character of which nothing is known.

    each: whether a character that is APART is a segment by itself, else a run of them is one. between: as `split` has
    it; white space of ASCII is removed unless it ISOLATES.
    """
    more_apart = more_removed = more_inner = covered = last_joined = last_apart = last_removed = _0
    for b in range(n // BLOCK + 1):
        i = begin + b * BLOCK
        valid = bytes_of_block(n, b)
        high = high_bits(text, i) & valid
        space = space_bits(text, i) & valid
        apart = _apart_of_ascii(text, i, ascii_apart, space, high) & valid | more_apart
        removed = more_removed
        if between != ISOLATES:
            removed |= space
        inner = more_inner
        waiting = high & ~covered
        more_apart = more_removed = more_inner = covered = _0
        while waiting != _0:
            bit = lowest_bit(waiting)
            at = i + np.int64(bit)
            point, size = decode(text, at, begin + n)
            kind = classes[max(point, 0)]
            if kind == NOT_ASKED:
                return at
            ones = (_1 << _U(size)) - _1
            bits, over = ones << bit, _0
            if bit + _U(size) > _64:
                over = ones >> (_64 - bit)
            waiting &= ~bits
            covered |= over
            inner |= bits & ~(_1 << bit)
            more_inner |= over
            if kind == APART:
                apart |= bits
                more_apart |= over
            elif kind == REMOVED:
                removed |= bits
                more_removed |= over
        joined = ~(apart | removed) & valid
        after_removed = removed << _1 | last_removed
        begins = joined & ~(joined << _1 | last_joined)
        begins |= apart & ~inner if each else apart & ~(apart << _1 | last_apart)
        if between == JOINS:
            begins &= ~after_removed
        first_removed = removed & (~after_removed | cuts[b])
        new_cuts[b] = cuts[b] | begins | first_removed
        new_gone[b] = gone[b] | first_removed if between == REMOVES else gone[b]
        last_joined, last_apart, last_removed = joined >> _63, apart >> _63, removed >> _63
    return -1


@kernel
def split_at_marks(text: Any, begin: int, n: int, cuts: Any, each: bool, joins: Any, apart: Any, new_cuts: Any) -> None:
    """Cut before marks U+2581 of spaces: before `each`, else before a run of them; and on both sides of punctuation.

    joins: after which bytes of ASCII no run is cut off, bool (256,). apart: between which two bytes there is a cut,
    where one of them is punctuation, bool (65536,) by 256 times the first and the second; empty where there is none.
    """
    for b in range(n // BLOCK + 1):
        new_cuts[b] = cuts[b]
    after_mark: Any = -1
    last = _0
    for b in range(n // BLOCK + 1):
        i = begin + b * BLOCK
        marks = equal_bits(text, i, np.uint8(_MARK[0])) & bytes_of_block(n, b)
        while marks != _0:
            at = b * BLOCK + np.int64(lowest_bit(marks))
            marks &= marks - _1
            if text[begin + at + 1] == _MARK[1] and text[begin + at + 2] == _MARK[2]:
                if each or (at != after_mark and (at == 0 or not joins[text[begin + at - 1]])):
                    set_bit(new_cuts, at)
                after_mark = at + 3
        if len(apart) > 0:
            punctuation = punctuation_bits(text, i) & bytes_of_block(n, b)
            sides = (punctuation | punctuation << _1 | last) & bytes_of_block(n, b)
            last = punctuation >> _63
            if b == 0:
                sides &= ~_1
            while sides != _0:
                bit = lowest_bit(sides)
                sides &= sides - _1
                at = i + np.int64(bit)
                new_cuts[b] |= _U(apart[_U(text[at - 1]) << _8 | _U(text[at])]) << bit
