"""What repeats in one partition of the hashes of spans, decided in rounds, each of one range of hashes.

So memory has a bound, whatever the size of the corpus.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pyarrow as pa

from bertdata.curation.dedup.spans.repeats import Occurrences
from bertdata.curation.dedup.spans.store import LEFT_OUT
from bertdata.engine.byte_ranges import Stream, read_stream

ROUND_BYTES = 128 << 20
"""Bytes of the signed spans of one round; it takes at most about 5 times as much memory."""


def find_left_out(
    streams: Sequence[Stream], hashes: tuple[int, int] = (0, 1 << 64), round_bytes: int = ROUND_BYTES
) -> dict[int, pa.Table]:
    """Return the occurrences of spans to be left out, tables of `LEFT_OUT`, by the number of their stream.

    streams: the spans of one partition, one stream a file, in the order of the files. hashes: what the upper half of
    theirs is at least, and below. A round holds those of one range in all files: at most about 5 times `round_bytes` of
    memory, or 160 bytes for each file, for a hash is in a file once. What is left out takes 24 bytes each.
    """
    rounds = max(1, -(-sum(one.length for one in streams) // round_bytes))
    numbers, documents, places = [np.zeros(0, np.uint32)], [np.zeros(0, np.uint32)], [np.zeros(0, np.uint32)]
    begin, end = hashes
    borders = [begin + (end - begin) * number // rounds for number in range(rounds + 1)]
    for low, high in pairwise(borders):
        found = [_between(stream, number, low, high) for number, stream in enumerate(streams)]
        every = Occurrences.joined(found)
        chosen = every.left_out()
        numbers.append(every.file[chosen])
        documents.append(every.document[chosen])
        places.append(every.place[chosen])
    number, document, place = map(np.concatenate, (numbers, documents, places))
    order = np.lexsort((place, document, number))
    bounds = np.searchsorted(number[order], np.arange(len(streams) + 1))
    result = {}
    for one in np.unique(number).tolist():
        rows = order[bounds[one] : bounds[one + 1]]
        result[one] = pa.table([pa.array(document[rows]), pa.array(place[rows])], schema=LEFT_OUT)
    return result


def _between(stream: Stream, number: int, low: int, high: int) -> Occurrences:
    """Return the spans of a stream whose hashes are at least `low` and below `high`, without holding the others."""
    table = read_stream(stream)
    hashes = table["high"].to_numpy()
    begin = int(np.searchsorted(hashes, np.uint64(low)))
    end = len(hashes) if high > int(np.iinfo(np.uint64).max) else int(np.searchsorted(hashes, np.uint64(high)))
    return Occurrences.of(table.slice(begin, end - begin), number).taken(slice(None))
