"""`paragraphs` of many texts at once, by a kernel where nothing asks for more than a second line break."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from bertdata.documents.document import paragraphs


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
    kinds, counts = np.empty(len(texts), np.uint8), np.empty(len(texts), np.int64)
    if not kernel.find_kinds(data, ends, kinds, counts):
        return texts
    others = [paragraphs(texts[row].as_py()).encode() for row in np.flatnonzero(kinds == kernel.OTHER).tolist()]
    other_ends = np.zeros(len(others) + 1, np.int32)
    np.cumsum([len(text) for text in others], out=other_ends[1:])
    doubled = int(counts[kinds == kernel.DOUBLED].sum())
    out = np.empty(size - int(ends[0]) + doubled + int(other_ends[-1]) + BLOCK, np.uint8)
    out_ends = np.empty(len(texts) + 1, np.int32)
    kernel.write_texts(data, ends, kinds, np.frombuffer(b"".join(others), np.uint8), other_ends, out, out_ends)
    return pa.StringArray.from_buffers(len(texts), pa.py_buffer(out_ends), pa.py_buffer(out))


def _padded(buffer: pa.Buffer | None, size: int, more: int) -> np.ndarray[tuple[int], np.dtype[np.uint8]]:
    """Return the first bytes of a buffer, followed by at least `more` bytes that kernels may read."""
    if buffer is None or buffer.size < size + more:
        padded = np.zeros(size + more, np.uint8)
        padded[:size] = np.frombuffer(buffer or b"", np.uint8)[:size]
        return padded
    return np.frombuffer(buffer, np.uint8)
