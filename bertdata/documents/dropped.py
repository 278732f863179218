"""Documents left out: samples of those that rules drop, and the record of a part without those dropped later."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from bertdata.counter_rng import text_bits
from bertdata.documents.document import BYTES_REMOVED, DOCUMENT_LANGUAGES, DocumentCount, slot
from bertdata.engine.int_rows import Ints
from bertdata.engine.parts import PartMetadata

DROPPED_TEXTS = "dropped_texts"
"""The detail of a record, and the entry of a source in the manifest, with samples of the documents rules dropped."""
SAMPLES, SAMPLE_CHARACTERS = 5, 300
"""How many dropped documents of a reason are kept as samples, and how much of each."""
MEASURED = 100_000
"""Characters of the longest text that is measured for a sample, by plain Python."""


@dataclass(frozen=True)
class Dropped:
    """A document that later stages skip: its row in its part, its id, its bytes of text, and the reason.

    language: its own, where the record of its part has the languages of documents.
    """

    row: int
    id: str
    text_bytes: int
    reason: str
    language: str | None = None


class DroppedSamples:
    """Samples of the documents of a part that rules drop: by reason, those whose ids have the smallest hashes.

    >>> samples = DroppedSamples()
    >>> samples.add("too short", "a", "Salt", "Salt.")
    >>> samples.of_part(lambda text, reason: f"characters is {len(text)}")["too short"][0][1:]
    ['a', 'Salt', 'Salt.', 'characters is 5']
    """

    def __init__(self) -> None:
        self._by_reason: dict[str, list[tuple[int, str, str, str]]] = {}

    def takes(self, reason: str, document_id: str) -> bool:
        """Tell whether a document is one of the samples of its reason as far as they are known."""
        of_reason = self._by_reason.get(reason, [])
        return len(of_reason) < SAMPLES or _number(document_id) < of_reason[-1][0]

    def add(self, reason: str, document_id: str, title: str, text: str) -> None:
        """Add a dropped document, if it is one of the samples."""
        if self.takes(reason, document_id):
            of_reason = self._by_reason.setdefault(reason, [])
            of_reason.append((_number(document_id), document_id, title, text[: MEASURED + 1]))
            of_reason.sort()
            del of_reason[SAMPLES:]

    def of_part(self, measured: Callable[[str, str], str] | None = None) -> dict[str, list[list[Any]]]:
        """Return the samples by reason, as `dropped_texts` takes them from a record.

        measured: returns for a text, of up to `MEASURED` characters or cut off after one more, and a reason what the
        rule measured, "" of a rule that measures nothing. It may be slow: only samples that are left are measured.
        """
        return {
            reason: [
                [number, document_id, title, text[:SAMPLE_CHARACTERS], *_figures(measured, text, reason)]
                for number, document_id, title, text in of_reason
            ]
            for reason, of_reason in self._by_reason.items()
        }


def _number(document_id: str) -> int:
    return text_bits(document_id) >> 11


def _figures(measured: Callable[[str, str], str] | None, text: str, reason: str) -> list[str]:
    figures = measured(text, reason) if measured else ""
    return [figures] if figures else []


def dropped_texts(records: Iterable[PartMetadata]) -> dict[str, list[list[Any]]]:
    """Return samples of the documents that rules dropped, by reason: [number, id, title, first characters of the text],
    then what the rule measured if it says so.

    The number is a hash of the id. Those with the smallest are the samples, so they are the same for any parts.
    """
    by_reason: dict[str, list[list[Any]]] = {}
    for record in records:
        for reason, samples in record.details.get(DROPPED_TEXTS, {}).items():
            by_reason[reason] = sorted([*by_reason.get(reason, []), *samples])[:SAMPLES]
    return dict(sorted(by_reason.items()))


def without_rows(
    record: PartMetadata, dropped: Sequence[Dropped], samples: Mapping[str, list[list[Any]]] | None = None
) -> PartMetadata:
    """Return the record of a part without some documents; details["dropped"] has all rows to skip, sorted.

    samples: of these documents, by reason, as `dropped_texts` returns them.
    """
    if not dropped:
        return record
    counts, drops = dict(record.counts), dict(record.drops)
    slots = {number: [documents, size] for number, documents, size in record.details["slots"]}
    languages = {code: list(figures) for code, figures in record.details.get(DOCUMENT_LANGUAGES, {}).items()}
    for document in dropped:
        counts[DocumentCount.DOCUMENTS] -= 1
        counts[DocumentCount.TEXT_BYTES] -= document.text_bytes
        drops[document.reason] = drops.get(document.reason, 0) + 1
        removed = BYTES_REMOVED + document.reason
        counts[removed] = counts.get(removed, 0) + document.text_bytes
        slots[slot(document.id)][0] -= 1
        slots[slot(document.id)][1] -= document.text_bytes
        if languages and document.language:
            languages[document.language][0] -= 1
            languages[document.language][1] -= document.text_bytes
    details = record.details | {
        "slots": [[number, *slots[number]] for number in sorted(slots) if slots[number][0]],
        "dropped": Ints(np.sort([*record.details.get("dropped", ()), *(document.row for document in dropped)])),
    }
    if samples:
        details[DROPPED_TEXTS] = record.details.get(DROPPED_TEXTS, {}) | samples
    if languages:
        details[DOCUMENT_LANGUAGES] = {code: figures for code, figures in languages.items() if figures[0]}
    return replace(record, counts=counts, drops=dict(sorted(drops.items())), details=details)
