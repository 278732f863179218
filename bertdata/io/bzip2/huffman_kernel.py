"""The first half of a block, compiled: its codes read, runs of the front symbol and move-to-front undone.

What comes out is the last column of the sorted rotations of the block's text. The reference is
`reference.decode_block`.
"""

from __future__ import annotations

import numpy as np

from bertdata.io.bzip2.bits_kernel import bits_from, take
from bertdata.io.bzip2.layout import (
    CHECKSUM_BITS,
    LEVEL_BYTES,
    LONGEST_CODE,
    MARK_BITS,
    MOST_SELECTORS,
    MOST_SYMBOLS,
    MOST_TABLES,
)
from bertdata.kernels.characters import Bytes, Int
from bertdata.kernels.jit import inlined, kernel

DAMAGED, RANDOMISED = -1, -2
SIZE, ORIGIN, CHECKSUM = 0, 1, 2
PEEK = 10
"""Bits of a code that are looked up at once; longer codes are compared length by length."""
_FIXED_BITS = CHECKSUM_BITS + 1 + 24 + 16
_GROUP = 50
_MOST_DIGITS = 21
_LENGTHS = LONGEST_CODE + 4

_U = np.uint64
_0, _1, _3, _5, _7, _8, _31, _56, _255 = map(_U, (0, 1, 3, 5, 7, 8, 31, 56, 255))
_ALL, _PEEKED, _IN_ORDER = ~_U(0), _U(64 - PEEK), _U(0x0706050403020100)


def workspace() -> tuple[Bytes, ...]:
    """Return the arrays that `read_block` works in, from `selectors` to `order`."""
    return (
        np.empty(MOST_SELECTORS, np.uint8),
        np.empty(MOST_SYMBOLS, np.uint8),
        np.empty((MOST_TABLES, 1 << PEEK), np.uint16),
        np.empty((MOST_TABLES, _LENGTHS), np.int64),
        np.empty((MOST_TABLES, _LENGTHS), np.int64),
        np.empty((MOST_TABLES, MOST_SYMBOLS), np.uint16),
        np.empty(32, np.uint64),
    )


@inlined
def moved(word: Int, place: Int) -> tuple[Int, Int]:
    """Return a byte of a word, counted from the lowest, and the word with those below it moved up, and 0 in front."""
    bits = _8 * place
    upto = _ALL >> (_56 - bits)
    return word >> bits & _255, word & ~upto | word << _8 & upto


@inlined
def fill_table(lengths: Bytes, size: Int, look: Bytes, limit: Bytes, base: Bytes, symbols: Bytes) -> None:
    """Make of the lengths of canonical codes what decodes them, whatever the lengths are.

    look     for each of the next PEEK bits: symbol << 5 | length, 0 where the code is longer
    limit    the last code of each length; -1 where every code of the length is the beginning of a longer one
    base     what to subtract from a code of each length for its place in `symbols`
    """
    shortest, longest = np.int64(LONGEST_CODE), np.int64(0)
    limit[:] = -1
    base[:] = 0
    for i in range(size):
        length: Int = np.int64(lengths[i])
        shortest, longest = min(shortest, length), max(longest, length)
        base[length + 1] += 1
    for i in range(1, _LENGTHS):
        base[i] += base[i - 1]
    for i in range(size):  # base[length] is the number of shorter codes, and counts up; it ends as base[length + 1]
        length = np.int64(lengths[i])
        symbols[base[length]] = i
        base[length] += 1
    code = before = 0
    for length in range(shortest, longest + 1):
        upto, base[length] = base[length], code - before
        code += upto - before
        limit[length] = code - 1
        code <<= 1
        before = upto
    for bits in range(1 << PEEK):
        length = shortest
        while length <= PEEK and bits >> (PEEK - length) > limit[length]:
            length += 1
        look[bits] = 0
        if length <= PEEK:
            look[bits] = np.int64(symbols[(bits >> (PEEK - length)) - base[length]]) << 5 | length


@inlined
def read_bytes_used(data: Bytes, position: Int, end: Int, order: Bytes) -> tuple[Int, Int]:
    """Write the bytes that a block has to `order`, eight to a word, in their order; returns how many, and the position.

    There are none where the data ends before.
    """
    rows, position, count = take(data, position, 16), position + 16, 0
    order[:] = 0
    for i in range(16):
        if rows >> (15 - i) & 1:
            row = take(data, position, 16)
            position += 16
            if position > end:
                return 0, position
            for j in range(16):
                if row >> (15 - j) & 1:
                    order[count >> 3] |= _U(16 * i + j) << _U(8 * (count & 7))
                    count += 1
    return count, position


@inlined
def read_selectors(data: Bytes, position: Int, tables: Int, count: Int, end: Int, selectors: Bytes) -> Int:
    """Write which table each group of 50 codes has; returns the position behind, DAMAGED for a table that is none."""
    order = _IN_ORDER
    for i in range(count):
        place = 0
        while take(data, position + place, 1):
            place += 1
            if place >= tables:
                return DAMAGED
        position += place + 1
        if position > end:
            return DAMAGED
        table, order = moved(order, _U(place))
        order |= table
        if i < MOST_SELECTORS:
            selectors[i] = table
    return position


@inlined
def read_lengths(data: Bytes, position: Int, size: Int, end: Int, lengths: Bytes) -> Int:
    """Write the length of each symbol's code; returns the position behind, DAMAGED for a length that no code has."""
    length = take(data, position, 5)
    position += 5
    for i in range(size):
        while True:
            if length < 1 or length > LONGEST_CODE or position > end:
                return DAMAGED
            step = take(data, position, 2)
            if step < 2:
                position += 1
                break
            position += 2
            length += 1 if step == 2 else -1
        lengths[i] = length
    return position


@kernel
def read_block(
    data: Bytes,
    begin: Int,
    end: Int,
    level: Int,
    selectors: Bytes,
    lengths: Bytes,
    look: Bytes,
    limit: Bytes,
    base: Bytes,
    symbols: Bytes,
    order: Bytes,
    column: Bytes,
    counts: Bytes,
    header: Bytes,
) -> Int:
    """Read the block whose mark is at bit `begin` of data that ends before bit `end`; returns the bit behind it.

    Written are the last column, how often each byte is in it, and its size, the row of the text and the checksum
    (`header`). Returns DAMAGED, and RANDOMISED for a block of bzip2 0.9.0, which these kernels do not read.
    """
    position = begin + MARK_BITS
    if position + _FIXED_BITS > end:
        return DAMAGED
    header[CHECKSUM] = take(data, position, CHECKSUM_BITS)
    position += CHECKSUM_BITS
    if take(data, position, 1):
        return RANDOMISED
    header[ORIGIN] = take(data, position + 1, 24)
    used, position = read_bytes_used(data, position + 25, end, order)
    tables, groups = take(data, position, 3), take(data, position + 3, 15)
    if used == 0 or tables < 2 or tables > MOST_TABLES or groups < 1:
        return DAMAGED
    position = read_selectors(data, position + 18, tables, groups, end, selectors)
    for table in range(tables):
        if position > 0:
            position = read_lengths(data, position, used + 2, end, lengths)
        if position < 0:
            return DAMAGED
        fill_table(lengths, used + 2, look[table], limit[table], base[table], symbols[table])
    counts[:] = 0
    most, last_symbol = level * LEVEL_BYTES, _U(used + 1)
    size: Int = 0
    run: Int = 0
    known: Int = 0
    digits, front, bits = 0, order[0], _0
    for group in range(min(groups, MOST_SELECTORS)):
        codes = _U(selectors[group])
        for _ in range(_GROUP):
            if known < LONGEST_CODE:
                if position > end:
                    return DAMAGED
                bits = bits_from(data, _U(position))
                known = 64 - (position & 7)
            entry = _U(look[codes, bits >> _PEEKED])
            length: Int = np.int64(entry & _31)
            symbol = entry >> _5
            if length == 0:
                length = PEEK + 1
                while length <= LONGEST_CODE and np.int64(bits >> _U(64 - length)) > limit[codes, length]:
                    length += 1
                if length > LONGEST_CODE:
                    return DAMAGED
                symbol = _U(symbols[codes, np.int64(bits >> _U(64 - length)) - base[codes, length]])
            bits <<= _U(length)
            known -= length
            position += length
            if symbol <= _1:
                if digits == _MOST_DIGITS:
                    return DAMAGED
                run += np.int64(symbol + _1) << digits
                digits += 1
                continue
            if digits:
                if size + run > most:
                    return DAMAGED
                byte = front & _255
                for i in range(size, size + run):
                    column[_U(i)] = byte
                counts[byte] += run
                size += run
                run = digits = 0
            if symbol == last_symbol:
                if position > end or header[ORIGIN] >= size:
                    return DAMAGED
                header[SIZE] = size
                return position
            if size >= most:
                return DAMAGED
            place = symbol - _1
            if place < _8:
                byte, front = moved(front, place)
            else:
                carry = front >> _56
                front <<= _8
                j = _1
                while j < place >> _3:
                    word = order[j]
                    order[j] = word << _8 | carry
                    carry = word >> _56
                    j += _1
                byte, word = moved(order[j], place & _7)
                order[j] = word | carry
            front |= byte
            column[_U(size)] = byte
            counts[byte] += 1
            size += 1
    return DAMAGED
