"""References to token files and to the rows of a shard in them, small enough for corpora of many of both.

Beam groups one `TokenFile` for each token file, in which the place of each shard's rows is a row of an array. The task
of a shard holds `TokenSlices`, an array too: objects for each pair of a file and a shard would be gigabytes
(`bertdata.corpus.estimate.memory`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np
from numpy.typing import NDArray

from bertdata.corpus.token_store import TokenSlice
from bertdata.engine.int_rows import IntRows, columns
from bertdata.engine.parts import PartMetadata, Task


@dataclass(frozen=True)
class TokenFile:
    """A token file, the number of its source, and where the rows of each shard are: (shard, offset, length)."""

    path: str
    sha256: str
    source: int
    places: IntRows

    @classmethod
    def of(cls, task: Task, record: PartMetadata) -> TokenFile:
        """Return the reference to a finished part of the token store."""
        places = record.details["slices"]
        places = places if isinstance(places, IntRows) else IntRows(columns(places, 3))
        return cls(task.path, record.sha256, task.payload.source, places)

    def slices(self) -> Iterator[tuple[int, TokenSlice]]:
        """Yield the shards with their slices."""
        for shard, offset, length in self.places:
            yield shard, TokenSlice(self.path, self.sha256, offset, length, self.source)


def by_shard(token_files: Iterable[TokenFile], shards: int) -> Iterator[tuple[int, list[TokenSlice]]]:
    """Yield each shard with its slices, in the order of the paths; only those of one shard are there at a time.

    >>> one, other = (TokenFile(path, "s", 0, IntRows(np.array([[0, 8, 5], [1, 13, 5]]))) for path in "ba")
    >>> [(shard, [part.path for part in slices]) for shard, slices in by_shard([one, other], 3)]
    [(0, ['a', 'b']), (1, ['a', 'b']), (2, [])]
    """
    ordered = sorted(token_files, key=lambda token_file: token_file.path)
    counts = [len(token_file.places) for token_file in ordered]
    numbers = np.repeat(np.arange(len(ordered), dtype=np.int32), counts)
    places: NDArray[np.integer] = np.concatenate(
        [np.zeros((0, 3), np.int32), *(token_file.places.array for token_file in ordered)]
    )
    order = np.argsort(places[:, 0], kind="stable")
    bounds = np.searchsorted(places[order, 0], np.arange(shards + 1))
    for shard in range(shards):
        rows = order[bounds[shard] : bounds[shard + 1]]
        slices = zip(numbers[rows].tolist(), places[rows, 1:].tolist(), strict=True)
        of_shard = ((ordered[number], offset, length) for number, (offset, length) in slices)
        yield (
            shard,
            [
                TokenSlice(token_file.path, token_file.sha256, offset, length, token_file.source)
                for token_file, offset, length in of_shard
            ],
        )


@dataclass(frozen=True)
class TokenSlices(Sequence[TokenSlice]):
    """Slices of token files in an array: of each the name of its file after `prefix`, and offset, length and source.

    They are read without the SHA-256 of their files, which the fingerprint of the task has.

    >>> TokenSlices.of([TokenSlice("store/tokens-00000.arrow", "s", 8, 100, 1)])[0]
    TokenSlice(path='store/tokens-00000.arrow', sha256='', offset=8, length=100, source=1)
    """

    prefix: str
    names: tuple[str, ...]
    rows: IntRows

    @classmethod
    def of(cls, slices: Iterable[TokenSlice]) -> TokenSlices:
        """Return slices in the order in which they are given."""
        slices = list(slices)
        folder = "".join(slices[0].path.rpartition("/")[:2]) if slices else ""
        prefix = folder if all(token_slice.path.startswith(folder) for token_slice in slices) else ""
        names = tuple(sys.intern(token_slice.path[len(prefix) :]) for token_slice in slices)
        rows = columns([[token_slice.offset, token_slice.length, token_slice.source] for token_slice in slices], 3)
        return cls(prefix, names, IntRows(rows))

    def __len__(self) -> int:
        return len(self.names)

    @overload
    def __getitem__(self, index: int) -> TokenSlice: ...
    @overload
    def __getitem__(self, index: slice) -> list[TokenSlice]: ...
    def __getitem__(self, index: int | slice) -> TokenSlice | list[TokenSlice]:
        if isinstance(index, slice):
            return [self[number] for number in range(len(self))[index]]
        return TokenSlice(self.prefix + self.names[index], "", *self.rows[index])
