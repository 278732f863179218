"""What BERT's normaliser and pre-tokenizer make of each character, asked of `tokenizers` one character at a time.

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

from bertdata.wordpiece.kernel_encode import Characters
from bertdata.wordpiece.kernel_words import (
    ALONE,
    BYTES_SHIFT,
    CHARACTERS_SHIFT,
    LETTER,
    PAD,
    REFERENCE,
    SPACE,
    START_SHIFT,
)
from bertdata.wordpiece.normalizer import Normalizer

Becomes = tuple[int, str]
"""A kind and the characters that come of it."""
_POINTS = 0x110000
_BODY_BYTES = 1 << 20


def empty_characters() -> Characters:
    """Return tables in which no character has been asked for."""
    return Characters(np.zeros(_POINTS, np.uint32), np.zeros(_BODY_BYTES + PAD, np.uint8))


def ask(normalizer: Normalizer, character: str) -> Becomes:
    """Return what becomes of a character.

    >>> ask(Normalizer(), "É") == (LETTER, "e"), ask(Normalizer(), "…") == (ALONE, "…")
    (True, True)
    """
    words = normalizer.words_by_reference(f"a{character}a")
    if words == ["a", "a"]:
        return SPACE, ""
    if len(words) == 3 and words[0] == words[2] == "a":
        kind, body = ALONE, words[1]
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
        self.add(map(chr, range(128)))

    def add(self, characters: Iterable[str]) -> None:
        """Give a code to each character that has none."""
        codes = self.arrays.codes
        for character in characters:
            if codes[ord(character)] == 0:
                becomes = self._known.get(character)
                if becomes is None:
                    becomes = self._known[character] = ask(self._normalizer, character)
                codes[ord(character)] = self._code(*becomes)

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
