"""Scanners: where the words of a pre-tokenizer of `tokenizers` begin, found in UTF-8 without a regular expression.

A scanner sets the bits at which words begin in the bitmaps of a unit of text. The class of each character is asked of
the pre-tokenizer itself, once, as its Unicode tables are not Python's; of newer ones by `newer_characters`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from functools import cache, partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bertdata.characters.newer import alike, composes
from bertdata.text_arrays import READ_AHEAD
from bertdata.tokenizers.encode.kernels import bitmaps as kernel
from bertdata.tokenizers.encode.kernels import cl100k, gpt2
from bertdata.tokenizers.encode.kernels.bitmaps import Bitmaps

_POINTS = 0x110000
_AT_A_TIME = 1 << 8
_COMMON = np.frombuffer(
    "".join(map(chr, (*range(0xA0, 0x180), *range(0x2010, 0x2030)))).encode() + bytes(READ_AHEAD), np.uint8
)
"""Characters whose classes are asked at the start, in UTF-8: accented letters, dashes and quotation marks."""
_CL100K = re.compile(
    r"\(\?i:'s\|'t\|'re\|'ve\|'m\|'ll\|'d\)\|\[\^\\r\\n\\p\{L\}\\p\{N\}\]\?\\p\{L\}\+\|\\p\{N\}(\{1,3\})?"
    r"\| \?\[\^\\s\\p\{L\}\\p\{N\}\]\+\[\\r\\n\]\*\|\\s\*\[\\r\\n\]\+\|\\s\+\(\?!\\S\)\|\\s\+"
)
"""The pattern of cl100k, and of Qwen 2, in which each number is a word."""


class Scanner(Protocol):
    """Finds words in units of text."""

    def mark(self, text: Any, begin: int, n: int, bitmaps: Bitmaps) -> None:
        """Set `starts` of the bitmaps of `n` bytes from `begin` on, and `unsure` of what `tokenizers` must be asked."""


class WhitespaceScanner:
    """Words of what is between ASCII's white space, each with the white space before it."""

    def mark(self, text: Any, begin: int, n: int, bitmaps: Bitmaps) -> None:
        """Set `starts`; nothing is unsure."""
        kernel.whitespace_starts(text, begin, n, bitmaps)
        bitmaps.unsure[: n // 64 + 2] = 0


class PatternScanner:
    """Words of a pattern of letters, numbers, white space and others.

    pieces: what the pre-tokenizer makes of a text. starts: the kernel that sets the bits by classes of characters.
    composed: whether the text is brought to Unicode's form NFC first, so that characters which that may change are
    unsure.
    """

    def __init__(
        self, pieces: Callable[[str], list[Any]], starts: Callable[..., None], *, composed: bool = False
    ) -> None:
        self._pieces, self._starts, self._composed = pieces, starts, composed
        self._classes = np.zeros(_POINTS, np.uint8)
        self._learn(_COMMON, 0, len(_COMMON) - READ_AHEAD)

    def mark(self, text: Any, begin: int, n: int, bitmaps: Bitmaps) -> None:
        """Set `starts` and `unsure`."""
        while (at := kernel.classify(text, begin, n, self._classes, bitmaps)) >= 0:
            self._learn(text, at, begin + n)
        self._starts(text, begin, n, bitmaps)

    def mark_unsure(self, text: Any, offsets: NDArray[np.int64], asked: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which rows of a text hold a character that is unsure, of those that are `asked` for."""
        marked = np.zeros(len(asked), np.bool_)
        while (at := kernel.mark_rows_with(text, offsets, asked, self._classes, kernel.UNSURE, marked)) >= 0:
            self._learn(text, at, int(offsets[-1]))
        return marked

    def _learn(self, text: Any, at: int, end: int) -> None:
        """Give classes to some characters without one from a byte on."""
        new = np.empty(_AT_A_TIME, np.int64)
        for point in new[: kernel.new_characters(text, at, end, self._classes, new)].tolist():
            self._classes[point] = self.class_of(chr(point))

    def class_of(self, character: str) -> int:
        """Return the class of a character: patterns do not cut between two letters, or white space and a line end."""
        if self._composed and _may_be_composed(character):
            return kernel.UNSURE
        character = alike(character)
        classes = {"a" + character: kernel.LETTER, "!" + character: kernel.OTHER, character + "\n": kernel.SPACE}
        return next((kind for text, kind in classes.items() if len(self._pieces(text)) == 1), kernel.NUMBER)


@cache
def _may_follow() -> Any:
    """Return the pattern of characters that may be composed with one before them."""
    import regex  # takes 0.03 s, and few files need it

    return regex.compile(r"\p{NFC_Quick_Check=Maybe}")


def _may_be_composed(character: str) -> bool:
    """Tell whether NFC may change a text because it holds a character; so of those that are not assigned."""
    character, newer = alike(character), character
    if unicodedata.category(character) == "Cn" or composes(newer) or _may_follow().match(character):
        return True
    return unicodedata.combining(character) > 0 or not unicodedata.is_normalized("NFC", character)


def _cl100k_starts(digits: int, text: Any, begin: int, n: int, bitmaps: Bitmaps) -> None:
    cl100k.cl100k_starts(text, begin, n, bitmaps)
    cl100k.cut_numbers(text, begin, n, digits, bitmaps)
    cl100k.cut_line_ends(text, begin, n, bitmaps)


def gpt2_scanner(pieces: Callable[[str], list[Any]]) -> PatternScanner:
    """Return the scanner of GPT-2's pattern."""
    return PatternScanner(pieces, gpt2.gpt2_starts)


def byte_level_starts(parts: list[dict[str, Any]]) -> Callable[..., None] | None:
    """Return the kernel that finds the words of pre-tokenizers of a tokenizer.json; None where there is none.

    It is known for ByteLevel, alone with GPT-2's pattern or after a Split with cl100k's.
    """
    *before, last = parts or [{}]
    if last.get("type") != "ByteLevel":
        return None
    if not before and last.get("use_regex", True):
        return gpt2.gpt2_starts
    if len(before) == 1 and before[0].get("type") == "Split" and not last.get("use_regex", True):
        pattern = _CL100K.fullmatch(before[0].get("pattern", {}).get("Regex", ""))
        whole = (before[0].get("behavior"), before[0].get("invert")) in (("Removed", True), ("Isolated", False))
        if pattern and whole:
            return partial(_cl100k_starts, 3 if pattern[1] else 1)
    return None
