"""SentencePiece's rules of normalisation, which a model holds as a trie, in the steps that `tokenizers` can do.

SentencePiece replaces the longest beginning of a text that a rule knows. The Precompiled normalizer of `tokenizers`
looks up graphemes of up to five bytes, of which it takes the shortest rule, and then single characters. So it misses a
kana with its voice mark, a letter with several accents and Hangul in single jamo, and drops an accent after a letter
that has a rule of its own. Here rules of several characters are applied before, by steps of their own.
"""

from __future__ import annotations

import struct
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
import regex

from bertdata.errors import InputError

VOICE_MARKS = "\uff9e\uff9f\u3099\u309a"
APART, IN_TEXT = chr(0x10EFFF), chr(0x10EFFE)
"""What stands between a character and a mark after it, and what it becomes where it is in a text."""
FORMER_MARKS = "\\p{M}\u200c\u200d\uff9e\uff9f"
MARKS = FORMER_MARKS + "\u0e33\u0eb3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f"
"""What makes a grapheme with the character before it, as a class of a pattern; former versions wrote a shorter one."""
_AFTER_ALL, _AFTER_MARKS = f"(?<=[\x01-\U0010ffff])(?=[{MARKS}])", f"(?<=[{MARKS}])(?=[{MARKS}])"
_IN_LINE_END = "(?<=[\r])(?=[\n])"
_MARK = regex.compile(f"[{MARKS}]")
_JAMO, _SYLLABLES = range(0x1100, 0x1200), range(0xAC00, 0xD7A4)
_SYLLABLE = "\uac01"
_MOST_VISITS = 4
_LONGEST_LOOKED_UP = 5
"""Precompiled looks up graphemes of so many bytes at most."""
_SCRIPTS_OF_UNICODE_16 = "\U00011000"
"""From here on vowels are made of vowels, as in Kirat Rai: other orders than those of words may go wrong."""
_LEAF, _VALUE = 1 << 8, 1 << 31


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
        self._rules_below: dict[int, list[tuple[bytes, str]]] = {}

    def get(self, key: str) -> str | None:
        """Return what a rule makes of a string; None where there is no rule for just that."""
        places = self._places(key.encode())
        return self._output(places[-1]) if places and len(places) == len(key.encode()) else None

    def change(self, text: str) -> bool:
        """Tell whether there is a rule for some part of a text."""
        data, units = text.encode(), self._units
        return any(units[place] & _LEAF for begin in range(len(data)) for place in self._places(data[begin:]))

    def go_on(self, text: str) -> bool:
        """Tell whether there is a rule for an end of a text and more after it."""
        for begin in range(len(text)):
            end = text[begin:].encode()
            places = self._places(end)
            if len(places) == len(end) and self._children(places[-1]):
                return True
        return False

    def characters(self) -> dict[str, bool]:
        """Return the characters that rules begin with, and whether there are rules that go on after them."""
        result: dict[str, bool] = {}
        waiting = [(0, b"")]
        while waiting:
            place, data = waiting.pop()
            if data and len(data) == _size_of_character(data[0]):
                result[data.decode()] = bool(self._children(place))
            else:
                waiting += [(child, data + bytes([byte])) for byte, child in self._children(place)]
        return result

    def longer(self, key: str) -> list[tuple[str, str]]:
        """Return the rules that begin with a string and are longer, the longest first."""
        places, data = self._places(key.encode()), key.encode()
        if len(places) < len(data):
            return []
        place = places[-1] if places else 0
        below = self._first_child(place)
        if below not in self._rules_below:
            self._rules_below[below] = self._below(place)
        rules = [((data + end).decode(), output) for end, output in self._rules_below[below]]
        return sorted(rules, key=lambda rule: (-len(rule[0]), rule))

    def _below(self, place: int) -> list[tuple[bytes, str]]:
        """Return the ends of the rules below a place, and their outputs."""
        rules: list[tuple[bytes, str]] = []
        waiting = [(place, b"")]
        while waiting:
            place, end = waiting.pop()
            if end and (output := self._output(place)) is not None:
                rules.append((end, output))
            waiting += [(child, end + bytes([byte])) for byte, child in self._children(place)]
        return rules

    def _output(self, place: int) -> str | None:
        """Return what the rule that ends at a place makes of it; None where none ends there."""
        if not self._units[place] & _LEAF:
            return None
        begin = self._units[self._first_child(place)] & (_VALUE - 1)
        return self._strings[begin : self._strings.index(b"\0", begin)].decode()

    def _places(self, data: bytes) -> list[int]:
        """Return the places of the trie that bytes lead to, as far as rules go on."""
        places: list[int] = []
        place, units = 0, self._units
        for byte in data:
            place = self._first_child(place) ^ byte
            if place >= len(units) or units[place] & (_VALUE | 0xFF) != byte:
                break
            places.append(place)
        return places

    def _first_child(self, place: int) -> int:
        unit: int = self._units[place]
        return place ^ unit >> 10 << ((unit & 1 << 9) >> 6)

    def _children(self, place: int) -> list[tuple[int, int]]:
        """Return the bytes that go on from a place of the trie, and where they lead."""
        self._visits += 1
        if self._visits > _MOST_VISITS * len(self._units):  # each place of a tree is there once
            raise ValueError("the trie of its rules is no tree")
        labels = np.arange(1, 256)
        children = self._first_child(place) ^ labels
        there = children < len(self._array)
        there &= self._array[np.where(there, children, 0)] & (_VALUE | 0xFF) == labels
        return [(int(labels[at]), int(children[at])) for at in np.flatnonzero(there)]


def _size_of_character(byte: int) -> int:
    """Return how many bytes of UTF-8 a character has that begins with a byte."""
    return 1 if byte < 0xC0 else 2 if byte < 0xE0 else 3 if byte < 0xF0 else 4


def charsmap_of(rules: Mapping[str, str]) -> bytes:
    """Return a `precompiled_charsmap` of rules, which do not hold the character 0.

    >>> Charsmap(charsmap_of({"a": "b", "\u00e9x": "", "\u00e8": "zz"})).longer("")
    [('\u00e9x', ''), ('a', 'b'), ('\u00e8', 'zz')]
    """
    strings, place_of = b"", {}
    for output in dict.fromkeys(rules.values()):
        place_of[output], strings = len(strings), strings + output.encode() + b"\0"
    values = {key.encode(): place_of[output] for key, output in rules.items()}
    below: dict[bytes, set[int]] = defaultdict(set)
    for key in values:
        for at in range(len(key)):
            below[key[:at]].add(key[at])
    units, taken, bases, free = {0: 0}, {0}, {0}, 1
    waiting = [(0, b"")]
    while waiting:
        place, key = waiting.pop()
        labels = [*below[key], *([0] if key in values else [])]
        while free in taken:
            free += 1
        start = free
        while (base := start ^ labels[0]) in bases or taken & {base ^ label for label in labels}:
            start += 1
        free = start if len(labels) == 1 else free
        bases.add(base)
        units[place] |= (base ^ place) << 10 | (_LEAF if key in values else 0)
        taken |= {base ^ label for label in labels}
        for label in below[key]:
            units[base ^ label] = label
            waiting.append((base ^ label, key + bytes([label])))
        if key in values:
            units[base] = _VALUE | values[key]
    size = (max(units) // 256 + 1) * 256
    array = struct.pack(f"<{size}I", *(units.get(place, 0) for place in range(size)))
    return struct.pack("<I", len(array)) + array + strings


class Composition(NamedTuple):
    """Rules of several characters as steps, one after another.

    alike: characters, and the ones that stand for them, as the same rules have them. strings: what is replaced by what
    wherever it is. pairs: what becomes of a character and a mark. of_jamo: whether Hangul in jamo is composed.
    """

    alike: Mapping[str, str]
    strings: list[tuple[str, str]]
    pairs: Mapping[str, str]
    of_jamo: bool


def composition(charsmap: bytes) -> Composition:
    """Return the rules of several characters as steps; raises InputError where no steps do what the rules do."""
    rules = Charsmap(charsmap)
    first = rules.characters()
    outputs = {character: rules.get(character) or character for character in first}
    of_jamo = rules.get("\u1100\u1161\u11a8") == _SYLLABLE
    jamo = {c for c, output in outputs.items() if of_jamo and len(output) == 1 and ord(output) in _JAMO}
    alike = {character: outputs[character] for character in jamo}
    going_on = [c for c, goes_on in first.items() if goes_on and not (of_jamo and (c in jamo or ord(c) in _SYLLABLES))]
    after = {c: _after(rules, c) for c in going_on}
    alike |= _of_classes((c, (outputs[c], after[c])) for c in going_on)
    keys = {c + end: output for c in going_on if alike[c] == c for end, output in after[c]}
    contexts: dict[str, set[tuple[str, str, str]]] = defaultdict(set)
    for key, output in keys.items():
        for at in range(1, len(key)):
            contexts[key[at]].add((key[:at], key[at + 1 :], output))
    alike |= _of_classes(
        (c, (rules.get(c) or c, frozenset(context))) for c, context in contexts.items() if c not in alike
    )
    keys = {key: output for key, output in keys.items() if all(alike[c] == c for c in key)}
    pairs = {key: output for key, output in keys.items() if _is_pair(key)}
    strings = {key: output for key, output in keys.items() if key not in pairs}
    _check(rules, keys, strings)
    return Composition(
        {c: other for c, other in alike.items() if c != other},
        sorted(strings.items(), key=lambda rule: (-len(rule[0]), rule)),
        pairs,
        of_jamo,
    )


def _after(rules: Charsmap, key: str) -> tuple[tuple[str, str], ...]:
    """Return what comes after a string in the rules that begin with it, and what they make of all."""
    return tuple((rule[len(key) :], output) for rule, output in rules.longer(key))


def _is_pair(key: str) -> bool:
    return len(key) == 2 and len(key.encode()) <= _LONGEST_LOOKED_UP and _MARK.fullmatch(key[1]) is not None


def _check(rules: Charsmap, keys: Mapping[str, str], strings: Mapping[str, str]) -> None:
    """Raise InputError where it counts in which order rules are applied, one after another."""
    for key, output in keys.items():
        goes_on = (
            key in strings and output < _SCRIPTS_OF_UNICODE_16 and not {*_after(rules, output)} <= {*_after(rules, key)}
        )
        if goes_on or rules.change(output):
            raise InputError(f"has rules that make {output!r} of {key!r}, and another one that changes it")
    if overlap := next((pair for pair in permutations(strings, 2) if _overlap(*pair)), None):
        raise InputError(f"has rules for {overlap[0]!r} and {overlap[1]!r}, which may overlap in a text")


def _of_classes(characters: Iterable[tuple[str, Any]]) -> dict[str, str]:
    """Return for each character, given with what rules make of it, the shortest one of which they make the same."""
    classes: dict[Any, list[str]] = defaultdict(list)
    for character, of_rules in characters:
        classes[of_rules].append(character)
    return {
        character: min(members, key=lambda each: (len(each.encode()), each))
        for members in classes.values()
        for character in members
    }


def _overlap(first: str, second: str) -> bool:
    """Tell whether an end of one string begins another; not for vowels that are not doubled, of scripts of Unicode 16.

    >>> _overlap("ab", "bc"), _overlap("ab", "abc"), _overlap("\U000113c2\U000113c2", "\U000113c2\U000113c9")
    (True, False, False)
    """
    ends = (first[-at:] for at in range(1, min(len(first), len(second))))
    return any(second.startswith(end) and end < _SCRIPTS_OF_UNICODE_16 for end in ends)


def steps(charsmap: bytes) -> list[Any]:
    """Return the normalizers of `tokenizers` that do what rules do; raises InputError where there are none."""
    from tokenizers import normalizers

    rules = composition(charsmap)
    of_jamo = [normalizers.NFC()] if rules.of_jamo else []
    return [
        normalizers.Replace(APART, IN_TEXT),
        *_apart(rules.alike, [_AFTER_ALL]),
        *(normalizers.Replace(*rule) for rule in rules.strings),
        *_apart(rules.pairs, [_AFTER_MARKS]),
        *_with_apart([_AFTER_ALL, _IN_LINE_END], [*of_jamo, normalizers.Precompiled(charsmap)]),
    ]


def _apart(rules: Mapping[str, str], patterns: Sequence[str]) -> list[Any]:
    from tokenizers import normalizers

    return _with_apart(patterns, [normalizers.Precompiled(charsmap_of(rules))]) if rules else []


def _with_apart(patterns: Sequence[str], some: Sequence[Any]) -> list[Any]:
    """Return normalizers that see characters apart where patterns say so."""
    from tokenizers import Regex, normalizers

    return [
        *(normalizers.Replace(Regex(pattern), APART) for pattern in patterns),
        *some,
        normalizers.Replace(APART, ""),
    ]
