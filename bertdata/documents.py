"""The document: one row of text with its identity, and the Parquet files that hold documents.

A document's text is paragraphs with a blank line between them. A part of documents has row groups of about 8 MiB, which
are read one at a time, and its record has the documents and bytes of each hash bucket (`slot`). Its pages have
checksums, which are compared when they are read. The column `source` is the kind of input, or what a row of a table has
there; the name of a build's source (`sources.names`) is not stored with the document.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from itertools import accumulate
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from bertdata.counter_rng import text_bits
from bertdata.engine.parts import Counters, PartMetadata, Task, fingerprint, part_name
from bertdata.errors import InputError
from bertdata.io import files

SCHEMA = pa.schema([pa.field(name, pa.string(), nullable=False) for name in ("id", "source", "title", "url", "text")])
COLUMNS = "columns"
WITH_COLUMNS = SCHEMA.append(pa.field(COLUMNS, pa.string()))
"""With the columns of a table that selections read, as a JSON object."""
SLOTS = 1 << 16
ROW_GROUP_BYTES = 8 << 20
RANGE_BYTES = 32 << 20
_PARQUET: Any = {
    "compression": "zstd",
    "compression_level": 1,
    "use_dictionary": ["source"],
    "write_statistics": False,
    "write_page_checksum": True,
}
CHANGED = "changed by "
"""What the counts of documents that a cleaner changed begin with."""
LEFT_OUT = " left out, "
"""What the counts of lines, paragraphs, sentences and bytes that rules left out of documents have before the reason."""
DROPPED_TEXTS = "dropped_texts"
"""The detail of a record, and the entry of a source in the manifest, with samples of the documents rules dropped."""
SAMPLES, SAMPLE_CHARACTERS = 5, 300
"""How many dropped documents of a reason are kept as samples, and how much of each."""
OnDrop = Callable[[str], None]
"""Called with the reason when a rule drops a document."""
TextRules = Callable[[pa.StringArray, Counters], tuple[pa.StringArray, pa.StringArray]]
"""Returns what becomes of texts, and why each is dropped, null where it is kept, and counts changes.

See `bertdata.curation.text_rules`."""
AddLanguages = Callable[[Sequence[str], pa.StringArray], tuple[list[str], list[str]]]
"""Returns the columns of documents with their languages, and these (see `bertdata.curation.languages`)."""
DOCUMENT_LANGUAGES = "document_languages"
"""The detail of records that has the documents and bytes of text by language."""
_SURROGATES = re.compile("[\ud800-\udfff]")


def slot(document_id: str) -> int:
    """Return the hash bucket of a document, 0 to 65535: the top 16 bits of the hash of its id.

    Shards are ranges of buckets, so the bucket decides the shard and the split, whatever the order of the input.

    >>> slot("enwiki:12")
    8310
    """
    return text_bits(document_id) >> 48


def storable(text: str) -> str:
    """Return a text that UTF-8 can hold, with U+FFFD for lone surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return _SURROGATES.sub("\ufffd", text)
    return text


def paragraphs(text: str) -> str:
    r"""Return text with one blank line between paragraphs and none at its ends.

    >>> paragraphs("One.\nTwo."), paragraphs("One\nline.\n\n\nTwo.")
    ('One.\n\nTwo.', 'One\nline.\n\nTwo.')
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    border = r"\n[^\S\n]*\n\s*" if re.search(r"\n[^\S\n]*\n", text) else r"\n+"
    return "\n\n".join(part.strip() for part in re.split(border, text) if part.strip())


class DocumentCount(StrEnum):
    """What records of parts of documents count."""

    DOCUMENTS = "documents"
    TEXT_BYTES = "text_bytes"


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
    ) -> None:
        self._schema = WITH_COLUMNS if columns or add_languages else SCHEMA
        self._add_languages = add_languages
        self._languages: dict[str, list[int]] = {}
        self._writer = pq.ParquetWriter(file, self._schema, **_PARQUET)
        self._counters = counters
        self._rules = rules
        self._rows: list[tuple[str | bytes, ...]] = []
        self._on_drop: list[OnDrop | None] = []
        self._bytes = 0
        self._groups: list[list[int]] = []
        self._slots: dict[int, list[int]] = {}

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
        document_id = document_id.encode("utf-8", "backslashreplace").decode()
        source, title, url = map(storable, (source, title, url))
        text = storable(text).encode() if isinstance(text, str) else text
        row = (document_id, source, title, url, text)
        self._rows.append((*row, columns or "{}") if self._schema is WITH_COLUMNS else row)
        if self._rules:
            self._on_drop.append(on_drop)
        self._bytes += len(text)
        if self._bytes >= ROW_GROUP_BYTES:
            self._flush()

    def add_texts(self, document_ids: Sequence[str], source: str, texts: pa.StringArray) -> None:
        """Write documents of one source, without titles and addresses, as a row group of their own."""
        self._flush()
        ids = [document_id.encode("utf-8", "backslashreplace").decode() for document_id in document_ids]
        empty = pa.repeat("", len(ids))
        more = [pa.repeat("{}", len(ids))] if self._schema is WITH_COLUMNS else []
        self._write([pa.array(ids, pa.string()), pa.repeat(source, len(ids)), empty, empty, texts, *more])

    def _flush(self) -> None:
        if self._rows:
            self._write([pa.array(column, pa.string()) for column in zip(*self._rows, strict=True)])
        self._rows, self._on_drop, self._bytes = [], [], 0

    def _write(self, columns: Sequence[pa.Array]) -> None:
        table = pa.Table.from_arrays(columns, schema=self._schema)
        if self._rules:
            texts, reasons = self._rules(table["text"].combine_chunks(), self._counters)
            table = self._kept(
                table.set_column(self._schema.names.index("text"), self._schema.field("text"), texts), reasons
            )
        if not len(table):
            return
        table = self._with_languages(table)
        sizes = pc.binary_length(table["text"]).to_pylist()
        for document_id, size in zip(table["id"].to_pylist(), sizes, strict=True):
            count = self._slots.setdefault(slot(document_id), [0, 0])
            count[0] += 1
            count[1] += size
        self._counters.add(DocumentCount.DOCUMENTS, len(sizes))
        self._counters.add(DocumentCount.TEXT_BYTES, sum(sizes))
        self._writer.write_table(table)
        self._groups.append([len(sizes), sum(sizes)])

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
        samples: dict[str, list[list[Any]]] = self._counters.details.setdefault(DROPPED_TEXTS, {})
        for row, reason in enumerate(reasons.to_pylist()):
            if reason is not None:
                self._counters.drop(reason)
                if self._on_drop and (on_drop := self._on_drop[row]):
                    on_drop(reason)
                named = (table[name][row].as_py() for name in ("id", "title", "text"))
                add_dropped_text(samples, reason, *named)
        if not samples:
            del self._counters.details[DROPPED_TEXTS]
        return table.filter(pc.is_null(reasons))

    def __enter__(self) -> DocumentWriter:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._flush()
                self._counters.details["row_groups"] = self._groups
                if self._add_languages:
                    self._counters.details[DOCUMENT_LANGUAGES] = dict(sorted(self._languages.items()))
                self._counters.details["slots"] = [[number, *self._slots[number]] for number in sorted(self._slots)]
        finally:
            self._writer.close()


@dataclass(frozen=True)
class DocumentRange:
    """Consecutive row groups of one part of documents; `sha256` is that of the whole part.

    dropped: rows to be skipped, counted from the first row of the range.
    """

    path: str
    sha256: str
    first: int
    last: int
    text_bytes: int
    dropped: tuple[int, ...] = ()


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


def add_dropped_text(samples: dict[str, list[list[Any]]], reason: str, document_id: str, title: str, text: str) -> None:
    """Add a dropped document to the samples of its reason, if the hash of its id is one of the smallest."""
    found = samples.setdefault(reason, [])
    bits = text_bits(document_id) >> 11
    if len(found) < SAMPLES or bits < found[-1][0]:
        found.append([bits, document_id, title, text[:SAMPLE_CHARACTERS]])
        found.sort()
        del found[SAMPLES:]


def dropped_texts(records: Iterable[PartMetadata]) -> dict[str, list[list[Any]]]:
    """Return samples of the documents that rules dropped, by reason: [number, id, title, beginning of the text].

    The number is a hash of the id. Those with the smallest are the samples, so they are the same for any parts.
    """
    found: dict[str, list[list[Any]]] = {}
    for record in records:
        for reason, samples in record.details.get(DROPPED_TEXTS, {}).items():
            found[reason] = sorted([*found.get(reason, []), *samples])[:SAMPLES]
    return dict(sorted(found.items()))


def without_rows(
    record: PartMetadata, dropped: Sequence[Dropped], samples: Mapping[str, list[list[Any]]] | None = None
) -> PartMetadata:
    """Return the record of a part without some documents; details["dropped"] has all rows to skip.

    samples: of these documents, by reason, as `dropped_texts` returns them.
    """
    if not dropped:
        return record
    counts, drops = dict(record.counts), dict(record.drops)
    slots = {number: [documents, size] for number, documents, size in record.details["slots"]}
    languages = {code: list(held) for code, held in record.details.get(DOCUMENT_LANGUAGES, {}).items()}
    for document in dropped:
        counts[DocumentCount.DOCUMENTS] -= 1
        counts[DocumentCount.TEXT_BYTES] -= document.text_bytes
        drops[document.reason] = drops.get(document.reason, 0) + 1
        slots[slot(document.id)][0] -= 1
        slots[slot(document.id)][1] -= document.text_bytes
        if languages and document.language:
            languages[document.language][0] -= 1
            languages[document.language][1] -= document.text_bytes
    details = record.details | {
        "slots": [[number, *slots[number]] for number in sorted(slots) if slots[number][0]],
        "dropped": sorted([*record.details.get("dropped", []), *(document.row for document in dropped)]),
    }
    if samples:
        details[DROPPED_TEXTS] = record.details.get(DROPPED_TEXTS, {}) | samples
    if languages:
        details[DOCUMENT_LANGUAGES] = {code: held for code, held in languages.items() if held[0]}
    return replace(record, counts=counts, drops=dict(sorted(drops.items())), details=details)


def first_rows(record: PartMetadata) -> list[int]:
    """Return the first row of each row group of a part, and then the number of its rows.

    >>> first_rows(PartMetadata("x", "f", 1, "s", 0.0, {}, {}, {"row_groups": [[3, 90], [2, 50]]}))
    [0, 3, 5]
    """
    return list(accumulate((rows for rows, _ in record.details["row_groups"]), initial=0))


def cut_ranges(parts: Sequence[tuple[str, PartMetadata]], target_bytes: int = RANGE_BYTES) -> list[DocumentRange]:
    """Cut parts into ranges of about `target_bytes` of text, what a worker holds at a time.

    Dropped documents do not move the cuts; a range without documents is left out.
    """
    result: list[DocumentRange] = []
    for path, record in parts:
        first, held, begins = 0, 0, first_rows(record)
        groups = record.details["row_groups"]
        dropped = record.details.get("dropped", [])
        for number, (_, size) in enumerate(groups):
            held += size
            if held >= target_bytes or number == len(groups) - 1:
                start, end = begins[first], begins[number + 1]
                inside = dropped[bisect_left(dropped, start) : bisect_left(dropped, end)]
                if len(inside) < end - start:
                    rows = tuple(row - start for row in inside)
                    result.append(DocumentRange(path, record.sha256, first, number + 1, held, rows))
                first, held = number + 1, 0
    return result


def range_tasks(ranges: Sequence[DocumentRange], directory: str, *made_from: Any) -> list[Task]:
    """Return one task for each range of documents, named after the directory; fingerprints do not depend on paths."""
    return [
        Task(
            directory,
            part_name(files.name(directory), number),
            ".arrow",
            fingerprint(*made_from, asdict(documents) | {"path": ""}),
            documents.text_bytes,
            documents,
        )
        for number, documents in enumerate(ranges)
    ]


def read_range(documents: DocumentRange, *, columns: bool = False) -> Iterator[pa.Table]:
    """Yield the row groups of a range as tables of `SCHEMA`, without the dropped rows.

    With `columns` there is a column of that name, further columns as a JSON object, null where a document has none.
    Raises InputError where the file is damaged.
    """
    dropped = np.array(documents.dropped, np.int64)
    begin = 0
    with files.open_raw(documents.path) as raw:
        parquet = open_parquet(raw, documents.path)
        for number in range(documents.first, documents.last):
            try:
                table = parquet.read_row_group(number, columns=[*SCHEMA.names, COLUMNS] if columns else SCHEMA.names)
                if columns and COLUMNS not in table.column_names:
                    table = table.append_column(COLUMNS, pa.nulls(table.num_rows, pa.string()))
                table = table.cast(WITH_COLUMNS if columns else SCHEMA)
            except (pa.ArrowException, OSError, ValueError, IndexError) as error:
                raise InputError(
                    f"row group {number} cannot be read ({error}); delete this file and build again",
                    path=documents.path,
                ) from error
            end = begin + table.num_rows
            if len(inside := dropped[(dropped >= begin) & (dropped < end)]):
                table = table.take(pa.array(np.delete(np.arange(table.num_rows), inside - begin)))
            if table.num_rows:
                yield table
            begin = end


def open_parquet(raw: BinaryIO, path: str) -> Any:
    """Return a pyarrow ParquetFile, which compares pages with their checksums where they have any.

    Raises InputError where the bytes are not Parquet, or two columns have one name.
    """
    try:
        parquet = pq.ParquetFile(raw, page_checksum_verification=True)
        names = parquet.schema_arrow.names
    except (pa.ArrowException, OSError) as error:
        raise InputError(f"is not a Parquet file ({error}); expected documents", path=path) from error
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise InputError(
            f"has several columns of the name {', '.join(map(repr, twice))}; expected each name once: rename them",
            path=path,
        )
    return parquet
