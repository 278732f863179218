"""What the compiled passes over wikitext share: byte classes, copying, and one table of names.

The table holds every name the passes know: templates, link prefixes, section titles, tags, protocols, entities. It is
an open-addressing hash table over a blob of bytes, and a hit is a hit only when the bytes are the same.
"""

# ruff: noqa: PLR1714  (numba compiles comparisons and loops well, sets and generators not)

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numba
import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from bertdata.compiled import compiled

Bytes = Any  # a C-contiguous array of uint8
Ints = Any  # an array of int64
Int = Any  # an integer of Python, or of numpy where the kernels run as plain Python

# kinds of names
TEMPLATE, FUNCTION, PREFIX, SECTION, TAG, PROTOCOL, INLINE_TAG, ENTITY = range(8)
# columns of the table; columns 2 to 6 are what a lookup returns the row for
_USED, _KIND, _BEGIN, _END, CODE, VALUE_BEGIN, VALUE_END = range(7)
LONGEST_NAME = 200
HOLE, SPACE, NEWLINE = 0x7F, 0x20, 0x0A


@intrinsic  # type: ignore[untyped-decorator]
def _move_compiled(typing: Any, out: Any, written: Any, source: Any, begin: Any, size: Any) -> Any:
    """Move `size` bytes from source[begin:] to out[written:], which may overlap; the caller has checked the bounds."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def pointer(array: int, offset: int) -> Any:
            struct = context.make_array(signature.args[array])(context, builder, arguments[array])
            return builder.gep(struct.data, [arguments[offset]])

        cgutils.raw_memmove(builder, pointer(0, 1), pointer(2, 3), arguments[4], 1)
        return context.get_dummy_value()

    return types.none(out, types.int64, source, types.int64, types.int64), generate


def _move_plainly(out: Bytes, written: Int, source: Bytes, begin: Int, size: Int) -> None:
    out[written : written + size] = source[begin : begin + size].copy()


_move: Any = _move_plainly if numba.config.DISABLE_JIT else _move_compiled


def build_table(entries: Iterable[tuple[int, bytes, int, bytes]]) -> tuple[Ints, Bytes]:
    """Return (table, blob) for entries (kind, name, code, value); of two entries of one name the first stays.

    >>> table, blob = build_table([(TAG, b"ref", 7, b"value")])
    >>> row = lookup(table, blob, TAG, blob, 0, 3)
    >>> int(table[row, CODE]), lookup(table, blob, TAG, blob, 0, 2)
    (7, -1)
    """
    rows = {(kind, name): (code, value) for kind, name, code, value in reversed(list(entries))}
    size = 64
    while size < 3 * len(rows):
        size *= 2
    table, blob = np.zeros((size, 7), np.int64), bytearray()
    for (kind, name), (code, value) in rows.items():
        slot = _hash(kind, np.frombuffer(name, np.uint8).copy(), 0, len(name)) & (size - 1)
        while table[slot, _USED]:
            slot = (slot + 1) & (size - 1)
        begin, middle = len(blob), len(blob) + len(name)
        blob += name + value
        table[slot] = (1, kind, begin, middle, code, middle, len(blob))
    return table, np.frombuffer(bytes(blob) or b"\0", np.uint8).copy()


@compiled
def _hash(kind: int, text: Bytes, begin: int, end: int) -> Int:
    value = np.int64(kind + 77)
    for position in range(begin, end):
        value = ((value ^ np.int64(text[position])) * 16777619) & 0x7FFFFFFF
    return value ^ (value >> 15)


@compiled
def lookup(table: Ints, blob: Bytes, kind: int, text: Bytes, begin: int, end: int) -> Int:
    """Return the row of the name that text[begin:end] spells, -1 if there is none."""
    mask = table.shape[0] - 1
    slot = _hash(kind, text, begin, end) & mask
    while table[slot, 0]:
        first = table[slot, 2]
        if table[slot, 1] == kind and table[slot, 3] - first == end - begin:
            offset = 0
            while offset < end - begin and blob[first + offset] == text[begin + offset]:
                offset += 1
            if offset == end - begin:
                return slot
        slot = (slot + 1) & mask
    return -1


@compiled
def copy(source: Bytes, begin: int, end: int, out: Bytes, written: int) -> Int:
    """Copy source[begin:end] to out[written:]; returns where the copy ends. A copy within `out` must go down."""
    if begin < 0 or end > source.size or written < 0 or written + end - begin > out.size:
        raise IndexError("a copy leaves its buffers")
    if end - begin > 32:
        _move(out, written, source, begin, end - begin)
        return written + end - begin
    for position in range(begin, end):
        out[written] = source[position]
        written += 1
    return written


@compiled
def lower(byte: int) -> Int:
    """Return an ASCII letter in lower case, any other byte as it is."""
    return byte + 32 if 65 <= byte <= 90 else byte


@compiled
def is_letter_or_digit(byte: int) -> bool:
    """Tell whether a byte is an ASCII letter or digit."""
    return (97 <= byte <= 122) or (65 <= byte <= 90) or (48 <= byte <= 57)


@compiled
def is_space(byte: int) -> bool:
    r"""Tell whether a byte is what `\s` matches in ASCII."""
    return byte == 32 or 9 <= byte <= 13


@compiled
def hole_fits(text: Bytes, begin: int, end: int) -> bool:
    """Tell whether a construct dropped after text[begin:end] leaves a hole (`tags.hole_after`)."""
    if end <= begin:
        return True
    last = text[end - 1]
    if last < 128:
        return bool(_BEFORE_A_HOLE[last])
    dash = last == 0x93 or last == 0x94
    return bool(dash and end - begin >= 3 and text[end - 2] == 0x80 and text[end - 3] == 0xE2)


@compiled
def find(text: Bytes, begin: int, end: int, byte: int) -> Int:
    """Return where a byte first stands in text[begin:end], `end` if nowhere."""
    while begin < end and text[begin] != byte:
        begin += 1
    return begin


@compiled
def tag_name(text: Bytes, begin: int, end: int, scratch: Bytes) -> Int:
    """Write the lower-cased ASCII letters and digits at `begin` to scratch; returns how many, 0 if over 20."""
    length = 0
    while begin + length < end and is_letter_or_digit(text[begin + length]):
        if length == 20:
            return 0
        scratch[length] = lower(text[begin + length])
        length += 1
    return length


_BEFORE_A_HOLE = np.zeros(128, np.uint8)
_BEFORE_A_HOLE[list(b" \n([,;:/\"'-|>\x7f")] = 1
