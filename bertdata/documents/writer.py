"""The Parquet files that hold documents, as they are written: a part of documents, and what its record says of it.

A part has row groups of about 8 MiB, and its record has the documents and bytes of each hash bucket (`slot`). Its pages
have checksums, which are compared when they are read. They are compressed by zstd, to two fifths of prose, or not at
all, which takes a third of the time to write and to read. Readers take either. Where it takes still less to read the
source again, a part has no texts, and a checksum of those of each row group (`bertdata.documents.reread`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from bertdata.documents.document import COLUMNS, DOCUMENT_LANGUAGES, DocumentCount
from bertdata.documents.dropped import DROPPED_TEXTS, DroppedSamples
from bertdata.documents.groups import DocumentGroups
from bertdata.documents.hashed_ids import slots
from bertdata.documents.reread import TEXTLESS, without_texts
from bertdata.engine.int_rows import IntRows
from bertdata.engine.parts import Counters

_PARQUET: Any = {
    "use_dictionary": ["source"],
    "write_statistics": False,
    "write_page_checksum": True,
}
_COMPRESSION: dict[bool, Any] = {True: {"compression": "zstd", "compression_level": 1}, False: {"compression": "none"}}
TextRules = Callable[[pa.StringArray, Counters], tuple[pa.StringArray, pa.StringArray]]
"""Returns what becomes of texts, and why each is dropped, null where it is kept, and counts changes.

See `bertdata.curation.text_rules`. It may have a method `measured(text, reason)`, which says what a rule measured of a
text that it drops."""
AddLanguages = Callable[[Sequence[str], pa.StringArray], tuple[list[str], list[str]]]
"""Returns the columns of documents with their languages, and these (see `bertdata.curation.languages`)."""


class DocumentWriter(DocumentGroups):
    """Writes documents to one Parquet file, and counts those kept, and those that rules drop, by reason.

    A `textless` one writes no texts (`TEXTLESS`): its rules must not change any.

    >>> import io
    >>> with DocumentWriter(io.BytesIO(), counters := Counters()) as writer:
    ...     writer.add("enwiki:12", "wikipedia", "Salt", "", "Salt is a mineral.")
    >>> counters.counts, counters.details["slots"]
    ({'documents': 1, 'text_bytes': 18}, [[8310, 1, 18]])
    """

    def __init__(
        self,
        file: BinaryIO,
        counters: Counters,
        rules: TextRules | None = None,
        *,
        columns: bool = False,
        add_languages: AddLanguages | None = None,
        compressed: bool = True,
        textless: bool = False,
    ) -> None:
        super().__init__(columns=columns or add_languages is not None, ruled=rules is not None)
        self._add_languages = add_languages
        self._languages: dict[str, list[int]] = {}
        self._textless = textless
        stored_as = TEXTLESS if textless else self._schema
        self._writer = pq.ParquetWriter(file, stored_as, **_PARQUET, **_COMPRESSION[compressed])
        self._counters = counters
        self._rules = rules
        self._dropped = DroppedSamples()
        self._seen = 0
        self._groups: list[list[int]] = []
        self._slots: list[tuple[NDArray[np.int64], NDArray[np.int32]]] = []

    def _write(self, table: pa.Table) -> None:
        first, rows = self._seen, None
        self._seen += len(table)
        if self._rules:
            texts, reasons = self._rules(table["text"].combine_chunks(), self._counters)
            rows = np.flatnonzero(pc.is_null(reasons).to_numpy(zero_copy_only=False)) if self._textless else None
            table = self._kept(
                table.set_column(self._schema.names.index("text"), self._schema.field("text"), texts), reasons
            )
        if not len(table):
            return
        table = self._with_languages(table)
        sizes = pc.binary_length(table["text"]).to_numpy()
        self._slots.append((slots(table["id"].combine_chunks()), sizes))
        documents, text_bytes = len(sizes), int(sizes.sum(dtype=np.int64))
        self._counters.add(DocumentCount.DOCUMENTS, documents)
        self._counters.add(DocumentCount.TEXT_BYTES, text_bytes)
        self._writer.write_table(without_texts(table, first, rows) if self._textless else table)
        self._groups.append([documents, text_bytes])

    def _with_languages(self, table: pa.Table) -> pa.Table:
        """Return documents with their languages among their columns; counts documents and bytes by language."""
        if not self._add_languages:
            return table
        texts = table["text"].combine_chunks()
        columns, languages = self._add_languages(table[COLUMNS].to_pylist(), texts)
        for language, size in zip(languages, pc.binary_length(texts).to_pylist(), strict=True):
            count = self._languages.setdefault(language, [0, 0])
            count[0] += 1
            count[1] += size
        place = self._schema.names.index(COLUMNS)
        return table.set_column(place, self._schema.field(COLUMNS), pa.array(columns, pa.string()))

    def _kept(self, table: pa.Table, reasons: pa.StringArray) -> pa.Table:
        """Return the rows that have no reason to be dropped; counts the others by reason."""
        rows = np.flatnonzero(pc.is_valid(reasons).to_numpy(zero_copy_only=False))
        if not len(rows):
            return table
        dropped = table.take(rows)
        sizes, ids = pc.binary_length(dropped["text"]).to_pylist(), dropped["id"].to_pylist()
        for place, (row, reason) in enumerate(zip(rows.tolist(), reasons.take(rows).to_pylist(), strict=True)):
            self._counters.drop(reason, size=sizes[place])
            if self._on_drop and (on_drop := self._on_drop[row]):
                on_drop(reason)
            if self._dropped.takes(reason, ids[place]):
                title, text = (dropped[name][place].as_py() for name in ("title", "text"))
                self._dropped.add(reason, ids[place], title, text)
        return table.filter(pc.is_null(reasons))

    def _by_slot(self) -> IntRows:
        """Return the documents and bytes of each hash bucket: [slot, documents, bytes]."""
        if not self._slots:
            return IntRows(np.zeros((0, 3), np.int64))
        every, sizes = (np.concatenate(arrays) for arrays in zip(*self._slots, strict=True))
        numbers, places = np.unique(every, return_inverse=True)
        documents, text_bytes = np.bincount(places), np.bincount(places, sizes)
        return IntRows(np.column_stack([numbers, documents, text_bytes]).astype(np.int64))

    def __enter__(self) -> DocumentWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._flush()
                self._counters.details["row_groups"] = self._groups
                if samples := self._dropped.of_part(getattr(self._rules, "measured", None)):
                    self._counters.details[DROPPED_TEXTS] = samples
                if self._add_languages:
                    self._counters.details[DOCUMENT_LANGUAGES] = dict(sorted(self._languages.items()))
                self._counters.details["slots"] = self._by_slot()
        finally:
            self._writer.close()
