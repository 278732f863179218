"""`paragraphs` of many texts at once, by a kernel."""

from __future__ import annotations

import numpy as np
import pyarrow as pa


def paragraphs_of(texts: pa.StringArray) -> pa.StringArray:
    r"""Return each text as `paragraphs` returns it; none may be null.

    >>> paragraphs_of(pa.array(["One.\nTwo.", "One\nline.\n\n\nTwo. ", ""])).to_pylist()
    ['One.\n\nTwo.', 'One\nline.\n\nTwo.', '']
    """
    from bertdata.documents import paragraphs_kernel as kernel
    from bertdata.kernels.simd import BLOCK  # numba is not needed to read shards

    ends = np.frombuffer(texts.buffers()[1], np.int32)[texts.offset : texts.offset + len(texts) + 1]
    size = int(ends[-1]) if len(texts) else 0
    data = _padded(texts.buffers()[2], size, BLOCK)
    kinds, places = np.empty(len(texts), np.uint8), np.empty((len(texts), 2), np.int64)
    more = kernel.find_kinds(data, ends, kinds, places)
    if more < 0:
        return texts
    out, out_ends = pa.allocate_buffer(size - int(ends[0]) + more), np.empty(len(texts) + 1, np.int32)
    kernel.write_texts(data, kinds, places, np.frombuffer(out, np.uint8), out_ends)
    return pa.StringArray.from_buffers(len(texts), pa.py_buffer(out_ends), out)


def _padded(buffer: pa.Buffer | None, size: int, more: int) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    """Return the first bytes of a buffer, followed by at least `more` bytes that kernels may read."""
    if buffer is None or buffer.size < size + more:
        padded = np.zeros(size + more, np.uint8)
        padded[:size] = np.frombuffer(buffer or b"", np.uint8)[:size]
        return padded
    return np.frombuffer(buffer, np.uint8)
