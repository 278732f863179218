"""Scanning bytes, many at a time; the functions check the bounds, the intrinsics do not."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from bertdata.kernels.characters import Bytes, Int
from bertdata.kernels.jit import inlined
from bertdata.kernels.simd import BLOCK, PLAIN, bits_of_ranges, lowest_bit, pointer


@intrinsic  # type: ignore[untyped-decorator]
def _bits_of_byte(_: Any, text: Any, index: Any, byte: Any) -> Any:
    """Return a bit for each of BLOCK bytes of text, set if it is this byte."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = ir.VectorType(ir.IntType(8), BLOCK)
        block = builder.load(pointer(context, builder, signature.args[0], args[0], args[1], vector))
        block.align = 1
        lane = builder.insert_element(vector(ir.Undefined), builder.trunc(args[2], ir.IntType(8)), ir.IntType(32)(0))
        wanted = builder.shuffle_vector(lane, lane, ir.VectorType(ir.IntType(32), BLOCK)([0] * BLOCK))
        return builder.bitcast(builder.icmp_unsigned("==", block, wanted), ir.IntType(BLOCK))

    return types.uint64(text, types.int64, types.int64), generate


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

    bits_of = bits_of_ranges(ranges)

    def scan(text: Bytes, begin: Int, end: Int) -> Int:
        while begin < end:
            if not PLAIN and begin + BLOCK <= text.size:
                mask = bits_of(text, begin)
                if mask:
                    return min(begin + np.int64(lowest_bit(mask)), end)
                begin += BLOCK
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
        if not PLAIN and begin + BLOCK <= text.size:
            mask = _bits_of_byte(text, begin, byte)
            if mask:
                return min(begin + np.int64(lowest_bit(mask)), end)
            begin += BLOCK
        elif text[begin] == byte:
            return begin
        else:
            begin += 1
    return end


@inlined
def find_pair(text: Bytes, begin: Int, end: int, first: int, second: int) -> Int:
    """Return the first place in text[begin:end] of one byte before another, else `end`."""
    last = end - 1
    while begin < last:
        if not PLAIN and begin + BLOCK + 1 <= text.size:
            mask = _bits_of_byte(text, begin, first) & _bits_of_byte(text, begin + 1, second)
            if mask:
                begin += np.int64(lowest_bit(mask))
                return begin if begin < last else end
            begin += BLOCK
        elif text[begin] == first and text[begin + 1] == second:
            return begin
        else:
            begin += 1
    return end
