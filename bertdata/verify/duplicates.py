"""Counts of examples that are in a build more than once, equal or nearly so: `bertdata verify --duplicates`.

It is MinHash as for documents (`curation.dedup`), with tokens as words: two examples are near duplicates if they share
0.8 of their runs of five tokens. Static masks are undone first, and [CLS] and [SEP] do not count. Keys are written to
files in a temporary folder, about 800 bytes an example, and read a part at a time; candidates are read again from the
shards. So memory is a byte for each example and some hundred MiB. Each example of a hash bucket is compared with the
first and with the one before it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.curation.dedup.minhash import EMPTY, estimate
from bertdata.curation.dedup.signature_store import band_keys, band_rows, signatures
from bertdata.errors import OutputError
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.shards.packed import unpacked
from bertdata.shards.reader import Shards
from bertdata.shards.schema import ShardInfo

THRESHOLD = 0.8
_FIRST_CODE, _CODES = 0x20000, 0xE0000
_PAIRS_AT_ONCE = 4096
_PART_BYTES = 64 << 20
_EXACT, _NEAR = 1, 2

_KEY = np.dtype([("key", "<u8"), ("check", "<u8"), ("number", "<i8")])
"""A key of an example, a second key that must be equal too (or 0), and the number of the example."""


@dataclass(frozen=True)
class Duplicates:
    """The examples of a split, and how many of them equal an earlier one of the build, or nearly."""

    examples: int
    exact: int
    near: int


def count_duplicates(splits: Sequence[Shards]) -> list[Duplicates]:
    """Count the duplicates of each split, also of examples in the splits before it.

    Raises OutputError where the temporary folder cannot be written.
    """
    source = _Source(splits)
    flags = np.zeros(source.examples, np.uint8)
    rows = band_rows(THRESHOLD)
    with tempfile.TemporaryDirectory(prefix="bertdata-duplicates-") as folder:
        exact, near = (
            _Spill(f"{folder}/{name}", source.examples * size) for name, size in (("exact", 24), ("near", 768))
        )
        for begin, texts in source.texts():
            signatures_of_texts, numbers = signatures(texts), np.arange(begin, begin + len(texts))
            digests = b"".join(blake2b(text.encode(), digest_size=16).digest() for text in texts.to_pylist())
            halves = np.frombuffer(digests, "<u8").reshape(-1, 2)
            exact.add(halves[:, 0], halves[:, 1], numbers)
            worded = signatures_of_texts[:, 0] != EMPTY
            for keys in band_keys(signatures_of_texts[worded], rows):
                near.add(keys, np.zeros(len(keys), np.uint64), numbers[worded])
        for part in exact.parts():
            _, later = _buckets(part)
            flags[part["number"][later]] = _EXACT
        for part in near.parts():
            _compare(part[flags[part["number"]] != _EXACT], source, flags)
    return [
        Duplicates(end - begin, *(int((flags[begin:end] == kind).sum()) for kind in (_EXACT, _NEAR)))
        for begin, end in pairwise(source.bounds)
    ]


def token_texts(ids: NDArray[np.integer], offsets: NDArray[np.int64]) -> pa.Array:
    """Return a text for each row of ids, each id as a character that is a word by itself.

    >>> [ord(letter) - 0x20000 for letter in token_texts(np.array([7, 300]), np.array([0, 2]))[0].as_py()]
    [7, 300]
    """
    codes = _FIRST_CODE + ids.astype(np.int64) % _CODES
    parts = [0xF0 | codes >> 18, 0x80 | codes >> 12 & 63, 0x80 | codes >> 6 & 63, 0x80 | codes & 63]
    data = np.stack(parts, axis=1).astype(np.uint8).tobytes()
    buffers = [None, pa.py_buffer((offsets * 4).astype(np.int64).tobytes()), pa.py_buffer(data)]
    return pa.Array.from_buffers(pa.large_string(), len(offsets) - 1, buffers)


def _buckets(part: NDArray[np.void]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for keys that are in a part before, the place of the first with the key, and their own."""
    order = np.lexsort((part["number"], part["check"], part["key"]))
    key, check = part["key"][order], part["check"][order]
    begins = np.concatenate([[True], (key[1:] != key[:-1]) | (check[1:] != check[:-1])])[: len(order)]
    first = np.maximum.accumulate(np.where(begins, np.arange(len(order)), 0))
    return order[first[~begins]], order[~begins]


def _compare(part: NDArray[np.void], source: _Source, flags: NDArray[np.uint8]) -> None:
    """Flag the examples of a part that are near duplicates of the first of their bucket or of the one before them."""
    firsts, later = _buckets(part)
    order = np.lexsort((part["number"], part["key"]))
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    before = order[rank[later] - 1]
    numbers = part["number"]
    for other in (firsts, before):
        pairs = np.unique(np.stack([numbers[other], numbers[later]], axis=1), axis=0)
        for start in range(0, len(pairs), _PAIRS_AT_ONCE):
            some = pairs[start : start + _PAIRS_AT_ONCE]
            some = some[flags[some[:, 1]] == 0]
            wanted, places = np.unique(some, return_inverse=True)
            if len(wanted):
                first, second = source.signatures(wanted)[places.reshape(-1, 2).T]
                flags[some[estimate(first, second) >= THRESHOLD, 1]] = _NEAR


class _Spill:
    """Keys in files, partitioned by their top bits."""

    def __init__(self, folder: str, size: int) -> None:
        self._folder, self._bits = folder, max(4, (size // _PART_BYTES).bit_length())
        os.mkdir(folder)

    def add(self, keys: NDArray[np.uint64], checks: NDArray[np.uint64], numbers: NDArray[np.int64]) -> None:
        """Write keys."""
        records = np.empty(len(keys), _KEY)
        records["key"], records["check"], records["number"] = keys, checks, numbers
        part = (keys >> np.uint64(64 - self._bits)).astype(np.int64)
        order = np.argsort(part, kind="stable")
        bounds = np.searchsorted(part[order], np.arange((1 << self._bits) + 1))
        for number in np.unique(part).tolist():
            try:
                with open(f"{self._folder}/{number}", "ab") as file:
                    file.write(records[order[bounds[number] : bounds[number + 1]]].tobytes())
            except OSError as error:
                raise OutputError(
                    f"the keys of duplicates cannot be written ({error.strerror}); make room, or set TMPDIR",
                    path=self._folder,
                ) from error

    def parts(self) -> Iterator[NDArray[np.void]]:
        """Yield the keys, a part at a time."""
        for name in sorted(os.listdir(self._folder), key=int):
            yield np.fromfile(f"{self._folder}/{name}", _KEY)


class _Source:
    """The examples of some splits one after another, read batch by batch or by number."""

    def __init__(self, splits: Sequence[Shards]) -> None:
        self._batches: list[tuple[pa.RecordBatch, ShardInfo]] = []
        self.bounds, self._ends = [0], [0]
        for shards in splits:
            for batch in shards.table.to_batches():
                if count := len(batch["example_id"].flatten() if shards.info.packed else batch):
                    self._batches.append((batch, shards.info))
                    self._ends.append(self._ends[-1] + count)
            self.bounds.append(self._ends[-1])
        self.examples = self._ends[-1]

    def texts(self) -> Iterator[tuple[int, pa.Array]]:
        """Yield for each batch the number of its first example, and the texts of its examples."""
        for place, begin in enumerate(self._ends[:-1]):
            yield begin, token_texts(*self._tokens(place))

    def signatures(self, numbers: NDArray[np.int64]) -> NDArray[np.uint32]:
        """Return the signatures of examples by ascending numbers."""
        parts = []
        places, starts = np.unique(np.searchsorted(self._ends, numbers, side="right") - 1, return_index=True)
        for place, part in zip(places.tolist(), np.split(numbers, starts[1:]), strict=True):
            ids, offsets = self._tokens(place)
            rows_of_ids = [ids[offsets[row] : offsets[row + 1]] for row in (part - self._ends[place]).tolist()]
            parts.append(signatures(token_texts(np.concatenate(rows_of_ids), np.cumsum([0, *map(len, rows_of_ids)]))))
        return np.concatenate(parts)

    def _tokens(self, place: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return the ordinary tokens of a batch as they are without masks, and where each example of it ends."""
        batch, info = self._batches[place]
        batch = unpacked(batch)
        offsets = batch["input_ids"].offsets.to_numpy().astype(np.int64)
        ids = batch["input_ids"].flatten().to_numpy().astype(np.int64)
        if not info.draws_masks:
            labels = batch["labels"].flatten().to_numpy()
            ids = np.where(labels == IGNORE_INDEX, ids, labels)
        ordinary = (ids != info.cls_token_id) & (ids != info.sep_token_id)
        ends = np.concatenate([[0], np.cumsum(ordinary)])[offsets - offsets[0]]
        return ids[ordinary], ends
