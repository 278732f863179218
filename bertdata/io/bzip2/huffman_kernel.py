"""The first half of a block, compiled: its codes read, runs of the front symbol and move-to-front undone.

What comes out is the last column of the sorted rotations of the block's text. The reference is
`reference.decode_block`.
"""

from __future__ import annotations

import numpy as np

from bertdata.io.bzip2.bits_kernel import bits_from, take
from bertdata.io.bzip2.stream_layout import (
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
from bertdata.kernels.simd import store64

DAMAGED, RANDOMISED = -1, -2
SIZE, ORIGIN, CHECKSUM = 0, 1, 2
PEEK = 10
"""Bits of a code that are looked up at once; longer codes are compared length by length."""
_FIXED_BITS = CHECKSUM_BITS + 1 + 24 + 16
_GROUP = 50
_MOST_DIGITS = 21
_LENGTH, _COUNT, _DIGITS, _RUN, _LITERAL = 31, 5, 8, 10, 14
"""An entry of codes that are read at once: their length, and from these bits on how many they are, how many of them are
digits of a run, the sum of these, and the symbol after them."""
_LENGTHS = LONGEST_CODE + 4

_U = np.uint64
_0, _1, _2, _3, _7, _8, _16, _56, _255 = map(_U, (0, 1, 2, 3, 7, 8, 16, 56, 255))
_EIGHT_TIMES = _U(0x0101010101010101)
_ALL, _PEEKED, _IN_ORDER = ~_U(0), _U(64 - PEEK), _U(0x0706050403020100)


def workspace() -> tuple[Bytes, ...]:
    """Return the arrays that `read_block` works in, from `selectors` to `order`."""
    return (
        np.empty(MOST_SELECTORS, np.uint8),
        np.empty(MOST_SYMBOLS, np.uint8),
        np.empty((MOST_TABLES, 1 << PEEK), np.uint16),
        np.empty((MOST_TABLES, 1 << PEEK), np.uint32),
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
    """Write which table each group of 50 codes has; returns the position after them, or DAMAGED for no such table."""
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
    """Write the length of each symbol's code; returns the position after them, or DAMAGED for no such length."""
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
    several: Bytes,
    limit: Bytes,
    base: Bytes,
    symbols: Bytes,
    order: Bytes,
    column: Bytes,
    counts: Bytes,
    header: Bytes,
) -> Int:
    """Read the block whose mark is at bit `begin` of data that ends before bit `end`; returns the bit after it.

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
        fill_several(look[table], several[table])
    counts[:] = 0
    most, last_symbol = level * LEVEL_BYTES, used + 1
    size: Int = 0
    run: Int = 0
    digits: Int = 0
    valid_bits: Int = 0
    # move to front: a word of `order` holds 8 bytes, the first in its lowest bits; the first two words are in registers
    front, second, bits = order[0], order[1], _0
    for group in range(min(groups, MOST_SELECTORS)):
        codes, codes_left = _U(selectors[group]), _GROUP
        while codes_left > 0:
            # the next code is in the highest bits of `bits`
            if valid_bits < LONGEST_CODE:
                if position > end:
                    return DAMAGED
                bits = bits_from(data, _U(position))
                valid_bits = 64 - (position & 7)
            # several codes in one step, or one where none is known for these bits or more than the group has left
            entry: Int = np.int64(several[codes, bits >> _PEEKED])
            if entry >> _COUNT & 7 == 0 or entry >> _COUNT & 7 > codes_left:
                entry = one_code(bits, look[codes], limit[codes], base[codes], symbols[codes])
                if entry < 0:
                    return DAMAGED
            length = entry & _LENGTH
            bits <<= _U(length)
            valid_bits -= length
            position += length
            codes_left -= entry >> _COUNT & 7
            # the digits of a run: the lowest first, each worth twice as much as the one before it
            run += (entry >> _RUN & 15) << digits
            digits += entry >> _DIGITS & 3
            if digits > _MOST_DIGITS:
                return DAMAGED
            symbol = entry >> _LITERAL
            if symbol == 0:
                continue
            if size + run > most:
                return DAMAGED
            # the run repeats the byte in front: 16 at once, of which those beyond the run are overwritten later
            byte = front & _255
            store64(column, size, byte * _EIGHT_TIMES)
            store64(column, size + 8, byte * _EIGHT_TIMES)
            for i in range(size + 16, size + run):
                column[_U(i)] = byte
            counts[byte] += run
            size += run
            run = digits = 0
            # the end of the block
            if symbol == last_symbol:
                if position > end or header[ORIGIN] >= size:
                    return DAMAGED
                header[SIZE] = size
                return position
            if size >= most:
                return DAMAGED
            # the byte at `place` moves to the front, and those before it move up by one
            place = _U(symbol - 1)
            carry, behind = front >> _56, second >> _56
            if place < _16:
                # all ones if it is in `second`; `upto` has the bytes of its word up to it
                high = _ALL * (place >> _3)
                upto = _ALL >> (_56 - _8 * (place & _7))
                byte = (front & ~high | second & high) >> _8 * (place & _7) & _255
                front = front & ~(upto | high) | front << _8 & (upto | high)
                second = second & ~(upto & high) | (second << _8 | carry) & upto & high
            else:
                front, second, j = front << _8, second << _8 | carry, _2
                while j < place >> _3:
                    word = order[j]
                    order[j] = word << _8 | behind
                    behind = word >> _56
                    j += _1
                byte, word = moved(order[j], place & _7)
                order[j] = word | behind
            front |= byte
            column[_U(size)] = byte
            counts[byte] += 1
            size += 1
    return DAMAGED


@inlined
def fill_several(look: Bytes, several: Bytes) -> None:
    """Write for each of the next PEEK bits up to three digits of a run and then a symbol of the front, as one entry."""
    for bits in range(1 << PEEK):
        length: Int = 0
        run: Int = 0
        literal: Int = 0
        count = digits = 0
        while digits < 3 and literal == 0:
            entry = np.int64(look[bits << length & (1 << PEEK) - 1])
            if entry == 0 or length + (entry & _LENGTH) > PEEK:
                break
            length += entry & _LENGTH
            count += 1
            if entry >> 5 <= 1:
                run += (1 + (entry >> 5)) << digits
                digits += 1
            else:
                literal = entry >> 5
        several[bits] = literal << _LITERAL | run << _RUN | digits << _DIGITS | count << _COUNT | length


@inlined
def one_code(bits: Int, look: Bytes, limit: Bytes, base: Bytes, symbols: Bytes) -> Int:
    """Return the entry of the next code alone; DAMAGED where there is none."""
    entry: Int = np.int64(look[bits >> _PEEKED])
    length = entry & _LENGTH
    symbol = entry >> 5
    if length == 0:
        length = PEEK + 1
        while length <= LONGEST_CODE and np.int64(bits >> _U(64 - length)) > limit[length]:
            length += 1
        if length > LONGEST_CODE:
            return DAMAGED
        symbol = np.int64(symbols[np.int64(bits >> _U(64 - length)) - base[length]])
    if symbol <= 1:
        return (1 + symbol) << _RUN | 1 << _DIGITS | 1 << _COUNT | length
    return symbol << _LITERAL | 1 << _COUNT | length
