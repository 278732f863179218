"""The tables of `english.json`, by which the rules of words know characters and words, as sets and as arrays.

`scripts/english_word_tables.py` writes the file. Characters are also told by Unicode: white space, letters and
punctuation as Python's `str.isspace`, `str.isalpha` and `unicodedata.category` tell them.
"""

from __future__ import annotations

import json
import sys
import unicodedata
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

SPACE, SYMBOL, LETTER, TERMINAL, PUNCTUATION, SENTENCE_END = (1 << bit for bit in range(6))
"""The bits of `character_bits`.

SPACE: white space. SYMBOL: what datatrove takes for a symbol or a sign of punctuation. LETTER: a letter of Unicode.
TERMINAL: ends a line of prose, by datatrove. PUNCTUATION: of a category P of Unicode. SENTENCE_END: as spaCy's
sentencizer has them.
"""
_PLANES = 4 << 16
"""The planes of Unicode with letters; those after it are free, for private use, or have signs that are not seen."""
PATH = Path(__file__).with_name("english.json")


@cache
def tables() -> dict[str, Any]:
    """Return the values of the file."""
    values: dict[str, Any] = json.loads(PATH.read_text(encoding="utf-8"))
    return values


@cache
def members(name: str) -> frozenset[str]:
    """Return the characters of a class of the file.

    >>> "," in members("suffix"), "a" in members("suffix")
    (True, False)
    """
    return frozenset(chr(code) for first, last in tables()["classes"][name] for code in range(first, last + 1))


@cache
def exceptions() -> dict[str, tuple[str, ...]]:
    """Return the words that no rule splits otherwise, with their tokens.

    >>> exceptions()["don't"], exceptions()["Mr."]
    (('do', "n't"), ('Mr.',))
    """
    unsplit = {text: (text,) for text in tables()["kept"]}
    return unsplit | {"".join(tokens): tuple(tokens) for tokens in tables()["split"]}


@cache
def character_bits() -> NDArray[np.uint8]:
    """Return what each code point is, uint8 (1114112,): the sum of its bits."""
    bits = np.zeros(sys.maxunicode + 1, np.uint8)
    every = np.arange(_PLANES, dtype="<u4").tobytes().decode("utf-32-le", "surrogatepass")
    categories = np.frombuffer("".join(map(unicodedata.category, every)).encode(), np.uint8)[::2]
    bits[:_PLANES] |= np.fromiter(map(str.isspace, every), np.bool_, _PLANES) * np.uint8(SPACE)
    bits[:_PLANES] |= (categories == ord("L")) * np.uint8(LETTER)
    bits[:_PLANES] |= (categories == ord("P")) * np.uint8(PUNCTUATION)
    for name, bit in (("symbol", SYMBOL), ("terminal", TERMINAL), ("sentence_end", SENTENCE_END)):
        for first, last in tables()["classes"][name]:
            bits[first : last + 1] |= np.uint8(bit)
    return bits
