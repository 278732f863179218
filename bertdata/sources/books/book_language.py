"""The language of a book's text, by its most frequent conjunctions, and the words that are known of it."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache

from bertdata.io.languages import frequent_words, known_languages

_LOOKED_AT = 1 << 14
_FEW = 2000
"""Words of a text that is too short for its "or" to be missed."""
_MANY_ENDS = 20
_WORD = re.compile(r"[^\W\d_]+")
_OF_RANGES = ("bis", "to", "tot", "till", "til", "sowie", "bzw", "respektive")
"""Words that stand between the parts of a range or list as "and" does, and are no "and" or "or"."""


def languages_of_text(text: str) -> tuple[str, ...]:
    """Return the codes of the languages whose "and" is the most frequent in a text; in a long one, their "or" occurs.

    >>> languages_of_text("Er kam und ging oder blieb, und dann und wann.")[:1], languages_of_text("a") == ()
    (('de',), False)
    """
    counts = Counter(word.lower() for word in _WORD.findall(text[:_LOOKED_AT]))
    is_short = counts.total() < _FEW
    scores = {
        code: counts[known_language["and"]] if is_short or counts[known_language["or"]] else 0
        for code, known_language in known_languages().items()
        if "and" in known_language
    }
    most = max(scores.values())
    return tuple(code for code, score in scores.items() if score == most > 0)


def conjunctions_of(codes: tuple[str, ...]) -> frozenset[str]:
    """Return the words after which a second hyphenated word may follow, as "und" in "Haupt- und Nebenstraßen"."""
    languages = (known_languages()[code] for code in codes)
    return frozenset([*(language[kind] for language in languages for kind in ("and", "or")), *_OF_RANGES])


@cache
def ends_words(codes: tuple[str, ...], conjunction: str) -> bool:
    """Return whether many words of languages end as a conjunction sounds, as "doctor" does.

    >>> ends_words(("en",), "or"), ends_words(("de",), "und")
    (True, False)
    """
    longer = len(conjunction) + 3
    return sum(word.endswith(conjunction) and len(word) >= longer for word in frequent_words(codes)) >= _MANY_ENDS
