"""The compiled core of Gopher's rules of quality: the figures of each text, in one pass over its words and its bytes.

The reference is `gopher.reference`. Thresholds are in the order of `gopher.RULES`, NaN where a rule is off.
"""

from __future__ import annotations

from typing import Any

from bertdata.curation.words.chunk_kernel import same_bytes
from bertdata.curation.words.kernel import characters, space_size
from bertdata.curation.words.tables import LETTER, SYMBOL
from bertdata.kernels.characters import CARRIAGE_RETURN, HYPHEN, NEWLINE, NUMBER_SIGN, PERIOD
from bertdata.kernels.jit import inlined, kernel
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
_FIRST_PRINTABLE = 0x20


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
def _line_shares(data: Any, begin: Any, end: Any) -> tuple[Any, Any]:
    """Return the shares of lines that begin with a bullet, and that end in an ellipsis."""
    lines, bullets, ellipses = 0, 0, 0
    i = begin
    while i < end:
        start = i
        size = 0
        while i < end:
            byte = data[i]
            size = 0 if _FIRST_PRINTABLE <= byte < 0x80 else line_break(data, i, end)
            if size:
                break
            i += 1
        first, last = trimmed(data, start, i)
        lines += 1
        if first < last:
            code, _ = decode(data, first, last)
            bullets += code in (BULLET, HYPHEN)
            dots = last - first >= 3 and data[last - 1] == PERIOD and data[last - 2] == PERIOD
            ellipses += (dots and data[last - 3] == PERIOD) or _is_ellipsis(data, last - 3, last)
        i += size
    return bullets / max(1, lines), ellipses / max(1, lines)


@inlined
def _signs(data: Any, begin: Any, end: Any) -> tuple[Any, Any]:
    """Count the hash signs and the ellipses of a text."""
    hashes, ellipses, i = 0, 0, begin
    while i < end:
        byte = data[i]
        if byte == NUMBER_SIGN:
            hashes += 1
        elif byte == PERIOD and i + 2 < end and data[i + 1] == PERIOD and data[i + 2] == PERIOD:
            ellipses += 1
            i += 2
        elif byte == 0xE2 and _is_ellipsis(data, i, end):
            ellipses += 1
        i += 1
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
    stop_ends: Any,
    limits: Any,
) -> tuple[Any, Any]:
    """Return the first rule that drops a text, or KEPT, and what it measured."""
    words, counted, length, alphabetic, stop_words = last - first, 0, 0, 0, 0
    for word in range(first, last):
        more, letter = _kind(data, starts[word], stops[word], bits)
        alphabetic += letter
        if more:
            counted += 1
            length += characters(data, starts[word], stops[word])
        if stops[word] - starts[word] <= 8:
            place = 0
            for number in range(len(stop_ends)):
                size = stop_ends[number] - place
                if size == stops[word] - starts[word] and same_bytes(data, starts[word], stop, place, size):
                    # a bit for each stop word that occurs
                    stop_words |= 1 << number
                place = stop_ends[number]
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
    bullet_lines, ellipsis_lines = _line_shares(data, begin, end)
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
    stop_ends: Any,
    limits: Any,
    codes: Any,
    figures: Any,
) -> None:
    """Write the number of the first rule that drops each text, -1 where it is kept, and what that rule measured.

    stop: uint8, the stop words one after another; stop_ends: where each ends.
    """
    for text in range(len(codes)):
        begin, end = offsets[text], offsets[text + 1]
        first, last = borders[text], borders[text + 1]
        codes[text], figures[text] = _judge(data, begin, end, begins, ends, first, last, bits, stop, stop_ends, limits)
