"""SentencePiece's rules of normalisation, which a model holds as a trie, and those that `tokenizers` misses.

SentencePiece replaces the longest beginning of a text that a rule knows. The Precompiled normalizer of `tokenizers`
looks up graphemes of up to five bytes, of which it takes the shortest rule, and then single characters. So it misses a
kana with its voice mark and a letter with several accents, and drops the accent after a letter that has a rule of its
own, as a full-width one has, or with its first accent, as in Yoruba's decomposed o with a dot and a tone. Such
sequences are replaced before it. Not so Hangul that is written in single jamo.
"""

from __future__ import annotations

import struct
import unicodedata
from collections.abc import Iterator

VOICE_MARKS = "\uff9e\uff9f\u3099\u309a"
_KANA = [*map(chr, range(0xFF66, 0xFF9E)), *map(chr, range(0x3041, 0x3100))]
_CAPITALS = [*range(0x41, 0x5B), *range(0x391, 0x3AA), *range(0x401, 0x430)]
_LETTERS = [*map(chr, (*range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B), *_CAPITALS))]
_COMPOSED = [*map(chr, (*range(0xC0, 0x3000),))]
"""Where letters with accents are."""


class Charsmap:
    """The rules of a `precompiled_charsmap`: a double array (darts-clone), and the strings that its values point to.

    Raises ValueError or struct.error where it is damaged.
    """

    def __init__(self, data: bytes) -> None:
        (size,) = struct.unpack_from("<I", data)
        if size % 4 or size + 4 > len(data):
            raise ValueError(f"the trie of its rules has {size} bytes, of {len(data)} in all")
        self._units = struct.unpack_from(f"<{size // 4}I", data, 4)
        self._strings = data[4 + size :]

    def get(self, key: str) -> str | None:
        """Return what a rule makes of a string; None where there is no rule for just that."""
        places, units = self._places(key.encode()), self._units
        if len(places) < len(key.encode()) or not places or not units[places[-1]] >> 8 & 1:
            return None
        begin = units[places[-1] ^ _offset(units[places[-1]])] & 0x7FFFFFFF
        return self._strings[begin : self._strings.index(b"\0", begin)].decode()

    def change(self, text: str) -> bool:
        """Tell whether there is a rule for some part of a text."""
        data, units = text.encode(), self._units
        return any(units[place] >> 8 & 1 for begin in range(len(data)) for place in self._places(data[begin:]))

    def go_on(self, text: str) -> bool:
        """Tell whether there is a rule for an end of a text and more after it."""
        for begin in range(len(text)):
            end = text[begin:].encode()
            places = self._places(end)
            if len(places) == len(end) and self._has_children(places[-1]):
                return True
        return False

    def _places(self, data: bytes) -> list[int]:
        """Return the places of the trie that bytes lead to, as far as rules go on."""
        places: list[int] = []
        place, units = 0, self._units
        for byte in data:
            place ^= _offset(units[place]) ^ byte
            if place >= len(units) or units[place] & 0x800000FF != byte:
                break
            places.append(place)
        return places

    def _has_children(self, place: int) -> bool:
        units = self._units
        first = place ^ _offset(units[place])
        children = ((first ^ label, label) for label in range(1, 256))
        return any(child < len(units) and units[child] & 0x800000FF == label for child, label in children)


def _offset(unit: int) -> int:
    return unit >> 10 << ((unit & 1 << 9) >> 6)


def missed_rules(charsmap: bytes, *, kana: bool, accents: bool) -> Iterator[tuple[str, str]]:
    """Yield the rules that have to be applied before Precompiled, in this order: what is replaced, and by what.

    kana: those of kana with a voice mark. accents: those of letters with accents, as one more may follow, and of
    letters whose accent is lost otherwise: full-width ones, and where rules fold case capitals.
    """
    rules = Charsmap(charsmap)
    for base in _KANA if kana else ():
        for mark in VOICE_MARKS:
            composed = rules.get(base + mark)
            if composed is not None:
                yield base + mark, composed
    for letter in (*_LETTERS, *_COMPOSED) if accents else ():
        plain = rules.get(letter)
        if plain is not None and len(plain) == 1 and rules.get(plain) is None:
            yield letter, plain
    accented = {unicodedata.normalize("NFD", letter) for letter in _COMPOSED} if accents else set()
    for letters in sorted((rule for rule in accented if len(rule) > 1), key=lambda rule: (-len(rule), rule)):
        composed = rules.get(letters)
        if composed is not None:
            yield letters, composed
