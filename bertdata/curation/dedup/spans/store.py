"""The spans of a range of documents, signed, in one file: what repeats within the range, and the others by partition.

A file is Arrow IPC streams in a row: first the occurrences that another one in the same range goes before, and then,
for each partition, the first occurrences, ordered by hash. So a hash is in a file once. The top bits of a hash are its
partition. Spans never go through a runner's shuffle, references to their streams do.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import BinaryIO

import numpy as np
import pyarrow as pa

from bertdata.curation.dedup import partitions as by_hash
from bertdata.curation.dedup.spans.folded import fold
from bertdata.curation.dedup.spans.repeats import SPANS, Occurrences, digest_of, rank_of
from bertdata.curation.dedup.spans.text_units import FindsSentences, Units, paragraph_units, sentence_units
from bertdata.curation.settings import DedupSpansConfig
from bertdata.documents import DocumentCount
from bertdata.engine.byte_ranges import write_stream
from bertdata.engine.parts import Counters

TITLE, REWRITE_TITLE = "find repeated text", "leave out repeated text"
"""What the steps are called that find what repeats, and that write documents without it."""
PARTITION_BYTES = 256 << 20
FEWEST_PARTITIONS = 8
LEFT_OUT = pa.schema([pa.field("document", pa.uint32()), pa.field("place", pa.uint32())])
"""An occurrence that is left out: the number of its document in its file, and of its first unit in the document."""
SENTENCES_OF_A_SPAN = 3


class SpanCount(StrEnum):
    """What the records of signed ranges and of partitions count."""

    SPANS = "spans"
    LEFT_OUT = "spans_left_out"


def partitions_for(text_bytes: int) -> int:
    """Return how many partitions the hashes of `text_bytes` of text get: a power of two, for 256 MiB of text each.

    >>> partitions_for(0), partitions_for(5 << 30), partitions_for(1 << 50)
    (8, 32, 1024)
    """
    return by_hash.partitions_for(text_bytes, PARTITION_BYTES, FEWEST_PARTITIONS)


def units_of(texts: pa.StringArray, config: DedupSpansConfig, segmenter: FindsSentences) -> Units:
    """Return the units of texts that the settings ask for."""
    return sentence_units(texts, segmenter) if config.dedup_spans == "sentences" else paragraph_units(texts)


def units_of_a_span(config: DedupSpansConfig) -> int:
    """Return how many units one after another are a span."""
    return SENTENCES_OF_A_SPAN if config.dedup_spans == "sentences" else 1


def occurrences_in(documents: pa.Table, first: int, config: DedupSpansConfig, segmenter: FindsSentences) -> Occurrences:
    """Return the occurrences of spans in documents, which are numbered from `first`.

    A span with fewer words than the settings say is not among them.
    """
    units = units_of(documents["text"].combine_chunks(), config, segmenter)
    n, folded = units_of_a_span(config), fold(units)
    total = np.concatenate([[0], np.cumsum(folded.words)])
    owner = np.repeat(np.arange(documents.num_rows), np.diff(units.borders))
    starts = np.arange(len(owner) - n + 1) if len(owner) >= n else np.zeros(0, np.int64)
    inside = owner[starts] == owner[starts + n - 1]
    starts = starts[inside & (total[starts + n] - total[starts] >= config.dedup_spans_min_words)]
    digests = b"".join(digest_of(folded.of(start, start + n - 1)) for start in starts.tolist())
    halves = np.frombuffer(digests, "<u8").astype(np.uint64).reshape(-1, 2)
    owners, place = owner[starts], starts - units.borders[owner[starts]]
    ranks = np.zeros(documents.num_rows, np.uint64)
    for row in np.unique(owners).tolist():
        ranks[row] = rank_of(documents["id"][row].as_py(), documents["text"][row].as_buffer())
    return Occurrences(
        *(halves[:, 0].copy(), halves[:, 1].copy(), ranks[owners], (first + owners).astype(np.uint32)),
        *(place.astype(np.uint32), np.zeros(len(owners), np.uint32)),
    )


def write_spans(
    tables: Iterable[pa.Table],
    config: DedupSpansConfig,
    segmenter: FindsSentences,
    partitions: int,
    file: BinaryIO,
) -> Counters:
    """Write the signed spans of documents.

    details["streams"] lists [offset, length] of what repeats within the documents, and of each partition; a length is 0
    where there is nothing. Memory is about 100 bytes for each span.
    """
    counters = Counters()
    occurrences: list[Occurrences] = []
    count = 0
    for table in tables:
        occurrences.append(occurrences_in(table, count, config, segmenter))
        count += table.num_rows
    every = Occurrences.joined(occurrences)
    counters.add(DocumentCount.DOCUMENTS, count)
    counters.add(SpanCount.SPANS, len(every))
    again = every.left_out()
    columns = [pa.array(column[again]) for column in (every.document, every.place)]
    repeated = pa.table(columns, schema=LEFT_OUT)
    streams = [write_stream(file, repeated) if repeated.num_rows else [file.tell(), 0]]
    first = np.delete(np.arange(len(every)), again)
    spans = pa.table([pa.array(getattr(every, name)[first]) for name in SPANS.names], schema=SPANS)
    counters.details["streams"] = streams + by_hash.write_partitions(file, spans, partitions)
    return counters
