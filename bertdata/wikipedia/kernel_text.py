"""Python's own strings to UTF-8, compiled, without the characters that the passes over wikitext use as marks.

It reads the string where it lies, 32 characters at a time where they are plain ASCII. Where every access must be
checked there is no such way: then the string is encoded by Python, and `kernel_page` takes the marks out.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from bertdata.compiled import compiled, inner
from bertdata.wikipedia.kernel import NEWLINE, RESERVED, Bytes, Int, array_pointer, lowest_bit
from bertdata.wikipedia.kernel_inline import write_utf8

_LANES = 32
ROOM = 4
"""Bytes that a character may take."""


def _characters(context: Any, builder: Any, text: Any, index: Any, bits: int) -> Any:
    string = cgutils.create_struct_proxy(types.unicode_type)(context, builder, value=text)
    return builder.gep(builder.bitcast(string.data, ir.IntType(bits).as_pointer()), [index])


def _narrow_of(bits: int, typing: Any, text: Any, index: Any, out: Any, written: Any) -> Any:
    """Copy 32 characters to out, a byte each; returns a bit for each that is not plain ASCII or is reserved."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        vector = ir.VectorType(ir.IntType(bits), _LANES)
        pointer = _characters(context, builder, arguments[0], arguments[1], bits)
        loaded = builder.load(builder.bitcast(pointer, vector.as_pointer()))
        loaded.align = bits // 8
        narrow = ir.VectorType(ir.IntType(8), _LANES)
        target = array_pointer(context, builder, signature, arguments, 2, 3)
        stored = loaded if bits == 8 else builder.trunc(loaded, narrow)
        builder.store(stored, builder.bitcast(target, narrow.as_pointer()), align=1)
        special = builder.icmp_unsigned(">=", loaded, ir.Constant(vector, [0x7F] * _LANES))
        for byte in (byte for byte in range(0x7F) if RESERVED[byte]):
            special = builder.or_(special, builder.icmp_unsigned("==", loaded, ir.Constant(vector, [byte] * _LANES)))
        return builder.zext(builder.bitcast(special, ir.IntType(_LANES)), ir.IntType(64))

    return types.int64(text, types.int64, out, types.int64), generate


def _code_of(bits: int, typing: Any, text: Any, index: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        code = builder.load(_characters(context, builder, arguments[0], arguments[1], bits))
        return builder.zext(code, ir.IntType(64))

    return types.int64(text, types.int64), generate


_narrow_8, _narrow_16, _narrow_32 = (intrinsic(partial(_narrow_of, bits)) for bits in (8, 16, 32))
_code_8, _code_16, _code_32 = (intrinsic(partial(_code_of, bits)) for bits in (8, 16, 32))


@compiled
def encode_kernel(text: Any, out: Bytes) -> Int:
    """Write a string to out, which has ROOM for each character and 32 more, with plain line ends; returns the bytes."""
    size = len(text)
    i = n = 0
    while i < size:
        if i + _LANES <= size:
            mask = _narrow(text, i, out, n)
            plain = lowest_bit(mask) if mask else _LANES
            i += plain
            n += plain
            if plain == _LANES:
                continue
        while i < size:
            code = _code(text, i)
            if code == 13:
                k = i + 1
                while k < size and _code(text, k) != 13 and _is_reserved(_code(text, k)):
                    k += 1
                if k == size or _code(text, k) != NEWLINE:
                    n = write_utf8(code, out, n)
            elif not _is_reserved(code):
                n = write_utf8(code, out, n)
            i += 1
            if i + _LANES <= size and _code(text, i) < 0x7F:
                break
    return n


@inner
def _is_reserved(code: int) -> bool:
    return bool(code < 0x80 and RESERVED[code])


@inner
def _narrow(text: Any, i: int, out: Bytes, n: int) -> Int:
    if text._kind == 1:
        return _narrow_8(text, i, out, n)
    return _narrow_16(text, i, out, n) if text._kind == 2 else _narrow_32(text, i, out, n)


@inner
def _code(text: Any, i: int) -> Int:
    if text._kind == 1:
        return _code_8(text, i)
    return _code_16(text, i) if text._kind == 2 else _code_32(text, i)
