"""Where the words of texts begin, unit by unit, by a scanner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.text_arrays import READ_AHEAD, check_bytes, offsets_of, text_of
from bertdata.tokenizers.encode.kernels import bitmaps as bits
from bertdata.tokenizers.encode.row_ranges import units_of
from bertdata.tokenizers.encode.scanners import Scanner

UNIT_BYTES = 1 << 18
"""Text that is worked on at a time, so that its words stay in the processor's cache; a longer row comes alone."""
_MOST_SPARE = 16


class Words:
    """The words of one unit at a time, in arrays that are used again."""

    def __init__(self, scanner: Scanner) -> None:
        self.scanner = scanner
        self._size = 0
        self._make_room(0)

    def _make_room(self, n: int) -> None:
        """Make room for `n` bytes, and give back what a much longer row took."""
        n = max(n, UNIT_BYTES)
        if not n <= self._size <= _MOST_SPARE * n:
            self._size = n
            self.bitmaps = bits.Bitmaps(*(np.zeros(n // 64 + 2, np.uint64) for _ in bits.Bitmaps._fields))
            self.positions, self.found = np.empty(n + 64, np.uint32), np.empty(n + 64, np.uint32)
            self.longs = np.empty((n + 1, 2), np.int64)

    def find(self, text: NDArray[np.uint8], offsets: NDArray[np.int64], row: int, stop: int) -> int:
        """Write to `positions` where the words of some rows begin after the first row; returns how many words.

        One more position is where the last word ends. The bits of `bitmaps.unsure` are those of the scanner.
        """
        begin, n = int(offsets[row]), int(offsets[stop] - offsets[row])
        self._make_room(n)
        bits.mark_rows(offsets, row, stop, self.bitmaps.rows)
        self.scanner.mark(text, begin, n, self.bitmaps)
        return int(bits.find_positions(self.bitmaps.starts, n, self.positions)) - 1


def units(arrays: Iterable[pa.Array]) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.int64], int, int, int]]:
    """Yield the text and the offsets of Arrow string arrays, runs of rows in them, and the number of the first row.

    Text is read-only, and bytes may be read after its end. Raises InputError, naming the row, for bytes that are not
    UTF-8.
    """
    first_row = 0
    for rows in arrays:
        text, offsets = text_of(rows), offsets_of(rows)
        check_bytes(rows, first_row)
        if len(rows) and offsets[-1] + READ_AHEAD > len(text):
            text = np.concatenate([text[: offsets[-1]], np.zeros(READ_AHEAD, np.uint8)])
        text = text.view()
        text.flags.writeable = False
        for row, stop in units_of(offsets, UNIT_BYTES):
            yield text, offsets, row, stop, first_row
        first_row += len(rows)
