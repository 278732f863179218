"""What a processor does in one instruction and numba has no word for: wide loads and stores, marks, bits, prefetches.

Each is an intrinsic, which trusts its caller, and has a plain twin of the same result. The twins are what runs under
NUMBA_BOUNDSCHECK, which can check their indexing, and under NUMBA_DISABLE_JIT. Memory is little-endian.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from bertdata.kernels.jit import kernel

WHITESPACE = (32, 10, 9, 13)
"""A space, a line feed, a tab and a carriage return: the bytes that chunks are cut at."""
PUNCTUATION = ((33, 47), (58, 64), (91, 96), (123, 126))
"""ASCII's marks, from and to: BERT makes a word of each, and nothing of Unicode's reaches over one."""
BLOCK = 64

_U = np.uint64
_0, _1, _2, _4, _8, _63 = _U(0), _U(1), _U(2), _U(4), _U(8), _U(63)
_BITS1, _BITS2, _BITS4 = _U(0x5555555555555555), _U(0x3333333333333333), _U(0x0F0F0F0F0F0F0F0F)
_ONES, _56 = _U(0x0101010101010101), _U(56)


@kernel
def plain_load64(data: Any, i: Any) -> Any:
    """Return the 8 bytes of a uint8 array from `i` on, the first one lowest."""
    value = _0
    for j in range(8):
        value |= _U(data[_U(i) + _U(j)]) << _U(8 * j)
    return value


@kernel
def plain_store64(data: Any, i: Any, value: Any) -> None:
    """Write 8 bytes, lowest first, into an array of 2- or 4-byte integers from its element `i` on."""
    bits = _U(8 * data.itemsize)
    for j in range(8 // data.itemsize):
        data[_U(i) + _U(j)] = value >> (bits * _U(j)) & ((_1 << bits) - _1)


@kernel
def plain_whitespace_bits(data: Any, i: Any) -> Any:
    """Return 64 bits, one for each byte from `i` on: set where the byte is one of WHITESPACE."""
    marks = _0
    for j in range(BLOCK):
        if data[_U(i) + _U(j)] in WHITESPACE:
            marks |= _1 << _U(j)
    return marks


@kernel
def plain_punctuation_bits(data: Any, i: Any) -> Any:
    """Return 64 bits, one for each byte from `i` on: set where the byte is one of PUNCTUATION."""
    marks = _0
    for j in range(BLOCK):
        for first, last in PUNCTUATION:
            if first <= data[_U(i) + _U(j)] <= last:
                marks |= _1 << _U(j)
    return marks


@kernel
def plain_count_bits(word: Any) -> Any:
    """Return how many bits of a word of 64 are set.

    >>> int(plain_count_bits(np.uint64(40)))
    2
    """
    pairs = word - ((word >> _1) & _BITS1)
    fours = (pairs & _BITS2) + ((pairs >> _2) & _BITS2)
    return (((fours + (fours >> _4)) & _BITS4) * _ONES) >> _56


@kernel
def plain_lowest_bit(word: Any) -> Any:
    """Return the number of the lowest bit that is set in a word of 64; 64 where none is.

    >>> int(plain_lowest_bit(np.uint64(40)))
    3
    """
    return plain_count_bits(~word & (word - _1))


@kernel
def plain_highest_bit(word: Any) -> Any:
    """Return the number of the highest bit that is set in a word of 64, which is not 0.

    >>> int(plain_highest_bit(np.uint64(40)))
    5
    """
    for shift in (1, 2, 4, 8, 16, 32):
        word |= word >> _U(shift)
    return plain_count_bits(word) - _1


@kernel
def plain_prefetch(array: Any, i: Any) -> None:
    """Say that the element `i` of an array will be read soon."""


def _pointer(context: Any, builder: Any, kind: Any, array: Any, index: Any, to: Any) -> Any:
    view = cgutils.create_struct_proxy(kind)(context, builder, array)
    return builder.bitcast(builder.gep(view.data, [index]), to.as_pointer())


@intrinsic  # type: ignore[untyped-decorator]
def _load64(_: Any, data: Any, i: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = builder.load(_pointer(context, builder, signature.args[0], args[0], args[1], ir.IntType(64)))
        word.align = 1
        return word

    return types.uint64(data, i), generate


@intrinsic  # type: ignore[untyped-decorator]
def _store64(_: Any, data: Any, i: Any, __: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = _pointer(context, builder, signature.args[0], args[0], args[1], ir.IntType(64))
        builder.store(args[2], place).align = 1
        return context.get_dummy_value()

    return types.void(data, i, types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _whitespace_bits(_: Any, data: Any, i: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = ir.VectorType(ir.IntType(8), BLOCK)
        block = builder.load(_pointer(context, builder, signature.args[0], args[0], args[1], vector))
        block.align = 1
        marks = ir.Constant(ir.VectorType(ir.IntType(1), BLOCK), [0] * BLOCK)
        for gap in WHITESPACE:
            marks = builder.or_(marks, builder.icmp_unsigned("==", block, ir.Constant(vector, [gap] * BLOCK)))
        return builder.bitcast(marks, ir.IntType(64))

    return types.uint64(data, i), generate


@intrinsic  # type: ignore[untyped-decorator]
def _punctuation_bits(_: Any, data: Any, i: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = ir.VectorType(ir.IntType(8), BLOCK)
        block = builder.load(_pointer(context, builder, signature.args[0], args[0], args[1], vector))
        block.align = 1
        marks = ir.Constant(ir.VectorType(ir.IntType(1), BLOCK), [0] * BLOCK)
        for first, last in PUNCTUATION:
            above = builder.sub(block, ir.Constant(vector, [first] * BLOCK))
            inside = builder.icmp_unsigned("<=", above, ir.Constant(vector, [last - first] * BLOCK))
            marks = builder.or_(marks, inside)
        return builder.bitcast(marks, ir.IntType(64))

    return types.uint64(data, i), generate


@intrinsic  # type: ignore[untyped-decorator]
def _count_bits(_: Any, __: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.ctpop(args[0])

    return types.uint64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _lowest_bit(_: Any, __: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.uint64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _highest_bit(_: Any, __: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return builder.sub(ir.IntType(64)(63), builder.ctlz(args[0], ir.Constant(ir.IntType(1), 0)))

    return types.uint64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _prefetch(_: Any, array: Any, i: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte, number = ir.IntType(8), ir.IntType(32)
        place = _pointer(context, builder, signature.args[0], args[0], args[1], byte)
        kind = ir.FunctionType(ir.VoidType(), [byte.as_pointer(), number, number, number])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        builder.call(function, [place, number(0), number(3), number(1)])  # to be read, kept near, data
        return context.get_dummy_value()

    return types.void(array, i), generate


PLAIN = bool(numba.config.DISABLE_JIT or numba.config.BOUNDSCHECK)
load64: Any = plain_load64 if PLAIN else _load64
store64: Any = plain_store64 if PLAIN else _store64
whitespace_bits: Any = plain_whitespace_bits if PLAIN else _whitespace_bits
punctuation_bits: Any = plain_punctuation_bits if PLAIN else _punctuation_bits
count_bits: Any = plain_count_bits if PLAIN else _count_bits
lowest_bit: Any = plain_lowest_bit if PLAIN else _lowest_bit
highest_bit: Any = plain_highest_bit if PLAIN else _highest_bit
prefetch: Any = plain_prefetch if PLAIN else _prefetch
