"""Copying bytes, many at a time; the function checks the bounds, the intrinsic does not."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from bertdata.kernels.characters import Bytes, Int
from bertdata.kernels.jit import inlined
from bertdata.kernels.simd import PLAIN, pointer


@intrinsic  # type: ignore[untyped-decorator]
def _move(_: Any, out: Any, written: Any, source: Any, begin: Any, size: Any) -> Any:
    """Move `size` bytes from source[begin:] to out[written:], which may overlap."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        target, origin = (
            pointer(context, builder, signature.args[k], args[k], args[k + 1], ir.IntType(8)) for k in (0, 2)
        )
        cgutils.raw_memmove(builder, target, origin, args[4], 1)
        return context.get_dummy_value()

    return types.none(out, types.int64, source, types.int64, types.int64), generate


@inlined
def copy(source: Bytes, begin: int, end: int, out: Bytes, written: int) -> Int:
    """Copy source[begin:end] to out[written:], as far as it fits; returns where the copy ends.

    Within one array it copies to a lower place.
    """
    size = min(end - begin, out.size - written, source.size - begin)
    if size <= 0 or begin < 0 or written < 0:
        return written
    if PLAIN or size < 8:
        for k in range(size):
            out[written + k] = source[begin + k]
    else:
        _move(out, written, source, begin, size)
    return written + size
