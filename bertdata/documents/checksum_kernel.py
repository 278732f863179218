"""The compiled core of `reread.checksum_of`: a checksum of the texts of a column, a chunk at a time."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

from bertdata.kernels.byte_hash import hash_bytes
from bertdata.kernels.jit import typed_kernel
from bertdata.kernels.mixer import mix

_READ_BYTES = numba.types.Array(numba.uint8, 1, "C", readonly=True)
_READ_ENDS = numba.types.Array(numba.int32, 1, "C", readonly=True)


@typed_kernel(numba.uint64(_READ_BYTES, _READ_ENDS, numba.uint64))
def add_texts(data: NDArray[Any], ends: NDArray[Any], checksum: Any) -> Any:
    """Return a checksum with the texts data[ends[i] : ends[i + 1]] added in order: 64 bits, each text by its hash."""
    for i in range(len(ends) - 1):
        checksum = mix(checksum ^ hash_bytes(data, np.int64(ends[i]), np.int64(ends[i + 1])))
    return checksum
