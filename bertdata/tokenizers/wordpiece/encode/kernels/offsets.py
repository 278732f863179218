"""Which characters of a text each id covers, found by a pass over the characters and the ids of a row together.

A character of the text becomes some characters of a word (`characters.py` has the codes), a token takes some of these,
and [UNK] takes a whole word. So a token covers the text from the character that gave its first one to that of its last.
Rows in which the numbers do not agree are reported to the caller.
"""

from __future__ import annotations

from typing import Any

from bertdata.kernels.jit import kernel
from bertdata.kernels.utf8 import decode
from bertdata.tokenizers.wordpiece.encode.kernels.words import (
    CHARACTERS_SHIFT,
    KIND_BITS,
    LETTER,
    REFERENCE,
    SINGLE,
    UNKNOWN,
)

DONE, NEW_CHARACTER = range(2)
ROW, CHARACTER = range(2)


@kernel
def locate(
    text: Any,
    bounds: Any,
    codes: Any,
    ids: Any,
    ends: Any,
    taken: Any,
    continues: Any,
    places: Any,
    words: Any,
    located: Any,
    registers: Any,
) -> Any:
    """Write the characters of each id, from and to, into `places` and its word into `words`, from row ROW on.

    Row r is text[bounds[r] : bounds[r + 1]], its ids are ids[ends[r] : ends[r + 1]]; `taken` is how many characters the
    token of an id takes, 0 for [UNK], and `continues` whether it continues a word. `located` tells of each row whether
    the numbers agree. Returns DONE, or NEW_CHARACTER where the one at byte CHARACTER has no code yet.
    """
    for row in range(registers[ROW], len(bounds) - 1):
        i: Any = bounds[row]
        end: Any = bounds[row + 1]
        at: Any = ends[row]
        stop: Any = ends[row + 1]
        even: Any = True
        whole: Any = False  # whether the id takes the rest of its word
        left: Any = 0  # how many characters it takes yet
        character: Any = 0
        word: Any = -1
        while i < end and even:
            point, size = decode(text, i, end)
            code = codes[max(point, 0)]
            kind = code & KIND_BITS
            if kind == UNKNOWN:
                registers[ROW], registers[CHARACTER] = row, i
                return NEW_CHARACTER
            is_part = kind == LETTER
            n = (code >> CHARACTERS_SHIFT & 15) if is_part or kind == SINGLE else 0
            if whole and not is_part:
                whole = False
                at += 1
            for _ in range(n):
                if not whole and left == 0 and at < stop:
                    left = taken[ids[at]]
                    whole = left == 0
                    word += not continues[ids[at]]
                    places[at, 0], words[at] = character, word
                if at < stop:
                    places[at, 1] = character + 1
                even = even and at < stop
                if not whole:
                    left -= 1
                    at += left == 0
            if whole and kind == SINGLE:
                whole = False
                at += 1
            even = even and kind != REFERENCE
            i += size
            character += 1
        located[row] = even and left == 0 and at + whole == stop
    return DONE
