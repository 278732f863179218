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
_LEAST_COMPOUNDS = 3
"""Frequent compounds that a first part begins, of one whose other compounds have a hyphen too."""
_AS_OFTEN = 3
"""How many times as many words it begins with a hyphen as without one."""
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


@cache
def compound_beginnings(codes: tuple[str, ...]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the first parts whose compounds have a hyphen in languages: with a second part that is a word, with any.

    They begin three times as many frequent words with a hyphen as without one. Of the words without one, those that go
    on with a frequent word are counted for the first set, all for the second.

    >>> before_words, before_any = compound_beginnings(("en",))
    >>> [part in before_words for part in ("self", "non", "re")], [part in before_any for part in ("self", "non")]
    ([True, True, False], [True, False])
    """
    frequent = frequent_words(codes)
    compounds = Counter(first for first, hyphen, _ in (word.partition("-") for word in frequent) if hyphen)
    parts = {part for part, number in compounds.items() if number >= _LEAST_COMPOUNDS and len(part) > 1}
    with_words, with_any = Counter[str](), Counter[str]()
    for word in frequent:
        for end in range(2, len(word)):
            if (part := word[:end]) in parts and word[end] != "-":
                with_any[part] += 1
                with_words[part] += word[end:] in frequent
    before_words, before_any = (
        frozenset(part for part in parts if compounds[part] >= _AS_OFTEN * numbers[part])
        for numbers in (with_words, with_any)
    )
    return before_words, before_any
