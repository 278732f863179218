"""The columns of the examples of a batch, whole ones of `ExampleBatch`, and what is said where one is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.errors import ConfigError, expected_one_of
from bertdata.loader.examples import ExampleBatch, as_numbers
from bertdata.shards.columns import CU_SEQLENS
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.schema import ShardInfo

Examples = Sequence[Mapping[str, Any]]


def check_examples(examples: Examples, needed: Sequence[str]) -> None:
    """Raise ConfigError for no examples, a single one, and examples without a column that is needed."""
    if not examples:
        raise ConfigError("a batch of no examples cannot be collated; expected at least one")
    if isinstance(examples, Mapping):
        raise ConfigError(
            "the collator was given a single row, not a batch of them: the DataLoader has batch_size=None. Ray "
            "Train's prepare_data_loader makes such a one of a loader with a batch sampler; leave it out, for "
            "ResumableBatchSampler divides the batches among the processes itself, and move them to the device "
            "yourself"
        )
    names = examples.names if isinstance(examples, ExampleBatch) else list(examples[0])
    for name in needed:
        if name not in names:
            raise ConfigError(
                f"an example has no {name!r}, it has {', '.join(map(repr, names)) or 'nothing'}; "
                "expected examples of the shards this collator was made with. Where the Trainer of transformers "
                "took the column away, set remove_unused_columns=False in its TrainingArguments"
            )


def column_lists(examples: Examples, name: str) -> Sequence[NDArray[Any]]:
    """Return the lists of a column, one for each row."""
    if isinstance(examples, ExampleBatch):
        return examples.lists(name)
    return [np.asarray(example[name]) for example in examples]


def column_numbers(examples: Examples, name: str) -> NDArray[Any]:
    """Return the numbers of a column, int64 or float32 (N,), of packed rows those of all their examples."""
    if isinstance(examples, ExampleBatch):
        return examples.numbers(name)
    values = [example[name] for example in examples]
    return as_numbers(values) if np.ndim(values[0]) == 0 else as_numbers(np.concatenate(values).tolist())


def rows_of_sets(lists: Sequence[NDArray[Any]], width: int) -> NDArray[np.float32]:
    """Return lists of numbers below `width` as rows of 0 and 1, float32 (N, width); NaN for a list with a negative one.

    >>> rows_of_sets([np.array([0, 2]), np.array([], int), np.array([-100])], 3).tolist()
    [[1.0, 0.0, 1.0], [0.0, 0.0, 0.0], [nan, nan, nan]]
    """
    rows = np.zeros((len(lists), width), np.float32)
    for row, numbers in zip(rows, lists, strict=True):
        if len(numbers) and numbers[0] < 0:
            row[:] = np.nan
        else:
            row[numbers] = 1
    return rows


def lists_of_examples(examples: Examples, name: str) -> list[NDArray[Any]]:
    """Return the lists of a column of packed rows, one for each example in them."""
    rows = zip(column_lists(examples, name), column_lists(examples, CU_SEQLENS), strict=True)
    return [row[begin:end] for row, offsets in rows for begin, end in pairwise(offsets.tolist())]


def of_examples(examples: Examples, values: Sequence[int]) -> list[int]:
    """Return the value of each example, given those of the packed rows."""
    rows = zip(values, column_lists(examples, CU_SEQLENS), strict=True)
    return [value for value, offsets in rows for _ in range(len(offsets) - 1)]


def carried_columns(info: ShardInfo, names: Sequence[str]) -> dict[str, str]:
    """Return the columns of documents that a batch is to have, as `ShardInfo.scalar_columns` has others.

    Raises ConfigError for a name that no column of the rows has.
    """
    carried = info.selection.kept if isinstance(info, PretrainingInfo) else {}
    for name in names:
        if name not in carried:
            near = expected_one_of(name, carried) if carried else ""
            raise ConfigError(
                f"the rows carry no column {name!r} of their documents{near}; build with --keep {name}=float"
            )
    return {name: name for name in names}
