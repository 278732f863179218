"""A hash table whose values are counts, and what it holds as an Arrow table.

Importing this module imports numba; import it where it is called.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from bertdata.kernels import byte_table
from bertdata.kernels.byte_table import LENGTH, USED, WIDTH, Table
from bertdata.kernels.jit import kernel

_U = np.uint64


def take_counts(table: Table) -> pa.Table:
    """Return the keys of a table, words in UTF-8, and their counts, as word (large_string) and count; empties it."""
    n = int(table.counters[USED]) - 1
    data = np.empty(key_bytes(table), np.uint8)
    offsets, counts = np.zeros(n + 1, np.int64), np.empty(n, np.int64)
    write_counts(table, data, offsets, counts)
    clear(table)
    words = pa.Array.from_buffers(pa.large_string(), n, [None, pa.py_buffer(offsets), pa.py_buffer(data)])
    return pa.table([words, pa.array(counts)], ["word", "count"])


@kernel
def write_counts(table: Table, data: Any, offsets: Any, counts: Any) -> None:
    """Write the keys and values of a table as the arrays of Arrow strings, `offsets` one longer, and of int64."""
    end: Any = 0
    for entry in range(1, table.counters[USED]):
        end += byte_table.read_key(table, entry, data, end)
        offsets[entry] = end
        counts[entry - 1] = np.int64(table.entries[entry * WIDTH + 3])


def key_bytes(table: Table) -> int:
    """Return how many bytes the keys of a table have in all."""
    metas = table.entries[2 : table.counters[USED] * WIDTH : WIDTH]
    return int((metas[1:] & _U(LENGTH)).sum())


def clear(table: Table) -> None:
    """Take everything out of a table."""
    table.slots[:] = 0
    table.counters[:] = 1, 0, 0
