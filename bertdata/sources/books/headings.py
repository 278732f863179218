"""Headings: lines that divide a book or name a part of it, by their words, their capitals and their length."""

from __future__ import annotations

import re
from typing import NamedTuple

TITLE_LIMIT = 200
"""Characters of the longest line that may be a heading, a title, an entry of a list or a row of page numbers.

The longest heading of Project Gutenberg's novels has 78. Those of old novels that are sentences have up to about 200
where a file has one paragraph to a line. A longer line is text, whatever it looks like.
"""


class Heading(NamedTuple):
    """A line that is a heading, and the number of paragraphs before it."""

    paragraphs: int
    line: str


_NUMBER = (
    r"(?:\d+(?:\.[\divxlc]+)*|[ivxlcdm]+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|"
    r"sixteen|seventeen|eighteen|nineteen|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[ -]\w++)?|"
    r"(?:the\s+)?(?:first|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth|eleventh|twelfth|\w+teenth|last))"
)
DIVISION = (
    r"(?:chapters?|books?|parts?|volumes?|vol\.?|cantos?|acts?|scenes?|letters?|sections?|stave|stanza|lesson|essay|"
    r"sonnet|tale|story|appendix|chapitre|livre|tome|partie|kapitel|buch|teil|cap[ií]tulo|libro|parte|capitolo)"
)
ORNAMENT = r"^[\s*_=(\[#.—–-]*+"
_ORDINAL = r"\w{2,30}(?:tes|ter|te)\s+(?:kapitel|buch|teil|theil|band|abschnitt|akt|aufzug|brief)"
"""A German ordinal before a division, as "Siebenundzwanzigstes Kapitel" and "Letzter Teil"."""
_ROMAN = r"(?=[ivxlcdm])m{0,4}(?:c[md]|d?c{0,4})(?:x[cl]|l?x{0,4})(?:i[xv]|v?i{0,4})"
LABEL = re.compile(
    rf"{ORNAMENT}(?:{DIVISION}\s+{_NUMBER}|{_NUMBER}\s+{DIVISION}|{_ORDINAL}|{_ROMAN}|\d{{1,4}})[\s*_=)\].,:—–-]*$",
    re.IGNORECASE,
)
DIVISION_TITLE = re.compile(
    rf"{ORNAMENT}(?:the\s+)?{DIVISION}\s+(?:the\s+)?{_NUMBER}(?:\W*$|[.:;,\])—-]+\s*\S|\s+(?-i:[A-Z“\"]))",
    re.IGNORECASE,
)
NUMBERED_TITLE = re.compile(ORNAMENT + r"(?:[IVXLC]+|\d{1,3})[.):—-]+\s+\S")
COPYRIGHT = (
    r"copyright(?:ed)?\b(?![^\w\s]*+\s++(?!(?:by|secured|renewed|notice|reserved|in\s+the|laws\s+are)\b)(?-i:[a-z]))"
)
"""What a notice of copyright begins with, where a sentence about copyright goes on with a word in small letters."""
_INHALT = r"inhalt(?:sverzeichni(?:ss?|ß))?(?:\s+des\s+\w++\s+(?:bandes|theiles?|teiles?|theils|teils|buches))?"
_NAMED = re.compile(
    ORNAMENT + r"(?!(?-i:[a-z])\w*[.,;?!])"
    r"(?:the\s+)?(?:preface|introduct(?:ion|ory)|prologue|epilogue|contents?|table\s+of\s+contents|index|conclusion|"
    r"list\s+of\s+(?:illustrations|plates|maps|figures|tables)|illustrations|footnotes?|endnotes|notes?|dedication|"
    r"foreword|afterword|glossary|errata|postscript|bibliography|appendix|finis?|"
    rf"end(?:\s+of\s+(?:the\s+)?(?:\w+\s+)?{DIVISION}\b(?!.*\b(?:was|were|is|had|came)\b).{{0,30}})?|"
    rf"to\s+be\s+continued|advertisements?|frontispiece|cover|(?-i:(?=C)){COPYRIGHT}.*+|by\s+the\s+same\s+author|"
    rf"table\s+des\s+mati[eè]res|{_INHALT}|[ií]ndice|sommaire|pr[eé]face|vorwort)[^\w!?]*$",
    re.IGNORECASE,
)
CONTENTS = re.compile(
    r"^\W*(?:(?:table\s+of\s+|the\s+)?contents\b.{0,30}|list\s+of\s+\w+|(?:full[- ]page\s+)?illustrations|index|"
    rf"table\s+des\s+mati[eè]res|{_INHALT}|sommaire)[^\w!?]*$",
    re.IGNORECASE,
)
NOTES = re.compile(r"^\W*(?:(?:foot|end)notes?|index)[^\w!?]*$", re.IGNORECASE)
OPENS_SPEECH = re.compile(r"^[\s_(\[]*[\"`“”‘'«»„—–]")
_WORD = re.compile(r"[^\W\d_]+")
_SMALL_WORD = re.compile(r"(?<![^\W\d_])[^\W\d_A-Z][^\W\d_]*")
_DIGIT = re.compile(r"\d")


def rank_of(heading: str) -> int:
    """Return how a heading divides a book: 0 before or after its chapters, 1 by name, 2 by number, 3 by its layout.

    4 does not divide it: the heading of a table of contents, or a line that ends in a comma, colon or semicolon.

    >>> [rank_of(line) for line in ("PREFACE", "CHAPTER IV. The Sea", "IV", "THE SEA", "CONTENTS")]
    [0, 1, 2, 3, 4]
    """
    if CONTENTS.match(heading):
        return 4
    if _NAMED.match(heading):
        return 0
    if DIVISION_TITLE.match(heading):
        return 1
    if LABEL.match(heading):
        return 2 if len(_WORD.findall(heading)) < 2 else 1
    if NUMBERED_TITLE.match(heading):
        return 2
    return 4 if heading[-1] in ",;:" else 3


def is_heading(line: str, following: str | None, width: int) -> bool:
    """Tell whether a line is a heading; `following`: the next line of its block, None where it is the last."""
    if len(line) > TITLE_LIMIT:
        return False
    short = len(line) < 0.8 * width
    if LABEL.match(line) or _NAMED.match(line):
        return following is None or not following.strip()[0].islower()
    if line.isupper() and not OPENS_SPEECH.match(line):
        return following is None or short
    return bool(short and DIVISION_TITLE.match(line)) and (following is None or len(following) > 0.8 * width)


def is_title(text: str) -> bool:
    """Tell whether all words but short ones begin with a capital, and one word in five does.

    >>> is_title("The Tale of the Man who was not to be"), is_title("It was so far off that he did not see it, Anna")
    (True, False)
    """
    words: list[str] = _WORD.findall(text)
    large = [word for word in words if len(word) > 3] or words
    if not words or not words[0][0].isupper() or 5 * sum(word[0].isupper() for word in words) < len(words):
        return False
    return sum(word[0].isupper() for word in large) >= 0.8 * len(large)


def is_mostly_small(text: str, share: float) -> bool:
    """Tell whether so many of the words of a text do not begin with a capital of A to Z, and few signs are digits."""
    words, small, figures = (len(pattern.findall(text)) for pattern in (_WORD, _SMALL_WORD, _DIGIT))
    return small >= 2 and small >= share * words and figures <= 0.03 * len(text)
