"""The Parquet files that hold documents, as they are written: a part of documents, and what its record says of it.

A part has row groups of about 8 MiB, and its record has the documents and bytes of each hash bucket (`slot`). Its pages
have checksums, which are compared when they are read. They are compressed by zstd, to two fifths of prose, or not at
all, which takes a third of the time to write and to read. Readers take either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from bertdata.documents.document import (
    COLUMNS,
    DOCUMENT_LANGUAGES,
    SCHEMA,
    WITH_COLUMNS,
    DocumentCount,
    storable,
    stored,
)
from bertdata.documents.dropped import DROPPED_TEXTS, DroppedSamples
from bertdata.documents.hashed_ids import slots
from bertdata.engine.parts import Counters

ROW_GROUP_BYTES = 8 << 20
_PARQUET: Any = {
    "use_dictionary": ["source"],
    "write_statistics": False,
    "write_page_checksum": True,
}
_COMPRESSION: dict[bool, Any] = {True: {"compression": "zstd", "compression_level": 1}, False: {"compression": "none"}}
OnDrop = Callable[[str], None]
"""Called with the reason when a rule drops a document."""
TextRules = Callable[[pa.StringArray, Counters], tuple[pa.StringArray, pa.StringArray]]
"""Returns what becomes of texts, and why each is dropped, null where it is kept, and counts changes.

See `bertdata.curation.text_rules`. It may have a method `measured(text, reason)`, which says what a rule measured of a
text that it drops."""
AddLanguages = Callable[[Sequence[str], pa.StringArray], tuple[list[str], list[str]]]
"""Returns the columns of documents with their languages, and these (see `bertdata.curation.languages`)."""


def escaped(document_id: str) -> str:
    """Return an id that UTF-8 can hold, with escapes for lone surrogates."""
    return document_id if document_id.isascii() else document_id.encode("utf-8", "backslashreplace").decode()


def _strings(texts: Sequence[bytes]) -> pa.StringArray:
    """Return texts in UTF-8 as an array, without looking whether they are."""
    ends = np.zeros(len(texts) + 1, np.int64)
    np.cumsum([len(text) for text in texts], out=ends[1:])
    if ends[-1] > np.iinfo(np.int32).max:
        raise pa.ArrowInvalid(f"{len(texts)} texts have {ends[-1]:,} bytes; an array of strings holds 2 GiB")
    return pa.StringArray.from_buffers(len(texts), pa.py_buffer(ends.astype(np.int32)), pa.py_buffer(b"".join(texts)))


class DocumentWriter:
    """Writes documents to one Parquet file, and counts those kept, and those that rules drop, by reason.

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
    ) -> None:
        self._schema = WITH_COLUMNS if columns or add_languages else SCHEMA
        self._add_languages = add_languages
        self._languages: dict[str, list[int]] = {}
        self._writer = pq.ParquetWriter(file, self._schema, **_PARQUET, **_COMPRESSION[compressed])
        self._counters = counters
        self._rules = rules
        self._rows: list[tuple[str, ...]] = []
        self._texts: list[bytes] = []
        self._are_checked = True
        self._held: list[list[pa.Array]] = []
        self._on_drop: list[OnDrop | None] = []
        self._dropped = DroppedSamples()
        self._bytes = 0
        self._groups: list[list[int]] = []
        self._slots: list[tuple[NDArray[np.int64], NDArray[np.int32]]] = []

    def add(
        self,
        document_id: str,
        source: str,
        title: str,
        url: str,
        text: str | bytes,
        on_drop: OnDrop | None = None,
        columns: str | None = None,
    ) -> None:
        """Write one document. Lone surrogates, which UTF-8 cannot hold, become U+FFFD; in the id they are escaped.

        A text in bytes is UTF-8. `on_drop` is called with the reason if a rule drops the document. A writer of
        `columns` takes a JSON object of them.
        """
        row = (escaped(document_id), storable(source), storable(title), storable(url))
        self._rows.append((*row, columns or "{}") if self._schema is WITH_COLUMNS else row)
        if isinstance(text, str):
            text = stored(text)
        else:
            self._are_checked = False
        self._texts.append(text)
        if self._rules:
            self._on_drop.append(on_drop)
        self._bytes += len(text)
        if self._bytes >= ROW_GROUP_BYTES:
            self._flush()

    def add_columns(self, columns: Sequence[pa.StringArray]) -> None:
        """Write documents given as the columns of `SCHEMA`, none of which has a null, as `add` does one by one."""
        sizes = pc.binary_length(columns[-1]).to_numpy(zero_copy_only=False)
        ends = np.cumsum(sizes, dtype=np.int64)
        start, done = 0, 0
        while start < len(ends):
            self._hold()
            stop = int(np.searchsorted(ends, done + ROW_GROUP_BYTES - self._bytes)) + 1
            part = [column.slice(start, stop - start) for column in columns]
            more = [pa.repeat("{}", len(part[0]))] if self._schema is WITH_COLUMNS else []
            self._held.append([*part, *more])
            if self._rules:
                self._on_drop += [None] * len(part[0])
            start, part_bytes = start + len(part[0]), int(ends[start + len(part[0]) - 1]) - done
            done, self._bytes = done + part_bytes, self._bytes + part_bytes
            if self._bytes >= ROW_GROUP_BYTES:
                self._flush()

    def add_texts(self, document_ids: Sequence[str], source: str, texts: pa.StringArray) -> None:
        """Write documents of one source, without titles and addresses, as a row group of their own."""
        self._flush()
        ids = list(map(escaped, document_ids))
        empty = pa.repeat("", len(ids))
        more = [pa.repeat("{}", len(ids))] if self._schema is WITH_COLUMNS else []
        self._write([pa.array(ids, pa.string()), pa.repeat(source, len(ids)), empty, empty, texts, *more])

    def _hold(self) -> None:
        """Make columns of the documents that were added one by one."""
        if self._rows:
            columns = [pa.array(column, pa.string()) for column in zip(*self._rows, strict=True)]
            texts = _strings(self._texts)
            if not self._are_checked:
                texts.validate(full=True)
            columns.insert(self._schema.names.index("text"), texts)
            self._held.append(columns)
        self._rows, self._texts, self._are_checked = [], [], True

    def _flush(self) -> None:
        self._hold()
        if self._held:
            self._write([pa.chunked_array(parts) for parts in zip(*self._held, strict=True)])
        self._held, self._on_drop, self._bytes = [], [], 0

    def _write(self, columns: Sequence[pa.Array | pa.ChunkedArray]) -> None:
        table = pa.Table.from_arrays(columns, schema=self._schema)
        if self._rules:
            texts, reasons = self._rules(table["text"].combine_chunks(), self._counters)
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
        self._writer.write_table(table)
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

    def _by_slot(self) -> list[list[int]]:
        """Return the documents and bytes of each hash bucket: [slot, documents, bytes]."""
        if not self._slots:
            return []
        every, sizes = (np.concatenate(arrays) for arrays in zip(*self._slots, strict=True))
        numbers, places = np.unique(every, return_inverse=True)
        documents, text_bytes = np.bincount(places), np.bincount(places, sizes)
        rows: list[list[int]] = np.column_stack([numbers, documents, text_bytes.astype(np.int64)]).tolist()
        return rows

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
