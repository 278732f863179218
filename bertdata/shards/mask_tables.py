"""Tables that masks are drawn by, each in a folder of its own beside the shards.

The `info` of the shards has the fingerprint of a table, so that shards can be moved, a loader anywhere draws the same
masks, and another table is noticed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

import pyarrow as pa

from bertdata.errors import ConfigError, InputError
from bertdata.io import files
from bertdata.io.arrow_data import read_stream
from bertdata.shards.cache import read

_NAME = "table.arrow"


class MaskTable(Protocol):
    """A table with a fingerprint, which can be written as an Arrow table."""

    @property
    def fingerprint(self) -> str:
        """A digest of its contents, 64 hexadecimal digits."""

    def to_arrow(self) -> pa.Table:
        """Return it as columns."""


Table = TypeVar("Table", bound=MaskTable)


def save(table: MaskTable | None, build: str, folder: str) -> None:
    """Write a table into a folder beside the shards; without one, delete that of an earlier build."""
    if table is None:
        files.remove(files.join(build, folder))
        return
    sink, columns = pa.BufferOutputStream(), table.to_arrow()
    with pa.ipc.new_stream(sink, columns.schema) as stream:
        stream.write_table(columns)
    files.write_bytes(files.join(build, folder, _NAME), sink.getvalue().to_pybytes())


def load(parse: Callable[[Any], Table], build: str, folder: str, what: str, fingerprint: str) -> Table:
    """Return the table in a folder beside the shards; `parse` makes it of an Arrow table, `what` is what it holds.

    Raises ConfigError where its fingerprint is another one, and InputError where there is none or it is damaged.
    """
    path = files.join(build, folder, _NAME)
    if (data := read(path)) is None:
        raise InputError(
            f"the {what} of these shards are not there; copy the folder with them, or build again", path=path
        )
    try:
        table = parse(read_stream(data))
    except MemoryError:
        raise
    except (pa.ArrowException, ValueError, KeyError, AttributeError, OSError) as error:
        raise InputError(f"is not a table of {what} ({error}); restore it, or build again", path=path) from error
    if table.fingerprint != fingerprint:
        raise ConfigError(
            f"these {what} are not those the shards were made with ({table.fingerprint[:12]} here, "
            f"{fingerprint[:12]} in the shards); restore them, or build again",
            path=path,
        )
    return table
