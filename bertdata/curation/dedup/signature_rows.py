"""Signatures that are read a few at a time: in memory where they are few, else in a temporary file."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bertdata.curation.dedup.minhash import Signatures
from bertdata.errors import OutputError

HELD_BYTES = 128 << 20
"""Bytes of signatures that are held in memory."""
_AT_ONCE = 1 << 12


class SignatureRows:
    """Rows of uint32, added one after another; a context, at whose end a temporary file is gone.

    most: how many rows there are at most.

    >>> with SignatureRows(most=3, width=2, held_bytes=8) as rows:
    ...     rows.add(np.array([[1, 2], [3, 4]], np.uint32))
    ...     rows.add(np.array([[5, 6]], np.uint32))
    ...     len(rows), rows.take(np.array([2, 0, 2])).tolist()
    (3, [[5, 6], [1, 2], [5, 6]])
    """

    def __init__(self, most: int, width: int, held_bytes: int = HELD_BYTES) -> None:
        self.width = width
        self._count = 0
        fits_in_memory = most * width * 4 <= held_bytes
        self._held = np.empty((most, width), np.uint32) if fits_in_memory else None
        self._file = None if fits_in_memory else tempfile.TemporaryFile(prefix="bertdata-", buffering=0)  # noqa: SIM115

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file:
            self._file.close()

    def __len__(self) -> int:
        return self._count

    def add(self, rows: Signatures) -> None:
        """Add rows; raises OutputError where the temporary file cannot be written."""
        if self._held is not None:
            self._held[self._count : self._count + len(rows)] = rows
        elif self._file:
            self._write(_bytes_of(np.ascontiguousarray(rows)))
        self._count += len(rows)

    def _write(self, data: memoryview) -> None:
        try:
            while data and self._file:
                data = data[self._file.write(data) :]
        except OSError as error:
            message = f"signatures cannot be written ({error.strerror}); make room, or set TMPDIR"
            raise OutputError(message, path=tempfile.gettempdir()) from error

    def take(self, places: NDArray[np.integer]) -> Signatures:
        """Return the rows at some places, as a copy."""
        if self._held is not None:
            return np.asarray(self._held[places])
        wanted, which = np.unique(places, return_inverse=True)
        rows = np.empty((len(wanted), self.width), np.uint32)
        begins = np.flatnonzero(np.diff(wanted, prepend=-2) != 1)
        for begin, end in zip(begins.tolist(), [*begins[1:].tolist(), len(wanted)], strict=True):
            self._read(int(wanted[begin]), rows[begin:end])
        return rows[which]

    def _read(self, first: int, rows: Signatures) -> None:
        assert self._file
        self._file.seek(first * self.width * 4)
        data = _bytes_of(rows)
        while data:
            data = data[self._file.readinto(data) :]

    def chunks(self) -> Iterator[tuple[int, Signatures]]:
        """Yield all rows, some at a time, with the place of the first of them."""
        for begin in range(0, self._count, _AT_ONCE):
            yield begin, self.take(np.arange(begin, min(begin + _AT_ONCE, self._count)))


def _bytes_of(rows: Signatures) -> memoryview:
    return rows.data.cast("B") if rows.size else memoryview(b"")
