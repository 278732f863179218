"""The compiled core of word splitting: one pass over the UTF-8 bytes of texts.

Chunks of letters or of digits alone, with at most one sign on each side, are split here; any other by `chunk_kernel`,
and what that leaves by the caller.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bertdata.curation.words.chunk_kernel import LEFT, find_exception, split_chunk, word_place
from bertdata.curation.words.tables import PUNCTUATION, SENTENCE_END
from bertdata.kernels.characters import (
    CARRIAGE_RETURN,
    COLON,
    COMMA,
    EXCLAMATION_MARK,
    LEFT_PARENTHESIS,
    LOWER_A,
    LOWER_Z,
    PERIOD,
    QUOTATION_MARK,
    RIGHT_PARENTHESIS,
    SEMICOLON,
    TAB,
    UPPER_A,
    UPPER_Z,
    is_digit,
    is_letter,
)
from bertdata.kernels.characters import SPACE as BLANK
from bertdata.kernels.jit import inlined, kernel
from bertdata.kernels.simd import BLOCK, LETTERS, PLAIN, bits_of_ranges, lowest_bit, plain_bits_of_ranges
from bertdata.kernels.utf8 import decode

QUESTION_MARK = ord("?")
_FIRST_SEPARATOR, _LAST_SEPARATOR = 0x1C, 0x1F
"""Separators of ASCII, which Python takes for white space."""

_letter_bits: Any = plain_bits_of_ranges(LETTERS) if PLAIN else bits_of_ranges(LETTERS)
_LETTER_BYTE, _SPACE_BYTE, _HIGH_BYTE, _OTHER_BYTE = 1, 2, 4, 8
_KINDS = np.full(256, _OTHER_BYTE, np.uint8)
"""What each byte is by itself: white space of ASCII, a letter of ASCII, not ASCII, or another."""
_KINDS[[*range(UPPER_A, UPPER_Z + 1), *range(LOWER_A, LOWER_Z + 1)]] = _LETTER_BYTE
_KINDS[[BLANK, *range(TAB, CARRIAGE_RETURN + 1), *range(_FIRST_SEPARATOR, _LAST_SEPARATOR + 1)]] = _SPACE_BYTE
_KINDS[0x80:] = _HIGH_BYTE


@inlined
def space_size(data: Any, i: Any, end: Any) -> Any:
    """Return the bytes of the white space at a place, 0 where there is none."""
    byte = data[i]
    if byte < 0x80:
        return (
            1 if byte == BLANK or TAB <= byte <= CARRIAGE_RETURN or _FIRST_SEPARATOR <= byte <= _LAST_SEPARATOR else 0
        )
    if byte == 0xC2 and i + 1 < end:
        return 2 if data[i + 1] == 0x85 or data[i + 1] == 0xA0 else 0
    if i + 2 >= end or byte < 0xE1 or byte > 0xE3:
        return 0
    second, third = data[i + 1], data[i + 2]
    if byte == 0xE1:
        return 3 if second == 0x9A and third == 0x80 else 0
    if byte == 0xE3:
        return 3 if second == 0x80 and third == 0x80 else 0
    if second == 0x80:
        return 3 if third <= 0x8A or third in (0xA8, 0xA9, 0xAF) else 0
    return 3 if second == 0x81 and third == 0x9F else 0


@inlined
def characters(data: Any, begin: Any, end: Any) -> Any:
    """Count the code points of some bytes."""
    count = 0
    for i in range(begin, end):
        count += (data[i] & 0xC0) != 0x80
    return count


@inlined
def _is_rare(rules: Any, data: Any, first: Any, last: Any) -> Any:
    """Tell whether a word of letters may be an exception."""
    size = last - first
    return rules.words[word_place(data[first], data[first + (size > 1)], data[last - 1], size)]


@inlined
def _simple(rules: Any, data: Any, begin: Any, end: Any, letters: Any) -> Any:
    """Return the border before and the border after the middle of a chunk that is split here, (-1, -1) for another.

    letters: how many letters it begins with, or fewer.
    """
    first, last = begin, end
    if data[first] == LEFT_PARENTHESIS or data[first] == QUOTATION_MARK:
        first += 1
    sign = data[last - 1] if last > first else 0
    if sign in (
        COMMA,
        PERIOD,
        SEMICOLON,
        COLON,
        EXCLAMATION_MARK,
        QUESTION_MARK,
        RIGHT_PARENTHESIS,
        QUOTATION_MARK,
    ):
        last -= 1
    size = last - first
    if size < 1 or (size < 2 and size != end - begin):
        return -1, -1
    if is_digit(data[first]):
        for i in range(first + 1, last):
            if not is_digit(data[i]):
                return -1, -1
        return first, last
    for i in range(max(first, begin + letters), last):
        if not is_letter(data[i]):
            return -1, -1
    if _is_rare(rules, data, first, last):
        return -1, -1
    if last < end and data[last] == PERIOD:
        ends = LOWER_A <= data[last - 1] <= LOWER_Z
        ends = ends or (UPPER_A <= data[last - 1] <= UPPER_Z and UPPER_A <= data[last - 2] <= UPPER_Z)
        if not ends:
            return -1, -1
    return first, last


@kernel
def split_texts(
    rules: Any,
    data: Any,
    offsets: Any,
    codes: Any,
    places: Any,
    after: Any,
    begins: Any,
    ends: Any,
    borders: Any,
    unsplit: Any,
) -> Any:
    """Write where the words of texts begin and end; returns how many chunks are left to the reference.

    rules: `chunk_kernel.Rules`. codes, places, after: int32, room for the longest chunk and one more. borders: int64
    (texts + 1,), at which word each text begins. unsplit: int64 (some, 4), of the first of the chunks that are left:
    text, first byte, end, and before which word it is. Such a chunk has no words itself.
    """
    words, count = 0, 0
    for text in range(len(offsets) - 1):
        borders[text] = words
        i, stop = np.int64(offsets[text]), np.int64(offsets[text + 1])
        while i < stop:
            size = space_size(data, i, stop)
            if size:
                i += size
                continue
            begin, seen, letters = i, 0, np.int64(0)
            if i + BLOCK <= len(data):
                letters = np.int64(lowest_bit(~_letter_bits(data, i)))
                if 0 < letters < stop - i:
                    i, seen = i + letters, _LETTER_BYTE
                else:
                    letters = np.int64(0)
            while i < stop:
                kind = _KINDS[data[i]]
                if kind == _SPACE_BYTE or (kind == _HIGH_BYTE and space_size(data, i, stop)):
                    break
                seen |= kind
                i += 1
            # most chunks are one word of letters, which is looked at once
            is_word = seen == _LETTER_BYTE
            if is_word and _is_rare(rules, data, begin, i):
                is_word = find_exception(rules, data, begin, i) < 0
            if is_word:
                begins[words], ends[words] = begin, i
                words += 1
                continue
            first, last = _simple(rules, data, begin, i, letters)
            if first >= 0:
                if first > begin:
                    begins[words], ends[words] = begin, first
                    words += 1
                begins[words], ends[words] = first, last
                words += 1
                if last < i:
                    begins[words], ends[words] = last, i
                    words += 1
                continue
            words_after = split_chunk(rules, data, begin, i, codes, places, after, begins, ends, words)
            if words_after != LEFT:
                words = words_after
                continue
            if count < len(unsplit):
                unsplit[count, 0], unsplit[count, 1], unsplit[count, 2], unsplit[count, 3] = text, begin, i, words
            count += 1
    borders[len(offsets) - 1] = words
    return count


@kernel
def count_sentences(data: Any, offsets: Any, begins: Any, ends: Any, borders: Any, bits: Any, counts: Any) -> None:
    """Write how many sentences texts have: one begins after a sign that ends one.

    White space beyond a single blank is a token of its own.
    """
    for text in range(len(offsets) - 1):
        sentences, ended = 1, False
        place = np.int64(offsets[text])
        for word in range(borders[text], borders[text + 1] + 1):
            stop = np.int64(offsets[text + 1]) if word == borders[text + 1] else np.int64(begins[word])
            gap = stop - place
            if ended and (gap > 1 or (gap == 1 and data[place] != BLANK)):
                sentences += 1
                ended = False
            if word == borders[text + 1]:
                break
            i, end = np.int64(begins[word]), np.int64(ends[word])
            code, size = decode(data, i, end)
            ends_one = size == end - i and (bits[code] & SENTENCE_END) != 0
            signs = True
            while i < end:
                code, size = decode(data, i, end)
                if not bits[code] & PUNCTUATION:
                    signs = False
                    break
                i += size
            if ended and not signs and not ends_one:
                sentences += 1
                ended = False
            elif ends_one:
                ended = True
            place = end
        counts[text] = sentences
