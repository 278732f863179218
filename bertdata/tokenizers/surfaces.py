"""What tokens are in a text: their bytes, and whether they begin a word, whatever marks a family of tokenizers writes.

WordPiece writes ## where a word goes on, byte-level BPE a letter (U+0120) and SentencePiece U+2581 where a space is
before the token. So "##ing", "ing" and "ing" are one surface, and "the", "Ġthe" and "▁the" are another.
"""

from __future__ import annotations

import unicodedata
from typing import NamedTuple


class Surface(NamedTuple):
    """What a token is in a text.

    begins: whether it begins a word, after a space; None where it may stand with and without one. text: its bytes,
    without that space; of byte-level BPE these may be a part of a character.
    """

    begins: bool | None
    text: bytes


def stands_alone(text: str) -> bool:
    """Tell whether a token of BERT's is cut out of its word, so says nothing of a space before it.

    Punctuation, symbols, and letters of scripts without cases, among them Chinese ones.

    >>> stands_alone("."), stands_alone("水"), stands_alone("a"), stands_alone("5")
    (True, True, False, False)
    """
    return len(text) == 1 and (unicodedata.category(text)[0] in "PS" or unicodedata.category(text) == "Lo")
