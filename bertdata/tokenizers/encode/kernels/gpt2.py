r"""The words of GPT-2's pattern, as bits: where each begins.

The pattern (Radford et al. 2019, released code) is

    's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+

so a word is a run of one class with the space before it; of white space before a word the last character is apart
(with the word, if it is a space); and a short form like 're is a word where an apostrophe begins one.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bertdata.kernels.jit import inlined, kernel
from bertdata.kernels.simd import BLOCK, apostrophe_bits, blank_bits, high_bits, lowest_bit
from bertdata.tokenizers.encode.kernels.bitmaps import Bitmaps, bytes_of_block, first_byte, is_set, set_bit

_U = np.uint64
_0, _1, _63 = _U(0), _U(1), _U(63)
_S, _T, _M, _D, _E, _R, _V, _L = b"stmdervl"
"""Bytes as numbers: what numba needs for `ord` takes 0.04 s to load."""


@inlined
def short_form(first: Any, second: Any) -> Any:
    """Return the length of 's, 't, 'm, 'd, 're, 've or 'll by the two bytes after an apostrophe; 0 for none of them."""
    if first in (_S, _T, _M, _D):
        return 2
    if (second == _E and first in (_R, _V)) or (first == _L and second == _L):
        return 3
    return 0


@kernel
def gpt2_starts(text: Any, begin: int, n: int, bitmaps: Bitmaps) -> None:
    """Set the bits in `bitmaps.starts` of the bytes at which words begin, and of the one after the last."""
    letters, numbers, spaces, rows, _, starts = bitmaps
    n_blocks = n // BLOCK + 1
    for b in range(n_blocks + 1):
        starts[b] = _0
    last_letter = last_number = last_space = last_other = last_blank = not_first = _0
    for b in range(n_blocks):
        i = begin + b * BLOCK
        valid = bytes_of_block(n, b)
        letter, number, space, row = letters[b], numbers[b], spaces[b], rows[b]
        other = ~(letter | number | space) & valid
        blank = blank_bits(text, i) & valid
        following = ~space & ~row
        follows = following >> _1 | (~spaces[b + 1] & ~rows[b + 1]) << _63
        change = letter & ~(letter << _1 | last_letter) | number & ~(number << _1 | last_number)
        change |= other & ~(other << _1 | last_other)
        change &= ~(blank << _1 | last_blank)
        begins = row | change & ~not_first | space & ~(space << _1 | last_space) | blank & follows
        apart = space & ~blank & follows
        if apart != _0:
            high = high_bits(text, i) & apart
            begins |= apart & ~high
            while high != _0:
                at = begin + b * BLOCK + np.int64(lowest_bit(high))
                set_bit(starts, first_byte(text, at) - begin)
                high &= high - _1
        last_letter, last_number, last_space = letter >> _63, number >> _63, space >> _63
        last_other, last_blank, not_first = other >> _63, blank >> _63, _0
        marks = apostrophe_bits(text, i) & begins & other
        while marks != _0:
            at = b * BLOCK + np.int64(lowest_bit(marks))
            marks &= marks - _1
            size = short_form(text[begin + at + 1], text[begin + at + 2])
            if size == 0 or is_set(rows, at + 1) or (size == 3 and is_set(rows, at + 2)):
                continue
            set_bit(starts, at + size)
            if (at + 1) % BLOCK == 0:
                not_first = _1
            else:
                begins &= ~(_1 << _U((at + 1) % BLOCK))
        starts[b] |= begins
