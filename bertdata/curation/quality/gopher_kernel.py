"""The compiled core of Gopher's rules of quality: the figures of each text, in one pass over its words and its bytes.

The reference is `gopher.reference`. Thresholds are in the order of `gopher.RULES`, NaN where a rule is off.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bertdata.curation.words.kernel import characters, space_size
from bertdata.curation.words.tables import LETTER, SYMBOL
from bertdata.kernels.characters import CARRIAGE_RETURN, HYPHEN, NEWLINE, NUMBER_SIGN, PERIOD
from bertdata.kernels.jit import inlined, kernel
from bertdata.kernels.simd import BLOCK, PLAIN, bits_of_ranges, count_bits, load64, lowest_bit, plain_bits_of_ranges
from bertdata.kernels.utf8 import decode

(
    MIN_WORDS,
    MAX_WORDS,
    MIN_LENGTH,
    MAX_LENGTH,
    HASHES,
    ELLIPSES,
    BULLET_LINES,
    ELLIPSIS_LINES,
    ALPHABETIC,
    STOP,
) = range(10)
KEPT = -1
BULLET, ELLIPSIS = 0x2022, 0x2026
_VERTICAL_TAB, _FORM_FEED, _FIRST_SEPARATOR, _LAST_SEPARATOR = 0x0B, 0x0C, 0x1C, 0x1E
_U = np.uint64
_WORD_BYTES = 8
_HIGH_BITS = _U(0x8080808080808080)

_bits_of: Any = plain_bits_of_ranges if PLAIN else bits_of_ranges
_break_bits: Any = _bits_of(((0x0A, 0x0D), (0x1C, 0x1E), (0xC2, 0xC2), (0xE2, 0xE2)))
"""Where a line break may begin: NEL begins with 0xC2, the separators of lines and paragraphs with 0xE2."""
_sign_bits: Any = _bits_of(((NUMBER_SIGN, NUMBER_SIGN), (PERIOD, PERIOD), (0xE2, 0xE2)))


@inlined
def line_break(data: Any, i: Any, end: Any) -> Any:
    """Return the bytes of the line break at a place, as `str.splitlines` knows them, 0 where there is none."""
    byte = data[i]
    if byte == CARRIAGE_RETURN:
        return 2 if i + 1 < end and data[i + 1] == NEWLINE else 1
    if byte < 0x80:
        return 1 if byte in (NEWLINE, _VERTICAL_TAB, _FORM_FEED) or _FIRST_SEPARATOR <= byte <= _LAST_SEPARATOR else 0
    if byte == 0xC2 and i + 1 < end and data[i + 1] == 0x85:
        return 2
    if byte == 0xE2 and i + 2 < end and data[i + 1] == 0x80 and (data[i + 2] == 0xA8 or data[i + 2] == 0xA9):
        return 3
    return 0


@inlined
def trimmed(data: Any, begin: Any, end: Any) -> tuple[Any, Any]:
    """Return where a piece of text begins and ends without the white space around it."""
    while begin < end:
        size = space_size(data, begin, end)
        if not size:
            break
        begin += size
    while begin < end:
        byte = data[end - 1]
        size = 1
        while byte >= 0x80 and size < 3 and end - size > begin and data[end - size] & 0xC0 == 0x80:
            size += 1
        if space_size(data, end - size, end) != size:
            break
        end -= size
    return begin, end


@inlined
def _is_ellipsis(data: Any, i: Any, end: Any) -> bool:
    return bool(i + 2 < end and data[i] == 0xE2 and data[i + 1] == 0x80 and data[i + 2] == 0xA6)


@inlined
def _next_break(data: Any, i: Any, end: Any) -> tuple[Any, Any]:
    """Return where the next line break begins, and its bytes; the end and 0 where there is none."""
    bits = _U(0)
    block: Any = i
    while block < end:
        if block + BLOCK <= len(data):
            bits = _break_bits(data, block)
            while bits != _U(0):
                at = block + np.int64(lowest_bit(bits))
                bits &= bits - _U(1)
                if at >= end:
                    break
                size = line_break(data, at, end)
                if size:
                    return at, size
            block += BLOCK
        else:
            size = line_break(data, block, end)
            if size:
                return block, size
            block += 1
    return end, 0


@inlined
def _line_shares(data: Any, begin: Any, end: Any, blank_lines: Any) -> tuple[Any, Any]:
    """Return the shares of lines that begin with a bullet, and that end in an ellipsis.

    Without `blank_lines` a run of line feeds is one line break.
    """
    lines, bullets, ellipses = 0, 0, 0
    i: Any = np.int64(begin)
    while i < end:
        start = i
        i, size = _next_break(data, start, end)
        first, last = trimmed(data, start, i)
        lines += 1
        if first < last:
            code, _ = decode(data, first, last)
            bullets += code in (BULLET, HYPHEN)
            dots = last - first >= 3 and data[last - 1] == PERIOD and data[last - 2] == PERIOD
            ellipses += (dots and data[last - 3] == PERIOD) or _is_ellipsis(data, last - 3, last)
        i += size
        if size and not blank_lines and data[i - 1] == NEWLINE:
            while i < end and data[i] == NEWLINE:
                i += 1
    return bullets / max(1, lines), ellipses / max(1, lines)


@inlined
def _sign_at(data: Any, i: Any, end: Any) -> tuple[Any, Any, Any]:
    """Return how many hash signs and ellipses begin at a place, 0 or 1, and how many bytes these take."""
    byte = data[i]
    if byte == NUMBER_SIGN:
        return 1, 0, 1
    if byte == PERIOD and i + 2 < end and data[i + 1] == PERIOD and data[i + 2] == PERIOD:
        return 0, 1, 3
    return 0, np.int64(byte == 0xE2 and _is_ellipsis(data, i, end)), 1


@inlined
def _signs(data: Any, begin: Any, end: Any) -> tuple[Any, Any]:
    """Count the hash signs and the ellipses of a text."""
    hashes, ellipses = 0, 0
    block: Any = np.int64(begin)
    past: Any = block
    while block < end:
        if block + BLOCK <= len(data):
            bits = _sign_bits(data, block)
            while bits != _U(0):
                at = block + np.int64(lowest_bit(bits))
                bits &= bits - _U(1)
                if at >= end:
                    break
                if at >= past:
                    hash_signs, dots, size = _sign_at(data, at, end)
                    hashes, ellipses, past = hashes + hash_signs, ellipses + dots, at + size
            block += BLOCK
        else:
            if block >= past:
                hash_signs, dots, size = _sign_at(data, block, end)
                hashes, ellipses, past = hashes + hash_signs, ellipses + dots, block + size
            block += 1
    return hashes, ellipses


@inlined
def _kind(data: Any, begin: Any, end: Any, bits: Any) -> tuple[Any, Any]:
    """Return whether a word has more than symbols, and whether it has a letter."""
    more, letter = False, False
    i = begin
    while i < end and not (more and letter):
        code, size = decode(data, i, end)
        more = more or not bits[code] & SYMBOL
        letter = letter or (bits[code] & LETTER) != 0
        i += size
    return more, letter


@inlined
def _short_word(data: Any, begin: Any, size: Any) -> Any:
    """Return up to eight bytes as one number, the first lowest."""
    if begin + _WORD_BYTES <= len(data):
        return load64(data, begin) & (~_U(0) >> _U(8 * (_WORD_BYTES - size)))
    number = _U(0)
    for place in range(size):
        number |= _U(data[begin + place]) << _U(8 * place)
    return number


@inlined
def _judge(
    data: Any,
    begin: Any,
    end: Any,
    starts: Any,
    stops: Any,
    first: Any,
    last: Any,
    bits: Any,
    stop: Any,
    limits: Any,
    blank_lines: Any,
) -> tuple[Any, Any]:
    """Return the first rule that drops a text, or KEPT, and what it measured."""
    words, counted, alphabetic = last - first, 0, 0
    length: Any = 0
    stop_words: Any = 0
    for word in range(first, last):
        at, size = np.int64(starts[word]), np.int64(stops[word]) - np.int64(starts[word])
        byte = data[at]
        if byte < 0x80 and bits[byte] & (LETTER | SYMBOL) == LETTER:
            more, letter = True, True
        else:
            more, letter = _kind(data, starts[word], stops[word], bits)
        alphabetic += letter
        if 0 < size <= _WORD_BYTES:
            value = _short_word(data, at, size)
            for number in range(len(stop)):
                # a bit for each stop word that occurs
                stop_words |= np.int64(stop[number] == value) << number
            inner = value & _HIGH_BITS & ~(value << _U(1))  # the second and later bytes of characters
            characters_of_word = size - np.int64(count_bits(inner))
        else:
            characters_of_word = characters(data, starts[word], stops[word])
        if more:
            counted += 1
            length += characters_of_word
    if counted < limits[MIN_WORDS]:
        return MIN_WORDS, float(counted)
    if counted > limits[MAX_WORDS]:
        return MAX_WORDS, float(counted)
    if counted and length / counted < limits[MIN_LENGTH]:
        return MIN_LENGTH, length / counted
    if counted and length / counted > limits[MAX_LENGTH]:
        return MAX_LENGTH, length / counted
    hashes, ellipses = _signs(data, begin, end)
    if words and hashes / words > limits[HASHES]:
        return HASHES, hashes / words
    if words and ellipses / words > limits[ELLIPSES]:
        return ELLIPSES, ellipses / words
    bullet_lines, ellipsis_lines = _line_shares(data, begin, end, blank_lines)
    if bullet_lines > limits[BULLET_LINES]:
        return BULLET_LINES, bullet_lines
    if ellipsis_lines > limits[ELLIPSIS_LINES]:
        return ELLIPSIS_LINES, ellipsis_lines
    if words and alphabetic / words < limits[ALPHABETIC]:
        return ALPHABETIC, alphabetic / words
    different = 0
    while stop_words:
        different += stop_words & 1
        stop_words >>= 1
    return STOP if different < limits[STOP] else KEPT, float(different)


@kernel
def judge_quality(
    data: Any,
    offsets: Any,
    begins: Any,
    ends: Any,
    borders: Any,
    bits: Any,
    stop: Any,
    limits: Any,
    blank_lines: Any,
    codes: Any,
    figures: Any,
) -> None:
    """Write the number of the first rule that drops each text, -1 where it is kept, and what that rule measured.

    stop: uint64, the stop words, each of eight bytes at most, as numbers, the first byte lowest; blank_lines: whether
    they count as lines.
    """
    for text in range(len(codes)):
        begin, end = offsets[text], offsets[text + 1]
        first, last = borders[text], borders[text + 1]
        codes[text], figures[text] = _judge(
            data, begin, end, begins, ends, first, last, bits, stop, limits, blank_lines
        )
