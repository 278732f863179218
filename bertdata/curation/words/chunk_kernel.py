"""The compiled version of `reference.split_chunk`: the tokens of one chunk between white space, by its code points.

`rules.py` makes the tables. Two kinds of chunks, which are rare, are left to the reference: those that may hold an
address of the web, and those of which tokens side by side are an exception together, such as an emoticon.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.characters import (
    APOSTROPHE,
    COLON,
    COMMA,
    EQUALS,
    GREATER_THAN,
    HYPHEN,
    LESS_THAN,
    PERIOD,
    SLASH,
    is_digit,
    is_letter,
)
from bertdata.kernels.jit import inlined
from bertdata.kernels.mixer import mix
from bertdata.kernels.utf8 import decode

PRIME, SEED = np.uint64(0x100000001B3), np.uint64(0xCBF29CE484222325)
ALPHA, UPPER, LOWER, QUOTE, ICON, PREFIX, SUFFIX, BEFORE_PERIOD, UNIT_END, CURRENCY_BEGIN = (
    1 << bit for bit in range(10)
)
"""The bits of `Rules.classes`; the last two: the last character of a unit, the first of a currency of several."""
ENTRY_BEGIN, ENTRY_END, LENGTHS_BEGIN, LENGTHS_END, KIND = range(5)
"""The columns of entries: bytes of a string, lengths of its tokens in bytes, the bits of what it is."""
EXCEPTION, UNIT, CURRENCY = 1, 2, 4
MOST_BYTES, MOST_UNIT, MOST_CURRENCY = 63, 8, 4
"""The longest exception in bytes, the longest unit and the longest currency in characters that there may be."""
LEFT = -1
PLACES = 1 << 14
"""The length of `Rules.words`."""
PLUS, CIRCUMFLEX, ASTERISK, TILDE, LOWER_S = b"+^*~s"
ELLIPSIS, EN_DASH, EM_DASH, RIGHT_QUOTE, DEGREE = 0x2026, 0x2013, 0x2014, 0x2019, 0xB0
_ONE = np.uint64(1)


class Rules(NamedTuple):
    """What the kernel knows of characters and words; `rules.rules` makes it of the tables.

    classes: uint16 (1114112,), bits for each code point. words: uint8 (PLACES,), 1 at `word_place` of each exception of
    letters alone, with a period or without. shapes: uint64 (2, 256), bit n of [0, b] where an exception of n bytes
    begins with byte b, of [1, b] where one ends with it. The others are a table of strings: slots: int32, the entry at
    a hash, -1 where free, half of them or more; keys: uint64, the hashes; entries: int32 (strings, 5); pool: uint8, the
    strings; lengths: int32, of their tokens.
    """

    classes: NDArray[np.uint16]
    words: NDArray[np.uint8]
    shapes: NDArray[np.uint64]
    slots: NDArray[np.int32]
    keys: NDArray[np.uint64]
    entries: NDArray[np.int32]
    pool: NDArray[np.uint8]
    lengths: NDArray[np.int32]


@inlined
def hash_bytes(data: Any, begin: Any, end: Any) -> Any:
    """Return 64 bits of some bytes."""
    hash_bits = SEED
    for i in range(begin, end):
        hash_bits = (hash_bits ^ np.uint64(data[i])) * PRIME
    return mix(hash_bits)


@inlined
def same_bytes(data: Any, begin: Any, other: Any, other_begin: Any, size: Any) -> bool:
    """Tell whether `size` bytes at two places are the same."""
    k = 0
    while k < size and data[begin + k] == other[other_begin + k]:
        k += 1
    return bool(k == size)


@inlined
def word_place(first: Any, second: Any, last: Any, size: Any) -> Any:
    """Return the place in `Rules.words` of a word with these bytes and so many."""
    place = np.int64(first) * 131 + np.int64(second) * 1031 + np.int64(last) * 4099 + np.int64(size) * 521
    return place & (PLACES - 1)


@inlined
def find_string(rules: Any, data: Any, begin: Any, end: Any, kind: Any) -> Any:
    """Return the entry of a string of this kind, -1 where there is no such string."""
    key = hash_bytes(data, begin, end)
    mask = np.uint64(len(rules.slots) - 1)
    place = key & mask
    while rules.slots[place] >= 0:
        entry = np.int64(rules.slots[place])
        if rules.keys[place] == key:
            at = rules.entries[entry, ENTRY_BEGIN]
            same = rules.entries[entry, ENTRY_END] - at == end - begin
            if same and same_bytes(data, begin, rules.pool, at, end - begin):
                return entry if rules.entries[entry, KIND] & kind else np.int64(-1)
        place = (place + _ONE) & mask
    return np.int64(-1)


@inlined
def find_exception(rules: Any, data: Any, begin: Any, end: Any) -> Any:
    """Return the entry of the exception that some bytes are, -1 where they are not one."""
    size = end - begin
    if size < 1 or size > MOST_BYTES:
        return np.int64(-1)
    if not (rules.shapes[0, data[begin]] & rules.shapes[1, data[end - 1]]) >> np.uint64(size) & _ONE:
        return np.int64(-1)
    return find_string(rules, data, begin, end, EXCEPTION)


@inlined
def _prefix(rules: Any, data: Any, codes: Any, places: Any, low: Any, high: Any) -> Any:
    """Return how many characters come off the beginning of codes[low:high]."""
    first = codes[low]
    if rules.classes[first] & PREFIX:
        return 1
    if first == PLUS:
        return 1 if low + 1 == high or not is_digit(codes[low + 1]) else 0
    if first == PERIOD:
        last = low
        while last < high and codes[last] == PERIOD:
            last += 1
        return last - low if last - low > 1 else 0
    if rules.classes[first] & CURRENCY_BEGIN:
        for size in range(2, MOST_CURRENCY + 1):
            if low + size <= high and find_string(rules, data, places[low], places[low + size], CURRENCY) >= 0:
                return size
    return 0


@inlined
def _period_ends(rules: Any, codes: Any, low: Any, end: Any) -> bool:
    """Tell whether a period comes off after codes[low:end]."""
    if end <= low:
        return False
    kind = rules.classes[codes[end - 1]]
    if kind & BEFORE_PERIOD:
        return True
    if end - low < 2:
        return False
    if kind & UPPER and rules.classes[codes[end - 2]] & UPPER:
        return True
    last = codes[end - 1] | 32
    return bool(codes[end - 2] == DEGREE and is_letter(codes[end - 1]) and last in (0x63, 0x66, 0x6B))


@inlined
def _suffix(rules: Any, data: Any, codes: Any, places: Any, low: Any, high: Any) -> Any:
    """Return how many characters come off the end of codes[low:high], the most that any rule takes."""
    if low >= high:
        return 0
    last = codes[high - 1]
    kind = rules.classes[last]
    length = 1 if kind & SUFFIX else 0
    if high - low > 1:
        before = codes[high - 2]
        if last | 32 == LOWER_S and before in (APOSTROPHE, RIGHT_QUOTE):
            length = 2
        if last == ELLIPSIS and before == ELLIPSIS:
            length = 2
        if last == PLUS and is_digit(before) and length == 0:
            length = 1
    if last == PERIOD:
        first = high - 1
        while first > low and codes[first - 1] == PERIOD:
            first -= 1
        if high - first > 1:
            return high - first
        return 1 if _period_ends(rules, codes, max(low, high - 4), high - 1) else 0
    if kind & UNIT_END:
        digit = high - 2
        while digit >= low and high - 1 - digit < MOST_UNIT and not is_digit(codes[digit]):
            digit -= 1
        size = high - 1 - digit
        if digit >= low and size > length and is_digit(codes[digit]):
            length = size if find_string(rules, data, places[digit + 1], places[high], UNIT) >= 0 else length
    return length


@inlined
def _infix(rules: Any, codes: Any, low: Any, high: Any, place: Any) -> Any:
    """Return how many characters at a place of the middle codes[low:high] are a token that cuts it."""
    sign = codes[place]
    is_first, is_last = place == low, place + 1 == high
    before = codes[place] if is_first else codes[place - 1]
    after = codes[place] if is_last else codes[place + 1]
    if sign == PERIOD and not is_last and after == PERIOD:
        end = place
        while end < high and codes[end] == PERIOD:
            end += 1
        return end - place
    if sign == ELLIPSIS or rules.classes[sign] & ICON:
        return 1
    if is_first or is_last:
        return 0
    left, right = rules.classes[before], rules.classes[after]
    if sign in (PLUS, HYPHEN, ASTERISK, CIRCUMFLEX) and is_digit(before) and (is_digit(after) or after == HYPHEN):
        return 1
    if sign == PERIOD:
        return 1 if left & (LOWER | QUOTE) and right & (UPPER | QUOTE) else 0
    if sign == COMMA:
        return 1 if left & ALPHA and right & ALPHA else 0
    if not (left & ALPHA or is_digit(before)):
        return 0
    if sign in (HYPHEN, EM_DASH):
        end = place + 1
        while end < high and codes[end] == sign:
            end += 1
        most = 3 if sign == HYPHEN else 2
        return end - place if end - place <= most and end < high and rules.classes[codes[end]] & ALPHA else 0
    cuts = sign in (EN_DASH, TILDE, COLON, LESS_THAN, GREATER_THAN, EQUALS, SLASH)
    return 1 if cuts and right & ALPHA else 0


@inlined
def _may_be_address(rules: Any, codes: Any, low: Any, high: Any) -> bool:
    """Tell whether a middle has what each host has: a period before two letters that are no capitals, or three.

    The three are between digits, or what may be digits.
    """
    numbers = 0
    for place in range(low + 1, high - 1):
        if codes[place] == PERIOD:
            before, after = codes[place - 1], codes[place + 1]
            pair = place + 2 < high and rules.classes[after] & rules.classes[codes[place + 2]] & LOWER != 0
            if pair and (is_digit(before) or is_letter(before) or before > 0x80):
                return True
            numbers += (is_digit(before) or before >= 0x80) and (is_digit(after) or after >= 0x80)
    return numbers >= 3


@inlined
def _is_together(rules: Any, data: Any, begins: Any, ends: Any, first: Any, last: Any, low: Any, high: Any) -> bool:
    """Tell whether two or more tokens of a chunk are an exception together, apart from the one from low to high."""
    for start in range(first, last - 1):
        for stop in range(start + 1, last):
            begin, end = np.int64(begins[start]), np.int64(ends[stop])
            if end - begin > MOST_BYTES:
                break
            if (begin != low or end != high) and find_exception(rules, data, begin, end) >= 0:
                return True
    return False


@inlined
def split_chunk(
    rules: Any, data: Any, begin: Any, end: Any, codes: Any, places: Any, after: Any, begins: Any, ends: Any, word: Any
) -> Any:
    """Write where the tokens of data[begin:end] begin and end, from `word` on, and return the number after the last.

    LEFT: the chunk is left to the reference. codes, places, after: int32 with room for one more than its characters.
    """
    high = 0
    i: Any = begin
    while i < end:
        code, size = decode(data, i, end)
        codes[high], places[high] = code, i
        high += 1
        i += size
    places[high] = end
    # tokens off the front are written at once; lengths of those off the end wait in `after`, the outermost first
    low, tails, first = 0, 0, word
    entry = np.int64(-1)
    while low < high:
        entry = find_exception(rules, data, places[low], places[high])
        if entry >= 0:
            break
        prefix = _prefix(rules, data, codes, places, low, high)
        if prefix and low + prefix < high:
            entry = find_exception(rules, data, places[low + prefix], places[high])
            if entry >= 0:
                begins[word], ends[word] = places[low], places[low + prefix]
                word += 1
                low += prefix
                break
        suffix = _suffix(rules, data, codes, places, low + prefix, high)
        if suffix and low < high - suffix:
            entry = find_exception(rules, data, places[low], places[high - suffix])
            if entry >= 0:
                high -= suffix
                after[tails] = suffix
                tails += 1
                break
        if not prefix and not suffix:
            break
        if prefix:
            begins[word], ends[word] = places[low], places[low + prefix]
            word += 1
            low += prefix
        if suffix:
            high -= suffix
            after[tails] = suffix
            tails += 1
    known_begin: Any = 0
    known_end: Any = 0
    # the middle codes[low:high]: an exception, an address, or cut at signs between letters
    if low < high and entry >= 0:
        i = np.int64(places[low])
        known_begin, known_end = i, np.int64(places[high])
        for place in range(rules.entries[entry, LENGTHS_BEGIN], rules.entries[entry, LENGTHS_END]):
            begins[word], ends[word] = i, i + rules.lengths[place]
            i += rules.lengths[place]
            word += 1
    elif low < high:
        if _may_be_address(rules, codes, low, high):
            return LEFT
        start, place = low, low
        while place < high:
            size = _infix(rules, codes, low, high, place)
            if size and place > low:
                if place > start:
                    begins[word], ends[word] = places[start], places[place]
                    word += 1
                begins[word], ends[word] = places[place], places[place + size]
                word += 1
                start = place + size
            place += max(size, 1)
        if start < high:
            begins[word], ends[word] = places[start], places[high]
            word += 1
    while tails:
        tails -= 1
        begins[word], ends[word] = places[high], places[high + after[tails]]
        high += after[tails]
        word += 1
    return LEFT if _is_together(rules, data, begins, ends, first, word, known_begin, known_end) else word
