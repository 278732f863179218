"""Spans of the sentences of many rows at once: Arrow buffers in, arrays of byte offsets out.

`find_spans` runs the kernel, which finds candidates and classifies most of them, and asks a function about the rest.
`spans_by` calls a function that segments one text. Both return the same spans.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.arrays import Bytes
from bertdata.sentences.compiled_parameters import Tables
from bertdata.text_arrays import utf8_error

Longs = NDArray[np.int64]
RECORDS = 1 << 12
"""Records of one call of the kernel, four at least: what is held at once beyond the result, 40 bytes each."""
_BYTES_OF_SENTENCE = 64
"""For so many bytes there is first room for a sentence; they mostly have more."""


class Spans(NamedTuple):
    """Sentences in order: sentence i is data[starts[i]:stops[i]]; row r has counts[r] of them."""

    starts: Longs
    stops: Longs
    counts: Longs


def find_spans(data: Bytes, offsets: Longs, tables: Tables, decide: Callable[[bytes], bool]) -> Spans:
    """Return the spans of the sentences of rows, row r being data[offsets[r]:offsets[r + 1]] in UTF-8.

    The offsets ascend within `data`. `decide` tells of a context whether a sentence ends in it. Raises InputError, with
    the byte of the row, where it must be asked of bytes that are not UTF-8.
    """
    from bertdata.sentences import punkt_kernel
    from bertdata.sentences.words_kernel import LONGEST

    for array in (data, offsets):
        array.flags.writeable = False  # the one type that the kernel is compiled for
    records = np.empty((min(RECORDS, int(offsets[-1] - offsets[0]) + 4), 5), np.int64)
    word = np.empty(LONGEST, np.uint8)
    state, joined = np.zeros(4, np.int64), np.zeros(4, np.int64)
    state[punkt_kernel.AT] = offsets[0]
    counts = np.zeros(len(offsets) - 1, np.int64)
    starts, stops = np.empty((2, int(offsets[-1] - offsets[0]) // _BYTES_OF_SENTENCE + len(records) + 1), np.int64)
    written = 0
    while n := punkt_kernel.find_breaks(data, offsets, tables.places, tables.chars, state, records, word):
        unknown = np.flatnonzero(records[:n, punkt_kernel.KIND] == punkt_kernel.UNKNOWN)
        if len(unknown):
            contexts = records[unknown][:, [punkt_kernel.WORD_AT, punkt_kernel.CONTEXT_END]].tolist()
            try:
                answers = [decide(bytes(data.data[begin:end])) for begin, end in contexts]
            except UnicodeDecodeError:
                row = int(np.searchsorted(offsets, contexts[0][0], side="right")) - 1
                raise utf8_error(data, offsets, row, 0) from None
            records[unknown, punkt_kernel.KIND] = np.where(answers, punkt_kernel.BREAK, punkt_kernel.NO)
        if written + n + 1 > len(starts):
            starts, stops = (_with_room(places, written, n) for places in (starts, stops))
        room = starts[written:], stops[written:]
        written += punkt_kernel.join_breaks(data, records, n, tables.chars, joined, *room, counts)
    return Spans(starts[:written], stops[:written], counts)


def _with_room(places: Longs, used: int, more: int) -> Longs:
    """Return the used ones of some places in an array with room for as many again, and for so many more."""
    room = np.empty(2 * used + more + 1, np.int64)
    room[:used] = places[:used]
    return room


def spans_by(spans_of: Callable[[str], list[tuple[int, int]]], data: Bytes, offsets: Longs) -> Spans:
    """Return what `find_spans` returns, by a function that returns the spans of one text in characters.

    Raises InputError, with the byte of the row, for a row that is not UTF-8.
    """
    counts = np.zeros(len(offsets) - 1, np.int64)
    row_spans = [np.zeros((0, 2), np.int64)]
    for row, (begin, end) in enumerate(pairwise(offsets.tolist())):
        text = data[begin:end]
        try:
            spans = np.array(spans_of(text.tobytes().decode()), np.int64).reshape(-1, 2)
        except UnicodeDecodeError:
            raise utf8_error(data, offsets, row, 0) from None
        places = np.append(np.flatnonzero((text & 0xC0) != 0x80), len(text))
        row_spans.append(begin + places[spans])
        counts[row] = len(spans)
    starts, stops = np.concatenate(row_spans).T
    return Spans(starts, stops, counts)
