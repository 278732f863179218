"""What the compiled passes over wikitext share: byte classes, copying, and one table of names.

The table holds every name the passes know: templates, link prefixes, section titles, tags, protocols, entities. It is
an open-addressing hash table over a blob of bytes, and a hit is a hit only when the bytes are the same.
"""

# ruff: noqa: PLR1714  (numba compiles comparisons and loops well, sets and generators not)

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from bertdata.kernels.jit import inlined, plain

Bytes = Any  # a C-contiguous array of uint8
Ints = Any  # an array of int64
Int = Any  # an integer of Python, or of numpy where the kernels run as plain Python

# kinds of names
TEMPLATE, FUNCTION, PREFIX, SECTION, TAG, PROTOCOL, INLINE_TAG, ENTITY, UNIT = range(9)
# columns of the table; columns 2 to 6 are what a lookup returns the row for
_USED, _KIND, _BEGIN, _END, CODE, VALUE_BEGIN, VALUE_END = range(7)
LONGEST_NAME = 200
HOLE, SPACE, NEWLINE = 0x7F, 0x20, 0x0A


def array_pointer(context: Any, builder: Any, signature: Any, arguments: Any, array: int, offset: int) -> Any:
    """Return, in code that an intrinsic makes, the pointer into one of its arguments at the offset that another is."""
    struct = context.make_array(signature.args[array])(context, builder, arguments[array])
    return builder.gep(struct.data, [arguments[offset]])


def _mask_of(ranges: Iterable[tuple[int, int]], typing: Any, text: Any, index: Any) -> Any:
    """Return, for 32 bytes of text, a bit for each that lies in a range; the caller has checked the bounds."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        pointer = array_pointer(context, builder, signature, arguments, 0, 1)
        found = None
        loaded = _load(builder, pointer, 32)
        for first, last in ranges:
            shifted = builder.sub(loaded, ir.Constant(_VECTOR, [first] * 32)) if last > first else loaded
            limit = ir.Constant(_VECTOR, [last - first if last > first else first] * 32)
            one = builder.icmp_unsigned("<=" if last > first else "==", shifted, limit)
            found = one if found is None else builder.or_(found, one)
        return builder.zext(builder.bitcast(found, ir.IntType(32)), ir.IntType(64))

    return types.int64(text, types.int64), generate


def _load(builder: Any, pointer: Any, size: int) -> Any:
    value = builder.load(builder.bitcast(pointer, ir.VectorType(ir.IntType(8), size).as_pointer()))
    value.align = 1
    return value


@intrinsic  # type: ignore[untyped-decorator]
def _mask_of_byte(typing: Any, text: Any, index: Any, byte: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        loaded = _load(builder, array_pointer(context, builder, signature, arguments, 0, 1), 32)
        wanted: Any = ir.Constant(_VECTOR, ir.Undefined)
        for lane in range(32):
            low = builder.trunc(arguments[2], ir.IntType(8))
            wanted = builder.insert_element(wanted, low, ir.Constant(ir.IntType(32), lane))
        found = builder.icmp_unsigned("==", loaded, wanted)
        return builder.zext(builder.bitcast(found, ir.IntType(32)), ir.IntType(64))

    return types.int64(text, types.int64, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def lowest_bit(typing: Any, value: Any) -> Any:
    """Return the place of the lowest bit of a number that is not 0."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _move_compiled(typing: Any, out: Any, written: Any, source: Any, begin: Any, size: Any) -> Any:
    """Move `size` bytes from source[begin:] to out[written:], which may overlap; the caller has checked the bounds."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        to = array_pointer(context, builder, signature, arguments, 0, 1)
        come = array_pointer(context, builder, signature, arguments, 2, 3)
        cgutils.raw_memmove(builder, to, come, arguments[4], 1)
        return context.get_dummy_value()

    return types.none(out, types.int64, source, types.int64, types.int64), generate


def _move_ends_of(width: int, typing: Any, out: Any, written: Any, source: Any, begin: Any, size: Any) -> Any:
    """Move `size` bytes, `width` to twice that, which may overlap: the first and the last `width` of them."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        to = array_pointer(context, builder, signature, arguments, 0, 1)
        come = array_pointer(context, builder, signature, arguments, 2, 3)
        shift = builder.sub(arguments[4], ir.Constant(ir.IntType(64), width))
        loaded = [_load(builder, one, width) for one in (come, builder.gep(come, [shift]))]
        for value, one in zip(loaded, (to, builder.gep(to, [shift])), strict=True):
            builder.store(value, builder.bitcast(one, value.type.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.none(out, types.int64, source, types.int64, types.int64), generate


def _move_plainly(out: Bytes, written: Int, source: Bytes, begin: Int, size: Int) -> None:
    out[written : written + size] = source[begin : begin + size].copy()


_VECTOR = ir.VectorType(ir.IntType(8), 32)
CHECKED = bool(numba.config.DISABLE_JIT or numba.config.BOUNDSCHECK)
"""Whether every access must be one that can be checked: then bytes are read and written one by one."""
_move: Any = _move_plainly if numba.config.DISABLE_JIT else _move_compiled
_move_8, _move_16, _move_32 = (intrinsic(partial(_move_ends_of, width)) for width in (8, 16, 32))


def marks(characters: bytes | Iterable[int]) -> Bytes:
    """Return a table of 256 flags with those of these bytes set."""
    table = np.zeros(256, np.uint8)
    table[list(characters)] = 1
    return table


def scanner(table: Bytes) -> Any:
    """Return scan(text, begin, end): where a byte whose flag is set in a table first stands, `end` if nowhere.

    >>> import numpy as np
    >>> spaces = scanner(marks(b" "))
    >>> from bertdata.kernels.jit import kernel
    >>> int(kernel(lambda text: spaces(text, 1, text.size))(np.frombuffer(b" It rained", np.uint8)))
    3
    """
    table = table.copy()
    edges = np.flatnonzero(np.diff(np.concatenate([[0], table, [0]]).astype(np.int8)))
    ranges = [(int(first), int(last) - 1) for first, last in edges.reshape(-1, 2)]

    if CHECKED:

        def scan(text: Bytes, begin: Int, end: Int) -> Int:
            while begin < end and table[text[begin]] == 0:
                begin += 1
            return min(begin, end)

    else:
        mask_of: Any = intrinsic(partial(_mask_of, ranges))

        def scan(text: Bytes, begin: Int, end: Int) -> Int:
            while begin < end:
                if begin + 32 <= text.size:
                    mask = mask_of(text, begin)
                    if mask:
                        return min(begin + lowest_bit(mask), end)
                    begin += 32
                elif table[text[begin]]:
                    return begin
                else:
                    begin += 1
            return end

    scan.__name__ = f"scan_{np.packbits(table).tobytes().hex()}"
    return inlined(scan)


def build_table(entries: Iterable[tuple[int, bytes, int, bytes]]) -> tuple[Ints, Bytes]:
    """Return (table, blob) for entries (kind, name, code, value); of two entries of one name the first stays.

    >>> table, blob = build_table([(TAG, b"ref", 7, b"value")])
    >>> int(table[:, CODE].max()), blob[:8].tobytes()
    (7, b'refvalue')
    """
    rows = {(kind, name): (code, value) for kind, name, code, value in reversed(list(entries))}
    size = 64
    while size < 3 * len(rows):
        size *= 2
    table, blob = np.zeros((size, 7), np.int64), bytearray()
    for (kind, name), (code, value) in rows.items():
        slot = plain(_hash)(kind, np.frombuffer(name, np.uint8).copy(), 0, len(name)) & (size - 1)
        while table[slot, _USED]:
            slot = (slot + 1) & (size - 1)
        begin, middle = len(blob), len(blob) + len(name)
        blob += name + value
        table[slot] = (1, kind, begin, middle, code, middle, len(blob))
    return table, np.frombuffer(bytes(blob) or b"\0", np.uint8).copy()


@inlined
def _hash(kind: int, text: Bytes, begin: int, end: int) -> Int:
    value = np.int64(kind + 77)
    for position in range(begin, end):
        value = ((value ^ np.int64(text[position])) * 16777619) & 0x7FFFFFFF
    return value ^ (value >> 15)


@inlined
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


@inlined
def copy(source: Bytes, begin: int, end: int, out: Bytes, written: int) -> Int:
    """Copy source[begin:end] to out[written:], as far as it fits; returns where the copy ends."""
    size = min(end - begin, out.size - written, source.size - begin)
    if size <= 0 or begin < 0 or written < 0:
        return written
    if CHECKED or size > 64:
        _move(out, written, source, begin, size)
    elif size >= 32:
        _move_32(out, written, source, begin, size)
    elif size >= 16:
        _move_16(out, written, source, begin, size)
    elif size >= 8:
        _move_8(out, written, source, begin, size)
    else:
        for k in range(size):
            out[written + k] = source[begin + k]
    return written + size


@inlined
def lower(byte: int) -> Int:
    """Return an ASCII letter in lower case, any other byte as it is."""
    return byte + 32 if 65 <= byte <= 90 else byte


@inlined
def is_letter_or_digit(byte: int) -> bool:
    """Tell whether a byte is an ASCII letter or digit."""
    return (97 <= byte <= 122) or (65 <= byte <= 90) or (48 <= byte <= 57)


@inlined
def is_space(byte: int) -> bool:
    r"""Tell whether a byte is what `\s` matches in ASCII."""
    return byte == 32 or 9 <= byte <= 13


@inlined
def hole_fits(text: Bytes, begin: int, end: int) -> bool:
    """Tell whether a construct dropped after text[begin:end] leaves a hole (`tags.hole_after`)."""
    if end <= begin:
        return True
    last = text[end - 1]
    if last < 128:
        return bool(_BEFORE_A_HOLE[last])
    dash = last == 0x93 or last == 0x94
    return bool(dash and end - begin >= 3 and text[end - 2] == 0x80 and text[end - 3] == 0xE2)


@inlined
def find(text: Bytes, begin: int, end: int, byte: int) -> Int:
    """Return where a byte first stands in text[begin:end], `end` if nowhere."""
    while begin < end:
        if not CHECKED and begin + 32 <= text.size:
            mask = _mask_of_byte(text, begin, byte)
            if mask:
                return min(begin + lowest_bit(mask), end)
            begin += 32
        elif text[begin] == byte:
            return begin
        else:
            begin += 1
    return end


@inlined
def find_pair(text: Bytes, begin: int, end: int, byte: int) -> Int:
    """Return where a byte first stands twice in a row in text[begin:end], `end` if nowhere."""
    last = end - 1
    while begin < last:
        if not CHECKED and begin + 33 <= text.size:
            mask = _mask_of_byte(text, begin, byte) & _mask_of_byte(text, begin + 1, byte)
            if mask:
                begin += lowest_bit(mask)
                return begin if begin < last else end
            begin += 32
        elif text[begin] == byte and text[begin + 1] == byte:
            return begin
        else:
            begin += 1
    return end


@inlined
def tag_name(text: Bytes, begin: int, end: int, scratch: Bytes) -> Int:
    """Write the lower-cased ASCII letters and digits at `begin` to scratch; returns how many, 0 if over 20."""
    length = 0
    while begin + length < end and is_letter_or_digit(text[begin + length]):
        if length == 20:
            return 0
        scratch[length] = lower(text[begin + length])
        length += 1
    return length


RESERVED = marks(b"\x7f\x0b\x01\x02\x03\r")
"""The characters that the passes use as marks, and carriage returns."""
_BEFORE_A_HOLE = np.zeros(128, np.uint8)
_BEFORE_A_HOLE[list(b" \n([,;:/\"'-|>\x7f")] = 1
