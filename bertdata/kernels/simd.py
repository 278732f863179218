"""LLVM intrinsics that numba does not expose: wide loads and stores, masks of bytes, counts of bits, prefetches.

An intrinsic does not check its arguments. Each has a plain version with the same result for NUMBA_BOUNDSCHECK,
where its indexing is checked, and for NUMBA_DISABLE_JIT. Memory is little-endian.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from bertdata.kernels.jit import kernel

WHITESPACE = (32, 10, 9, 13)
"""A space, a line feed, a tab and a carriage return: the white space that chunks are cut at."""
PUNCTUATION = ((33, 47), (58, 64), (91, 96), (123, 126))
"""ASCII punctuation, from and to: BERT makes a word of each mark, and no rule of Unicode reaches across one."""
LETTERS = ((65, 90), (97, 122))
SMALL_LETTERS = ((97, 122),)
DIGITS = ((48, 57),)
SPACES = ((9, 13), (32, 32))
"""What `\\s` matches in ASCII under Unicode's rules."""
HIGH = ((128, 255),)
"""Bytes of characters that are not ASCII."""
BLOCK = 64

_U = np.uint64
_0, _1, _2, _4 = _U(0), _U(1), _U(2), _U(4)
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


def plain_bits_of_ranges(ranges: Sequence[tuple[int, int]]) -> Any:
    """Return a function that gives 64 bits, one for each byte from `i` on: set where it is within a range."""
    inside = np.zeros(256, np.bool_)
    for first, last in ranges:
        inside[first : last + 1] = True

    def bits(data: Any, i: Any) -> Any:
        marks = _0
        for j in range(BLOCK):
            if inside[data[_U(i) + _U(j)]]:
                marks |= _1 << _U(j)
        return marks

    bits.__name__ = "_".join(["plain_bits", *(str(byte) for pair in ranges for byte in pair)])
    return kernel(bits)


@kernel
def plain_equal_bits(data: Any, i: Any, byte: Any) -> Any:
    """Return 64 bits, one for each byte from `i` on: set where it is a given one, uint8."""
    marks = _0
    for j in range(BLOCK):
        if data[_U(i) + _U(j)] == byte:
            marks |= _1 << _U(j)
    return marks


@kernel
def plain_range_bits(data: Any, i: Any, first: Any, more: Any) -> Any:
    """Return 64 bits, one for each byte from `i` on: set where it is `first`, uint8, or one of so many after it."""
    marks = _0
    for j in range(BLOCK):
        byte = data[_U(i) + _U(j)]
        if byte >= first and byte - first <= more:
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
    """Return the number of the highest bit that is set in a word of 64 that is not 0.

    >>> int(plain_highest_bit(np.uint64(40)))
    5
    """
    number = _0
    for shift in (32, 16, 8, 4, 2, 1):
        if word >> _U(shift) != _0:
            word >>= _U(shift)
            number += _U(shift)
    return number


@kernel
def plain_least_of_8(array: Any, i: Any) -> Any:
    """Return the least of 8 elements of a uint32 array from `i` on."""
    least = array[i]
    for j in range(1, 8):
        least = min(least, array[_U(i) + _U(j)])
    return least


@kernel
def plain_prefetch(array: Any, i: Any) -> None:
    """Ask the processor to load the element `i` of an array, which will be read soon."""


def pointer(context: Any, builder: Any, kind: Any, array: Any, index: Any, to: Any) -> Any:
    """Return the address of an array's item, as a pointer to values of an LLVM type."""
    view = cgutils.create_struct_proxy(kind)(context, builder, array)
    return builder.bitcast(builder.gep(view.data, [index]), to.as_pointer())


@intrinsic  # type: ignore[untyped-decorator]
def _load64(_: Any, data: Any, i: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        word = builder.load(pointer(context, builder, signature.args[0], args[0], args[1], ir.IntType(64)))
        word.align = 1
        return word

    return types.uint64(data, i), generate


@intrinsic  # type: ignore[untyped-decorator]
def _store64(_: Any, data: Any, i: Any, __: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        place = pointer(context, builder, signature.args[0], args[0], args[1], ir.IntType(64))
        builder.store(args[2], place).align = 1
        return context.get_dummy_value()

    return types.void(data, i, types.uint64), generate


def bits_of_ranges(ranges: Sequence[tuple[int, int]]) -> Any:
    """Return an intrinsic that gives 64 bits, one for each byte from `i` on: set where it is within a range."""

    def bits(_: Any, data: Any, i: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            vector = ir.VectorType(ir.IntType(8), BLOCK)
            block = builder.load(pointer(context, builder, signature.args[0], args[0], args[1], vector))
            block.align = 1
            result = ir.Constant(ir.VectorType(ir.IntType(1), BLOCK), [0] * BLOCK)
            for first, last in ranges:
                above = builder.sub(block, ir.Constant(vector, [first] * BLOCK))
                inside = builder.icmp_unsigned("<=", above, ir.Constant(vector, [last - first] * BLOCK))
                result = builder.or_(result, inside)
            return builder.bitcast(result, ir.IntType(64))

        return types.uint64(data, i), generate

    return intrinsic(bits)


def _broadcast(builder: Any, byte: Any, vector: Any) -> Any:
    """Return a vector of 64 times the same byte."""
    nothing = ir.Constant(vector, ir.Undefined)
    first_lane = builder.insert_element(nothing, byte, ir.IntType(32)(0))
    return builder.shuffle_vector(first_lane, nothing, ir.Constant(ir.VectorType(ir.IntType(32), BLOCK), [0] * BLOCK))


@intrinsic  # type: ignore[untyped-decorator]
def _equal_bits(_: Any, data: Any, i: Any, byte: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = ir.VectorType(ir.IntType(8), BLOCK)
        block = builder.load(pointer(context, builder, signature.args[0], args[0], args[1], vector))
        block.align = 1
        same = builder.icmp_unsigned("==", block, _broadcast(builder, args[2], vector))
        return builder.bitcast(same, ir.IntType(64))

    return types.uint64(data, i, types.uint8), generate


@intrinsic  # type: ignore[untyped-decorator]
def _range_bits(_: Any, data: Any, i: Any, first: Any, more: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = ir.VectorType(ir.IntType(8), BLOCK)
        block = builder.load(pointer(context, builder, signature.args[0], args[0], args[1], vector))
        block.align = 1
        over = builder.sub(block, _broadcast(builder, args[2], vector))
        within = builder.icmp_unsigned("<=", over, _broadcast(builder, args[3], vector))
        return builder.bitcast(within, ir.IntType(64))

    return types.uint64(data, i, types.uint8, types.uint8), generate


_whitespace_bits = bits_of_ranges([(byte, byte) for byte in WHITESPACE])
_punctuation_bits = bits_of_ranges(PUNCTUATION)


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
        return builder.sub(ir.IntType(64)(63), builder.ctlz(args[0], ir.IntType(1)(0)))

    return types.uint64(types.uint64), generate


@intrinsic  # type: ignore[untyped-decorator]
def _least_of_8(_: Any, array: Any, i: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        vector = ir.VectorType(ir.IntType(32), 8)
        numbers = builder.load(pointer(context, builder, signature.args[0], args[0], args[1], vector))
        numbers.align = 4
        kind = ir.FunctionType(ir.IntType(32), [vector])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.vector.reduce.umin.v8i32")
        return builder.call(function, [numbers])

    return types.uint32(array, i), generate


@intrinsic  # type: ignore[untyped-decorator]
def _prefetch(_: Any, array: Any, i: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        byte, number = ir.IntType(8), ir.IntType(32)
        place = pointer(context, builder, signature.args[0], args[0], args[1], byte)
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
equal_bits: Any = plain_equal_bits if PLAIN else _equal_bits
range_bits: Any = plain_range_bits if PLAIN else _range_bits
count_bits: Any = plain_count_bits if PLAIN else _count_bits
lowest_bit: Any = plain_lowest_bit if PLAIN else _lowest_bit
highest_bit: Any = plain_highest_bit if PLAIN else _highest_bit
least_of_8: Any = plain_least_of_8 if PLAIN else _least_of_8
prefetch: Any = plain_prefetch if PLAIN else _prefetch
letter_bits, small_letter_bits, digit_bits, space_bits, high_bits, blank_bits, apostrophe_bits, line_end_bits = (
    plain_bits_of_ranges(ranges) if PLAIN else bits_of_ranges(ranges)
    for ranges in (LETTERS, SMALL_LETTERS, DIGITS, SPACES, HIGH, ((32, 32),), ((39, 39),), ((10, 10), (13, 13)))
)
