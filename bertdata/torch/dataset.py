"""`ShardDataset`: the examples of memory-mapped shards, by number, for a plain `DataLoader`.

How the epoch travels: an index is a number, or a pair (epoch, number) as `ResumableSampler` yields it; of a pair, the
example says its epoch, and the collator masks by it. So no worker holds an epoch, none has to be told of a new one, and
a batch may span the border of two. What this module does not do: order (`sampler`), masks and padding (`collator`).
"""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from torch.utils.data import Dataset

from bertdata.draws import text_bits
from bertdata.shards import Shards, open_shards
from bertdata.shards.schema import ShardInfo

Index = int | tuple[int, int]
"""The number of an example, or (epoch, number)."""

Example = dict[str, Any]
_PROBES = 64


class ShardDataset(Dataset[Example]):
    """A map-style data set over shards: lists as read-only NumPy views of the file, numbers as int.

    An example holds the shard's columns: input_ids uint16 or uint32 (L,), token_type_ids uint8 (L,), example_id, the
    pair label where the objective has one, labels int16 or int32 (L,) where masking is static; and `epoch` where the
    index was a pair. Whole batches are read at once (`__getitems__`). It pickles to a path and opens the memory map
    again where it arrives, so it works with any number of workers, forked or spawned. Raises InputError where there are
    no shards or they are damaged.

        dataset = ShardDataset("shards/train")
        dataset[3]           # {"input_ids": array([2, 87, ...], dtype=uint16), ..., "example_id": 5577...}
        dataset[(1, 3)]      # the same, and "epoch": 1
    """

    def __init__(self, shards: str | os.PathLike[str] | Shards, split: str | None = None) -> None:
        self.shards = shards if isinstance(shards, Shards) else open_shards(shards, split)
        table = self.shards.table
        self._columns = {name: table[name].chunks for name in table.column_names}
        lengths = [len(chunk) for chunk in self._columns["example_id"]]
        self._ends: NDArray[np.int64] = np.cumsum(lengths, dtype=np.int64)
        self._views: dict[int, list[tuple[str, Any, Any]]] = {}

    def __reduce__(self) -> tuple[type[ShardDataset], tuple[Shards]]:
        return type(self), (self.shards,)

    @property
    def info(self) -> ShardInfo:
        """How the shards were made, and the ids a reader needs."""
        return self.shards.info

    @cached_property
    def fingerprint(self) -> int:
        """63 bits that identify the examples and their order: how they were made, how many, and 64 of their ids."""
        n = len(self)
        probes = sorted({n * i // _PROBES for i in range(_PROBES)} | {n - 1}) if n else []
        ids = [example["example_id"] for example in self.__getitems__(probes)]
        metadata = (self.shards.table.schema.metadata or {}).get(b"bertdata", b"").decode()
        return text_bits(json.dumps([metadata, n, ids])) >> 1

    def __len__(self) -> int:
        return len(self.shards)

    def __getitem__(self, index: Index) -> Example:
        return self.__getitems__([index])[0]

    def __iter__(self) -> Iterator[Example]:
        return (self[number] for number in range(len(self)))

    def __getitems__(self, indices: Sequence[Index]) -> list[Example]:
        """Return many examples; raises IndexError for a number that is not below `len` (negative ones count back)."""
        epochs = [index[0] if isinstance(index, tuple) else None for index in indices]
        numbers = [self._number(index[1] if isinstance(index, tuple) else index) for index in indices]
        chunks = np.searchsorted(self._ends, numbers, side="right").tolist()
        examples = []
        for epoch, number, chunk in zip(epochs, numbers, chunks, strict=True):
            example = self._read(chunk, number - (int(self._ends[chunk - 1]) if chunk else 0))
            if epoch is not None:
                example["epoch"] = epoch
            examples.append(example)
        return examples

    def _number(self, index: Any) -> int:
        number = operator.index(index)
        if not -len(self) <= number < len(self):
            raise IndexError(f"example {number} of {len(self)}")
        return number % len(self)

    def _read(self, chunk: int, row: int) -> Example:
        views = self._views.get(chunk)
        if views is None:
            views = self._views[chunk] = [(name, *_view(chunks[chunk])) for name, chunks in self._columns.items()]
        return {
            name: values.item(row) if offsets is None else values[offsets.item(row) : offsets.item(row + 1)]
            for name, offsets, values in views
        }


def _view(column: pa.Array) -> tuple[NDArray[np.integer] | None, NDArray[np.integer]]:
    """Return the offsets (None for a column of numbers) and the values of one record batch's column, without a copy."""
    if pa.types.is_list(column.type):
        return column.offsets.to_numpy(), column.values.to_numpy()
    return None, column.to_numpy()
