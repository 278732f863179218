"""One shard as an export format gets it: its record batches, or its rows with static masks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from bertdata.errors import InputError
from bertdata.formats.static import Fields, StaticRows
from bertdata.shards.packed import unpacked
from bertdata.shards.reader import open_stream


@dataclass(frozen=True)
class ExportedShard:
    """A shard on this machine, with its schema; `static`: how its rows get static masks, for formats that have them.

    unpacked: whether the format has the examples of packed rows a row each.
    """

    path: str
    schema: pa.Schema
    static: StaticRows | None = None
    unpacked: bool = False

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the record batches, one in memory at a time; raises InputError where the shard is damaged."""
        try:
            with open_stream(self.path) as stream:
                yield from stream
        except MemoryError:
            raise
        except (pa.ArrowException, OSError) as error:
            raise InputError(f"is not a whole Arrow stream ({error}); build again", path=self.path) from error

    def examples(self) -> Iterator[pa.RecordBatch]:
        """Yield the record batches, the examples of packed rows a row each."""
        return map(unpacked, self.batches())

    @property
    def rows(self) -> int:
        """The rows that are exported: the examples of packed rows where the format has them a row each."""
        return sum(batch.num_rows for batch in (self.examples() if self.static or self.unpacked else self.batches()))

    def fields(self) -> Iterator[Fields]:
        """Yield the rows with static masks, padded, a record batch at a time (see `StaticRows.fields`).

        Raises ConfigError where a row has more predictions than there is room for.
        """
        assert self.static is not None
        begin = 0
        for batch in self.examples():
            yield self.static.fields(batch, self.path, begin)
            begin += batch.num_rows
