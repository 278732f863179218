"""Numbers of the texts of rows, the same for the same text: what keeps them apart in a batch (`EpochBatchSampler`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.errors import ConfigError
from bertdata.kernels.warmup import compiling_pays
from bertdata.loader.examples import ShardExamples
from bertdata.shards.number_arrays import numbers_of
from bertdata.text_arrays import Texts, as_strings

_RUN_BYTES, _RUN_TEXTS = 16 << 20, 1 << 20
"""How much of a chunk is numbered at a time: the room for new texts is made beforehand."""


def text_numbers(texts: ShardExamples | Sequence[Texts]) -> NDArray[np.int32]:
    """Return the numbers of the texts of each row, int32 (N, K), from 0 on in the order in which texts first occur.

    texts: the columns of texts, lists of strings or Arrow string arrays, one as long as the other, the first text of
    each row in the first; or the shards of a task of sentence embeddings, whose texts are the same where their ids are,
    so where they differ only in what is cut off, too. Texts that differ in case or spaces are different texts.

    Raises ConfigError for no columns and for columns of several lengths, and as `as_strings` does.

    >>> text_numbers([["sea", "salt", "sea"], ["water", "sea", "Sea"]])
    array([[0, 2],
           [1, 0],
           [0, 3]], dtype=int32)
    """
    if isinstance(texts, ShardExamples):
        names = [name for name in texts.names if name.startswith("input_ids")]
        columns = [pa.chunked_array(texts.rows.every(name, _as_bytes), pa.large_binary()) for name in sorted(names)]
    else:
        columns = [as_strings(column).cast(pa.large_string()) for column in texts]
    lengths = sorted({len(column) for column in columns})
    if len(lengths) != 1:
        given = f"columns of {' and '.join(f'{length:,}' for length in lengths)} texts" if lengths else "no columns"
        raise ConfigError(f"found {given}; expected the columns of one data set, each with a text of every row")
    chunks = [chunk for column in columns for chunk in column.chunks]
    rows = number_texts(chunks, columns[0].type)
    return np.ascontiguousarray(rows.reshape(len(columns), lengths[0]).T)


def number_texts(chunks: list[pa.Array], kind: pa.DataType, compiled: bool | None = None) -> NDArray[np.int32]:
    """Return the numbers of the texts of all chunks, int32 (N,), from 0 on in the order in which texts first occur.

    chunks: Arrow arrays of large_string or large_binary, as `kind` says; compiled: whether a kernel does it, by
    default where the texts have so many bytes that it pays.
    """
    if compiling_pays(sum(chunk.nbytes for chunk in chunks), compiled):
        return _by_kernel(chunks)
    encoded = pa.chunked_array(chunks, kind).dictionary_encode()
    numbers = [numbers_of(chunk.indices) for chunk in encoded.chunks]
    return np.concatenate([np.zeros(0, np.int32), *numbers]).astype(np.int32)


def _by_kernel(chunks: list[pa.Array]) -> NDArray[np.int32]:
    from bertdata.loader.text_numbering_kernel import BLOCK, enter_slots, number_chunk

    numbers = np.empty(sum(map(len, chunks)), np.int32)
    slots, starts = np.zeros(1 << 10, np.uint64), np.zeros(1, np.int64)
    arena = np.empty(sum(chunk.nbytes for chunk in chunks) // 4, np.uint8)  # memory only where it is written
    hashes = np.empty(BLOCK, np.uint64)
    entered = written = 0
    for chunk in chunks:
        data = np.frombuffer(chunk.buffers()[2] or b"", np.uint8)
        all_ends = np.frombuffer(chunk.buffers()[1] or bytes(8), np.int64, len(chunk) + 1, 8 * chunk.offset)
        for first, last in _runs(all_ends):
            ends = all_ends[first : last + 1]
            most = entered + last - first
            if 2 * most > len(slots):
                larger = np.zeros(2 << (2 * most - 1).bit_length(), np.uint64)
                enter_slots(slots, larger)
                slots = larger
            starts = _with_room(starts, entered + 1, most + 1)
            arena = _with_room(arena, int(starts[entered]), int(starts[entered] + ends[-1] - ends[0]))
            run = numbers[written : written + last - first]
            entered = number_chunk(data, ends, slots, starts, arena, entered, run, hashes)
            written += last - first
    return numbers


def _runs(ends: NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Yield the first text and the one after the last of runs of texts that have some megabytes, or are one."""
    first = 0
    while first + 1 < len(ends):
        within = int(np.searchsorted(ends, ends[first] + _RUN_BYTES, "right")) - 1
        last = min(max(within, first + 1), first + _RUN_TEXTS)
        yield first, last
        first = last


def _with_room(array: NDArray[Any], used: int, needed: int) -> NDArray[Any]:
    """Return an array that has room for so many elements, the first `used` of them those of `array`."""
    if needed <= len(array):
        return array
    larger = np.empty(max(needed, 2 * len(array)), array.dtype)
    larger[:used] = array[:used]
    return larger


def _as_bytes(rows: pa.Array) -> pa.Array:
    """Return lists of ids as their bytes, as unsigned integers of 32 bits."""
    offsets = numbers_of(rows.offsets).astype(np.int64)
    first, last = (int(offsets[0]), int(offsets[-1])) if len(rows) else (0, 0)
    ids = numbers_of(rows.values)[first:last].astype(np.uint32)
    places = (offsets - first) * ids.itemsize
    return pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(rows), [None, pa.py_buffer(places), pa.py_buffer(ids)]
    )
