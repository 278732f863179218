"""Scanning and copying bytes, 32 at a time.

The intrinsics trust their caller; the functions check the bounds.
"""

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

from bertdata.kernels.characters import Bytes, Int
from bertdata.kernels.jit import inlined
from bertdata.kernels.simd import lowest_bit

CHECKED = bool(numba.config.DISABLE_JIT or numba.config.BOUNDSCHECK)
"""Whether every access must be one that can be checked: then bytes are read and written one by one."""
_VECTOR = ir.VectorType(ir.IntType(8), 32)


def _pointer(context: Any, builder: Any, signature: Any, arguments: Any, array: int) -> Any:
    """Return the address of an array's item: the argument after the array is its index."""
    struct = context.make_array(signature.args[array])(context, builder, arguments[array])
    return builder.gep(struct.data, [arguments[array + 1]])


def _load(builder: Any, pointer: Any, size: int) -> Any:
    value = builder.load(builder.bitcast(pointer, ir.VectorType(ir.IntType(8), size).as_pointer()))
    value.align = 1
    return value


def _mask_of(ranges: Iterable[tuple[int, int]], typing: Any, text: Any, index: Any) -> Any:
    """Return a bit for each of 32 bytes of text, set if it is in a range; the caller has checked the bounds."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        loaded = _load(builder, _pointer(context, builder, signature, arguments, 0), 32)
        mask = ir.Constant(ir.VectorType(ir.IntType(1), 32), [0] * 32)
        for first, last in ranges:
            above = builder.sub(loaded, ir.Constant(_VECTOR, [first] * 32))
            mask = builder.or_(mask, builder.icmp_unsigned("<=", above, ir.Constant(_VECTOR, [last - first] * 32)))
        return builder.zext(builder.bitcast(mask, ir.IntType(32)), ir.IntType(64))

    return types.uint64(text, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _mask_of_byte(typing: Any, text: Any, index: Any, byte: Any) -> Any:
    """Return a bit for each of 32 bytes of text, set if it is this byte; the caller has checked the bounds."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        loaded = _load(builder, _pointer(context, builder, signature, arguments, 0), 32)
        wanted: Any = ir.Constant(_VECTOR, ir.Undefined)
        for lane in range(32):
            low = builder.trunc(arguments[2], ir.IntType(8))
            wanted = builder.insert_element(wanted, low, ir.Constant(ir.IntType(32), lane))
        mask = builder.icmp_unsigned("==", loaded, wanted)
        return builder.zext(builder.bitcast(mask, ir.IntType(32)), ir.IntType(64))

    return types.uint64(text, types.int64, types.int64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _move(typing: Any, out: Any, written: Any, source: Any, begin: Any, size: Any) -> Any:
    """Move `size` bytes from source[begin:] to out[written:], which may overlap; the caller has checked the bounds."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, origin = (_pointer(context, builder, signature, arguments, array) for array in (0, 2))
        cgutils.raw_memmove(builder, target, origin, arguments[4], 1)
        return context.get_dummy_value()

    return types.none(out, types.int64, source, types.int64, types.int64), generate


def _move_ends(width: int, typing: Any, out: Any, written: Any, source: Any, begin: Any, size: Any) -> Any:
    """Move `size` bytes, `width` to twice that, which may overlap: the first and the last `width` of them."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target, origin = (_pointer(context, builder, signature, arguments, array) for array in (0, 2))
        shift = builder.sub(arguments[4], ir.Constant(ir.IntType(64), width))
        loaded = [_load(builder, pointer, width) for pointer in (origin, builder.gep(origin, [shift]))]
        for value, pointer in zip(loaded, (target, builder.gep(target, [shift])), strict=True):
            builder.store(value, builder.bitcast(pointer, value.type.as_pointer()), align=1)
        return context.get_dummy_value()

    return types.none(out, types.int64, source, types.int64, types.int64), generate


_move_8, _move_16, _move_32 = (intrinsic(partial(_move_ends, width)) for width in (8, 16, 32))


@inlined
def copy(source: Bytes, begin: int, end: int, out: Bytes, written: int) -> Int:
    """Copy source[begin:end] to out[written:], as far as it fits; returns where the copy ends.

    Within one array it copies to a lower place.
    """
    size = min(end - begin, out.size - written, source.size - begin)
    if size <= 0 or begin < 0 or written < 0:
        return written
    if CHECKED or size < 8:
        for k in range(size):
            out[written + k] = source[begin + k]
    elif size > 64:
        _move(out, written, source, begin, size)
    elif size >= 32:
        _move_32(out, written, source, begin, size)
    elif size >= 16:
        _move_16(out, written, source, begin, size)
    else:
        _move_8(out, written, source, begin, size)
    return written + size


def flags(characters: bytes | Iterable[int]) -> Bytes:
    """Return a table of 256 flags with those of these bytes set."""
    table = np.zeros(256, np.uint8)
    table[list(characters)] = 1
    return table


def scanner(characters: bytes | Iterable[int]) -> Any:
    """Return scan(text, begin, end): the first place of one of these bytes in text[begin:end], else `end`.

    >>> import numpy as np
    >>> next_space = scanner(b" ")
    >>> from bertdata.kernels.jit import kernel
    >>> int(kernel(lambda text: next_space(text, 1, text.size))(np.frombuffer(b" It rained", np.uint8)))
    3
    """
    table = flags(characters)
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
                        return min(begin + np.int64(lowest_bit(mask)), end)
                    begin += 32
                elif table[text[begin]]:
                    return begin
                else:
                    begin += 1
            return end

    scan.__name__ = f"scan_{np.packbits(table).tobytes().hex()}"
    return inlined(scan)


@inlined
def find(text: Bytes, begin: Int, end: int, byte: int) -> Int:
    """Return the first place of a byte in text[begin:end], else `end`."""
    while begin < end:
        if not CHECKED and begin + 32 <= text.size:
            mask = _mask_of_byte(text, begin, byte)
            if mask:
                return min(begin + np.int64(lowest_bit(mask)), end)
            begin += 32
        elif text[begin] == byte:
            return begin
        else:
            begin += 1
    return end


@inlined
def find_pair(text: Bytes, begin: Int, end: int, byte: int) -> Int:
    """Return the first place in text[begin:end] of a byte twice in a row, else `end`."""
    last = end - 1
    while begin < last:
        if not CHECKED and begin + 33 <= text.size:
            mask = _mask_of_byte(text, begin, byte) & _mask_of_byte(text, begin + 1, byte)
            if mask:
                begin += np.int64(lowest_bit(mask))
                return begin if begin < last else end
            begin += 32
        elif text[begin] == byte and text[begin + 1] == byte:
            return begin
        else:
            begin += 1
    return end
