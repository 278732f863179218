"""Texts cut at white space into chunks, each distinct chunk once: what the tokenizer and the word counter work on.

A chunk is what stands between spaces, tabs, line feeds and carriage returns. BERT's normaliser makes a space of each
of these before anything else, canonical reordering never moves a mark across a space, and the pre-tokenizer never
joins over one; so a text's words are its chunks' words, in order. Other white space is left inside the chunks (the
normaliser deletes some of it, such as the vertical tab, and so joins what stands around it).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bertdata.text_arrays import BATCH_BYTES, offsets_of, text_of, utf8_error

_SEPARATORS = " \t\n\r"
_TO_SPACE = bytes.maketrans(b"\t\n\r", b"   ")


@dataclass(frozen=True)
class Chunks:
    """Chunks of rows: strings `distinct`, `codes` (int32) into them, `offsets` (int64, rows + 1) into `codes`."""

    distinct: list[str]
    codes: NDArray[np.int32]
    offsets: NDArray[np.int64]


def units_of(offsets: NDArray[np.int64], size: int = BATCH_BYTES) -> Iterator[tuple[int, int]]:
    """Yield runs of rows, from and to, of about `size` bytes between `offsets`; a longer row comes alone.

    >>> list(units_of(np.array([0, 2, 4, 9, 9, 10]), 4))
    [(0, 2), (2, 3), (3, 5)]
    """
    row, last = 0, len(offsets) - 1
    while row < last:
        stop = min(last, max(row + 1, int(np.searchsorted(offsets, offsets[row] + size, side="right")) - 1))
        yield row, stop
        row = stop


def padded_units(
    text: NDArray[np.uint8], offsets: NDArray[np.int64], padding: int
) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.int64], int, int]]:
    """Yield text, offsets and runs of rows, from and to, such that `padding` bytes may be read after each run.

    Text and offsets are those given, or copies for rows at the very end; read-only in any case, so that kernels see one
    type.
    """
    n_padded = int(np.searchsorted(offsets, len(text) - padding, side="right")) - 1
    for row, stop in units_of(offsets):
        split = min(max(row, n_padded), stop)
        if row < split:
            yield _frozen(text.view()), offsets, row, split
        if split < stop:
            start, end = int(offsets[split]), int(offsets[stop])
            copied = np.zeros(end - start + padding, np.uint8)
            copied[: end - start] = text[start:end]
            yield _frozen(copied), offsets - start, split, stop


def _frozen(text: NDArray[np.uint8]) -> NDArray[np.uint8]:
    text.flags.writeable = False
    return text


def split_rows(array: pa.Array, first_row: int = 0) -> Chunks:
    """Return the chunks of an Arrow string array without nulls; `first_row` is for the messages.

    Raises InputError, naming the row, where the array's bytes are not UTF-8.

    >>> chunks = split_rows(pa.array(["a b a", "", "b"]))
    >>> chunks.distinct, chunks.codes.tolist(), chunks.offsets.tolist()
    (['a', 'b', ''], [0, 1, 0, 2, 1], [0, 3, 4, 5])
    """
    offsets = offsets_of(array)
    data = text_of(array)[offsets[0] : offsets[-1]].tobytes().translate(_TO_SPACE)
    plain = pa.Array.from_buffers(
        pa.large_string(), len(array), [None, pa.py_buffer(offsets - offsets[0]), pa.py_buffer(data)]
    )
    lists = pc.split_pattern(plain, " ")
    encoded = lists.flatten().dictionary_encode()
    try:
        distinct = encoded.dictionary.to_pylist()
    except UnicodeDecodeError as error:
        raise utf8_error(text_of(array), offsets, 0, first_row) from error
    return Chunks(distinct, encoded.indices.to_numpy(), lists.offsets.to_numpy().astype(np.int64))
