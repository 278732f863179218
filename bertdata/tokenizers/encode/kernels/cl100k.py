r"""The words of cl100k's pattern, as bits: where each begins. Llama 3, OLMo 2 and EuroBERT have it, too.

The pattern (OpenAI's tiktoken) is

    (?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+

so letters take the one character before them that begins a word, numbers are cut into threes and take nothing, other
characters take a space before and line ends after them, and white space ends a word at its last line end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bertdata.kernels.jit import inlined, kernel
from bertdata.kernels.simd import BLOCK, apostrophe_bits, blank_bits, high_bits, line_end_bits, lowest_bit
from bertdata.tokenizers.encode.kernels.bitmaps import (
    Bitmaps,
    bytes_of_block,
    character_size,
    clear_bit,
    first_byte,
    is_set,
    set_bit,
)
from bertdata.tokenizers.encode.kernels.gpt2 import short_form

_U = np.uint64
_0, _1, _63 = _U(0), _U(1), _U(63)
_LINE_FEED, _CARRIAGE_RETURN, _LOWER = 10, 13, 32
_LONG_S = (0xC5, 0xBF)
"""U+017F, which is an s where case makes no difference."""


@inlined
def _is_line_end(byte: Any) -> Any:
    return byte in (_LINE_FEED, _CARRIAGE_RETURN)


@kernel
def cl100k_starts(text: Any, begin: int, n: int, bitmaps: Bitmaps) -> None:
    """Set the bits in `bitmaps.starts` of the bytes at which words begin, but for numbers and line ends."""
    letters, numbers, spaces, rows, _, starts = bitmaps
    n_blocks = n // BLOCK + 1
    for b in range(n_blocks + 1):
        starts[b] = _0
    last_letter = last_number = last_space = last_other = last_blank = last_taken = more_taken = _0
    for b in range(n_blocks):
        i = begin + b * BLOCK
        valid = bytes_of_block(n, b)
        letter, number, space, row = letters[b], numbers[b], spaces[b], rows[b]
        other = ~(letter | number | space) & valid
        blank, line_end = blank_bits(text, i) & valid, line_end_bits(text, i) & valid
        following = (~space & ~row) >> _1 | (~spaces[b + 1] & ~rows[b + 1]) << _63
        before_letter = (letter & ~row) >> _1 | (letters[b + 1] & ~rows[b + 1]) << _63
        others = other & ~(other << _1 | last_other) | other & row
        after_blank = (blank << _1 | last_blank) & ~row
        taken = others & ~after_blank & before_letter | more_taken
        more_taken = _0
        high = high_bits(text, i)
        wide = others & ~after_blank & high
        while wide != _0:
            at = b * BLOCK + np.int64(lowest_bit(wide))
            wide &= wide - _1
            end = at + character_size(text[begin + at])
            if end < n and is_set(letters, end) and not is_set(rows, end):
                if (end - 1) // BLOCK == b:
                    taken |= _1 << _U((end - 1) % BLOCK)
                else:
                    more_taken = _1 << _U((end - 1) % BLOCK)
        joined = (taken | space & ~line_end) << _1 | last_taken
        begins = row | letter & ~(letter << _1 | last_letter) & ~joined
        begins |= number & ~(number << _1 | last_number) | others & ~after_blank
        begins |= space & ~(space << _1 | last_space)
        tails = space & ~line_end & following
        wide = tails & high
        begins |= tails & ~high
        while wide != _0:
            set_bit(starts, first_byte(text, begin + b * BLOCK + np.int64(lowest_bit(wide))) - begin)
            wide &= wide - _1
        last_taken = (taken | space & ~line_end) >> _63
        last_letter, last_number, last_space = letter >> _63, number >> _63, space >> _63
        last_other, last_blank = other >> _63, blank >> _63
        marks = apostrophe_bits(text, i) & taken
        starts[b] |= begins
        while marks != _0:
            at = b * BLOCK + np.int64(lowest_bit(marks))
            marks &= marks - _1
            first, second = text[begin + at + 1], text[begin + at + 2]
            size = short_form(first | _LOWER, second | _LOWER)
            if (first, second) == _LONG_S:
                size = 3
            if size > 0 and not (size == 3 and is_set(rows, at + 2)):
                set_bit(starts, at + size)


@kernel
def cut_numbers(text: Any, begin: int, n: int, digits: int, bitmaps: Bitmaps) -> None:
    """Set the bits of the bytes at which a number of over `digits` characters is cut."""
    numbers, rows, starts = bitmaps.numbers, bitmaps.rows, bitmaps.starts
    last = _0
    for b in range(n // BLOCK + 1):
        firsts = numbers[b] & (~(numbers[b] << _1 | last) | rows[b])
        last = numbers[b] >> _63
        while firsts != _0:
            at = b * BLOCK + np.int64(lowest_bit(firsts))
            firsts &= firsts - _1
            count: Any = 0
            while at < n and is_set(numbers, at) and (count == 0 or not is_set(rows, at)):
                if count > 0 and count % digits == 0:
                    set_bit(starts, at)
                count += 1
                at += character_size(text[begin + at])


@kernel
def cut_line_ends(text: Any, begin: int, n: int, bitmaps: Bitmaps) -> None:
    """Correct the bits where white space holds line ends: those after marks belong to these, the last ends a word."""
    letters, numbers, spaces, rows, _, starts = bitmaps
    done: Any = 0
    for b in range(n // BLOCK + 1):
        ends = line_end_bits(text, begin + b * BLOCK) & spaces[b]
        while ends != _0:
            first = b * BLOCK + np.int64(lowest_bit(ends))
            ends &= ends - _1
            if first < done:
                continue
            done = first + 1
            while first > 0 and is_set(spaces, first - 1) and not is_set(rows, first):
                first -= 1
            while done < n and is_set(spaces, done) and not is_set(rows, done):
                done += 1
            after_mark = first > 0 and not is_set(rows, first)
            if after_mark and not is_set(letters, first - 1) and not is_set(numbers, first - 1):
                start = first
                while first < done and _is_line_end(text[begin + first]):
                    first += 1
                if first > start:
                    clear_bit(starts, start)
                    set_bit(starts, first)
            last = done - 1
            while last >= first and not _is_line_end(text[begin + last]):
                last -= 1
            if first <= last:
                set_bit(starts, last + 1)
