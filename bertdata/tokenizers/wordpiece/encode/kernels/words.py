"""Words out of the bytes of a text, by table: BERT's normaliser and pre-tokenizer.

A code for each code point says what becomes of it (`characters.py` makes the codes). Texts have `PAD` bytes after the
last one that counts, as they are read 64 and 8 bytes at a time.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bertdata.kernels.jit import always_inlined
from bertdata.kernels.utf8 import decode
from bertdata.text_arrays import READ_AHEAD

PAD = READ_AHEAD
UNKNOWN, REFERENCE, LETTER, SINGLE, SPACE = range(5)
"""What a code says of a code point: not asked yet; only `tokenizers` knows; part of a word; a word by itself; white
space."""
KIND_BITS, CHARACTERS_SHIFT, BYTES_SHIFT, START_SHIFT = 7, 3, 7, 12
NOT_UTF8, UNKNOWN_CHARACTER, REFERENCE_CHARACTER = -1, -2, -3


@always_inlined
def next_word(data: Any, i: int, end: int, codes: Any, bodies: Any, word: Any, limit: int) -> Any:
    """Return (where to go on, bytes, characters) of the next word from `i` on, its normalised bytes in `word`.

    A word of over `limit` characters is counted, but not stored whole. No characters: there is no further word. A
    negative number of bytes is NOT_UTF8, UNKNOWN_CHARACTER or REFERENCE_CHARACTER, and where to go on is where it is.
    """
    n: Any = 0
    characters: Any = 0
    while i < end:
        point, size = decode(data, i, end)
        if point < 0:
            return i, NOT_UTF8, 0
        code = np.int64(codes[point])
        kind = code & KIND_BITS
        if kind in (LETTER, SINGLE):
            if kind == SINGLE and characters:
                return i, n, characters
            start, stop = code >> START_SHIFT, (code >> START_SHIFT) + (code >> BYTES_SHIFT & 31)
            characters += code >> CHARACTERS_SHIFT & 15
            if characters <= limit:
                word[n] = bodies[start]
                for j in range(start + 1, stop):
                    word[n + j - start] = bodies[j]
                n += stop - start
            i += size
            if kind == SINGLE:
                return i, n, characters
        elif kind == SPACE:
            i += size
            if characters:
                return i, n, characters
        else:
            return i, UNKNOWN_CHARACTER if kind == UNKNOWN else REFERENCE_CHARACTER, 0
    return i, n, characters
