r"""The compiled core of `paragraph_texts`: the paragraphs of texts, as `document.paragraphs` returns them.

A border is a run of white space with two line breaks or more, or with one where no run of the text has two. It becomes
a blank line; other runs stay, but for `\r\n` and `\r`, which become `\n`. White space at the ends goes. Line breaks are
looked for 64 bytes at a time.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.copying import copy
from bertdata.kernels.jit import inlined, typed_kernel
from bertdata.kernels.simd import BLOCK, line_end_bits, lowest_bit

AS_IT_IS, AT_LINES, AT_BLANK_LINES = range(3)
"""What becomes of a text: nothing, or a blank line at each of its line breaks, or at those that have a second one."""

_NEWLINE, _RETURN, _FIRST_SPACE, _LAST_SPACE, _FIRST_SEPARATOR, _SPACE = 10, 13, 9, 13, 28, 32
_U = np.uint64
_BYTES = numba.types.Array(numba.uint8, 1, "C", readonly=True)
_ENDS = numba.types.Array(numba.int32, 1, "C", readonly=True)


@inlined
def _is_space(byte: Any) -> Any:
    return _FIRST_SPACE <= byte <= _LAST_SPACE or _FIRST_SEPARATOR <= byte <= _SPACE


@inlined
def _space_size(data: Any, at: Any, end: Any) -> Any:
    """Return the bytes of the character at a place, up to three, where it is white space in Unicode, else 0."""
    byte = data[at]
    if byte < 0x80:
        return np.int64(_is_space(byte))
    if byte == 0xC2:
        return np.int64(2 * (at + 1 < end and (data[at + 1] == 0x85 or data[at + 1] == 0xA0)))
    if at + 2 >= end or not 0xE1 <= byte <= 0xE3:
        return np.int64(0)
    second, third = data[at + 1], data[at + 2]
    if byte == 0xE1:
        return np.int64(3 * (second == 0x9A and third == 0x80))
    if byte == 0xE3:
        return np.int64(3 * (second == 0x80 and third == 0x80))
    if second == 0x81:
        return np.int64(3 * (third == 0x9F))
    return np.int64(3 * (second == 0x80 and (third <= 0x8A or third in (0xA8, 0xA9, 0xAF))))


@inlined
def _space_size_before(data: Any, begin: Any, at: Any) -> Any:
    """Return the bytes of the character before a place, where it is white space, else 0."""
    byte = data[at - 1]
    if byte < 0x80:
        return np.int64(_is_space(byte))
    if at - 2 >= begin and data[at - 2] == 0xC2:
        return _space_size(data, at - 2, at)
    if at - 3 >= begin and data[at - 3] >= 0xE1:
        return _space_size(data, at - 3, at)
    return np.int64(0)


@inlined
def _run_begin(data: Any, begin: Any, at: Any) -> Any:
    """Return where the white space before a place begins."""
    while at > begin:
        size = _space_size_before(data, begin, at)
        if not size:
            break
        at -= size
    return at


@inlined
def _run_end(data: Any, at: Any, end: Any) -> Any:
    """Return where the white space at a place ends, and how many line breaks it has."""
    breaks = 0
    while at < end:
        size = _space_size(data, at, end)
        if not size:
            break
        byte = data[at]
        if byte in (_NEWLINE, _RETURN):
            breaks += 1
            if byte == _RETURN and at + 1 < end and data[at + 1] == _NEWLINE:
                size = np.int64(2)
        at += size
    return at, breaks


@inlined
def _kind(data: Any, begin: Any, end: Any) -> Any:
    """Return what becomes of the text data[begin:end], which has no white space at its ends, and its borders."""
    lines, blank_lines, uneven = 0, 0, False
    block: Any = begin
    past: Any = begin
    while block < end:
        bits = line_end_bits(data, block)
        while bits != _U(0):
            at = block + np.int64(lowest_bit(bits))
            bits &= bits - _U(1)
            if at >= end:
                break
            if at < past:
                continue
            first = _run_begin(data, past, at)
            past, breaks = _run_end(data, at, end)
            lines += 1
            if breaks > 1:
                blank_lines += 1
            if data[at] == _RETURN:
                uneven = True
            elif breaks > 1:
                uneven = uneven or first < at or past != at + 2 or data[at + 1] != _NEWLINE
        block += BLOCK
    if blank_lines:
        return (AT_BLANK_LINES if uneven else AS_IT_IS), blank_lines
    return (AT_LINES if lines else AS_IT_IS), lines


@typed_kernel(numba.int64(_BYTES, _ENDS, numba.uint8[::1], numba.int64[:, ::1]))
def find_kinds(data: NDArray[Any], ends: NDArray[Any], kinds: NDArray[Any], places: NDArray[Any]) -> int:
    """Write what becomes of each text, and where it begins and ends in the data.

    Text i is data[ends[i] : ends[i + 1]], with BLOCK bytes of anything after the last one. Returns how many bytes they
    may grow by, all together; -1 where all stay as they are.
    """
    more, changed = np.int64(0), False
    for row in range(len(kinds)):
        begin: Any = np.int64(ends[row])
        end: Any = np.int64(ends[row + 1])
        end = _run_begin(data, begin, end)
        begin, _ = _run_end(data, begin, end)
        kinds[row], borders = _kind(data, begin, end)
        places[row, 0], places[row, 1] = begin, end
        trimmed = end - begin != ends[row + 1] - ends[row]
        changed = changed or trimmed or kinds[row] != AS_IT_IS
        if kinds[row] == AT_LINES:
            more += borders
    return int(more) if changed else -1


@inlined
def _write(data: Any, begin: Any, end: Any, least: Any, out: Any, written: Any) -> Any:
    """Write a text with a blank line at each run of white space with `least` line breaks; returns where it ends."""
    block: Any = begin
    copied: Any = begin
    past: Any = begin
    while block < end:
        bits = line_end_bits(data, block)
        while bits != _U(0):
            at = block + np.int64(lowest_bit(bits))
            bits &= bits - _U(1)
            if at >= end:
                break
            if at < past and data[at] != _RETURN:
                continue
            if at >= past:
                first = _run_begin(data, past, at)
                past, breaks = _run_end(data, at, end)
                if breaks >= least:
                    written = copy(data, copied, first, out, written)
                    out[written] = _NEWLINE
                    out[written + 1] = _NEWLINE
                    written += 2
                    copied = past
            if at >= copied and data[at] == _RETURN:  # in a run that stays
                written = copy(data, copied, at, out, written)
                out[written] = _NEWLINE
                written += 1
                copied = at + 1
                if copied < end and data[copied] == _NEWLINE:
                    copied += 1
        block += BLOCK
    return copy(data, copied, end, out, written)


@typed_kernel(
    numba.int64(
        _BYTES, _BYTES, numba.types.Array(numba.int64, 2, "C", readonly=True), numba.uint8[::1], numba.int32[::1]
    )
)
def write_texts(
    data: NDArray[Any], kinds: NDArray[Any], places: NDArray[Any], out: NDArray[Any], out_ends: NDArray[Any]
) -> int:
    """Write the texts that `find_kinds` found one after another, and where each ends; returns the bytes."""
    written: Any = np.int64(0)
    out_ends[0] = 0
    for row in range(len(kinds)):
        begin, end = places[row, 0], places[row, 1]
        if kinds[row] == AS_IT_IS:
            written = copy(data, begin, end, out, written)
        else:
            written = _write(data, begin, end, 1 if kinds[row] == AT_LINES else 2, out, written)
        out_ends[row + 1] = written
    return int(written)
