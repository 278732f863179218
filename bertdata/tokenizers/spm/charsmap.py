"""SentencePiece's rules of normalisation, which a model holds as a trie, and those that `tokenizers` misses.

SentencePiece replaces the longest beginning of a text that a rule knows. The Precompiled normalizer of `tokenizers`
looks up graphemes of up to five bytes, of which it takes the shortest rule, and then single characters. So it misses a
kana with its voice mark and a letter with several accents, and drops the accent after a letter that has a rule of its
own, as a full-width one has, or with its first accent, as in Yoruba's decomposed o with a dot and a tone. Such
sequences are replaced before it, and a character of private use keeps other marks apart from a letter with a rule, so
that they are not dropped with it. Hangul that is written in single jamo stays as it is.
"""

from __future__ import annotations

import struct
import unicodedata
from collections.abc import Collection, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

VOICE_MARKS = "\uff9e\uff9f\u3099\u309a"
_KANA = [*map(chr, range(0xFF66, 0xFF9E)), *map(chr, range(0x3041, 0x3100))]
_CAPITALS = [*range(0x41, 0x5B), *range(0x391, 0x3AA), *range(0x401, 0x430)]
_LETTERS = [*map(chr, (*range(0xFF21, 0xFF3B), *range(0xFF41, 0xFF5B), *_CAPITALS))]
_COMPOSED = [*map(chr, (*range(0xC0, 0x3000),))]
"""Where letters with accents are."""
APART, IN_TEXT = chr(0x10EFFF), chr(0x10EFFE)
"""What stands between a character and a mark after it, and what it becomes where it is in a text."""
MARKS = "\\p{M}\u200c\u200d\uff9e\uff9f"
"""What makes a grapheme with the character before it, as a class of a pattern."""
_MOST_VISITS = 4
_LONGEST_RULED = 0xFFFF
"""Precompiled drops marks of graphemes of up to five bytes, of which a mark has two: the letter has three at most."""


class Charsmap:
    """The rules of a `precompiled_charsmap`: a double array (darts-clone), and the strings that its values point to.

    Raises ValueError or struct.error where it is damaged.
    """

    def __init__(self, data: bytes) -> None:
        (size,) = struct.unpack_from("<I", data)
        if size % 4 or size + 4 > len(data):
            raise ValueError(f"the trie of its rules has {size} bytes, of {len(data)} in all")
        self._units = struct.unpack_from(f"<{size // 4}I", data, 4)
        self._array, self._visits = np.array(self._units, np.int64), 0
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

    def single(self) -> list[str]:
        """Return the characters of up to three bytes that have a rule."""
        characters = [chr(point) for point in range(0x20, _LONGEST_RULED + 1) if not 0xD800 <= point < 0xE000]
        encoded = [character.encode() for character in characters]
        units = self._array
        places, going_on = np.zeros(len(encoded), np.int64), np.ones(len(encoded), np.bool_)
        for at in range(3):
            longer = np.array([len(data) > at for data in encoded])
            labels = np.array([data[at] if len(data) > at else 0 for data in encoded])
            following = places ^ _offsets(units[places]) ^ labels
            known = following < len(units)
            known &= units[np.where(known, following, 0)] & 0x800000FF == labels
            places = np.where(longer & known, following, places)
            going_on &= known | ~longer
        ruled = going_on & (units[places] >> 8 & 1 == 1)
        return [characters[number] for number in np.flatnonzero(ruled)]

    def longer(self, key: str) -> list[tuple[str, str]]:
        """Return the rules that begin with a string and are longer, the longest first."""
        labels = np.arange(1, 256)
        rules, data = [], key.encode()
        places = self._places(data)
        waiting = [(places[-1], data)] if len(places) == len(data) else []
        while waiting:
            place, rule = waiting.pop()
            self._visits += 1
            if self._visits > _MOST_VISITS * len(self._units):  # each place of a tree is there once
                raise ValueError("the trie of its rules is no tree")
            if rule != data and self._units[place] >> 8 & 1:
                rules.append((rule.decode(), str(self.get(rule.decode()))))
            children = place ^ _offset(self._units[place]) ^ labels
            known = children < len(self._array)
            known &= self._array[np.where(known, children, 0)] & 0x800000FF == labels
            waiting += [(int(children[at]), rule + bytes([at + 1])) for at in np.flatnonzero(known)]
        return sorted(rules, key=lambda rule: (-len(rule[0]), rule))

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

    def has_longer(self, key: str) -> bool:
        """Tell whether there is a rule that begins with a string that has one, and is longer."""
        return self._has_children(self._places(key.encode())[-1])

    def _has_children(self, place: int) -> bool:
        units = self._units
        first = place ^ _offset(units[place])
        children = ((first ^ label, label) for label in range(1, 256))
        return any(child < len(units) and units[child] & 0x800000FF == label for child, label in children)


def _offset(unit: int) -> int:
    return unit >> 10 << ((unit & 1 << 9) >> 6)


def _offsets(units: NDArray[np.int64]) -> NDArray[np.int64]:
    offsets: NDArray[np.int64] = units >> 10 << ((units & 1 << 9) >> 6)
    return offsets


def lost_marks(charsmap: bytes, replaced: Collection[str]) -> tuple[list[tuple[str, str]], str]:
    """Return rules to apply before Precompiled, and the pattern of places where it would lose a mark after a character.

    replaced: characters that are replaced before. The rules are those of other characters with marks.
    """
    rules, more, characters = Charsmap(charsmap), [], []
    for character in rules.single():
        if character in replaced:
            continue
        characters.append(character)
        if rules.has_longer(character) and "HANGUL" not in unicodedata.name(character, ""):
            more += rules.longer(character)
    return more, f"(?<=[{_ranges(characters)}])(?=[{MARKS}])" if characters else ""


def _alike(rules: Charsmap, letter: str, plain: str) -> bool:
    """Tell whether a letter goes together with the same marks as another one; not so T and t, which has a diaeresis."""
    if ord(letter) not in _CAPITALS:
        return True
    longer = ({(rule[1:], text) for rule, text in rules.longer(each)} for each in (letter, plain))
    return len({*map(frozenset, longer)}) == 1


def _ranges(characters: Sequence[str]) -> str:
    """Return sorted characters as a class of a pattern has them.

    >>> _ranges("]abcef")
    '\\\\]a-cef'
    """
    points = np.array([*map(ord, characters)], np.int64)
    runs = np.split(points, np.flatnonzero(np.diff(points) != 1) + 1)
    written = [[f"\\{chr(point)}" if chr(point) in r"[]^-\&" else chr(point) for point in run] for run in runs]
    return "".join("".join(run) if len(run) < 3 else f"{run[0]}-{run[-1]}" for run in written)


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
        if plain is not None and len(plain) == 1 and rules.get(plain) is None and _alike(rules, letter, plain):
            yield letter, plain
    accented = {unicodedata.normalize("NFD", letter) for letter in _COMPOSED} if accents else set()
    for letters in sorted((rule for rule in accented if len(rule) > 1), key=lambda rule: (-len(rule), rule)):
        composed = rules.get(letters)
        if composed is not None:
            yield letters, composed
