"""Join wrapped lines to paragraphs of one line: rejoin words hyphenated at line ends, normalise dashes.

A line break between characters of scripts without spaces is removed (`line_breaks`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import AnyStr

from bertdata.io.languages import frequent_words
from bertdata.sources.books.book_language import compound_beginnings, conjunctions_of, ends_words, languages_of_text
from bertdata.sources.books.line_breaks import without_breaks_in_words

_COMPOUND = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_WORD = re.compile(r"[^\W\d_]+")
_HYPHENS = re.compile("--+")
_DASHES = re.compile("——+")
_OPEN_DASH = re.compile(r"—\n(?<=[^\s\0]—\n)")
_WHITE_SPACE = re.compile(r"[^\S ]")
BORDER = "\0"
"""What separates paragraphs while all are one string, which takes a fifth of the time of one by one."""
_FEW_QUESTIONS = 100
"""Words that are searched for one by one; for more, all words of the book are listed first."""
_IN_WORDS = "\u2010\u2011"
"""Hyphens that some books have inside of their words."""
NOUNS_HAVE_CAPITALS = {"de", "lb", "gsw", "nds"}
"""Languages in which a capital at the beginning of a word says nothing of its being a name."""
_AROUND = 12
"""Bytes about a word by which it is told from part of a longer one."""
_FOLLOWING = 40
_COMPOUND_NEXT = re.compile(r"\s+[^\W\d_]+-[^\W\d_]")
SOFT = "\u00ad¬"
"""Hyphens that are not part of the word: the soft hyphen, and the sign that OCR has for it."""
HYPHENS = f"-{SOFT}\u2010\u2011\u058a\u2e17\u2e40\ufe63\uff0d="
"""What stands at a line end for a divided word: hyphens of Unicode, and the double one of Fraktur, in OCR also "="."""


def joined(texts: list[str]) -> list[str]:
    """Join the lines of each paragraph; a word hyphenated at a line end is written as in the rest of the book.

    A hyphen is any of `HYPHENS`. Where the book has the word in neither form, the frequent words of its language
    decide, then how these go on after its first part, then whether its parts are words. A suspended hyphen, before a
    conjunction, keeps its space. The paragraphs have no white space at their ends, and no "\\0".

    >>> joined(["It was no-\\nbody.", "A well-\\nknown man.", "The well-known man."])
    ['It was nobody.', 'A well-known man.', 'The well-known man.']
    >>> joined(["His mother-in-\\nlaw and she smiled self-\\nconsciously."])
    ['His mother-in-law and she smiled self-consciously.']
    >>> joined(["Der Wagen-\\nzug kam, ein Wagenzug.", "Haupt-\\nund Nebenstraßen", "every¬\\nbody"])
    ['Der Wagenzug kam, ein Wagenzug.', 'Haupt- und Nebenstraßen', 'everybody']
    """
    text = BORDER.join(texts)
    places = list(_hyphenations(text))
    if places:
        words = _with_words(text, places, lambda *_: " ")
        for hyphen in _IN_WORDS:
            words = words.replace(hyphen, "-")
        book = _Book(words, len(places), text)
        text = _with_words(text, places, book.rejoined)
    return one_line(text.replace("\u00ad", "")).split(BORDER) if texts else []


class _Book:
    """What decides how words are rejoined: the words of a book, and what is known of its language."""

    def __init__(self, words: str, questions: int, text: str) -> None:
        self._occurs, self._count = _lookup(words, questions)
        self._text = text

    @cached_property
    def _languages(self) -> tuple[str, ...]:
        return languages_of_text(self._text)

    def rejoined(self, first: str, hyphen: str, second: str, before: str, following: str) -> str:
        """Return a word of two parts; before, following: what is around it, which may be more of it: "up-to-date"."""
        more = _goes_on(before[::-1]) or _goes_on(following)
        whole, compound = first + second, f"{first}-{second}"
        written = f"{first}{hyphen}{second}" if hyphen in _IN_WORDS else compound
        as_one, as_two = self._is_word(whole), self._is_word(compound)
        if as_one and as_two:
            as_two = sum(map(self._count, _forms(compound))) >= sum(map(self._count, _forms(whole)))
        if as_one or as_two:
            return written if as_two else whole
        if hyphen == "=":
            is_word = min(len(first), len(second)) > 1 and whole.lower() in frequent_words(self._languages)
            return whole if is_word else f"{first}= {second}"
        frequent = frequent_words(self._languages)
        if whole.lower() in frequent or compound.lower() in frequent:
            return whole if whole.lower() in frequent else written
        if self._is_suspended(first, second, more, following):
            return f"{first}- {second}"
        if more or (hyphen not in SOFT and 1 in (len(first), len(second))):
            return written
        if _is_capitalized(second) or (hyphen not in SOFT and self._is_two_words(first, second)):
            return written
        return whole

    def _is_suspended(self, first: str, second: str, more: bool, following: str) -> bool:
        """Return whether a hyphen stands for a part that comes later, as in "pre- and post-war"; more: as above.

        following: what comes after the second word. Where many words end as the conjunction does, a compound has to
        follow, or the first part to be a word.
        """
        if more or second not in conjunctions_of(self._languages):
            return False
        if not ends_words(self._languages, second) or _COMPOUND_NEXT.match(following):
            return True
        return self._is_word(first) or first.lower() in frequent_words(self._languages)

    def _is_two_words(self, first: str, second: str) -> bool:
        """Return whether an unknown word is a compound with a hyphen: both parts are words, or it may be a name.

        Or it begins as the compounds of its language do that have one, such as those of "self".
        """
        if _is_capitalized(first) and not NOUNS_HAVE_CAPITALS & {*self._languages}:
            return True
        before_words, before_any = compound_beginnings(self._languages)
        beginning, is_word = first.lower(), self._is_word(second)
        if beginning in before_any or (is_word and self._is_word(first)):
            return True
        return beginning in before_words and (is_word or second.lower() in frequent_words(self._languages))

    def _is_word(self, word: str) -> bool:
        """Return whether a word occurs in the book."""
        return any(map(self._occurs, _forms(word)))


def _goes_on(text: str) -> bool:
    """Return whether a hyphen and a letter come next."""
    return text[:1] in ("-", *_IN_WORDS) and text[1:2].isalpha()


def _forms(word: str) -> tuple[str, ...]:
    """Return a word as it is, and where it is in capitals in small letters too; its first letter may be either.

    >>> _forms("nobody"), _forms("Wagenzug"), _forms("NOBODY")
    (('nobody',), ('Wagenzug',), ('NOBODY', 'nobody'))
    """
    return (word, word.lower()) if word.isupper() and len(word) > 1 else (word,)


def _is_capitalized(word: str) -> bool:
    """Return whether a word begins with a capital and goes on with small letters."""
    return word[:1].isupper() and not word.isupper()


def _hyphenations(text: str) -> list[tuple[int, int, int]]:
    """Return the begin, the hyphen and the end of each word that is hyphenated at a line end."""
    hyphens = sorted(place for hyphen in HYPHENS if hyphen in text for place in _found(text, f"{hyphen}\n"))
    places, end = [], 0
    for hyphen in hyphens:
        begin = hyphen
        while begin > end and _is_letter(text[begin - 1]):
            begin -= 1
        rest = _WORD.match(text, hyphen + 2)
        if begin < hyphen and rest:
            end = rest.end()
            places.append((begin, hyphen, end))
    return places


def _found(text: AnyStr, part: AnyStr) -> Iterator[int]:
    place = text.find(part)
    while place >= 0:
        yield place
        place = text.find(part, place + 1)


def _with_words(text: str, places: Iterable[tuple[int, int, int]], written: Callable[..., str]) -> str:
    """Return text with each hyphenated word replaced by what `written` makes of its parts and its hyphen."""
    pieces, position = [], 0
    for begin, hyphen, end in places:
        before, following = text[max(0, begin - 2) : begin], text[end : end + _FOLLOWING]
        parts = text[begin:hyphen], text[hyphen], text[hyphen + 2 : end]
        pieces += [text[position:begin], written(*parts, before, following)]
        position = end
    return "".join([*pieces, text[position:]])


def _lookup(text: str, questions: int) -> tuple[Callable[[str], bool], Callable[[str], int]]:
    """Return whether, and how often, a word or compound occurs in a text.

    Its first letter may be a capital or not. Compounds are listed, since hyphens are few; of words all are listed, or
    each is searched for.
    """
    is_searched = questions <= _FEW_QUESTIONS
    counts = Counter(_compounds(text) if is_searched else _COMPOUND.findall(text))

    def number(word: str) -> int:
        return sum(counts[form] for form in _heads(word, word[1:]))

    if not is_searched:
        return lambda word: number(word) > 0, number
    data = text.encode("utf-8", "surrogatepass")  # in which a search is several times as fast

    def occurrences(word: str) -> Iterator[int]:
        """Yield the places of what follows the first letter, of which one search finds both cases."""
        tail, heads = word[1:].encode("utf-8", "surrogatepass"), _heads(word)
        for place in _found(data, tail or word.encode("utf-8", "surrogatepass")):
            before = data[max(0, place - _AROUND) : place].decode("utf-8", "ignore") if tail else ""
            begin = before[-1:] if tail else ""
            previous = before[:-1].removesuffix("-")[-1:]
            if tail and (begin not in heads or (previous and _is_letter(previous))):
                continue
            whole = _COMPOUND.match(begin + data[place : place + len(tail) + _AROUND].decode("utf-8", "ignore"))
            if whole and whole.end() == len(word):
                yield place

    def occurs(word: str) -> bool:
        return number(word) > 0 if "-" in word else next(occurrences(word), None) is not None

    return occurs, lambda word: number(word) if "-" in word else sum(1 for _ in occurrences(word))


def _compounds(text: str) -> Iterator[str]:
    """Yield the words with hyphens of a text, found by these.

    >>> list(_compounds("A well-known up-to-date man - not 3-x."))
    ['well-known', 'up-to-date']
    """
    end = 0
    for hyphen in _found(text, "-"):
        begin = hyphen
        while begin > end and _WORD.match(text, begin - 1, begin):
            begin -= 1
        if hyphen >= end and begin < hyphen and (match := _COMPOUND.match(text, begin)):
            end = match.end()
            if end > hyphen:
                yield match[0]


def _heads(word: str, tail: str = "") -> set[str]:
    """Return the first letter of a word in both cases, followed by a tail."""
    return {f"{word[:1].lower()}{tail}", f"{word[:1].upper()}{tail}"}


def _is_letter(character: str) -> bool:
    return character.isalnum() and not character.isdecimal()


def one_line(text: str) -> str:
    """Return the lines of a paragraph, or of several with `BORDER` between them, as one, its dashes as em dashes.

    >>> one_line("The clock--it\\nwas late --\\n struck.")
    'The clock—it was late — struck.'
    """
    text = _HYPHENS.sub("—", _DASHES.sub("—", text))
    text = without_breaks_in_words(_OPEN_DASH.sub("—", text)).replace("\n", " ")
    if not text.replace(BORDER, "").isprintable():
        text = _WHITE_SPACE.sub(" ", text)
    while "  " in text:
        text = text.replace("  ", " ")
    return text.strip(" ")
