"""What a normalizer makes of texts, character by character, and where it has to be asked for a part of a text.

A character has a code: from the lowest bit, 2 of what is known of it, 6 of bytes that it becomes, 24 of where these are
in `bodies`. A fragment is a run of characters that are not normalized alone, with the one before them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bertdata.kernels.jit import inlined, kernel
from bertdata.kernels.simd import BLOCK, high_bits, load64, lowest_bit, range_bits, space_bits, store64
from bertdata.kernels.utf8 import decode

NOT_ASKED, ALONE, TOGETHER, WHOLE_ROW = range(4)
"""What is known of a code point: nothing yet; it becomes the same everywhere; it depends on those beside it; the whole
row has to be asked for."""
BODY_SHIFT, SIZE_SHIFT, KIND = 8, 2, 3
FULL = -1
_U = np.uint64
_0, _1, _8, _64 = _U(0), _U(1), _U(8), _U(64)
_SIZE_SHIFT, _BODY_SHIFT, _63 = _U(SIZE_SHIFT), _U(BODY_SHIFT), _U(63)
_SLACK = 64


@kernel
def find_fragments(text: Any, offsets: Any, codes: Any, plain: Any, fragments: Any, registers: Any) -> Any:
    """Write (from, to) of each fragment, int64 (n, 2); returns how many, or -1 - the byte of a character of no code.

    plain: whether each byte is a character of ASCII that is ALONE, bool (256,). registers: the row to begin with, and
    the fragments so far. It returns -1 - len(text) once `fragments` is full.
    """
    full: Any = -1 - len(text)
    for row in range(registers[0], len(offsets) - 1):
        end = offsets[row + 1]
        count: Any = registers[1]
        i: Any = offsets[row]
        before: Any = i
        opened: Any = -1
        while i < end:
            if plain[text[_U(i)]]:
                if opened >= 0:
                    fragments[count, 0], fragments[count, 1] = opened, i
                    count += 1
                    opened = -1
                at, stop = _U(i) + _1, _U(end)
                while at < stop and plain[text[at]]:
                    at += _1
                i = np.int64(at)
                before = i - 1
                continue
            point, length = decode(text, i, end)
            kind = np.int64(codes[max(point, 0)]) & KIND
            if kind == NOT_ASKED:
                registers[0] = row
                return -1 - i
            if kind == WHOLE_ROW:
                count = registers[1]
                fragments[count, 0], fragments[count, 1] = offsets[row], end
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
                return full
        if opened >= 0:
            fragments[count, 0], fragments[count, 1] = opened, end
            count += 1
        registers[1] = count
        if count + 2 >= len(fragments):
            registers[0] = row + 1
            return full
    registers[0] = len(offsets) - 1
    return registers[1]


@inlined
def _copy(source: Any, start: Any, size: Any, out: Any, written: Any) -> None:
    """Copy bytes eight at a time; up to seven bytes after them are read and written as well."""
    for j in range(_0, size, _8):
        store64(out, written + j, load64(source, start + j))


@inlined
def _write_blocks(
    text: Any, at: Any, last: Any, changed: Any, codes: Any, bodies: Any, out: Any, written: Any
) -> Any:  # fmt: skip
    """Write blocks of text, few characters of which are `changed`, up to the first byte beyond ASCII.

    Returns where it ended, less than a block before `last`, and the bytes written.
    """
    plain: Any = True
    while plain and at + _64 <= last:
        stops = high_bits(text, at)
        for j in range(len(changed)):
            stops |= range_bits(text, at, changed[j, 0], changed[j, 1])
        after = at + _64
        while at < after and plain:
            stop = min(after - _64 + lowest_bit(stops), after)
            _copy(text, at, stop - at, out, written)
            written += stop - at
            at = stop
            if at < after:
                stops &= stops - _1
                plain = text[at] < 0x80
                if plain:
                    code = _U(codes[text[at]])
                    size = code >> _SIZE_SHIFT & _63
                    _copy(bodies, code >> _BODY_SHIFT, size, out, written)
                    written += size
                    at += _1
    return at, written


@kernel
def write(
    text: Any, offsets: Any, codes: Any, bodies: Any, folds: Any, changed: Any, most: int, fragments: Any,
    n_fragments: int, made: Any, ends: Any, out: Any, out_offsets: Any,
) -> Any:  # fmt: skip
    """Write the normalized rows and where each ends; returns the bytes, or FULL.

    folds: the byte that each byte of ASCII becomes, uint8 (256,), 0 where it becomes none or several; changed: runs of
    those that are not what they become, the first and how many more, uint8 (n, 2), none where they are many; most: the
    most bytes that one becomes. The fragments become made[ends[k] : ends[k + 1]].
    """
    written = _U(0)
    k: Any = 0
    for row in range(len(offsets) - 1):
        i: Any = offsets[row]
        end: Any = offsets[row + 1]
        while i < end:
            stop: Any = end
            if k < n_fragments:
                stop = min(end, fragments[k, 0])
            if np.int64(written) + most * (stop - i) + _SLACK > len(out):
                return FULL
            at, last = _U(i), _U(stop)
            if len(changed) > 0:
                at, written = _write_blocks(text, at, last, changed, codes, bodies, out, written)
            while at < last:
                byte = text[at]
                folded = folds[byte]
                out[written] = folded
                written += _1
                if folded == 0:
                    written -= _1
                    if byte >= 0x80:
                        break
                    code = _U(codes[byte])
                    size, place = code >> _SIZE_SHIFT & _63, code >> _BODY_SHIFT
                    for j in range(size):
                        out[written + j] = bodies[place + j]
                    written += size
                at += _1
            i = np.int64(at)
            if i < stop:
                point, length = decode(text, i, end)
                entry = np.int64(codes[max(point, 0)])
                long, start = entry >> SIZE_SHIFT & 63, entry >> BODY_SHIFT
                for j in range(long):
                    out[written + _U(j)] = bodies[start + j]
                written += _U(long)
                i += length
            elif k < n_fragments and i == fragments[k, 0] and i < end:
                first, long = ends[k], ends[k + 1] - ends[k]
                if np.int64(written) + long + _SLACK > len(out):
                    return FULL
                for j in range(long):
                    out[written + _U(j)] = made[first + j]
                written += _U(long)
                i = fragments[k, 1]
                k += 1
        out_offsets[row + 1] = written
    return np.int64(written)


@kernel
def prepend(text: Any, offsets: Any, prefix: Any, twice: bool, out: Any, out_offsets: Any) -> Any:
    """Write rows with a prefix before those that are not empty, and `twice` where they begin with it.

    There is room for all of it; returns the bytes.
    """
    written = _0
    for row in range(len(offsets) - 1):
        at, end = _U(offsets[row]), _U(offsets[row + 1])
        has: Any = end - at >= _U(len(prefix))
        for j in range(len(prefix) if has else 0):
            has = has and text[at + _U(j)] == prefix[j]
        if at < end and (twice or not has):
            for j in range(len(prefix)):
                out[written + _U(j)] = prefix[j]
            written += _U(len(prefix))
        _copy(text, at, end - at, out, written)
        written += end - at
        out_offsets[row + 1] = written
    return np.int64(written)


@kernel
def mark_points(text: Any, i: int, end: int, present: Any) -> None:
    """Set `present`, bool for each code point, for what a text has of characters beyond ASCII, and for all of ASCII."""
    for point in range(0x80):
        present[point] = True
    while i < end:
        skipped: Any = np.int64(lowest_bit(high_bits(text, i)))
        i += skipped
        if skipped == 0:
            point, size = decode(text, i, end)
            present[max(point, 0)] = True
            i += size


@kernel
def replace_runs(
    text: Any, offsets: Any, spaces: Any, kinds: Any, least: int, content: Any, out: Any, out_offsets: Any
) -> Any:  # fmt: skip
    """Write rows in which runs of at least so many spaces are some other text; returns the bytes, or FULL.

    spaces: for each byte whether it is a space, 1, or may begin one outside of ASCII, 2, uint8 (256,); kinds: for each
    code point up to U+3000 whether it is one, bool.
    """
    written = _U(0)
    any_high: Any = False
    for byte in range(0x80, 0x100):
        any_high = any_high or spaces[byte] > 0
    for row in range(len(offsets) - 1):
        at, end = _U(offsets[row]), _U(offsets[row + 1])
        if np.int64(written) + np.int64(end - at) + _SLACK > len(out):
            return FULL
        while at < end:
            if at + _64 <= end and text[at] < 0x80:  # a block is copied as far as no run can begin in it
                runs = space_bits(text, at)
                if any_high:
                    runs |= high_bits(text, at)
                if least > 1:
                    runs &= runs >> _1 | _1 << _63
                clear = lowest_bit(runs)
                for j in range(BLOCK):
                    out[written + _U(j)] = text[at + _U(j)]
                written += clear
                at += clear
                if clear > _0:
                    continue
            kind = spaces[text[at]]
            if kind == 0:
                out[written] = text[at]
                written += _1
                at += _1
                continue
            first, count = at, 0
            while at < end:
                kind = spaces[text[at]]
                if kind == 0:
                    break
                size: Any = 1
                if kind == 2:
                    point, size = decode(text, np.int64(at), np.int64(end))
                    if point >= len(kinds) or not kinds[max(point, 0)]:
                        break
                count += 1
                at += _U(size)
            if count >= least:
                for j in range(len(content)):
                    out[written + _U(j)] = content[j]
                written += _U(len(content))
                if np.int64(written) + np.int64(end - at) + _SLACK > len(out):
                    return FULL
            else:
                for j in range(first, at):
                    out[written] = text[j]
                    written += _1
                if count == 0:  # a character that only begins as white space does
                    out[written] = text[at]
                    written += _1
                    at += _1
        out_offsets[row + 1] = written
    return np.int64(written)
