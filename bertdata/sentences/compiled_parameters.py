"""Punkt parameters as flat arrays for `punkt_kernel.py`: hash tables over byte strings, and what each character is.

Keys are UTF-8 and compared in full, so two words with one hash are still two words.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.characters.newer import alike, lowered
from bertdata.sentences.parameters import LOWER, UPPER, PunktParameters
from bertdata.sentences.tokens import NUMBER, QUOTES, letters_in, spaces_in

WORD, NON_WORD, APOSTROPHE, NOT_FIRST, CONTROL, HIGH, SPACE, NEWLINE, DOT, MARK = range(10)
"""Classes of bytes: `?` and `!` are MARK; NON_WORD neither begins nor continues a token, NOT_FIRST only continues."""

LETTER, IS_UPPER, IS_LOWER, IS_SPACE, IS_QUOTE, RARE = (1 << n for n in range(6))
"""What a character is. RARE ones go through Python: no single lower-case form, digits beyond ASCII, above KNOWN."""

ABBREVIATION, FIRST, STARTER = 1, 2, 1
"""Values of keys: of words before, ABBREVIATION and FIRST of a collocation; of tokens after, STARTER and flags."""

KNOWN = 0x3100
FLAGS = 256
"""Where in `chars` the flags of the characters below KNOWN begin; the classes of bytes come before them."""

BEFORE, AFTER, PAIRS, NUMBER_BEFORE, NUMBER_AFTER, LOWER_FORMS, ENDINGS = 0, 5, 10, 12, 13, 14, 15
SLOTS, MASK, OFFSETS, STRINGS, VALUES = range(5)
"""Places in the first 16 of `places`; those of the second line are added to BEFORE, AFTER or PAIRS."""

LONGEST_ENDING = 31
ENDING_BITS = (LONGEST_ENDING + 1) << 10

HASH_START, HASH_PRIME, HASH_MASK = 18652613, 16777619, 0x7FFFFFFF


class Tables(NamedTuple):
    """All that decides, in two arrays, as a kernel pays for each that it is given.

    `places` leads to hash tables of the words BEFORE a mark and the tokens AFTER it: SLOTS with MASK, each 0 or
    (hash << 32) | (key + 1), and by key the OFFSETS of the STRINGS and the VALUES in `chars`. It leads on to the hash
    table of collocations (PAIRS), has the keys of Punkt's one number, and leads to the LOWER_FORMS of characters. The
    ENDINGS are bits in `chars`, set for each `ending` that a word BEFORE a mark has.
    """

    places: NDArray[np.int64]
    chars: NDArray[np.uint8]


def hash_bytes(data: bytes) -> int:
    """Return the hash of bytes, 31 bits by the recurrence of FNV-1a; the kernel computes the same."""
    value = HASH_START
    for byte in data:
        value = ((value ^ byte) * HASH_PRIME) & HASH_MASK
    return value


def hash_all(strings: Sequence[bytes]) -> list[int]:
    """Return the hash of each of some bytes, all of them a byte at a time.

    >>> hash_all([b"mr", b"", b"st"]) == [hash_bytes(b"mr"), hash_bytes(b""), hash_bytes(b"st")]
    True
    """
    lengths = np.array([*map(len, strings)], np.int64)
    order = np.argsort(-lengths, kind="stable")
    data = np.frombuffer(b"".join(strings) + b"\0", np.uint8).astype(np.int64)
    starts, values = (np.cumsum(lengths) - lengths)[order], np.full(len(strings), HASH_START, np.int64)
    longer = np.searchsorted(-lengths[order], -np.arange(lengths.max(initial=0)), side="left")
    for place, many in enumerate(longer.tolist()):
        values[:many] = ((values[:many] ^ data[starts[:many] + place]) * HASH_PRIME) & HASH_MASK
    hashes = np.empty_like(values)
    hashes[order] = values
    return hashes.tolist()


def ending(second_last: int, last: int, length: int) -> int:
    """Return a number below `ENDING_BITS` of a word of ASCII letters, two to LONGEST_ENDING, by its last two letters.

    The kernel computes the same.
    """
    return length << 10 | (second_last & 31) << 5 | last & 31


def _endings(words: Iterable[bytes]) -> NDArray[np.uint8]:
    """Return the bits of the endings that words have, eight in a byte."""
    bits = np.zeros(ENDING_BITS, np.bool_)
    for word in words:
        if 2 <= len(word) <= LONGEST_ENDING:
            bits[ending(word[-2], word[-1], len(word))] = True
    return np.packbits(bits, bitorder="little")


def hash_pair(before: int, after: int) -> int:
    """Return the hash of the two keys of a collocation; the kernel computes the same."""
    return ((before * HASH_PRIME) ^ (after * 40503)) & HASH_MASK


@functools.lru_cache(maxsize=16)
def build_tables(parameters: PunktParameters) -> Tables:
    """Return the arrays of parameters; the last few are kept."""
    firsts = {first for first, _ in parameters.collocations}
    seconds = {second for _, second in parameters.collocations}
    before = dict.fromkeys(sorted(parameters.abbrev_types), ABBREVIATION)
    before |= {key: before.get(key, 0) | FIRST for key in sorted(firsts)}
    after = {key: context & (UPPER | LOWER) for key, context in parameters.ortho_context.items()}
    after |= {key: after.get(key, 0) | STARTER for key in sorted(parameters.sent_starters)}
    after |= {key: after.get(key, 0) for key in sorted(seconds)}
    first_key = {string: key for key, string in enumerate(before)}
    second_key = {string: key for key, string in enumerate(after)}
    pairs = [(first_key[first], second_key[second]) for first, second in sorted(parameters.collocations)]
    classes, flags, lower = _characters()
    header = np.zeros(ENDINGS + 1, np.int64)
    index: list[NDArray[np.int64]] = [header]
    chars: list[NDArray[np.uint8]] = [classes, flags]
    header[NUMBER_BEFORE], header[NUMBER_AFTER] = first_key.get(NUMBER, -1), second_key.get(NUMBER, -1)
    header[LOWER_FORMS] = _add(index, lower)
    for table, values in ((BEFORE, before), (AFTER, after)):
        strings = [string.encode("utf-8", "surrogatepass") for string in values]
        hashed = hash_all(strings)
        slots = _slots(hashed, [value << 32 | key + 1 for key, value in enumerate(hashed)])
        header[table + SLOTS], header[table + MASK] = _add(index, slots), len(slots) - 1
        header[table + OFFSETS] = _add(index, np.cumsum([0, *map(len, strings)]))
        header[table + STRINGS] = _add(chars, np.frombuffer(b"".join([*strings, b"\0"]), np.uint8))
        header[table + VALUES] = _add(chars, np.array(list(values.values()), np.uint8))
    header[ENDINGS] = _add(chars, _endings(word.encode("utf-8", "surrogatepass") for word in before))
    slots = _slots([hash_pair(*pair) for pair in pairs], [(first << 32 | second) + 1 for first, second in pairs])
    header[PAIRS + SLOTS], header[PAIRS + MASK] = _add(index, slots), len(slots) - 1
    return Tables(np.concatenate(index), np.concatenate(chars))


def _add(parts: list[Any], values: Any) -> int:
    """Append an array; returns where it begins in all of them together."""
    parts.append(values)
    return sum(map(len, parts[:-1]))


def _slots(hashed: Iterable[int], contents: list[int]) -> NDArray[np.int64]:
    slots = [0] * (1 << (2 * len(contents) + 2).bit_length())
    mask = len(slots) - 1
    for value, content in zip(hashed, contents, strict=True):
        slot = (value ^ value >> 15) & mask
        while slots[slot]:
            slot = (slot + 1) & mask
        slots[slot] = content
    return np.array(slots, np.int64)


@functools.cache
def _characters() -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.int64]]:
    """Return the classes of bytes, and the flags and lower-case forms of the characters below KNOWN."""
    classes = np.full(256, WORD, np.uint8)
    classes[:32], classes[128:] = CONTROL, HIGH
    for of_kind, kind in (
        ("\t\v\f\r ", SPACE),
        ("\n", NEWLINE),
        (".", DOT),
        ("?!", MARK),
        (')";}]*:@({[', NON_WORD),
        ("'", APOSTROPHE),
        ("`&#-,", NOT_FIRST),
    ):
        classes[[ord(character) for character in of_kind]] = kind
    points = np.arange(KNOWN)
    characters = "".join(map(chr, range(KNOWN)))
    older, forms = np.array(list(alike(characters))), [form.lower() for form in lowered(characters)]
    rare = (np.fromiter(map(len, forms), np.int64) != 1) | ((points > 127) & np.char.isdecimal(older))
    rare[ord("\u03a3")] = True
    lower = np.where(rare, points, np.fromiter((ord(form[0]) for form in forms), np.int64))
    flags = (
        _are_among(letters_in(characters)) * LETTER
        | np.char.isupper(older) * IS_UPPER
        | np.char.islower(older) * IS_LOWER
        | _are_among(spaces_in(characters)) * IS_SPACE
        | _are_among(map(ord, QUOTES)) * IS_QUOTE
    )
    return classes, np.where(rare, RARE, flags).astype(np.uint8), lower


def _are_among(points: Iterable[int]) -> NDArray[np.bool_]:
    """Return which of the characters below KNOWN are some of them."""
    among = np.zeros(KNOWN, np.bool_)
    among[[point for point in points if point < KNOWN]] = True
    return among
