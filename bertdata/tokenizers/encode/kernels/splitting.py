"""Segments of a unit of text, cut further at the matches of a pattern's automaton (`pattern_automaton.py`).

A segment begins where a bit of `cuts` is set; one whose bit of `gone` is set, too, is removed from the text. In the end
what is removed is joined to the word that follows it, so that the words of a unit have no gaps.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bertdata.kernels.jit import inlined, kernel
from bertdata.kernels.simd import BLOCK, lowest_bit, small_letter_bits
from bertdata.kernels.utf8 import decode
from bertdata.tokenizers.encode.kernels.bitmaps import is_set, set_bit

DONE, NEW_CHARACTER, NEW_TRANSITION = range(3)
AT, STATE, KIND = range(3)
ISOLATES, REMOVES, JOINS = range(3)
"""What becomes of what lies between matches: a segment, one that is gone, or a part of the word after it."""
NOT_ASKED, END = 0, 1
"""Classes of characters: one that has not been asked for, and the end of a segment."""
DEAD, START = 0, 1
STATE_SHIFT, MATCHED, INSIDE = 2, 1, 2
"""A step of the automaton: the next state, whether a match ends before the character, and whether a match goes on over
one that no match begins with."""
_U = np.uint64
_0, _1, _63 = _U(0), _U(1), _U(63)


@inlined
def _next_bit(bitmap: Any, at: Any) -> Any:
    """Return the place of the first bit that is set from a place on; there is one."""
    block: Any = at // BLOCK
    bits = bitmap[block] >> _U(at % BLOCK) << _U(at % BLOCK)
    while bits == _0:
        block += 1
        bits = bitmap[block]
    return block * BLOCK + np.int64(lowest_bit(bits))


@kernel
def split(
    text: Any, begin: int, n: int, cuts: Any, gone: Any, unsure: Any, new_cuts: Any, new_gone: Any,
    classes: Any, table: Any, loops: Any, between: int, registers: Any,
) -> Any:  # fmt: skip
    """Cut segments at the matches of a pattern, from byte AT on; returns DONE, or what must be asked for first.

    between: ISOLATES, REMOVES, or JOINS where no segment is gone yet. Where a match holds a character that what is
    removed may have, or this holds one that a match may begin with, its first byte is set in `unsure`. loops: of each
    state the step that small letters of ASCII have from it to itself, or a negative number. NEW_CHARACTER: the one at
    byte KIND has no class; NEW_TRANSITION: that of STATE with KIND is not known.
    """
    i: Any = registers[AT]
    while i < n:
        end = _next_bit(cuts, i + 1)
        if is_set(gone, i):
            set_bit(new_cuts, i)
            set_bit(new_gone, i)
            i = end
            continue
        gap: Any = -1
        stop = _U(begin) + _U(end)
        while i < end:
            at = _U(begin) + _U(i)
            state, last, seen = _U(START), at, 0
            while state != DEAD:
                kind, size = _U(END), _0
                if at < stop:
                    byte = text[at]
                    size = _1
                    kind = _U(classes[byte])
                    if byte >= 0x80:
                        point, length = decode(text, np.int64(at), np.int64(stop))
                        kind, size = _U(classes[max(point, 0)]), _U(length)
                step = table[state, kind]
                if step < 0:
                    registers[AT], registers[STATE] = (i if gap < 0 else gap), np.int64(state)
                    registers[KIND] = np.int64(kind)
                    if kind == NOT_ASKED:
                        registers[KIND] = np.int64(at) - begin
                        return NEW_CHARACTER
                    return NEW_TRANSITION
                seen |= step
                if step & MATCHED != 0:
                    last = at
                before = state
                state = _U(step >> STATE_SHIFT)
                at += size
                if state == before and loops[state] == step and at < stop:  # the letters that follow do the same
                    letters = min(lowest_bit(~small_letter_bits(text, np.int64(at))), stop - at)
                    at += letters
                    if step & MATCHED != 0 and letters > _0:
                        last = at - _1
            matched = np.int64(last) - begin
            if matched > i:
                start = i
                if gap >= 0:
                    if between == JOINS:
                        start = gap
                    else:
                        set_bit(new_cuts, gap)
                        if between == REMOVES:
                            set_bit(new_gone, gap)
                    gap = -1
                set_bit(new_cuts, start)
                if between != ISOLATES and seen & INSIDE != 0:
                    set_bit(unsure, i)
                i = matched
            else:
                if gap < 0:
                    gap = i
                point, length = decode(text, begin + i, begin + end)
                if between != ISOLATES and table[START, classes[max(point, 0)]] >> STATE_SHIFT != DEAD:
                    set_bit(unsure, i)
                i += length
        if gap >= 0:
            set_bit(new_cuts, gap)
            if between == REMOVES:
                set_bit(new_gone, gap)
    set_bit(new_cuts, n)
    registers[AT] = n
    return DONE


@kernel
def join_gone(cuts: Any, gone: Any, rows: Any, n: int, starts: Any) -> None:
    """Set the bits in `starts` at which words begin: what is gone is joined to the word after it, within a row.

    A cut after what is gone is where a carry stops: a bit that is added after the first byte of what is gone runs
    through the bytes that are no cuts.
    """
    last_gone = carry = _0
    for b in range(n // BLOCK + 1):
        within = ~cuts[b]
        begun = gone[b] << _1 | last_gone
        after = within + begun
        carries = after < within
        after += carry
        carry = _U(carries or after < carry)
        starts[b] = cuts[b] & (~after | rows[b])
        last_gone = gone[b] >> _63
