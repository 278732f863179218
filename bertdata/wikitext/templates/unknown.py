"""What a call of an unknown template prints where it stands inside a sentence: one of its arguments.

Most templates inside a sentence print an argument with markup around it, or a link whose label is an argument. Notes,
pronunciations, boxes and figures that the wiki computes print none; their names, their named arguments or the looks of
the argument tell. `wikitext/reference/place` says which calls stand inside a sentence, `templates/table` knows the
frequent templates. docs/sources.md has how often this is right.
"""

from __future__ import annotations

import re

from bertdata.io.package_data import toml_beside
from bertdata.wikitext.rules import LINE_MARKUP, PLACEHOLDER
from bertdata.wikitext.templates.codes import LANGUAGE_NAMES
from bertdata.wikitext.templates.convert import Arguments
from bertdata.wikitext.templates.factories import get, positional


def _names(text: str) -> frozenset[str]:
    return frozenset(name.strip() for name in text.replace("\n", " ").split(","))


_TABLE = toml_beside(__file__)
SILENT = _names(_TABLE["silent"])
"""Folded names of frequent templates that print nothing in a sentence; the kernels know them, which is faster."""

_SILENT_PREFIXES = re.compile(
    r"sfn|efn|ref\b|cref|cnote|cite|harv|ipa|pron|audio|infobox|navbox|taxobox|speciesbox|coord?\b|coor |inflation|"
    r"flagicon|flagdeco|if |use |pp-|user |toc|un |nycs "
)
_SILENT_ENDINGS = re.compile(r"(?:\?|-fn|icon|box)\Z")
_SILENT_WORDS = frozenset[str]().union(*map(_names, _TABLE["words"].values()))
_WORD_OF_NAME = re.compile(r"[^\s\-–/_()]+")
_NAMED_BY_NOTES = _names(
    "access-date, align, author, caption, class, date, float, group, image, last, qid, reason, style, title, url, width"
)
_TEXT_ARGUMENTS = ("text", "display", "label", "t")
_MOST_POSITIONAL, _MOST_NAMED, _LONGEST, _LONGEST_NAME = 4, 3, 2000, 48
_SETTING = re.compile(
    r"#[0-9a-f]{3,8}|\d+(?:\.\d+)?(?:%|px|em|pt)|(?:dark|light|medium|pale)?(?:red|green|blue|orange|purple|gr[ae]y|"
    r"black|white|yellow|brown|pink|navy|maroon|teal|olive|cyan|magenta|violet|gold|silver|crimson)|"
    r"(?-i:[a-z]{2,3}(?:-[A-Za-z]{2,8})*)",
    re.IGNORECASE,
)
"""A colour, a size, the code of a language."""
_CODE = re.compile(r"(?!\d{4}\Z)[\d., −+-]+|\w{1,2}")
_ALONE = re.compile(r"(?!\d{4}\Z)[\d., −+-]+|[IVXLCDM]{2,}|[A-Z]{2}(?:-[A-Z]{1,3})?")
"""The only argument of a call whose template adds something to it: a unit to a number, a word to a Roman one, what it
knows of a place to its code."""
_OF_DATE = re.compile(r"[\d., −+-]*")
_NO_TEXT = re.compile(
    rf"[{re.escape(LINE_MARKUP)}{{}}\x01-\x03]|https?:|//|.*[\n\x01-\x03]|"
    r".*\.(?:ogg|oga|ogv|wav|flac|mp3|opus|jpe?g|png|svg|gif|webm|tiff?|pdf)\Z",
    re.IGNORECASE | re.DOTALL,
)
_LETTER_OR_DIGIT = re.compile(r"\w")
_ELEMENTS = (
    "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Ti Cr Mn Fe Co Ni Cu Zn Ga Ge As Se Br Kr Sr Zr Mo Ag Cd In Sn "
    "Sb Te I Xe Cs Ba W Pt Au Hg Tl Pb Bi Th U"
)
_FORMULA = re.compile(rf"(?=.*\d)(?:(?:{_ELEMENTS.replace(' ', '|')})\d{{0,2}})+")


def is_silent(name: str) -> bool:
    """Tell whether a folded name is that of a note, a box, a pronunciation or the like, which print nothing.

    >>> is_silent("unreliable source?"), is_silent("infobox lake"), is_silent("serif")
    (True, True, False)
    """
    return (
        name in SILENT
        or _SILENT_PREFIXES.match(name) is not None
        or _SILENT_ENDINGS.search(name) is not None
        or any(word in _SILENT_WORDS for word in _WORD_OF_NAME.findall(name))
    )


def unknown_text(head: str, name: str, arguments: Arguments) -> str | None:
    """Return the text that an unknown template is likely to print inside a sentence, None where that is nothing.

    `head` is its name as written, `name` the same folded. It is the argument text=; else the third where the second is
    blank or the third has the first in it (a page, its section, a label), the second after a colour, a size or the code
    of a language, else the first. A template without arguments prints the chemical formula that it is named by.

    >>> unknown_text("Serif", "serif", {"1": "old"}), unknown_text("Ink", "ink", {"1": "red", "2": "hot"})
    ('old', 'hot')
    >>> unknown_text("Ly", "ly", {"1": "4"}), unknown_text("Siècle2", "siècle2", {"1": "XIX"})
    (None, None)
    >>> unknown_text("CO2", "co2", {}), unknown_text("Angola topics", "angola topics", {})
    ('CO2', None)
    """
    if not arguments:
        return head if _FORMULA.fullmatch(head) else None
    if not name or len(head) > _LONGEST_NAME or is_silent(name):
        return None
    named = [key for key in arguments if not key.isdigit()]
    values = positional(arguments)
    if len(values) > _MOST_POSITIONAL or len(named) > _MOST_NAMED or not _NAMED_BY_NOTES.isdisjoint(named):
        return None
    text = get(arguments, *_TEXT_ARGUMENTS[: None if values else 1]) or (values and _displayed(arguments, values)) or ""
    if len(text) > _LONGEST or _NO_TEXT.match(text) or not _LETTER_OR_DIGIT.search(text.replace(PLACEHOLDER, "")):
        return None
    return text


def _displayed(arguments: Arguments, values: list[str]) -> str:
    """Return the positional argument that is printed, "" where none is."""
    if (third := get(arguments, "3")) and (not get(arguments, "2") or values[0] in third):
        return third
    if len(values) < 2:
        return "" if values[0] in LANGUAGE_NAMES or _ALONE.fullmatch(values[0]) else values[0]
    if all(map(_OF_DATE.fullmatch, values)):
        return ""
    if _SETTING.fullmatch(values[0]):
        return values[1]
    return "" if _CODE.fullmatch(values[0]) else values[0]
