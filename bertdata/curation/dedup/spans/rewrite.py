"""Parts of documents written anew without the spans that are left out; documents left too short are dropped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.counter_rng import text_bits
from bertdata.curation.dedup.spans.folded import fold
from bertdata.curation.dedup.spans.store import units_of, units_of_a_span
from bertdata.curation.dedup.spans.text_units import FindsSentences, Units, text_without, whole_units
from bertdata.curation.languages import languages_told
from bertdata.curation.settings import DedupSpansConfig
from bertdata.documents import (
    BYTES_REMOVED,
    CHANGED,
    COLUMNS,
    DROPPED_TEXTS,
    LEFT_OUT,
    SAMPLE_CHARACTERS,
    DocumentRange,
    DocumentWriter,
    DroppedSamples,
    open_parquet,
    read_range,
)
from bertdata.engine.byte_ranges import Stream, read_stream
from bertdata.engine.parts import Counters
from bertdata.io import files

NAME = "dedup-spans"
CHANGED_DOCUMENTS = CHANGED + NAME
REPEATED = LEFT_OUT + "repeated"
LEFT_OUT_BYTES = "bytes" + REPEATED
NOTHING_LEFT, TOO_SHORT = "only repeated text", "too short without repeated text"
DETAIL = "dedup_spans"
"""The detail of a record with the bytes of the documents that were dropped, and samples of what was left out."""
SAMPLES = 5
"""How many texts that were left out the manifest shows: those with the lowest hashes."""


@dataclass(frozen=True)
class Repeats:
    """Occurrences to be left out of a part: `stream` has them, its documents numbered from the part's `first`."""

    first: int
    stream: Stream


@dataclass(frozen=True)
class Rewritten:
    """A part of documents, what is to be left out of it, and its number among the parts."""

    documents: DocumentRange
    repeats: tuple[Repeats, ...]
    number: int


def write_without(config: DedupSpansConfig, segmenter: FindsSentences, part: Rewritten, file: BinaryIO) -> Counters:
    """Write one part of documents without what is to be left out of it.

    Memory is a row group and 24 bytes for each occurrence that is left out.
    """
    counters = Counters()
    rewriter = _Rewriter(config, segmenter, counters)
    which, place = _occurrences(part.repeats)
    with files.open_raw(part.documents.path) as raw:
        columns = COLUMNS in open_parquet(raw, part.documents.path).schema_arrow.names
    first = 0
    with DocumentWriter(file, counters, columns=columns, add_languages=languages_told if columns else None) as writer:
        for documents in read_range(part.documents, columns=columns):
            begin, end = np.searchsorted(which, [first, first + documents.num_rows])
            texts = rewriter.texts(documents, which[begin:end] - first, place[begin:end])
            for row, document in enumerate(documents.to_pylist()):
                text = texts.get(row, document["text"])
                if text is not None:
                    given = {name: document[name] for name in ("source", "title", "url")}
                    writer.add(document["id"], **given, text=text, columns=document.get(COLUMNS))
            first += documents.num_rows
    if dropped := rewriter.dropped.of_part():
        counters.details[DROPPED_TEXTS] = dropped
    counters.details[DETAIL] = {"dropped_bytes": rewriter.dropped_bytes, "samples": rewriter.samples}
    return counters


def _occurrences(repeats: Sequence[Repeats]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the documents of a part and the places in them to be left out, in their order."""
    which, places = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for repeat in repeats:
        table = read_stream(repeat.stream)
        which.append(table["document"].to_numpy().astype(np.int64) + repeat.first)
        places.append(table["place"].to_numpy().astype(np.int64))
    which_one, place = np.concatenate(which), np.concatenate(places)
    order = np.lexsort((place, which_one))
    return which_one[order], place[order]


class _Rewriter:
    """Makes the texts of changed documents, and counts what was left out, with some of it as samples."""

    def __init__(self, config: DedupSpansConfig, segmenter: FindsSentences, counters: Counters) -> None:
        self._config, self._segmenter, self._counters = config, segmenter, counters
        self.dropped_bytes = 0
        self.samples: list[dict[str, str]] = []
        self.dropped = DroppedSamples()

    def texts(self, documents: pa.Table, which: NDArray[np.int64], place: NDArray[np.int64]) -> dict[int, str | None]:
        """Return what is left of the documents that have something to be left out, None where they are dropped."""
        if not len(which):
            return {}
        rows, begins = np.unique(which, return_index=True)
        ends = np.append(begins[1:], len(which)).tolist()
        given = documents["text"].combine_chunks().take(pa.array(rows))
        units, n = units_of(given, self._config, self._segmenter), units_of_a_span(self._config)
        left_out, remaining = [], []
        for text, (begin, end) in enumerate(zip(begins.tolist(), ends, strict=True)):
            chosen = np.zeros(int(units.borders[text + 1] - units.borders[text]), np.bool_)
            for more in range(n):
                chosen[place[begin:end] + more] = True
            left_out.append(chosen)
            remaining.append(text_without(units, text, chosen))
        reasons = self._reasons(remaining)
        for text, row in enumerate(rows.tolist()):
            self._count(
                documents.slice(row, 1).to_pylist()[0], units, text, left_out[text], remaining[text], reasons[text]
            )
        return {row: None if reasons[i] else remaining[i] for i, row in enumerate(rows.tolist())}

    def _reasons(self, remaining: Sequence[str]) -> list[str]:
        """Return for each text that is left why its document is dropped, "" where it is kept."""
        texts = pa.array(remaining, pa.string())
        short = fold(whole_units(texts)).words < self._config.dedup_spans_words_left
        if self._config.dedup_spans == "sentences" and self._config.dedup_spans_sentences_left:
            sentences = np.diff(np.asarray(self._segmenter.spans_batch(texts).offsets))
            short |= sentences < self._config.dedup_spans_sentences_left
        return [
            (TOO_SHORT if few else "") if text else NOTHING_LEFT for text, few in zip(remaining, short, strict=True)
        ]

    def _count(
        self,
        document: dict[str, Any],
        units: Units,
        text: int,
        left_out: NDArray[np.bool_],
        remaining: str,
        reason: str,
    ) -> None:
        size = len(document["text"].encode())
        self._counters.add(f"{BYTES_REMOVED}repeated {self._config.dedup_spans}", size - len(remaining.encode()))
        first = units.borders[text] + int(np.argmax(left_out))
        repeated = units.data[units.begins[first] : units.ends[first]].tobytes().decode()[:SAMPLE_CHARACTERS]
        self.samples = lowest_samples([*self.samples, {"id": document["id"], "text": repeated}])
        if reason:
            self._counters.drop(reason)
            self.dropped_bytes += size
            self.dropped.add(reason, document["id"], document["title"], document["text"])
            return
        self._counters.add(CHANGED_DOCUMENTS)
        self._counters.add(self._config.dedup_spans + REPEATED, int(left_out.sum()))
        self._counters.add(LEFT_OUT_BYTES, size - len(remaining.encode()))


def lowest_samples(samples: Iterable[dict[str, str]]) -> list[dict[str, str]]:
    """Return the samples with the lowest hashes of their texts, each text once, which are the same for any parts.

    >>> lowest_samples([{"id": "b", "text": "One."}, {"id": "a", "text": "One."}])
    [{'id': 'a', 'text': 'One.'}]
    """
    ordered = sorted(
        samples, key=lambda sample: (text_bits(sample["text"]), sample["text"], sample["id"]), reverse=True
    )
    return list({sample["text"]: sample for sample in ordered}.values())[::-1][:SAMPLES]
