"""Characters that are newer than Unicode 14: what they are here, whatever Python and the installed packages know.

What is a letter, a digit or a capital decides where sentences end and into which pieces words are cut. The answers of
releases of Python, `regex` and `tokenizers` differ for characters that are newer than their tables, and with them the
rows. So what asks them asks of an older character of the same kind in its place, by the table `newer.txt` (Unicode 17,
written by `scripts/newer_characters.py`), and small letters come from that table too.
"""

from __future__ import annotations

import functools
import re
from bisect import bisect_right
from pathlib import Path

UNICODE = "17.0.0"
"""The version of Unicode that the table is of."""
_NEAR = 0xFFFF
"""The last character for which a class of `re` has a table."""
_TABLE = Path(__file__).with_suffix(".txt")
_ALIKE = {
    "Lu": "\u13a0", "Ll": "\u0561", "Lt": "\u1f88", "Lm": "\u02b0", "Lo": "\ua000", "Mn": "\u0901", "Mc": "\u0903",
    "Me": "\u0488", "Nd": "\u0660", "Nl": "\u16ee", "No": "\u09f4", "Pc": "\u203f", "Pd": "\u058a", "Ps": "\u0f3a",
    "Pe": "\u0f3b", "Pi": "\u2e02", "Pf": "\u2e03", "Po": "\u055a", "Sm": "\u03f6", "Sc": "\u0e3f", "Sk": "\u02c2",
    "So": "\u0482", "Cf": "\u0600", "Cn": "\ufdd0", "Lo Han": "\u4e00", "Lu Latin": "\ua726", "Ll Latin": "\ua727",
    "Lm Latin": "\u02b0", "Lo Latin": "\u01bb",
}  # fmt: skip
"""An older character of each kind."""


class Table(dict[int, str]):
    """The older character by the newer, which of the newer normalization looks at, and which are numbers to Digits."""

    def __init__(self) -> None:
        super().__init__()
        self.lower: dict[int, str] = {}
        self.composes: set[int] = set()
        self.numeric: dict[int, str] = {}
        ranges: list[tuple[int, int]] = []
        for line in _TABLE.read_text(encoding="ascii").splitlines():
            first, last, kind = line.split(" ", 2)
            if first == "lower":
                self.lower[int(last, 16)] = chr(int(kind, 16))
                continue
            if first == "numeric":
                self.numeric.update(dict.fromkeys(range(int(last, 16), int(kind, 16) + 1), _ALIKE["Nd"]))
                continue
            begin, end = int(first, 16), int(last, 16)
            ranges.append((begin, end))
            if kind == "Cn":
                continue
            self.update(dict.fromkeys(range(begin, end + 1), _ALIKE[kind.removesuffix(" composes")]))
            if kind.endswith(" composes"):
                self.composes.update(range(begin, end + 1))
        self._begins, self._ends = (list(points) for points in zip(*sorted(ranges), strict=True))

    @functools.cached_property
    def newer(self) -> re.Pattern[str]:
        """The pattern of newer characters, whose compilation takes longer than looking a character up."""
        near: list[str] = []
        far: list[str] = []
        for begin, end in zip(self._begins, self._ends, strict=True):
            (near if end <= _NEAR else far).append(f"\\U{begin:08x}-\\U{end:08x}")
        # For characters up to U+FFFF re has a table; those beyond it compares with one range after another.
        return re.compile(f"[{''.join(near)}]|(?![\\0-\\U{_NEAR:08x}])[{''.join(far)}]")

    def is_newer(self, character: str) -> bool:
        """Tell whether a character is newer."""
        number = bisect_right(self._begins, ord(character)) - 1
        return number >= 0 and ord(character) <= self._ends[number]

    def older(self, text: str) -> str:
        """Return a text with an older character of the same kind in place of each newer one."""
        if len(text) == 1:
            return self.get(ord(text), _ALIKE["Cn"]) if self.is_newer(text) else text
        return self.newer.sub(lambda newer: self.get(ord(newer[0]), _ALIKE["Cn"]), text)


@functools.cache
def table() -> Table:
    """Return the table, which is read once."""
    return Table()


def holds_newer(text: str) -> bool:
    r"""Tell whether a text holds a character that is newer than Unicode 14.

    >>> holds_newer("é"), holds_newer("\u1c89")
    (False, True)
    """
    return not text.isascii() and table().newer.search(text) is not None


def alike(text: str) -> str:
    r"""Return a text with older characters of the same kind in place of newer ones.

    >>> alike("a\U00010d50").isalpha()
    True
    """
    return text if text.isascii() else table().older(text)


def alike_to_digits(text: str) -> str:
    r"""Return what `alike` does, with numbers of the tables that the pre-tokenizer Digits has, which are newer.

    >>> alike_to_digits("\U00011de2").isnumeric(), alike("\U00011de2").isnumeric()
    (True, False)
    """
    return alike(text.translate(table().numeric)) if holds_newer(text) else text


def lowered(text: str) -> str:
    r"""Return a text in which the newer capital letters are small.

    >>> lowered("A\u1c89") == "A\u1c8a"
    True
    """
    return text.translate(table().lower) if holds_newer(text) else text


def composes(character: str) -> bool:
    """Tell whether normalization may look at a newer character together with others."""
    return ord(character) in table().composes
