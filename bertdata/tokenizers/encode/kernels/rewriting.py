"""What a normalizer makes of texts, character by character, and where it has to be asked for a part of a text.

A character has a code: from the lowest bit, 2 of what is known of it, 6 of bytes that it becomes, 24 of where these are
in `bodies`. A fragment is a run of characters that are not normalized alone, with the one before them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bertdata.kernels.jit import kernel
from bertdata.kernels.simd import high_bits, lowest_bit
from bertdata.kernels.utf8 import decode

NOT_ASKED, ALONE, TOGETHER, WHOLE_ROW = range(4)
"""What is known of a code point: nothing yet; it becomes the same everywhere; it depends on those beside it; the whole
row has to be asked for."""
BODY_SHIFT, SIZE_SHIFT, KIND = 8, 2, 3
FULL = -1


@kernel
def find_fragments(text: Any, offsets: Any, codes: Any, all_ascii_alone: bool, fragments: Any, registers: Any) -> Any:
    """Write (from, to) of each fragment, int64 (n, 2); returns how many, or -1 - the byte of a character of no code.

    registers: the row to begin with, and the fragments so far. Where there is no room for more, it returns FULL - the
    length of the text.
    """
    size: Any = len(text)
    for row in range(registers[0], len(offsets) - 1):
        begin, end = offsets[row], offsets[row + 1]
        count: Any = registers[1]
        i: Any = begin
        before: Any = begin
        opened: Any = -1
        while i < end:
            if all_ascii_alone:
                skipped: Any = min(np.int64(lowest_bit(high_bits(text, i))), end - i)
                if skipped > 0:
                    if opened >= 0:
                        fragments[count, 0], fragments[count, 1] = opened, i
                        count += 1
                        opened = -1
                    i += skipped
                    before = i - 1
                    continue
            point, length = decode(text, i, end)
            kind = np.int64(codes[max(point, 0)]) & KIND
            if kind == NOT_ASKED:
                registers[0] = row
                return -1 - i
            if kind == WHOLE_ROW:
                count = registers[1]
                fragments[count, 0], fragments[count, 1] = begin, end
                count += 1
                opened = -1
                break
            if kind == TOGETHER:
                if opened < 0:
                    opened = before
            else:
                if opened >= 0:
                    fragments[count, 0], fragments[count, 1] = opened, i
                    count += 1
                    opened = -1
                before = i
            i += length
            if count + 2 >= len(fragments):
                registers[0] = row
                return -1 - size
        if opened >= 0:
            fragments[count, 0], fragments[count, 1] = opened, end
            count += 1
        registers[1] = count
        if count + 2 >= len(fragments):
            registers[0] = row + 1
            return -1 - size
    registers[0] = len(offsets) - 1
    return registers[1]


@kernel
def write(
    text: Any, offsets: Any, codes: Any, bodies: Any, fragments: Any, n_fragments: int, made: Any, ends: Any,
    out: Any, out_offsets: Any,
) -> Any:  # fmt: skip
    """Write the normalized rows and where each ends; returns the bytes, or FULL.

    The fragments become made[ends[k] : ends[k + 1]].
    """
    written: Any = 0
    k: Any = 0
    for row in range(len(offsets) - 1):
        i: Any = offsets[row]
        end: Any = offsets[row + 1]
        while i < end:
            stop: Any = end
            if k < n_fragments:
                stop = min(end, fragments[k, 0])
            while i < stop:
                byte = text[i]
                point: Any = np.int64(byte)
                length: Any = 1
                if byte >= 0x80:
                    point, length = decode(text, i, end)
                code = np.int64(codes[max(point, 0)])
                size, place = code >> SIZE_SHIFT & 63, code >> BODY_SHIFT
                if written + size + 64 > len(out):
                    return FULL
                out[written] = bodies[place]
                for j in range(1, size):
                    out[written + j] = bodies[place + j]
                written += size
                i += length
            if k < n_fragments and i == fragments[k, 0] and i < end:
                first, last = ends[k], ends[k + 1]
                if written + last - first + 64 > len(out):
                    return FULL
                for j in range(last - first):
                    out[written + j] = made[first + j]
                written += last - first
                i = fragments[k, 1]
                k += 1
        out_offsets[row + 1] = written
    return written
