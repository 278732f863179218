"""Two texts side by side, where they begin to differ, with the words that differ marked."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from itertools import zip_longest

from bertdata.errors import printable

WORDS = 60
"""How many words of each text are shown."""
_BEFORE = 12
_GAP = "  |  "
_NARROWEST = 12


def side_by_side(left: str, right: str, heads: tuple[str, str], width: int) -> Iterator[str]:
    """Yield lines of two columns, together at most `width` wide, below their heads.

    Words that the other text does not have there stand in « ».

    >>> for line in side_by_side("Salt is white.", "Salt is grey.", ("dropped", "stays"), 41):
    ...     print(line)
    dropped             |  stays
    Salt is «white.»    |  Salt is «grey.»
    """
    column = max(_NARROWEST, (width - len(_GAP)) // 2)
    columns = [
        [head, *textwrap.wrap(text, column, break_long_words=True)]
        for head, text in zip(heads, _marked(left.split(), right.split()), strict=True)
    ]
    for first, other in zip_longest(*columns, fillvalue=""):
        yield f"{printable(first):<{column}}{_GAP}{printable(other)}".rstrip()


def _marked(left: Sequence[str], right: Sequence[str]) -> tuple[str, str]:
    """Return an excerpt of both from a little before the first word that differs on."""
    first = next((place for place, pair in enumerate(zip(left, right, strict=False)) if pair[0] != pair[1]), 0)
    begin = max(0, first - _BEFORE)
    texts: list[list[str]] = [list(words[begin : begin + WORDS]) for words in (left, right)]
    ends = [" ..." if len(words) > begin + WORDS else "" for words in (left, right)]
    for kind, a, b, c, d in SequenceMatcher(None, texts[0], texts[1], autojunk=False).get_opcodes():
        if kind != "equal":
            texts[0][a:b] = [f"«{word}»" for word in texts[0][a:b]]
            texts[1][c:d] = [f"«{word}»" for word in texts[1][c:d]]
    start = "... " if begin else ""
    left_text, right_text = (f"{start}{' '.join(words)}{end}" for words, end in zip(texts, ends, strict=True))
    return left_text, right_text
