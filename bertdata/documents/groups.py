"""Documents that come one by one or as columns, collected into tables of about 8 MiB of text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from bertdata.documents.document import SCHEMA, WITH_COLUMNS, storable, stored

ROW_GROUP_BYTES = 8 << 20
OnDrop = Callable[[str], None]
"""Called with the reason when a rule drops a document."""


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


class DocumentGroups(ABC):
    """Collects documents, and hands each group of them on as a table; the same documents make the same groups.

    columns: whether they have the column of further columns. ruled: whether `on_drop` of a document is noted.
    """

    def __init__(self, *, columns: bool = False, ruled: bool = False) -> None:
        self._schema = WITH_COLUMNS if columns else SCHEMA
        self._ruled = ruled
        self._rows: list[tuple[str, ...]] = []
        self._texts: list[bytes] = []
        self._are_checked = True
        self._held: list[list[pa.Array]] = []
        self._on_drop: list[OnDrop | None] = []
        self._bytes = 0

    @abstractmethod
    def _write(self, table: pa.Table) -> None:
        """Take a group of documents, of `SCHEMA` or `WITH_COLUMNS`."""

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
        if self._ruled:
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
            if self._ruled:
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
        columns = [pa.array(ids, pa.string()), pa.repeat(source, len(ids)), empty, empty, texts, *more]
        self._write(pa.Table.from_arrays(columns, schema=self._schema))

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
            columns = [pa.chunked_array(parts) for parts in zip(*self._held, strict=True)]
            self._write(pa.Table.from_arrays(columns, schema=self._schema))
        self._held, self._on_drop, self._bytes = [], [], 0
