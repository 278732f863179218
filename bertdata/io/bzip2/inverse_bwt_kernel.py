"""The Burrows-Wheeler transform undone, compiled: the text of a block out of the last column of its sorted rotations.

Each row names the row of the next character, so a text is followed row by row, and each step waits for memory. The rows
are one circle (or several of the same text, which repeats), so it can be followed from any row: twelve readers follow
it from rows spread over the table, each as far as a row where another began, and their pieces are put together in
order. M. Burrows and D. Wheeler, A Block-sorting Lossless Data Compression Algorithm, 1994, section 4.2.
"""

from __future__ import annotations

import numpy as np

from bertdata.kernels.characters import Bytes, Int
from bertdata.kernels.jit import inlined, kernel

READERS = 12
MOST_CHAINS = 128
_ROWS_OF_A_CHAIN = 512
SLOT = 4096
"""Bytes of a piece of a chain; a chain has as many pieces as it needs."""

_U = np.uint64
_8, _ROW, _BYTE, _BEGINS = _U(8), _U((1 << 20) - 1), _U(255), _U(1 << 31)


def workspace(most: int) -> tuple[Bytes, ...]:
    """Return the arrays that `invert` works in for blocks of up to `most` bytes, from `table` to `readers`."""
    slots = most // SLOT + MOST_CHAINS + 3
    return (
        np.empty(most + 1, np.uint32),
        np.empty(slots * SLOT, np.uint8),
        np.empty((slots, 2), np.int64),
        np.empty(MOST_CHAINS + 1, np.int64),
        np.empty((READERS, 3), np.int64),
    )


@inlined
def start_chain(table: Bytes, row: Int, slot: Int, pool: Bytes, reader: Bytes) -> None:
    """Let a reader take the first step of a chain, into a slot."""
    entry = _U(table[row])
    pool[slot * SLOT] = entry & _BYTE
    reader[0], reader[1], reader[2] = np.int64(entry >> _8 & _ROW), slot * SLOT + 1, slot


@kernel
def invert(
    column: Bytes,
    size: Int,
    origin: Int,
    counts: Bytes,
    table: Bytes,
    pool: Bytes,
    slots: Bytes,
    chains: Bytes,
    readers: Bytes,
) -> None:
    """Replace the last column of `size` bytes by the text that row `origin` begins.

    counts   how often each byte is in the column; overwritten
    table    for each row its first byte, the next row << 8, and 1 << 31 where a chain begins
    slots    for each slot the bytes in it, and the next slot: one of the same chain, or -1 - the chain that goes on
    chains   the first slot of each; the last is that of the origin
    readers  for each the row that is next, its place in `pool`, and its slot
    """
    total = 0
    # counts[byte] becomes the first row of the sorted column with this byte, then the next free one
    for byte in range(256):
        count = counts[byte]
        counts[byte] = total
        total += count
    for row in range(size):
        byte = column[_U(row)]
        place = counts[byte]
        table[_U(place)] = _U(row) << _8 | _U(byte)
        counts[byte] = place + 1
    table[size] = _U(size) << _8
    # chains begin at every row of number `step` * k, and at the origin; each ends where the next one begins
    number = min(MOST_CHAINS, size // _ROWS_OF_A_CHAIN)
    step = size // max(1, number)
    for chain in range(number):
        table[chain * step] = _U(table[chain * step]) | _BEGINS
    table[origin] = _U(table[origin]) | _BEGINS

    # a reader without a chain stays at row `size`, which leads to itself, and in a slot that is not read
    idle, made, waiting, active = pool.size // SLOT - 1, 0, number, 0
    for reader in range(READERS):
        readers[reader, 0], readers[reader, 1], readers[reader, 2] = size, idle * SLOT, idle
        while waiting >= 0 and waiting < number and waiting * step == origin:
            waiting -= 1
        if waiting >= 0:
            chains[waiting] = made
            start_chain(table, origin if waiting == number else waiting * step, made, pool, readers[reader])
            made += 1
            active += 1
            waiting -= 1
    while active:
        follow(table, pool, readers)
        for reader in range(READERS):
            row, place, slot = readers[reader]
            if slot == idle:
                readers[reader, 1] = idle * SLOT
            elif _U(table[row]) & _BEGINS:
                # the chain ends: its last slot names the chain that goes on
                slots[slot, 0] = place - slot * SLOT
                slots[slot, 1] = -1 - (number if row == origin else row // step)
                while waiting >= 0 and waiting * step == origin:
                    waiting -= 1
                if waiting >= 0:
                    chains[waiting] = made
                    start_chain(table, waiting * step, made, pool, readers[reader])
                    made += 1
                    waiting -= 1
                else:
                    readers[reader, 0], readers[reader, 1], readers[reader, 2] = size, idle * SLOT, idle
                    active -= 1
            elif place == (slot + 1) * SLOT:
                # the slot is full: the chain goes on in the next one
                slots[slot, 0], slots[slot, 1] = SLOT, made
                readers[reader, 1], readers[reader, 2] = made * SLOT, made
                made += 1

    n, slot = 0, chains[number]
    while n < size:
        begin, count = slot * SLOT, min(slots[slot, 0], size - n)
        for i in range(count):
            column[_U(n + i)] = pool[_U(begin + i)]
        n += count
        slot = slots[slot, 1]
        if slot < 0:
            slot = chains[-1 - slot]


@inlined
def follow(table: Bytes, pool: Bytes, readers: Bytes) -> None:
    """Let all readers step in turns until one of them is at a row where a chain begins, or its slot is full."""
    steps = SLOT
    for reader in range(READERS):
        steps = min(steps, (readers[reader, 2] + 1) * SLOT - readers[reader, 1])
    a, b, c, d = _U(readers[0, 0]), _U(readers[1, 0]), _U(readers[2, 0]), _U(readers[3, 0])
    e, f, g, h = _U(readers[4, 0]), _U(readers[5, 0]), _U(readers[6, 0]), _U(readers[7, 0])
    i, j, k, m = _U(readers[8, 0]), _U(readers[9, 0]), _U(readers[10, 0]), _U(readers[11, 0])
    to_a, to_b, to_c, to_d = _U(readers[0, 1]), _U(readers[1, 1]), _U(readers[2, 1]), _U(readers[3, 1])
    to_e, to_f, to_g, to_h = _U(readers[4, 1]), _U(readers[5, 1]), _U(readers[6, 1]), _U(readers[7, 1])
    to_i, to_j, to_k, to_m = _U(readers[8, 1]), _U(readers[9, 1]), _U(readers[10, 1]), _U(readers[11, 1])
    done = 0
    while done < steps:
        at_a, at_b, at_c, at_d = _U(table[a]), _U(table[b]), _U(table[c]), _U(table[d])
        at_e, at_f, at_g, at_h = _U(table[e]), _U(table[f]), _U(table[g]), _U(table[h])
        at_i, at_j, at_k, at_m = _U(table[i]), _U(table[j]), _U(table[k]), _U(table[m])
        combined = at_a | at_b | at_c | at_d | at_e | at_f
        combined |= at_g | at_h | at_i | at_j | at_k | at_m
        if combined & _BEGINS:
            break
        n = _U(done)
        pool[to_a + n], pool[to_b + n], pool[to_c + n] = at_a & _BYTE, at_b & _BYTE, at_c & _BYTE
        pool[to_d + n], pool[to_e + n], pool[to_f + n] = at_d & _BYTE, at_e & _BYTE, at_f & _BYTE
        pool[to_g + n], pool[to_h + n], pool[to_i + n] = at_g & _BYTE, at_h & _BYTE, at_i & _BYTE
        pool[to_j + n], pool[to_k + n], pool[to_m + n] = at_j & _BYTE, at_k & _BYTE, at_m & _BYTE
        a, b, c, d = at_a >> _8 & _ROW, at_b >> _8 & _ROW, at_c >> _8 & _ROW, at_d >> _8 & _ROW
        e, f, g, h = at_e >> _8 & _ROW, at_f >> _8 & _ROW, at_g >> _8 & _ROW, at_h >> _8 & _ROW
        i, j, k, m = at_i >> _8 & _ROW, at_j >> _8 & _ROW, at_k >> _8 & _ROW, at_m >> _8 & _ROW
        done += 1
    readers[0, 0], readers[1, 0], readers[2, 0], readers[3, 0] = a, b, c, d
    readers[4, 0], readers[5, 0], readers[6, 0], readers[7, 0] = e, f, g, h
    readers[8, 0], readers[9, 0], readers[10, 0], readers[11, 0] = i, j, k, m
    for reader in range(READERS):
        readers[reader, 1] += done
