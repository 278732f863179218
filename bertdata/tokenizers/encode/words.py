"""Where the words of texts begin, unit by unit, by a scanner."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.text_arrays import READ_AHEAD, offsets_of, text_of
from bertdata.tokenizers.encode.kernels import bitmaps as bits
from bertdata.tokenizers.encode.row_ranges import padded_units
from bertdata.tokenizers.encode.scanners import Scanner

UNIT_BYTES = 1 << 19
"""Text that is worked on at a time, so that its words stay in the processor's cache; a longer row comes alone."""
_MOST_SPARE = 16


class Unit(NamedTuple):
    """Some rows of a text, and its words, which begin at `positions` after the first row's begin.

    first_row: the number of the first row of the text; one more position is where the last word ends. left, longs: room
    for three numbers and two of each word.
    """

    text: NDArray[np.uint8]
    offsets: NDArray[np.int64]
    row: int
    stop: int
    first_row: int
    positions: NDArray[np.uint32]
    n_words: int
    left: NDArray[np.int64]
    longs: NDArray[np.int64]

    @property
    def begin(self) -> int:
        """Where the first row begins in the text."""
        return int(self.offsets[self.row])

    @property
    def end(self) -> int:
        """Where the last row ends in the text."""
        return int(self.offsets[self.stop])


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
            self._positions = np.empty(n + 64, np.uint32)
            self._left, self._longs = np.empty((n + 1, 3), np.int64), np.empty((n + 1, 2), np.int64)

    def find(
        self, text: NDArray[np.uint8], offsets: NDArray[np.int64], row: int, stop: int, first_row: int = 0
    ) -> Unit:
        """Return the words of some rows. The bits of `bitmaps.unsure` are those of the scanner then."""
        begin, n = int(offsets[row]), int(offsets[stop] - offsets[row])
        self._make_room(n)
        bits.mark_rows(offsets, row, stop, self.bitmaps.rows)
        self.scanner.mark(text, begin, n, self.bitmaps)
        n_words = int(bits.find_positions(self.bitmaps.starts, n, self._positions)) - 1
        return Unit(text, offsets, row, stop, first_row, self._positions, n_words, self._left, self._longs)


def padded_texts(
    arrays: Iterable[pa.Array],
) -> Iterator[tuple[pa.Array, NDArray[np.uint8], NDArray[np.int64], int]]:
    """Yield Arrow string arrays of UTF-8 with their texts and offsets, and the number of the first row of each.

    Text is read-only, and bytes may be read after its end.
    """
    first_row = 0
    for rows in arrays:
        text, offsets = text_of(rows), offsets_of(rows)
        if offsets[-1] + READ_AHEAD > len(text):
            text = np.concatenate([text[: offsets[-1]], np.zeros(READ_AHEAD, np.uint8)])
        text = text.view()
        text.flags.writeable = False
        yield rows, text, offsets, first_row
        first_row += len(rows)


def units(arrays: Iterable[pa.Array]) -> Iterator[tuple[NDArray[np.uint8], NDArray[np.int64], int, int, int]]:
    """Yield text and offsets of Arrow string arrays, runs of rows in them, and the number of the first row of an array.

    The arrays are of UTF-8. Text is read-only, and bytes may be read after the end of each run.
    """
    first_row = 0
    for rows in arrays:
        for run in padded_units(text_of(rows), offsets_of(rows), READ_AHEAD, UNIT_BYTES):
            yield *run, first_row
        first_row += len(rows)
