"""What BERT's normaliser and pre-tokenizer make of each character: by rule, or asked of `tokenizers`.

The rule holds in blocks of Unicode that no longer change (Latin, Greek, Cyrillic, Hebrew, Arabic, Devanagari, Thai,
punctuation, mathematics, Japanese, Chinese, Korean), which is most of what texts are made of; any other character is
asked for once, when it comes up.

A code is a number for the kernels: whether the character is a gap, a word by itself or part of a word, and what bytes
it becomes. Only a character that always becomes the same, whatever stands around it, gets one. It is so of every one
where accents are kept, as nothing then is decomposed. Where they are stripped the text is decomposed and the marks in
it reordered: of that, nothing is left to see when the marks are dropped, so a character may have a code unless it
leaves behind a mark that reordering can move, or is one that Python's tables do not know.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from bertdata.tokenizers.wordpiece.encode.kernels.encode import Characters
from bertdata.tokenizers.wordpiece.encode.kernels.words import (
    BYTES_SHIFT,
    CHARACTERS_SHIFT,
    LETTER,
    PAD,
    REFERENCE,
    SINGLE,
    SPACE,
    START_SHIFT,
)
from bertdata.tokenizers.wordpiece.normalizer import Normalizer

Becomes = tuple[int, str]
"""A kind and the characters that come of it."""
CHINESE = (0x4E00, 0x9FA5)
SETTLED = (
    (0, 0x52F),
    (0x5D0, 0x5EA),
    (0x621, 0x669),
    (0x900, 0x97F),
    (0xE00, 0xE7F),
    (0x1E00, 0x20BF),
    (0x2100, 0x2189),
    (0x2190, 0x22FF),
    (0x3041, 0x30FF),
    CHINESE,
    (0xAC00, 0xD7A3),
)
FIRST = [chr(point) for first, last in SETTLED if last < CHINESE[0] for point in range(first, last + 1)]
"""Characters that get codes before any text: all that are settled, but for Chinese and Korean ones."""
_POINTS = 0x110000
_BODY_BYTES = 1 << 20
_LOOKED_AT = 256
"""Bytes of a text, from a character without a code on, whose other characters get theirs as well."""


def empty_characters() -> Characters:
    """Return tables in which no character has been asked for."""
    return Characters(np.zeros(_POINTS, np.uint32), np.zeros(_BODY_BYTES + PAD, np.uint8), np.zeros(256, np.uint8))


def by_rule(normalizer: Normalizer, character: str) -> Becomes | None:
    """Return what becomes of a character of the blocks that no longer change, and None for any other.

    >>> by_rule(Normalizer(), "É") == (LETTER, "e"), by_rule(Normalizer(), "\U0001f600")
    (True, None)
    """
    category = unicodedata.category(character)
    if category == "Cn" or not any(first <= ord(character) <= last for first, last in SETTLED):
        return None
    if character in "\t\n\r" or category[0] == "Z":
        return SPACE, ""
    if category[0] == "C":
        return LETTER, ""
    body = character
    if normalizer.strips_accents:
        body = "".join(c for c in unicodedata.normalize("NFD", character) if unicodedata.category(c) != "Mn")
    if normalizer.do_lower_case:
        body = "".join(map(str.lower, body))
    chinese = normalizer.tokenize_chinese_chars and CHINESE[0] <= ord(character) <= CHINESE[1]
    is_mark = any(unicodedata.category(c)[0] == "P" or (c.isascii() and not c.isalnum()) for c in body)
    return SINGLE if chinese or is_mark else LETTER, body


def ask(normalizer: Normalizer, character: str) -> Becomes:
    """Return what becomes of a character.

    >>> ask(Normalizer(), "É") == (LETTER, "e"), ask(Normalizer(), "…") == (SINGLE, "…")
    (True, True)
    """
    words = normalizer.words(f"a{character}a")
    if words == ["a", "a"]:
        return SPACE, ""
    if len(words) == 3 and words[0] == words[2] == "a":
        kind, body = SINGLE, words[1]
    elif len(words) == 1 and words[0][0] == words[0][-1] == "a" and len(words[0]) > 1:
        kind, body = LETTER, words[0][1:-1]
    else:
        return REFERENCE, ""
    fixed = all(unicodedata.combining(c) == 0 and unicodedata.category(c) != "Cn" for c in body)
    if normalizer.strips_accents and not fixed:
        return REFERENCE, ""
    if len(body) > 15 or len(body.encode()) > 31:
        return REFERENCE, ""
    return kind, body


class CharacterTable:
    """The codes of the characters that came up so far, for one thread at a time."""

    def __init__(self, normalizer: Normalizer, known: dict[str, Becomes]) -> None:
        self.arrays = empty_characters()
        self._normalizer, self._known = normalizer, known
        self._places: dict[str, int] = {}
        self._used = 0
        self.add(character for character in FIRST if unicodedata.category(character) != "Cn")
        normalizer.words("")  # `tokenizers` is loaded before the first text
        for character in map(chr, range(128)):
            kind, body = self._known[character]
            if kind == LETTER and len(body) == 1 and body.isascii():
                self.arrays.folds[ord(character)] = ord(body)

    def add(self, characters: Iterable[str]) -> None:
        """Give a code to each character that has none."""
        codes = self.arrays.codes
        for character in characters:
            if codes[ord(character)] == 0:
                becomes = self._known.get(character)
                if becomes is None:
                    becomes = by_rule(self._normalizer, character) or ask(self._normalizer, character)
                    self._known[character] = becomes
                codes[ord(character)] = self._code(*becomes)

    def add_new(self, text: NDArray[np.uint8], start: int, end: int) -> None:
        """Give codes to the character that begins at `start`, and to others after it that have none."""
        self.add(set(text[start : min(start + _LOOKED_AT, end)].tobytes().decode("utf-8", "ignore")))

    def _code(self, kind: int, body: str) -> int:
        data = body.encode()
        place = self._places.get(body)
        if place is None:
            if self._used + len(data) > _BODY_BYTES:
                return REFERENCE
            place = self._places[body] = self._used
            self.arrays.bodies[place : place + len(data)] = np.frombuffer(data, np.uint8)
            self._used += len(data)
        return kind | len(body) << CHARACTERS_SHIFT | len(data) << BYTES_SHIFT | place << START_SHIFT
