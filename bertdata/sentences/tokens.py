"""Punkt's words: cutting a text into tokens, and what Punkt asks of one token.

The rules are those of NLTK 3.10 (`PunktLanguageVars`, `PunktToken`), written so that every search is linear. White
space is Unicode's White_Space property spelled out, as in NLTK, which leaves U+001C to U+001F out. Letters and digits
are those of the `regex` package, as in NLTK. What is newer than the tables of an older Python or `regex` is taken from
a table of our own (`bertdata.characters`), so that sentences do not depend on what is installed.
Nothing here decides where a sentence ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import regex

from bertdata.characters.newer import alike, lowered

SPACE = r"\t-\r \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
QUOTES = "\u2018\u2019\u201c\u201d\xab\xbb"
NON_WORD = rf""")";}}\]*:@'({{\[?!{QUOTES}"""

_MANY = rf"--|\.\.|(?:\.[{SPACE}]){{2}}\."
_END = rf"(?=[{SPACE}{NON_WORD}]|\Z|{_MANY}|,(?=[{SPACE}{NON_WORD}]|\Z|{_MANY}))"
_TOKEN = re.compile(
    rf"-{{2,}}|\.{{2,}}|(?:\.[{SPACE}]){{2,}}\."
    rf"|(?=[^(\"`{{\[:;&#*@)}}\]\-,])(?:[^{SPACE}{NON_WORD},.\-]++[^{SPACE}]*?|[^{SPACE}]+?){_END}"
    rf"|[^{SPACE}]"
)
_NUMERIC = re.compile(r"-?[.,]?\d[\d,.\-]*")
_NUMERIC_IN_ANY_SCRIPT = regex.compile(_NUMERIC.pattern)
_LETTERS = regex.compile(r"[^\W\d]+")
_SPACE = re.compile(f"[{SPACE}]")
_LAZY_LENGTH = 4096

NUMBER = "##number##"


def lines_of_tokens(text: str) -> Iterator[Iterator[str]]:
    """Yield the tokens of each line of a text, and an empty iterator for a blank line."""
    for line in text.split("\n"):
        if not line or line.isspace():
            yield iter(())
        elif len(line) < _LAZY_LENGTH:
            yield iter(_TOKEN.findall(line))
        else:
            yield (match.group() for match in _TOKEN.finditer(line))


def tokens(text: str) -> Iterator[str]:
    """Yield the tokens of a text: words with their final period, and the punctuation around them.

    >>> list(tokens('"Mr. Smith (of Rome, Ga.)..."'))
    ['"', 'Mr.', 'Smith', '(', 'of', 'Rome', ',', 'Ga.', ')', '...', '"']
    """
    for line in lines_of_tokens(text):
        yield from line


def type_of(token: str) -> str:
    """Return the type of a token: lower-cased, every number the same.

    >>> type_of("Mr."), type_of("1,000.")
    ('mr.', '##number##')
    """
    if token.isascii():
        small = token.lower()
        return NUMBER if _NUMERIC.fullmatch(small) else small
    return NUMBER if _NUMERIC_IN_ANY_SCRIPT.fullmatch(alike(token)) else in_small_letters(token)


def in_small_letters(token: str) -> str:
    r"""Return a token in small letters.

    >>> in_small_letters("Mr\u1c89") == "mr\u1c8a"
    True
    """
    return lowered(token).lower()


def is_upper(character: str) -> bool:
    """Tell whether a character is a capital letter."""
    return alike(character).isupper()


def is_lower(character: str) -> bool:
    """Tell whether a character is a small letter."""
    return alike(character).islower()


def without_period(type_: str) -> str:
    """Return a type without its final period; a type that is only a period keeps it."""
    return type_[:-1] if len(type_) > 1 and type_[-1] == "." else type_


def is_alphabetic(token: str) -> bool:
    """Tell whether a token consists of what Punkt counts as letters: also marks, letter numbers, and `_`."""
    return token.isalpha() or _LETTERS.fullmatch(alike(token)) is not None


def letters_in(text: str) -> set[int]:
    """Return the places in a text of the characters that are letters by themselves, as `is_alphabetic` tells.

    >>> letters_in("a1_.") == {0, 2}
    True
    """
    runs = (range(*match.span()) for match in _LETTERS.finditer(alike(text)))
    return {place for run in runs for place in run} | {
        place for place, character in enumerate(text) if character.isalpha()
    }


def spaces_in(text: str) -> set[int]:
    """Return the places in a text of the characters that are white space to Punkt's patterns.

    >>> spaces_in("a b")
    {1}
    """
    return {match.start() for match in _SPACE.finditer(text)}


def has_letter(type_: str) -> bool:
    """Tell whether a type is more than punctuation; numbers are, by the letters of their type."""
    return type_.isalpha() or _LETTERS.search(alike(type_)) is not None


def is_initial(token: str) -> bool:
    """Tell whether a token is an initial: one letter and a period."""
    return len(token) == 2 and token[1] == "." and is_alphabetic(token[0])


def is_ellipsis(token: str) -> bool:
    """Tell whether a token is two periods or more and nothing else."""
    return len(token) > 1 and token.strip(".") == ""
