"""What `punkt_kernel` needs of characters, look-ups and tokens in UTF-8; the reference is `tokens`.

Every function works on data[begin:end] or on the word it is given and reads nothing beyond, whether or not the bytes
are UTF-8.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bertdata.arrays import Bytes
from bertdata.kernels.jit import inlined, kernel
from bertdata.kernels.utf8 import decode
from bertdata.sentences import compiled_parameters as tables

Longs = NDArray[np.int64]

LONGEST = 64
"""Bytes of the longest word that is looked up here."""
NEWLINE_BYTE, COMMA, DASH, PERIOD = 10, 44, 45, 46

_NO_TOKEN = (-1, 0, 0, 0)

_hash_pair = kernel(tables.hash_pair)


@inlined
def character_flags(data: Bytes, i: int, end: int, chars: Bytes) -> int:
    code, _ = decode(data, i, end)
    return tables.RARE if code < 0 or code >= tables.KNOWN else int(chars[tables.FLAGS + code])


@inlined
def _character_start(data: Bytes, i: int, begin: int) -> int:
    """Return where the character that ends at byte i begins."""
    j = i
    while j > begin and i - j < 3 and data[j] & 0xC0 == 0x80:
        j -= 1
    return j


@inlined
def space_length(data: Bytes, i: int, end: int, chars: Bytes) -> int:
    """Return the length of the white space at byte i, or 0."""
    kind = chars[data[i]]
    if tables.SPACE <= kind <= tables.NEWLINE:
        return 1
    if kind == tables.HIGH and character_flags(data, i, end, chars) & tables.IS_SPACE:
        return int(decode(data, i, end)[1])
    return 0


@inlined
def strip_left(data: Bytes, i: int, end: int, chars: Bytes) -> int:
    """Return the first byte from i on that `str.strip` leaves."""
    while i < end:
        length = 1 if 0x1C <= data[i] < 0x20 else space_length(data, i, end, chars)
        if length == 0:
            break
        i += length
    return i


@inlined
def strip_right(data: Bytes, begin: int, i: int, chars: Bytes) -> int:
    """Return the end of what `str.strip` leaves of the bytes before i."""
    while i > begin:
        j = _character_start(data, i - 1, begin)
        length = 1 if 0x1C <= data[j] < 0x20 else space_length(data, j, i, chars)
        if length == 0 or j + length != i:
            break
        i = j
    return i


@inlined
def _only_space_is_left(data: Bytes, i: int, end: int, chars: Bytes) -> bool:
    """Tell whether `str.strip` removes all from byte i to the end of the paragraph."""
    after = strip_left(data, i, end, chars)
    for j in range(i, after - 1):
        if data[j] == NEWLINE_BYTE and data[j + 1] == NEWLINE_BYTE:
            return True
    return after == end


@inlined
def token_after_mark(data: Bytes, mark: int, end: int, chars: Bytes) -> int:
    """Return where the token after a mark begins, or -1 where the mark is not a candidate."""
    i = mark + 1
    if i >= end:
        return -1
    kind = chars[data[i]]
    if kind in (tables.MARK, tables.NON_WORD, tables.APOSTROPHE) or (
        kind == tables.HIGH and character_flags(data, i, end, chars) & tables.IS_QUOTE
    ):
        return i
    if space_length(data, i, end, chars) == 0:
        return -1
    while i < end:
        if data[i] == NEWLINE_BYTE and i + 1 < end and data[i + 1] == NEWLINE_BYTE:
            return -1
        length = space_length(data, i, end, chars)
        if length == 0:
            break
        i += length
    return -1 if i == end or (data[i] < 0x20 and _only_space_is_left(data, i, end, chars)) else i


@inlined
def context_end(data: Bytes, mark: int, after: int, end: int, chars: Bytes) -> int:
    """Return where a candidate's context ends: after the one character at the mark, or after the next word.

    U+001C to U+001F belong to a word, but `str.strip` takes them from the end of a paragraph.
    """
    if after == mark + 1:
        return after + int(decode(data, after, end)[1])
    i = after
    while i < end and space_length(data, i, end, chars) == 0:
        i += 1
    if 0x1C <= data[i - 1] < 0x20 and _only_space_is_left(data, i, end, chars):
        return strip_right(data, after, i, chars)
    return i


@inlined
def find(word: Bytes, begin: int, end: int, index: Longs, chars: Bytes, table: int) -> int:
    """Return the key of word[begin:end] in a table, or -1."""
    value = tables.HASH_START
    for i in range(begin, end):
        value = ((value ^ int(word[i])) * tables.HASH_PRIME) & tables.HASH_MASK
    slots, mask = index[table + tables.SLOTS], index[table + tables.MASK]
    slot = (value ^ value >> 15) & mask
    while index[slots + slot] != 0:
        content = index[slots + slot]
        if content >> 32 == value:
            key = (content & 0xFFFFFFFF) - 1
            start, stop = index[index[table + tables.OFFSETS] + key], index[index[table + tables.OFFSETS] + key + 1]
            same = stop - start == end - begin
            start += index[table + tables.STRINGS]
            for i in range(begin, end):
                if not same or chars[start + i - begin] != word[i]:
                    same = False
                    break
            if same:
                return int(key)
        slot = (slot + 1) & mask
    return -1


@inlined
def value_of(key: int, index: Longs, chars: Bytes, table: int) -> int:
    return int(chars[index[table + tables.VALUES] + key]) if key >= 0 else 0


@inlined
def are_collocation(before: int, after: int, index: Longs) -> bool:
    pair = (before << 32 | after) + 1
    value = _hash_pair(before, after)
    slots, mask = index[tables.PAIRS + tables.SLOTS], index[tables.PAIRS + tables.MASK]
    slot = (value ^ value >> 15) & mask
    while index[slots + slot] != 0:
        if index[slots + slot] == pair:
            return True
        slot = (slot + 1) & mask
    return False


@inlined
def lower_case(data: Bytes, begin: int, end: int, index: Longs, chars: Bytes, word: Bytes) -> int:
    """Write a token in lower case into `word`; its length, or -1 for a rare character or a long token."""
    forms = index[tables.LOWER_FORMS]
    n = 0
    i = begin
    while i < end:
        if n + 3 > LONGEST:
            return -1
        if data[i] < 0x80:
            word[n] = index[forms + data[i]]
            n += 1
            i += 1
            continue
        code, length = decode(data, i, end)
        if code < 0 or code >= tables.KNOWN or chars[tables.FLAGS + code] & tables.RARE:
            return -1
        i += length
        code = index[forms + code]
        if code < 0x80:
            word[n] = code
            n += 1
        elif code < 0x800:
            word[n], word[n + 1] = 0xC0 | code >> 6, 0x80 | code & 63
            n += 2
        else:
            word[n], word[n + 1], word[n + 2] = 0xE0 | code >> 12, 0x80 | code >> 6 & 63, 0x80 | code & 63
            n += 3
    return n


@inlined
def is_number(word: Bytes, n: int) -> bool:
    i = 1 if n > 0 and word[0] == PERIOD else 0
    if i >= n or not 48 <= word[i] <= 57:
        return False
    while i < n and (48 <= word[i] <= 57 or COMMA <= word[i] <= PERIOD):
        i += 1
    return i == n


@inlined
def is_abbreviation(word: Bytes, n: int, key: int, index: Longs, chars: Bytes) -> bool:
    """Tell whether a word, or the part after its last hyphen, is an abbreviation."""
    if value_of(key, index, chars, tables.BEFORE) & tables.ABBREVIATION:
        return True
    for i in range(n - 1, -1, -1):
        if word[i] == DASH:
            last = find(word, i + 1, n, index, chars, tables.BEFORE)
            return value_of(last, index, chars, tables.BEFORE) & tables.ABBREVIATION != 0
    return False


@inlined
def last_token(data: Bytes, begin: int, mark: int, chars: Bytes) -> int:
    """Return where the token that ends with a period begins, or -1 where Python must decide."""
    start = mark
    if mark > begin and data[mark - 1] == PERIOD:
        while start > begin and data[start - 1] == PERIOD:
            start -= 1
    else:
        quoted = False
        while start > begin:
            c = data[start - 1]
            kind = chars[c]
            if kind == tables.NON_WORD or (c == DASH and start < mark and data[start] == DASH):
                break
            if kind in (tables.MARK, tables.CONTROL) or (kind == tables.DOT and data[start] == PERIOD):
                return -1
            if kind == tables.APOSTROPHE:
                start -= 1
                quoted = True
                break
            if kind == tables.HIGH:
                at = _character_start(data, start - 1, begin)
                flags = character_flags(data, at, start, chars)
                if flags & tables.RARE:
                    return -1
                if flags & tables.IS_SPACE:
                    break
                start = at
                if flags & tables.IS_QUOTE:
                    quoted = True
                    break
            else:
                start -= 1
        while not quoted and start < mark and chars[data[start]] == tables.NOT_FIRST:
            start += 1
    for i in range(begin, start):
        if chars[data[i]] >= tables.DOT or chars[data[i]] == tables.CONTROL:
            return -1
    return start


@inlined
def _first_token(data: Bytes, begin: int, end: int, chars: Bytes) -> int:
    """Return the end of the first token of the word at `begin`, or -1 where Python must decide."""
    kind = chars[data[begin]]
    i = begin + 1
    if kind in (tables.NON_WORD, tables.NOT_FIRST):
        while data[begin] == DASH and i < end and data[i] == DASH:
            i += 1
        return i
    if kind >= tables.DOT:
        return i if kind == tables.MARK and i == end else -1
    if kind == tables.HIGH:
        i = begin + decode(data, begin, end)[1]
    while i < end:
        c = data[i]
        kind = chars[c]
        double = i + 1 < end and data[i + 1] == c
        if kind in (tables.NON_WORD, tables.APOSTROPHE, tables.MARK) or (double and c in (PERIOD, DASH)):
            break
        if kind == tables.CONTROL:
            return -1
        if kind == tables.HIGH:
            flags = character_flags(data, i, end, chars)
            if flags & tables.RARE:
                return -1
            if flags & tables.IS_QUOTE:
                break
            i += decode(data, i, end)[1]
            continue
        # a comma ends the token at the end of the word, and before signs that are tokens of their own
        if c == COMMA:
            if i + 1 >= end:
                break
            after = chars[data[i + 1]]
            if after in (tables.NON_WORD, tables.APOSTROPHE, tables.MARK) or (
                after == tables.HIGH and character_flags(data, i + 1, end, chars) & tables.IS_QUOTE
            ):
                break
            if i + 2 < end and data[i + 1] == data[i + 2] and data[i + 1] in (PERIOD, DASH):
                break
        i += 1
    return i


@inlined
def token_after(
    data: Bytes, begin: int, end: int, index: Longs, chars: Bytes, word: Bytes
) -> tuple[int, int, int, int]:
    """Return (1, flags of its first character, key, value) of the first token of a word.

    _NO_TOKEN where Python must decide, as where a later token of the word could end a sentence.
    """
    stop = _first_token(data, begin, end, chars)
    if stop < 0:
        return _NO_TOKEN
    for i in range(stop, end - 1):
        if chars[data[i]] >= tables.DOT:
            return _NO_TOKEN
    n = lower_case(data, begin, stop, index, chars, word)
    period = data[stop - 1] == PERIOD
    if n < 0 or (period and stop < end):
        return _NO_TOKEN
    key = index[tables.NUMBER_AFTER]
    if not is_number(word, n):
        if period:
            entry = find(word, 0, n - 1, index, chars, tables.BEFORE)
            if not is_abbreviation(word, n - 1, entry, index, chars):
                n -= 1
        key = find(word, 0, n, index, chars, tables.AFTER)
    return 1, character_flags(data, begin, end, chars), key, value_of(key, index, chars, tables.AFTER)
