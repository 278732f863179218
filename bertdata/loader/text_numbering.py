"""Numbers of the texts of rows, the same for the same text: what keeps them apart in a batch (`EpochBatchSampler`)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.errors import ConfigError
from bertdata.loader.examples import ShardExamples
from bertdata.shards.number_arrays import numbers_of
from bertdata.text_arrays import Texts, as_strings


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
    encoded = pa.chunked_array(chunks, columns[0].type).dictionary_encode()
    numbers = [numbers_of(chunk.indices) for chunk in encoded.chunks]
    rows = np.concatenate([np.zeros(0, np.int32), *numbers]).astype(np.int32)
    return np.ascontiguousarray(rows.reshape(len(columns), lengths[0]).T)


def _as_bytes(rows: pa.Array) -> pa.Array:
    """Return lists of ids as their bytes, as unsigned integers of 32 bits."""
    offsets = numbers_of(rows.offsets).astype(np.int64)
    first, last = (int(offsets[0]), int(offsets[-1])) if len(rows) else (0, 0)
    ids = numbers_of(rows.values)[first:last].astype(np.uint32)
    places = (offsets - first) * ids.itemsize
    return pa.LargeBinaryArray.from_buffers(
        pa.large_binary(), len(rows), [None, pa.py_buffer(places), pa.py_buffer(ids)]
    )
