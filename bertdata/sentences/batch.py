"""Spans of the sentences of many rows at once: Arrow buffers in, arrays of byte offsets out.

The kernel finds candidates and classifies most; it hands the contexts it cannot classify to a function. No Python
object is made for a sentence, and the memory beyond the result is that of one round of records.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.errors import InputError
from bertdata.sentences.compiled_parameters import Tables

Longs = NDArray[np.int64]
RECORDS = 1 << 14
"""Records of one round, four at least: what is held at once beyond the result, 40 bytes each."""


class Spans(NamedTuple):
    """Sentences in order: sentence i is data[starts[i]:stops[i]]; row r has counts[r] of them."""

    starts: Longs
    stops: Longs
    counts: Longs


def find_spans(data: NDArray[np.uint8], offsets: Longs, tables: Tables, decide: Callable[[bytes], bool]) -> Spans:
    """Return the spans of the sentences of rows, row r being data[offsets[r]:offsets[r + 1]] in UTF-8.

    The offsets ascend within `data`. `decide` tells of a context whether a sentence ends in it. Raises InputError, with
    the byte of the row, where it must be asked of bytes that are not UTF-8.
    """
    from bertdata.sentences import punkt_kernel
    from bertdata.sentences.words_kernel import LONGEST

    for array in (data, offsets):
        array.flags.writeable = False  # the one type that the kernel is compiled for
    size = int(offsets[-1] - offsets[0])
    room = min(RECORDS, size + 4)
    records = np.empty((room, 5), np.int64)
    word = np.empty(LONGEST, np.uint8)
    state, joined = np.zeros(4, np.int64), np.zeros(4, np.int64)
    state[punkt_kernel.AT] = offsets[0]
    counts = np.zeros(len(offsets) - 1, np.int64)
    rounds: list[tuple[Longs, Longs]] = []
    while n := punkt_kernel.find_breaks(data, offsets, tables.places, tables.chars, state, records, word):
        unknown = records[:n, punkt_kernel.KIND] == punkt_kernel.UNKNOWN
        if unknown.any():
            _decide_all(data, offsets, records[:n], unknown, decide)
        starts, stops = np.empty(n + 1, np.int64), np.empty(n + 1, np.int64)
        written = punkt_kernel.join_breaks(data, records, n, tables.chars, joined, starts, stops, counts)
        rounds.append((starts[:written], stops[:written]))
    if len(rounds) == 1:
        return Spans(*rounds[0], counts)
    starts = np.concatenate([starts for starts, _ in rounds]) if rounds else np.zeros(0, np.int64)
    stops = np.concatenate([stops for _, stops in rounds]) if rounds else np.zeros(0, np.int64)
    return Spans(starts, stops, counts)


def _decide_all(
    data: NDArray[np.uint8],
    offsets: Longs,
    records: NDArray[np.int64],
    unknown: NDArray[np.bool_],
    decide: Callable[[bytes], bool],
) -> None:
    from bertdata.sentences import punkt_kernel

    view = data.data
    places = records[unknown][:, [punkt_kernel.WORD_AT, punkt_kernel.CONTEXT_END]].tolist()
    try:
        answers = [decide(bytes(view[begin:end])) for begin, end in places]
    except UnicodeDecodeError as error:
        begin = next(begin for begin, end in places if bytes(view[begin:end]) == error.object)
        row = int(np.searchsorted(offsets, begin, side="right")) - 1
        raise InputError(
            f"row {row} is not UTF-8 (byte 0x{error.object[error.start]:02x} at byte "
            f"{begin + error.start - offsets[row]} of the row); build the column from decoded text"
        ) from error
    records[unknown, punkt_kernel.KIND] = np.where(answers, punkt_kernel.BREAK, punkt_kernel.NO)
