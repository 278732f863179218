"""The compiled core of FineWeb's rules, line by line. The reference is `fineweb.reference`."""

from __future__ import annotations

from typing import Any

import numpy as np

from bertdata.curation.quality.gopher_kernel import trimmed
from bertdata.curation.words.chunk_kernel import hash_bytes, same_bytes
from bertdata.curation.words.kernel import characters
from bertdata.curation.words.tables import TERMINAL
from bertdata.kernels.characters import NEWLINE
from bertdata.kernels.jit import inlined, kernel
from bertdata.kernels.utf8 import decode_last

KEPT = -1
LINE_PUNCTUATION, SHORT_LINES, DUPLICATE_LINES, NEWLINES, SHORT_LINE = range(5)


@inlined
def _judge(
    data: Any, begin: Any, end: Any, words: Any, bits: Any, limits: Any, table: Any, stamp: Any
) -> tuple[Any, Any]:
    """Return the first rule that drops a text, or KEPT, and what it measured."""
    lines, ended, short, again, breaks = 0, 0, 0, 0, 0
    for i in range(begin, end):
        breaks += data[i] == NEWLINE
    places = 16
    while places < 2 * (breaks + 1):
        places *= 2
    mask = np.uint64(places - 1)
    i = begin
    while i < end:
        start = i
        while i < end and data[i] != NEWLINE:
            i += 1
        first, last = trimmed(data, start, i)
        if first < last:
            lines += 1
            size = i - start
            code, _ = decode_last(data, start, i)
            ended += code >= 0 and (bits[code] & TERMINAL) != 0
            length = characters(data, start, i)
            short += length <= limits[SHORT_LINE]
            place = hash_bytes(data, start, i) & mask
            # lines that were met, by open addressing; an entry with another stamp is of another text, and free
            is_repeat = False
            while table[place, 0] == stamp and not is_repeat:
                other = np.int64(table[place, 1])
                same = other + size <= end and same_bytes(data, start, data, other, size)
                is_repeat = same and (other + size == end or data[other + size] == NEWLINE)
                if not is_repeat:
                    place = (place + np.uint64(1)) & mask
            if is_repeat:
                again += length
            else:
                table[place, 0], table[place, 1] = stamp, start
        i += 1
    if not lines:
        return KEPT, 0.0
    if ended / lines < limits[LINE_PUNCTUATION]:
        return LINE_PUNCTUATION, ended / lines
    if short / lines > limits[SHORT_LINES]:
        return SHORT_LINES, short / lines
    share = again / (characters(data, begin, end) - breaks)
    if share > limits[DUPLICATE_LINES]:
        return DUPLICATE_LINES, share
    return NEWLINES if breaks / words > limits[NEWLINES] else KEPT, breaks / words


@kernel
def judge_lines(
    data: Any, offsets: Any, borders: Any, bits: Any, limits: Any, table: Any, codes: Any, figures: Any
) -> None:
    """Write the number of the first rule that drops each text, -1 where it is kept, and what that rule measured.

    table: int32 (places, 2), zeros, of a power of two and at least twice the lines of the longest text.
    """
    for text in range(len(codes)):
        begin, end = np.int64(offsets[text]), np.int64(offsets[text + 1])
        words = borders[text + 1] - borders[text]
        codes[text], figures[text] = _judge(data, begin, end, words, bits, limits, table, text + 1)
