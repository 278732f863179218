"""Parts of documents without their texts, which are read again from the source that they were made of.

Where that is a local file of which rows are quickly read, such as JSON lines, reading them again takes a third of the
time in which their texts are written, digested and read. Such a part has the other columns of its documents, the number
of each among all that its source gave, dropped ones included, and a checksum for each row group. The texts that are
read again are compared with that, so that a source that has changed is an error and never another text.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bertdata.documents.document import SCHEMA
from bertdata.documents.groups import DocumentGroups
from bertdata.errors import InputError

ROWS_OF = "rows_of"
"""The detail of the record of such a part: what its source format reads again."""
ROW, CHECKSUM = "row", "texts"
BITS_64 = pa.uint64()
CRC_32 = pa.uint32()
"""The type of the checksums of parts that were written before December 2026: a CRC-32, which takes far longer."""
TEXTLESS = pa.schema(
    [
        *(field for field in SCHEMA if field.name != "text"),
        pa.field(ROW, pa.int64(), nullable=False),
        pa.field(CHECKSUM, BITS_64, nullable=False),
    ]
)


def is_textless(schema: pa.Schema) -> bool:
    """Tell whether a part of documents has no texts."""
    return CHECKSUM in schema.names and "text" not in schema.names


class SourceRows(Protocol):
    """The rows of a source that one part was made of."""

    def write(self, groups: DocumentGroups) -> None:
        """Give their documents again, in the same order and as they were given before any rule."""

    def described(self) -> str:
        """Return the file or files that they are in, for messages."""


def without_texts(table: pa.Table, first: int, rows: NDArray[np.int64] | None) -> pa.Table:
    """Return documents of `SCHEMA` as `TEXTLESS` has them.

    first: the number of the first of the group that they are of; rows: their places in it, all of it without.
    """
    numbers = np.arange(len(table)) if rows is None else rows
    columns = [table[name] for name in SCHEMA.names if name != "text"]
    checksum = pa.repeat(pa.scalar(checksum_of(table), BITS_64), len(table))
    return pa.Table.from_arrays([*columns, pa.array(numbers + first, pa.int64()), checksum], schema=TEXTLESS)


def checksum_of(table: pa.Table, kind: pa.DataType = BITS_64) -> int:
    """Return a checksum of the values of all columns of `SCHEMA`, however they are chunked: `BITS_64` or `CRC_32`.

    >>> one, two = (pa.table(dict.fromkeys(SCHEMA.names, texts)) for texts in (["a", "bc"], ["ab", "c"]))
    >>> chunked = pa.concat_tables([one[:1], one[1:]])
    >>> [checksum_of(one, kind) == checksum_of(chunked, kind) for kind in (BITS_64, CRC_32)]
    [True, True]
    >>> [checksum_of(one, kind) == checksum_of(two, kind) for kind in (BITS_64, CRC_32)]
    [False, False]
    """
    from bertdata.documents.checksum_kernel import add_texts

    checksum = 0
    for name in SCHEMA.names:
        for chunk in table[name].chunks:
            _, ends, data = chunk.buffers()
            places = np.frombuffer(ends or bytes(4), np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
            texts = np.frombuffer(data or b"", np.uint8)
            if kind == CRC_32:
                checksum = zlib.crc32(texts[places[0] : places[-1]].data, checksum)
            else:
                checksum = int(add_texts(texts, places, np.uint64(checksum)))
        if kind == CRC_32:
            checksum = zlib.crc32(pc.binary_length(table[name]).to_numpy().astype(np.int32).tobytes(), checksum)
    return checksum


def read_again(
    source: SourceRows, groups: Sequence[tuple[NDArray[np.int64], pa.Scalar]], path: str
) -> Iterator[pa.Table]:
    """Yield row groups of a part at a path as tables of `SCHEMA`, of each given the rows and the checksum it has.

    Memory is the text of these groups. Raises InputError where the source gives others now.
    """
    if not groups:
        return
    reread = _Rows(int(groups[0][0][0]), int(groups[-1][0][-1]))
    try:
        source.write(reread)
        reread.finish()
    except _EnoughError:
        pass
    for rows, checksum in groups:
        table = reread.take(rows)
        if table is None or checksum_of(table, checksum.type) != checksum.as_py():
            raise InputError(
                f"the rows of {source.described()} are others now than when they were counted; put the file back as it "
                "was, or delete this one and run the same command again, which counts them anew",
                path=path,
            )
        yield table


class _EnoughError(Exception):
    """What is asked for has been read."""


class _Rows(DocumentGroups):
    """Holds the groups with the documents from the number `first` to `last`."""

    def __init__(self, first: int, last: int) -> None:
        super().__init__()
        self._first, self._last, self._seen = first, last, 0
        self._tables: list[tuple[int, pa.Table]] = []

    def _write(self, table: pa.Table) -> None:
        begin, self._seen = self._seen, self._seen + len(table)
        if self._seen > self._first:
            self._tables.append((begin, table))
        if self._seen > self._last:
            raise _EnoughError

    def finish(self) -> None:
        """Take the last group."""
        self._flush()

    def take(self, rows: NDArray[np.int64]) -> pa.Table | None:
        """Return the documents of these numbers, which are of one group, and forget those before; None if not there."""
        while self._tables and sum(map(int, (self._tables[0][0], len(self._tables[0][1])))) <= rows[0]:
            del self._tables[0]
        if not self._tables or rows[-1] >= self._tables[0][0] + len(self._tables[0][1]):
            return None
        begin, table = self._tables[0]
        return table if len(rows) == len(table) else table.take(pa.array(rows - begin))
