"""The words that n-grams of test data are made of, read from a text one character after another.

Words are those of the signatures of near duplicates (`bertdata.curation.dedup.minhash.kind_of`): runs of letters, marks
and digits, and each character by itself of scripts without spaces between words (Chinese, Japanese, Thai, Lao, Tibetan,
Burmese, Khmer). Everything else separates words, so punctuation and white space make no difference. Letters are
compared by Unicode's simple case folding; texts are not brought into one normal form (for that, `--clean nfc`).

GPT-3 compares "lowercase, whitespace delimited words with no punctuation" (Brown et al., 2020, appendix C), where
`well-known` is one word; here it is two.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache

import numpy as np
from numpy.typing import NDArray

from bertdata.curation.dedup.minhash import SEPARATOR, SINGLE, WORD, kind_of

_FOLDED = 1 << 16


@cache
def folding() -> NDArray[np.uint32]:
    """Return the folded form of each code point below U+10000: uint32 of shape (65536,).

    Characters whose folded form is longer stay as they are, and those that are younger than Unicode 3.2: so the table
    is the same for every version of Python.

    >>> chr(folding()[ord("Ж")]), chr(folding()[ord("ς")]), chr(folding()[ord("ß")])
    ('ж', 'σ', 'ß')
    """
    old = unicodedata.ucd_3_2_0
    folded_codes = np.arange(_FOLDED, dtype=np.uint32)
    for code in range(_FOLDED):
        letter = chr(code)
        folded = letter.casefold()
        if folded != letter and len(folded) == 1 and old.category(letter) != "Cn" and old.category(folded) != "Cn":
            folded_codes[code] = ord(folded)
    return folded_codes


def words_of(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield each word, folded, with the characters of the text where it begins and ends.

    >>> list(words_of("Don't — 日本"))
    [('don', 0, 3), ('t', 4, 5), ('日', 8, 9), ('本', 9, 10)]
    """
    table = folding()
    begin = -1
    for place, letter in enumerate(text + " "):
        kind = kind_of(ord(letter)) if place < len(text) else SEPARATOR
        if kind != WORD and begin >= 0:
            yield "".join(map(_folded, text[begin:place])), begin, place
            begin = -1
        if kind == SINGLE:
            yield chr(table[ord(letter)]) if ord(letter) < _FOLDED else letter, place, place + 1
        elif kind == WORD and begin < 0:
            begin = place


def _folded(letter: str) -> str:
    return chr(folding()[ord(letter)]) if ord(letter) < _FOLDED else letter


def normalised(text: str) -> str:
    """Return the words of a text, folded, with a space between them: texts of equal words are equal in this form.

    >>> normalised("The SEA,\\nthe sea!") == normalised("the sea the sea")
    True
    """
    return " ".join(word for word, _, _ in words_of(text))
