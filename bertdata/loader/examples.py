"""`ShardExamples`: the examples of memory-mapped shards, by number; many at once as an `ExampleBatch`.

An index is a number, a pair (epoch, number) or, where a schedule changes the masks during a run, (epoch, number,
level), as our sampler yields it. Masks depend on the epoch, so the example
holds it as `epoch`; a batch may have examples of two epochs. With a number alone, it is the epoch of the last
`set_epoch`, and without one the example has no `epoch`.

Several sets of shards can be read together, if a model can be trained on both in the same batch: with one vocabulary,
the same pair label, and the same masking.
"""

from __future__ import annotations

import json
import operator
import os
from collections import UserDict
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.counter_rng import text_bits
from bertdata.errors import ConfigError
from bertdata.loader.column_arrays import Column, column_of
from bertdata.loader.epoch import HasEpoch, check_epoch
from bertdata.loader.opening import Source, cache_folder, common_info, opened
from bertdata.loader.origin import Origin
from bertdata.loader.read_ahead import ReadAhead, require_room
from bertdata.loader.row_access import MappedRows, StreamedRows, rows_of
from bertdata.shards import Shards
from bertdata.shards.number_arrays import numbers_of
from bertdata.shards.pieces import piece_rows
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.schema import ShardInfo

Index = int | tuple[int, ...]
"""The number of an example, or (epoch, number), or (epoch, number, level)."""


class Example(UserDict[str, Any]):
    """The columns of an example by name.

    It is a mapping but not a `dict`, like the batches of transformers: from dicts, the `Trainer` of transformers would
    remove what the model does not take, such as the example's id and epoch, which the masks depend on. `origin` says
    which shards it is of; pickled, it has none.
    """

    origin: Origin | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {"data": self.data}

    def __contains__(self, key: object) -> bool:
        """Tell whether there is a column; raises ConfigError where transformers' default collator asks for `label_ids`.

        The `Trainer` takes it where it was given no collator, and it would stack the rows without masks and labels. It
        asks a row without a `label` for `label_ids`, which no shards have.
        """
        if key == "label_ids":
            raise ConfigError(
                "the default collator of transformers can neither pad nor mask these rows; give the Trainer "
                "data_collator=PretrainingCollator(dataset), from bertdata.torch"
            )
        return super().__contains__(key)


_SHOWN_SETS = 3


class ShardExamples(HasEpoch):
    """A map-style data set over shards: lists as read-only NumPy views of the file, numbers as int.

    An example holds the shard's columns: input_ids uint16 or uint32 (L,), token_type_ids uint8 (L,), example_id, the
    pair label where the objective has one, word_starts bool (L,) where an id alone does not tell where words begin,
    labels int16 or int32 (L,) where masking is static; and `epoch` where the
    index was a pair, or `set_epoch` was called; `level`, 0 to 1000, where the index had one. Fine-tuning shards have
    the columns of their task. A packed row is one example here: its ids and labels are arrays, and cu_seqlens int32
    has the offsets of the examples in it. `__getitems__` reads a batch at once. Pickling keeps paths only, and
    unpickling opens the memory map again, so it works with any number of workers, forked or spawned.

    A list of shard sets is one data set, the sets one after another; they must have one vocabulary, objective and
    masking. All shards are compared with their SHA-256 when it is made, once on each machine (see
    `bertdata.shards.checked`). Raises InputError where there are no shards or they are damaged, ConfigError where sets
    do not fit.

    Shards at a URL are fetched to this machine before the first row is read (`bertdata.shards.cache`). With `cache`, a
    folder, they are streamed: a shard comes when the order needs it, while the rows before it are used, and the folder
    never holds more than `cache_bytes`. It may be shared by all processes of the machine. Rows that are kept (and not
    copied, as a collator does) keep their shard in it. Raises ConfigError where only one of the two is given. A shard
    larger than a tenth of the cache comes in pieces, where the build has their digests (`bertdata.shards.pieces`). With
    `by_pieces`, streamed or not, the `shuffle_window` of a sampler is so many pieces of any shards.

        examples = ShardExamples("s3://bucket/corpus/train", cache="/nvme", cache_bytes=200e9)
        examples = ShardExamples("shards/train")
        examples[3]           # {"input_ids": array([2, 87, ...], dtype=uint16), ..., "example_id": 5577...}
        examples[(1, 3)]      # the same, and "epoch": 1
        ShardExamples(["wikipedia/train", "books/train"]).sizes     # (1200000, 800000)
    """

    def __init__(
        self,
        shards: Source | Sequence[Source],
        split: str | None = None,
        *,
        cache: str | os.PathLike[str] | None = None,
        cache_bytes: float | None = None,
        by_pieces: bool = False,
    ) -> None:
        self._epoch = self._epoch_type()
        self.by_pieces = by_pieces
        self.sets: tuple[Shards, ...] = opened(shards, split, cache_folder(cache, cache_bytes), by_pieces)
        self.info: ShardInfo = common_info(self.sets)
        self.origin = Origin(self.info, self.sets[0].split)
        self.sizes = tuple(len(shard_set) for shard_set in self.sets)
        self.rows: MappedRows | StreamedRows = rows_of(self.sets)

    def __reduce__(self) -> tuple[type[ShardExamples], tuple[tuple[Shards, ...]], dict[str, Any]]:
        return type(self), (self.sets,), {"_epoch": self._epoch, "by_pieces": self.by_pieces}

    def __repr__(self) -> str:
        places = ", ".join(f"{shard_set.build}/{shard_set.split}" for shard_set in self.sets[:_SHOWN_SETS])
        places += f" and {len(self.sets) - _SHOWN_SETS:,} more" if len(self.sets) > _SHOWN_SETS else ""
        columns = ", ".join(self.names)
        return f"{type(self).__name__}({places}): {len(self):,} rows for {self.info.purpose}, with {columns}"

    @property
    def shard_rows(self) -> tuple[NDArray[np.int64], ...]:
        """The number of rows of each shard, or, `by_pieces`, of each piece of one, int64 (S,) for each set."""
        if not self.by_pieces:
            return tuple(shard_set.shard_rows for shard_set in self.sets)
        return self._piece_rows

    @property
    def fetched_rows(self) -> float:
        """The mean number of rows of what is fetched at a time, a shard or a piece of one."""
        return self.rows.size / max(1, len(self.rows.files)) if isinstance(self.rows, StreamedRows) else self.rows.size

    @cached_property
    def _piece_rows(self) -> tuple[NDArray[np.int64], ...]:
        return tuple(piece_rows(part.build, part.split, part.manifest, part.shard_rows) for part in self.sets)

    def follow(self, coming: Iterator[tuple[int, NDArray[np.int64]]]) -> ReadAhead | None:
        """Fetch the shards of rows that come, as a sampler says them; None where all shards are here."""
        return ReadAhead(self.rows, coming) if isinstance(self.rows, StreamedRows) else None

    def require_window(self, window: int | None, world_size: int, windows: int) -> None:
        """Raise ConfigError where rows are mixed over more shards than the cache holds (`require_room`)."""
        require_room(self.sets, window, world_size, windows, by_pieces=self.by_pieces)

    @property
    def shards(self) -> Shards:
        """The first set of shards."""
        return self.sets[0]

    @property
    def follows_schedule(self) -> bool:
        """Whether the rates of the masks change during a run, so that they depend on the position in it."""
        info = self.info
        return isinstance(info, PretrainingInfo) and bool(info.masking.for_split(self.shards.split).mask_schedule)

    @cached_property
    def fingerprint(self) -> int:
        """63 bits of a hash of the shards' SHA-256 and masks, set by set in their order, whatever their paths."""
        return text_bits(json.dumps([shard_set.identity for shard_set in self.sets])) >> 1

    @cached_property
    def lengths(self) -> NDArray[np.int32]:
        """The number of tokens of each example, int32 (N,)."""
        parts = self.rows.every("input_ids", lambda ids: np.diff(numbers_of(ids.offsets)).astype(np.int32))
        return np.concatenate(parts) if parts else np.zeros(0, np.int32)

    @cached_property
    def tokens(self) -> int:
        """The number of tokens of all examples, in all texts of each."""
        if isinstance(self.rows, StreamedRows):
            entries = [shard_set.manifest["splits"][shard_set.split].get("counts", {}) for shard_set in self.sets]
            if all("row_tokens" in counts for counts in entries):
                return sum(int(counts["row_tokens"]) for counts in entries)
        texts = [name for name in self.names if name.startswith("input_ids")]
        return sum(sum(self.rows.every(name, _length_of_all)) for name in texts)

    @property
    def bins(self) -> tuple[int, ...]:
        """The longest row of each bin that all sets were built with (`--bin-size`); empty without bins."""
        built = {shard_set.info.bins for shard_set in self.sets}
        return built.pop() if len(built) == 1 else ()

    @property
    def source_names(self) -> tuple[str, ...]:
        """The names of the sources of all sets."""
        return tuple(dict.fromkeys(name for shard_set in self.sets for name in shard_set.info.sources))

    @cached_property
    def sources(self) -> NDArray[np.unsignedinteger]:
        """The source of each example as an index into `source_names` (N,); of a packed row that of its first.

        uint8 for up to 256 sources, else uint16.
        Raises ConfigError where the shards do not store sources.
        """
        number_of = {name: number for number, name in enumerate(self.source_names)}
        kind = np.min_scalar_type(max(len(number_of) - 1, 0))
        parts = [np.zeros(0, kind)]
        for shard_set in self.sets:
            if not shard_set.info.sources:
                raise ConfigError("does not store the sources of its examples; build again", path=shard_set.build)
            places = np.array([number_of[name] for name in shard_set.info.sources], kind)
            for offsets, values in rows_of([shard_set]).every("source", column_of):
                parts.append(places[values if offsets is None else values[offsets[:-1]]])
        return np.concatenate(parts)

    def __len__(self) -> int:
        return self.rows.size

    def __getitem__(self, index: Index) -> Example:
        return self.__getitems__([index])[0]

    def __iter__(self) -> Iterator[Example]:
        return (self[number] for number in range(len(self)))

    def __getitems__(self, indices: Sequence[Index]) -> ExampleBatch:
        """Return many examples; raises IndexError for a number out of range (negative ones count from the end).

        Raises ConfigError for what is not a number, as the batches of a sampler that was not given as `batch_sampler`,
        and for an epoch that is not a whole number of 0 or more.
        """
        given = self.epoch
        epochs = [index[0] if isinstance(index, tuple) else given for index in indices]
        try:
            numbers = [operator.index(index[1] if isinstance(index, tuple) else index) for index in indices]
        except TypeError as error:
            raise ConfigError(
                f"an example was asked for by {indices[0]!r:.60}; expected a number or (epoch, number). A sampler of "
                "batches, as ResumableBatchSampler, is the `batch_sampler` of a DataLoader, not its `sampler`"
            ) from error
        examples, places = len(self), np.array(numbers, np.int64)
        if wrong := [number for number in numbers if not -examples <= number < examples]:
            raise IndexError(f"example {wrong[0]} of {examples}")
        levels = [index[2] if isinstance(index, tuple) and len(index) > 2 else None for index in indices]
        places %= max(examples, 1)
        for epoch in {*epochs} - {None}:
            check_epoch(epoch)
        columns, rows = self.rows.at(places)
        return ExampleBatch(self.origin, self.names, columns, rows, epochs, levels)

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return self.rows.names


class ExampleBatch(Sequence[Example]):
    """Examples as a sequence that makes each one when it is indexed; a collator reads whole columns instead.

    It is pickled as a list.
    """

    def __init__(
        self,
        origin: Origin,
        names: list[str],
        columns: list[dict[str, Column]],
        rows: list[int],
        epochs: Sequence[int | None],
        levels: Sequence[int | None],
    ) -> None:
        self.origin, self._columns, self._rows = origin, columns, rows
        self.names, self.epochs, self.levels = names, epochs, levels

    def __reduce__(self) -> tuple[type[list[Example]], tuple[list[Example]]]:
        return list, (list(self),)

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, index: int) -> Example: ...

    @overload
    def __getitem__(self, index: slice) -> list[Example]: ...

    def __getitem__(self, index: int | slice) -> Example | list[Example]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        columns, row, example = self._columns[index], self._rows[index], Example()
        example.origin = self.origin
        for name in self.names:
            offsets, values = columns[name]
            example.data[name] = (
                values.item(row) if offsets is None else values[offsets.item(row) : offsets.item(row + 1)]
            )
        if (epoch := self.epochs[index]) is not None:
            example["epoch"] = epoch
        if (level := self.levels[index]) is not None:
            example["level"] = level
        return example

    def lists(self, name: str) -> list[NDArray[np.integer]]:
        """Return the lists of a column as views of the file."""
        views = []
        for columns, row in zip(self._columns, self._rows, strict=True):
            offsets, values = columns[name]
            assert offsets is not None
            views.append(values[offsets.item(row) : offsets.item(row + 1)])
        return views

    def numbers(self, name: str) -> NDArray[Any]:
        """Return a column of numbers, int64 (N,), or float32 (N,) where they are floats; of packed rows all in them."""
        if self._columns and self._columns[0][name][0] is not None:
            values = np.concatenate(self.lists(name))
            return values.astype(np.float32 if values.dtype.kind == "f" else np.int64)
        places = zip(self._columns, self._rows, strict=True)
        return as_numbers([columns[name][1].item(row) for columns, row in places])


def as_numbers(values: Sequence[int | float]) -> NDArray[Any]:
    """Return the numbers of a column as a batch holds them.

    >>> as_numbers([3, 1]).dtype, as_numbers([3, 0.5]).dtype
    (dtype('int64'), dtype('float32'))
    """
    numbers = np.array(values) if len(values) else np.zeros(0, np.int64)
    return numbers.astype(np.float32 if numbers.dtype.kind == "f" else np.int64, copy=False)


def _length_of_all(column: pa.Array) -> int:
    return int(column.offsets[-1].as_py() - column.offsets[0].as_py()) if len(column) else 0
