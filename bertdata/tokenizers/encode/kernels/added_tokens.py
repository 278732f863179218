"""Added tokens in a text: the longest one that begins at each byte, and where a row is cut at them.

The automaton (Aho and Corasick 1975, "Efficient string matching") is of the tokens from their last byte to their first,
and reads a row from its end. A state is the longest string of bytes, from here on, that begins some token from its end;
the longest token that a state ends with is thus the longest that begins here. The time is linear in the text, and the
memory in the bytes of all tokens, whatever these are.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.jit import always_inlined, inlined, kernel
from bertdata.kernels.simd import BLOCK, equal_bits, highest_bit, load64
from bertdata.kernels.utf8 import decode, decode_last
from bertdata.tokenizers.encode.kernels.bitmaps import bytes_of_block
from bertdata.tokenizers.encode.kernels.double_array import BASE, LABEL, TAKEN, TO_BASE, TO_ID

SINGLE_WORD, LSTRIP, RSTRIP, TEXT = 1, 2, 4, 8
"""Flags of a token: not inside a word; with the white space before it; with that after it; no token, but text."""
NOT_ASKED, WORD, WHITE, NEITHER = range(4)
"""What is known of a code point: nothing yet, that it is `\\w`, that it is `\\s`, or that it is neither."""
TAIL, LONG_TAIL = 4, 8
"""How many last bytes of a token are looked at first, and then; of a shorter one, two are."""
_U = np.uint64
_HASH = _U(0x9E3779B97F4A7C15)
_0, _1, _6, _8, _32, _48, _56, _63 = (_U(n) for n in (0, 1, 6, 8, 32, 48, 56, 63))


class Hashes(NamedTuple):
    """A bit for each hash, shifted right, of what is in a set, uint64; none for the empty set."""

    bits: NDArray[np.uint64]
    shift: np.uint64


class Tails(NamedTuple):
    """How tokens end.

    last, second: last bytes and those before them, uint8; both are empty where there are many, and `second` where a
    token has one byte. pairs: whether a token of under TAIL bytes may end with two bytes, the last one highest, uint64
    (65536,); empty where no token is that short. tails: the last TAIL bytes of the others. middle: those of tokens of
    under LONG_TAIL bytes. long: the last LONG_TAIL bytes of the rest.
    """

    last: NDArray[np.uint8]
    second: NDArray[np.uint8]
    pairs: NDArray[np.uint64]
    tails: Hashes
    middle: Hashes
    long: Hashes


class Automaton(NamedTuple):
    """The states: cells of a double array, in which the id is of the longest token that the state ends with.

    fails: for each cell the state of the longest shorter string that the state ends with, uint32.
    """

    cells: NDArray[np.uint64]
    fails: NDArray[np.uint32]


class Tokens(NamedTuple):
    """The length of each token in bytes, int64, and its flags, uint8."""

    lengths: NDArray[np.int64]
    flags: NDArray[np.uint8]


class Pieces(NamedTuple):
    """Rows cut at tokens: room for the most there may be.

    A row with k tokens has k + 1 pieces, which may be empty, and a token between each two of them. begins, stops: of
    each piece, in bytes, int64; tokens: the numbers of all tokens, int64; cuts: tokens before each row, int64, and at
    all.
    """

    begins: NDArray[np.int64]
    stops: NDArray[np.int64]
    tokens: NDArray[np.int64]
    cuts: NDArray[np.int64]


@always_inlined
def _step(cells: Any, fails: Any, state: Any, byte: Any) -> Any:
    """Return the state after one more byte."""
    while True:
        to = (cells[state] >> TO_BASE & BASE) ^ byte
        if cells[to] & LABEL == TAKEN | byte:
            return to
        if state == _0:
            return _0
        state = _U(fails[state])


@kernel
def link(data: Any, offsets: Any, automaton: Automaton, states: Any, active: Any) -> None:
    """Write `fails`, and the ids that states have from shorter ones, into the double array of some keys.

    data, offsets: the bytes of the keys. Room to work in: `states`, uint64, all 0, and `active`, int64, one a key.
    """
    cells, fails = automaton.cells, automaton.fails
    n: Any = len(active)
    depth: Any = 0
    for key in range(n):
        active[key] = key
    while n > 0:
        left: Any = 0
        for j in range(n):
            key = active[j]
            byte = _U(data[offsets[key] + depth])
            state = states[key]
            child = (cells[state] >> TO_BASE & BASE) ^ byte
            shorter = _0
            if state != _0:
                shorter = _step(cells, fails, _U(fails[state]), byte)
            fails[child] = shorter
            if cells[child] >> TO_ID == _0:
                cells[child] |= cells[shorter] >> TO_ID << TO_ID
            states[key] = child
            if offsets[key] + depth + 1 < offsets[key + 1]:
                active[left] = key
                left += 1
        n = left
        depth += 1


@inlined
def hash_tail(window: Any) -> Any:
    """Return the hash of the last TAIL bytes of a word of 64 bits, the last one highest."""
    return (window >> _32) * _HASH


@inlined
def hash_long_tail(window: Any) -> Any:
    """Return the hash of all bytes of a word."""
    return (window ^ window >> _32) * _HASH


@inlined
def _bit(hashes: Hashes, value: Any) -> Any:
    """Return a word of which the lowest bit tells whether a hash may be of a set that is not empty."""
    place = value >> hashes.shift
    return hashes.bits[place >> _6] >> (place & _63)


@kernel
def mark_ends(text: Any, begin: int, n: int, tails: Tails, marked: Any) -> None:
    """Set the bits in `marked` of the bytes, of `n` from `begin` on, at which a token may end; clear the others."""
    if len(tails.last) > 0:
        before = _0
        for b in range(n // BLOCK + 1):
            i = begin + b * BLOCK
            ends = seconds = _0
            for byte in tails.last:
                ends |= equal_bits(text, i, byte)
            for byte in tails.second:
                seconds |= equal_bits(text, i, byte)
            if len(tails.second) > 0:
                ends &= seconds << _1 | before
            before = seconds >> _63
            marked[b] = ends & bytes_of_block(n, b)
        return
    window = _0
    for b in range(n // BLOCK + 1):
        bits = _0
        for j in range(min(BLOCK, n - b * BLOCK)):
            window = window >> _8 | _U(text[_U(begin + b * BLOCK + j)]) << _56
            hit = _0
            if len(tails.tails.bits) > 0:
                hit = _bit(tails.tails, hash_tail(window))
            if len(tails.pairs) > 0:
                hit |= tails.pairs[window >> _48]
            bits |= (hit & _1) << _U(j)
        marked[b] = bits


@inlined
def _may_end(text: Any, first: Any, i: Any, tails: Tails) -> Any:
    """Tell whether a token may end with the byte `i` of a row that begins at `first`, by more of its bytes."""
    if len(tails.tails.bits) == 0 or i - first < LONG_TAIL - 1:
        return True
    window = load64(text, i - LONG_TAIL + 1)
    if len(tails.pairs) > 0 and tails.pairs[window >> _48] != _0:
        return True
    hit = _0
    if len(tails.long.bits) > 0:
        hit = _bit(tails.long, hash_long_tail(window))
    if len(tails.middle.bits) > 0:
        hit |= _bit(tails.middle, hash_tail(window))
    return hit & _1 != _0


@inlined
def _last_marked(marked: Any, first: Any, last: Any) -> Any:
    """Return the last bit from `first` to `last` that is set; -1 where none is."""
    b: Any = last // BLOCK
    bits = marked[b] << _U(BLOCK - 1 - last % BLOCK) >> _U(BLOCK - 1 - last % BLOCK)
    while bits == _0 and b > first // BLOCK:
        b -= 1
        bits = marked[b]
    if bits == _0:
        return np.int64(-1)
    at = b * BLOCK + np.int64(highest_bit(bits))
    return at if at >= first else np.int64(-1)


@kernel
def find(text: Any, offsets: Any, automaton: Automaton, tails: Tails, marked: Any, starts: Any, numbers: Any) -> Any:
    """Write each byte at which a token begins, and the number of the longest that does, from the last to the first.

    marked: as `mark_ends` has it, of the text from the first offset on. Returns how many there are, of which as many
    are written as there is room for.
    """
    cells, fails = automaton.cells, automaton.fails
    begin, n = offsets[0], 0
    for row in range(len(offsets) - 2, -1, -1):
        first = offsets[row]
        i: Any = offsets[row + 1] - 1
        state = _0
        while i >= first:
            if state == _0:
                at = _last_marked(marked, first - begin, i - begin)
                if at < 0:
                    break
                i = begin + at
                if not _may_end(text, first, i, tails):
                    i -= 1
                    continue
            state = _step(cells, fails, state, _U(text[i]))
            number = cells[state] >> TO_ID
            if number != _0:
                if n < len(starts):
                    starts[n], numbers[n] = i, np.int64(number) - 1
                n += 1
            i -= 1
    return n


@inlined
def _white_before(text: Any, first: Any, at: Any, classes: Any) -> Any:
    """Return where the white space before a byte begins, at `first` or after it; -1 - a code point of no class."""
    while at > first:
        point, size = decode_last(text, first, at)
        if classes[point] == NOT_ASKED:
            return -1 - point
        if classes[point] != WHITE:
            break
        at -= size
    return at


@inlined
def _white_after(text: Any, at: Any, end: Any, classes: Any) -> Any:
    """Return where the white space from a byte on ends; -1 - a code point of no class."""
    while at < end:
        point, size = decode(text, at, end)
        if classes[point] == NOT_ASKED:
            return -1 - point
        if classes[point] != WHITE:
            break
        at += size
    return at


@inlined
def _word_around(text: Any, first: Any, start: Any, stop: Any, end: Any, classes: Any) -> Any:
    """Return 1 where a letter of a word is at a side of a token, 0 where none is; -1 - a code point of no class."""
    inside: Any = 0
    if start > first:
        point, _ = decode_last(text, first, start)
        if classes[point] == NOT_ASKED:
            return -1 - point
        if classes[point] == WORD:
            inside = 1
    if stop < end:
        point, _ = decode(text, stop, end)
        if classes[point] == NOT_ASKED:
            return -1 - point
        if classes[point] == WORD:
            inside = 1
    return inside


@kernel
def cut(
    text: Any, offsets: Any, starts: Any, numbers: Any, n: int, tokens: Tokens, classes: Any, whole: Any, pieces: Pieces
) -> Any:
    """Write the pieces of rows of UTF-8 between the tokens that `find` wrote; the leftmost goes first.

    classes: of each code point, uint8. whole: rows that are not cut, bool. Returns 0, or -1 - a code point of no class,
    or 1 + the number of a token with `lstrip` that ends within the white space of the one before it.
    """
    piece = cuts = 0
    for row in range(len(offsets) - 1):
        first, end = offsets[row], offsets[row + 1]
        at = done = first  # where the search goes on, and where the last token ends
        white_from, white = end, first  # the last white space that was looked at
        pieces.cuts[row] = cuts
        while n > 0 and starts[n - 1] < end:
            n -= 1
            start, number = starts[n], numbers[n]
            if start < at or whole[row]:
                continue
            stop = start + tokens.lengths[number]
            at = stop
            hidden: Any = tokens.flags[number] & TEXT
            if tokens.flags[number] & SINGLE_WORD and not hidden:
                hidden = _word_around(text, first, start, stop, end, classes)
                if hidden < 0:
                    return hidden
            if hidden:
                continue
            if tokens.flags[number] & LSTRIP:
                start = _white_before(text, done, start, classes)
                if start < 0:
                    return start
                start = max(start, done)
            if tokens.flags[number] & RSTRIP:
                if not white_from <= stop <= white:
                    white_from, white = stop, _white_after(text, stop, end, classes)
                    if white < 0:
                        return white
                stop = white
            if start > stop:
                return 1 + number
            if start == stop:  # the token before it took all of it
                continue
            pieces.begins[piece], pieces.stops[piece] = done, max(done, start)
            pieces.tokens[cuts] = number
            piece, cuts, done = piece + 1, cuts + 1, stop
        pieces.begins[piece], pieces.stops[piece] = done, end
        piece += 1
    pieces.cuts[len(offsets) - 1] = cuts
    return 0


@kernel
def copy_pieces(text: Any, begins: Any, stops: Any, n: int, out: Any) -> None:
    """Write the bytes of `n` pieces one after another."""
    k: Any = 0
    for piece in range(n):
        begin, size = begins[piece], stops[piece] - begins[piece]
        for i in range(size):
            out[_U(k + i)] = text[_U(begin + i)]
        k += size
