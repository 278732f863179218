"""Arrow data out of files, checked before anything reads its buffers.

pyarrow takes the offsets, lengths and counts of nulls that an Arrow file states as they are: offsets that point outside
of their buffer make it read memory of others. So whatever this process did not make itself is checked here first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, TypeVar

import pyarrow as pa

from bertdata.errors import InputError
from bertdata.io import files
from bertdata.io.os_errors import lacks_memory

Data = TypeVar("Data", pa.Table, pa.RecordBatch, pa.ChunkedArray, pa.Array)


@contextmanager
def reading_arrow(path: str | None, problem: str, remedy: str) -> Iterator[None]:
    """Raise InputError, which names the file, where what is read in the block is not whole Arrow data.

    problem: what is wrong then, as "is not a whole Arrow file"; remedy: what to do.
    """
    try:
        yield
    except InputError:
        raise
    except (pa.ArrowException, OSError, UnicodeDecodeError) as error:
        if lacks_memory(error):
            raise
        raise InputError(f"{problem} ({error}); {remedy}", path=path) from error


def checked(data: Data) -> Data:
    """Return Arrow data whose offsets, lengths, counts of nulls, indices and UTF-8 are right.

    Raises pyarrow.ArrowInvalid where they are not. Offsets are compared with each other, of other values only those are
    read that Arrow restricts: the bytes of strings, indices of dictionaries.

    >>> checked(pa.array(["rain"])).to_pylist()
    ['rain']
    """
    data.validate(full=True)
    return data


def read_stream(raw: Any) -> pa.Table:
    """Return the table of the stream that a file has at its position, or that a buffer holds.

    Raises pyarrow.ArrowInvalid where it is not whole.
    """
    return checked(pa.ipc.open_stream(raw).read_all())


def read_stage_file(path: str, what: str, read: Callable[[BinaryIO], Any] = read_stream) -> Any:
    """Return what `read` makes of the open file of a part of a stage: the table of its one stream, unless given.

    Raises InputError, with `what` the file holds, where it is damaged.
    """
    with files.open_raw(path) as raw, reading_arrow(path, f"{what} are damaged", "delete this file and run again"):
        return read(raw)
