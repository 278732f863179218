"""Bitmaps of a unit of text: which bytes are of letters, numbers and white space, and where rows and words begin.

All bytes of a character have its class. A bitmap is an array of uint64, bit i % 64 of its element i // 64 for byte i
of the unit; it has two elements more than the bytes need.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import inlined, kernel
from bertdata.kernels.simd import (
    BLOCK,
    count_bits,
    digit_bits,
    high_bits,
    letter_bits,
    lowest_bit,
    space_bits,
    whitespace_bits,
)
from bertdata.kernels.utf8 import decode

NOT_ASKED, LETTER, NUMBER, SPACE, OTHER, UNSURE = range(6)
"""What is known of a code point: nothing yet, its class in the pattern of a pre-tokenizer, or that rows with it are
left to `tokenizers`."""
_AT_A_TIME = 16
_U = np.uint64
_0, _1, _64 = _U(0), _U(1), _U(64)


class Bitmaps(NamedTuple):
    """The bitmaps of a unit of N bytes: uint64, N // 64 + 2 each."""

    letters: NDArray[np.uint64]
    numbers: NDArray[np.uint64]
    spaces: NDArray[np.uint64]
    rows: NDArray[np.uint64]  # where rows begin, and where the last one ends
    unsure: NDArray[np.uint64]  # first bytes of characters of class UNSURE
    starts: NDArray[np.uint64]  # where words begin, and where the last one ends


@inlined
def is_set(bitmap: Any, at: Any) -> Any:
    """Tell whether a bit is set."""
    return bitmap[at // BLOCK] >> _U(at % BLOCK) & _1 != _0


@inlined
def set_bit(bitmap: Any, at: Any) -> None:
    """Set a bit."""
    bitmap[at // BLOCK] |= _1 << _U(at % BLOCK)


@inlined
def clear_bit(bitmap: Any, at: Any) -> None:
    """Clear a bit."""
    bitmap[at // BLOCK] &= ~(_1 << _U(at % BLOCK))


@inlined
def bytes_of_block(n: Any, block: Any) -> Any:
    """Return the bits of a block that are of the `n` bytes of a unit, as ones."""
    left: Any = n - block * BLOCK
    return ~_0 if left >= BLOCK else (_1 << _U(left)) - _1


@inlined
def character_size(byte: Any) -> Any:
    """Return the length of a character of UTF-8 by its first byte."""
    return 1 if byte < 0x80 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4


@inlined
def first_byte(text: Any, at: Any) -> Any:
    """Return where the character that the byte `at` is of begins."""
    while text[at] & 0xC0 == 0x80:
        at -= 1
    return at


@kernel
def mark_rows(offsets: Any, row: int, stop: int, rows: Any) -> None:
    """Set the bits of the bytes at which the rows from `row` to `stop` begin, and the one after the last."""
    begin = offsets[row]
    for j in range((offsets[stop] - begin) // BLOCK + 2):
        rows[j] = _0
    for j in range(row, stop + 1):
        at = offsets[j] - begin
        rows[at // BLOCK] |= _1 << _U(at % BLOCK)


@kernel
def classify(text: Any, begin: int, n: int, kinds: Any, bitmaps: Bitmaps) -> Any:
    """Write the classes of the `n` bytes from `begin` on; returns -1, or the byte of a character with no class yet.

    kinds: the class of each code point, uint8. The text is UTF-8.
    """
    letters, numbers, spaces, unsure = bitmaps.letters, bitmaps.numbers, bitmaps.spaces, bitmaps.unsure
    more_letters = more_numbers = more_spaces = covered = _0
    for b in range(n // BLOCK + 1):
        i = begin + b * BLOCK
        valid = bytes_of_block(n, b)
        is_letter = letter_bits(text, i) & valid | more_letters
        is_number = digit_bits(text, i) & valid | more_numbers
        is_space = space_bits(text, i) & valid | more_spaces
        high = high_bits(text, i) & valid & ~covered
        more_letters = more_numbers = more_spaces = covered = _0
        unsure[b] = _0
        while high != _0:
            bit = lowest_bit(high)
            at = i + np.int64(bit)
            point, size = decode(text, at, begin + n)
            kind = OTHER if point < 0 else kinds[point]
            if kind == NOT_ASKED:
                return at
            ones = (_1 << _U(size)) - _1
            bits = ones << bit
            over: Any = _0
            if bit + _U(size) > _64:
                over = ones >> (_64 - bit)
            high &= ~bits
            covered |= over
            if kind == LETTER:
                is_letter |= bits
                more_letters |= over
            elif kind == NUMBER:
                is_number |= bits
                more_numbers |= over
            elif kind == SPACE:
                is_space |= bits
                more_spaces |= over
            elif kind == UNSURE:
                unsure[b] |= _1 << bit
        letters[b], numbers[b], spaces[b] = is_letter, is_number, is_space
    letters[n // BLOCK + 1] = numbers[n // BLOCK + 1] = spaces[n // BLOCK + 1] = _0
    return -1


@kernel
def whitespace_starts(text: Any, begin: int, n: int, bitmaps: Bitmaps) -> None:
    """Set the bits in `starts` of the bytes at which rows or white space of ASCII begin, and of the one after the last.

    A word is a piece of white space with what follows it.
    """
    for b in range(n // BLOCK + 1):
        bitmaps.starts[b] = whitespace_bits(text, begin + b * BLOCK) & bytes_of_block(n, b) | bitmaps.rows[b]


@kernel
def find_positions(starts: Any, n: int, positions: Any) -> Any:
    """Write the numbers of the bits that are set of a bitmap of `n` + 1 bits; returns how many there are."""
    count = _0
    for b in range(n // BLOCK + 1):
        bits = starts[b]
        k = count
        count += count_bits(bits)
        while k < count:
            for _ in range(_AT_A_TIME):
                positions[k] = _U(b * BLOCK) + lowest_bit(bits)
                bits &= bits - _1
                k += _1
    return np.int64(count)


@kernel
def mark_unsure_rows(unsure: Any, offsets: Any, row: int, stop: int, marked: Any) -> None:
    """Set `marked`, bool for each row from `row` to `stop`, at the rows of which a byte is set in `unsure`."""
    begin, first = offsets[row], row
    for b in range((offsets[stop] - begin) // BLOCK + 1):
        bits = unsure[b]
        while bits != _0:
            at = begin + b * BLOCK + np.int64(lowest_bit(bits))
            bits &= bits - _1
            while offsets[row + 1] <= at:
                row += 1
            marked[row - first] = True


@kernel
def mark_rows_with(text: Any, offsets: Any, asked: Any, classes: Any, kind: int, marked: Any) -> Any:
    """Set `marked`, bool, at the rows that hold a character of a class, of those that are `asked` for, bool.

    Returns -1, or the byte of a character of no class. Only characters outside ASCII are looked at.
    """
    for row in range(len(offsets) - 1):
        i, end = offsets[row], offsets[row + 1]
        while asked[row] and not marked[row] and i < end:
            skipped: Any = np.int64(lowest_bit(high_bits(text, i)))
            if skipped > 0:
                i += skipped
                continue
            point, size = decode(text, i, end)
            if classes[point] == NOT_ASKED:
                return i
            marked[row] = classes[point] == kind
            i += size
    return -1


@kernel
def new_characters(text: Any, i: int, end: int, classes: Any, points: Any) -> Any:
    """Put code points of no class, each once, into `points` as they come up from `i` on; returns how many.

    It ends where `points` is full, and passes over what is not UTF-8.
    """
    n: Any = 0
    while i < end and n < len(points):
        skipped: Any = np.int64(lowest_bit(high_bits(text, i)))
        if skipped > 0:
            i += skipped
            continue
        point, size = decode(text, i, end)
        i += size
        if point >= 0x80 and classes[point] == NOT_ASKED:
            known: Any = 0
            while known < n and points[known] != point:
                known += 1
            points[n] = point
            n += known == n
    return n
