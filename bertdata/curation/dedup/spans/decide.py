"""What repeats in one partition of the hashes of spans, decided in rounds, each of one range of hashes.

So memory has a bound, whatever the size of the corpus.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from bertdata.curation.dedup.partitions import HASHES, between, rounds
from bertdata.curation.dedup.spans.repeats import Occurrences
from bertdata.curation.dedup.spans.store import LEFT_OUT
from bertdata.engine.byte_ranges import Stream

ROUND_BYTES = 128 << 20
"""Bytes of the signed spans of one round; it takes at most about 5 times as much memory."""


def find_left_out(
    streams: Sequence[Stream], hashes: tuple[int, int] = (0, HASHES), round_bytes: int = ROUND_BYTES
) -> dict[int, pa.Table]:
    """Return the occurrences of spans to be left out, tables of `LEFT_OUT`, by the number of their stream.

    streams: the spans of one partition, one stream a file, in the order of the files. hashes: what the upper half of
    theirs is at least, and below. A round holds those of one range in all files: at most about 5 times `round_bytes` of
    memory, or 160 bytes for each file, for a hash is in a file once. What is left out takes 24 bytes each.
    """
    numbers, documents, places = [np.zeros(0, np.uint32)], [np.zeros(0, np.uint32)], [np.zeros(0, np.uint32)]
    for low, high in rounds(streams, hashes, round_bytes):
        every = Occurrences.joined(
            [Occurrences.of(between(stream, low, high), number) for number, stream in enumerate(streams)]
        )
        chosen = every.left_out()
        numbers.append(every.file[chosen])
        documents.append(every.document[chosen])
        places.append(every.place[chosen])
    number, document, place = map(np.concatenate, (numbers, documents, places))
    order = np.lexsort((place, document, number))
    bounds = np.searchsorted(number[order], np.arange(len(streams) + 1))
    result = {}
    for stream_number in np.unique(number).tolist():
        rows = order[bounds[stream_number] : bounds[stream_number + 1]]
        result[stream_number] = pa.table([pa.array(document[rows]), pa.array(place[rows])], schema=LEFT_OUT)
    return result
