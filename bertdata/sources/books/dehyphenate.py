"""Join wrapped lines to paragraphs of one line: rejoin words hyphenated at line ends, normalise dashes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

_COMPOUND = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_WORD = re.compile(r"[^\W\d_]+")
_DASHES = re.compile(r"-{2,}|—{2,}")
_OPEN_DASH = re.compile(r"(?<=\S)—\n")
_FEW_QUESTIONS = 100
"""Words that are searched for one by one; for more, all words of the book are listed first."""


def joined(texts: list[str]) -> list[str]:
    """Join the lines of each paragraph; a word hyphenated at a line end is written as in the rest of the book.

    >>> joined(["It was no-\\nbody.", "A well-\\nknown man.", "The well-known man."])
    ['It was nobody.', 'A well-known man.', 'The well-known man.']
    """
    hyphenated = {number: list(_hyphenations(text)) for number, text in enumerate(texts) if "-\n" in text}
    if any(hyphenated.values()):
        rest = list(texts)
        for number, places in hyphenated.items():
            rest[number] = _with_words(texts[number], places, lambda first, second: " ")
        occurs = _lookup("\n\n".join(rest), sum(map(len, hyphenated.values())))

        def rejoined(first: str, second: str) -> str:
            whole = first.islower() and second.islower() and not occurs(f"{first}-{second}")
            if whole and (occurs(first + second) or not occurs(first) or not occurs(second)):
                return first + second
            return f"{first}-{second}"

        texts = list(texts)
        for number, places in hyphenated.items():
            texts[number] = _with_words(texts[number], places, rejoined)
    return [one_line(text) for text in texts]


def _hyphenations(text: str) -> Iterator[tuple[int, int, int]]:
    """Yield the begin, the hyphen and the end of each word that is hyphenated at a line end."""
    end, hyphen = 0, text.find("-\n")
    while hyphen >= 0:
        begin = hyphen
        while begin > end and _is_letter(text[begin - 1]):
            begin -= 1
        rest = _WORD.match(text, hyphen + 2)
        if begin < hyphen and rest:
            end = rest.end()
            yield begin, hyphen, end
        hyphen = text.find("-\n", hyphen + 1)


def _with_words(text: str, places: Iterable[tuple[int, int, int]], written: Callable[[str, str], str]) -> str:
    """Return text with each hyphenated word replaced by what `written` makes of its two parts."""
    pieces, position = [], 0
    for begin, hyphen, end in places:
        pieces += [text[position:begin], written(text[begin:hyphen], text[hyphen + 2 : end])]
        position = end
    return "".join([*pieces, text[position:]])


def _lookup(text: str, questions: int) -> Callable[[str], bool]:
    """Return a function that tells whether a word or compound occurs in text: a set of all, or a search for each."""
    if questions > _FEW_QUESTIONS:
        return set(_COMPOUND.findall(text)).__contains__

    def occurs(word: str) -> bool:
        place = text.find(word)
        while place >= 0:
            before = place - 1 if text[place - 1 : place] != "-" else place - 2
            if before < 0 or not (_is_letter(text[place - 1]) or _is_letter(text[before])):
                whole = _COMPOUND.match(text, place)
                if whole and whole.end() == place + len(word):
                    return True
            place = text.find(word, place + 1)
        return False

    return occurs


def _is_letter(character: str) -> bool:
    return character.isalnum() and not character.isdecimal()


def one_line(text: str) -> str:
    """Return the lines of a paragraph as one, its dashes as em dashes.

    >>> one_line("The clock--it\\nwas late --\\n struck.")
    'The clock—it was late — struck.'
    """
    if "--" in text or "——" in text:
        text = _DASHES.sub("—", text) if "---" in text or "——" in text else text.replace("--", "—")
    if "—\n" in text:
        text = _OPEN_DASH.sub("—", text)
    line = text.replace("\n", " ")
    if "  " not in line and line.isprintable() and line[:1] != " " and line[-1:] != " ":
        return line
    return " ".join(text.split())
