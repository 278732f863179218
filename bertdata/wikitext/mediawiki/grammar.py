"""The case of a word, `{{grammar:genitive|word}}`, by the rules that MediaWiki has for a language."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

Rules = Mapping[str, Sequence[Sequence[str]]]
"""From the name of a case, ANY for all others, to expressions and what is written for them."""
ANY = "*"


def inflect(word: str, case: str, rules: Rules) -> str:
    """Return a word in a case: the first rule that fits is applied; the word itself where none does.

    >>> rules = {"genitive": [["ия$", "ии"], ["$", "а"]]}
    >>> inflect("Россия", "genitive", rules), inflect("Иран", "genitive", rules), inflect("Иран", "dative", rules)
    ('России', 'Ирана', 'Иран')
    """
    for expression, replacement in rules.get(case, rules.get(ANY, ())):
        pattern = _compiled(expression)
        if pattern.search(word):
            return pattern.sub(replacement, word)
    return word


@lru_cache(maxsize=512)
def _compiled(expression: str) -> re.Pattern[str]:
    return re.compile(expression)
