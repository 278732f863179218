"""What BERT's normaliser and pre-tokenizer make of each character: `tokenizers` is asked when it first occurs.

A code tells the kernels whether a character is white space, a word by itself or part of a word, and which bytes it
becomes. It is correct only for a character that becomes the same in every context. Where accents are kept, that is
every character, as nothing is decomposed. Where they are stripped, the text is decomposed and its marks are reordered
and dropped. Then a character has such a code unless it leaves a mark that reordering can move, or is unknown to
Python's Unicode tables.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Iterable, Sequence

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
_COMMON = (
    *((0, 0x52F), (0x5D0, 0x5EA), (0x621, 0x669), (0x900, 0x97F), (0xE00, 0xE7F)),
    *((0x1E00, 0x20BF), (0x2100, 0x2189), (0x2190, 0x22FF), (0x3041, 0x30FF)),
)
FIRST = [chr(point) for first, last in _COMMON for point in range(first, last + 1)]
"""Characters that get codes before any text: Latin, Greek, Cyrillic, Hebrew, Arabic, Devanagari, Thai, punctuation,
mathematics and Japanese ones."""
_POINTS = 0x110000
_BODY_BYTES = 1 << 20
_LOOKED_AT = 1 << 16
"""Bytes of a text, from a character without a code on, whose other characters get theirs as well."""


def empty_characters() -> Characters:
    """Return tables in which no character has been asked for."""
    return Characters(np.zeros(_POINTS, np.uint32), np.zeros(_BODY_BYTES + PAD, np.uint8), np.zeros(256, np.uint8))


def ask(normalizer: Normalizer, character: str) -> Becomes:
    """Return what becomes of a character.

    >>> ask(Normalizer(), "É") == (LETTER, "e"), ask(Normalizer(), "…") == (SINGLE, "…")
    (True, True)
    """
    return ask_all(normalizer, [character])[0]


def ask_all(normalizer: Normalizer, characters: Sequence[str]) -> list[Becomes]:
    """Return what becomes of each of some characters, which are asked for in one text.

    Each stands between two letters, and between these and the next ones is a word of another letter: nothing that a
    normalizer or a pre-tokenizer does reaches over it.
    """
    words = normalizer.words(" b ".join(f"a{character}a" for character in characters))
    ends = [place for place, word in enumerate(words) if word == "b"]
    if len(ends) != len(characters) - 1:
        raise RuntimeError(f"{len(characters)} characters became {len(ends) + 1} groups of words: {words[:20]}")
    edges = zip([0, *(end + 1 for end in ends)], [*ends, len(words)], strict=True)
    return [_becomes(normalizer, words[begin:end]) for begin, end in edges]


def _becomes(normalizer: Normalizer, words: Sequence[str]) -> Becomes:
    """Return what becomes of a character that between two letters a gives these words."""
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


@functools.cache
def _known(normalizer: Normalizer) -> dict[str, Becomes]:
    """Return what this process has asked for; it grows."""
    return {}


def _asked_once(normalizer: Normalizer, characters: Sequence[str]) -> list[Becomes]:
    """Return what becomes of each of some characters, of which this process has asked for some before."""
    known = _known(normalizer)
    if new := [character for character in dict.fromkeys(characters) if character not in known]:
        known.update(zip(new, ask_all(normalizer, new), strict=True))
    return [known[character] for character in characters]


def character_table(normalizer: Normalizer) -> CharacterTable:
    """Return a new table in which the characters of `FIRST` have codes."""
    first, table = _first(normalizer), CharacterTable(normalizer)
    table.copy(first)
    return table


@functools.cache
def _first(normalizer: Normalizer) -> CharacterTable:
    table = CharacterTable(normalizer)
    table.add(FIRST)
    ascii_characters = [*map(chr, range(128))]
    for character, (kind, body) in zip(ascii_characters, _asked_once(normalizer, ascii_characters), strict=True):
        if kind == LETTER and len(body) == 1 and body.isascii():
            table.arrays.folds[ord(character)] = ord(body)
    return table


class CharacterTable:
    """The codes of the characters that occurred so far, for one thread at a time."""

    def __init__(self, normalizer: Normalizer) -> None:
        self.arrays = empty_characters()
        self._normalizer = normalizer
        self._places: dict[str, int] = {}
        self._used = 0

    def copy(self, other: CharacterTable) -> None:
        """Take over the codes of a table of the same normalizer that has no character beyond `FIRST`."""
        end = ord(FIRST[-1]) + 1
        self.arrays.codes[:end] = other.arrays.codes[:end]
        self.arrays.bodies[: other._used] = other.arrays.bodies[: other._used]
        self.arrays.folds[:] = other.arrays.folds
        self._places, self._used = dict(other._places), other._used

    def add(self, characters: Iterable[str]) -> None:
        """Give a code to each character that has none."""
        codes = self.arrays.codes
        without_code = [character for character in characters if codes[ord(character)] == 0]
        for character, becomes in zip(without_code, _asked_once(self._normalizer, without_code), strict=True):
            codes[ord(character)] = self._code(*becomes)

    def add_new(self, text: NDArray[np.uint8], start: int, end: int) -> None:
        """Give codes to the character that begins at `start`, and to others after it that have none."""
        part = text[start : min(start + _LOOKED_AT, end)]
        self.add(set(part[part >= 0x80].tobytes().decode("utf-8", "ignore")))

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
