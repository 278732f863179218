"""`Task`: what a row of a fine-tuning task holds, and how labelled files become rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from bertdata.errors import ConfigError
from bertdata.tokenizers.base import Tokenizer

if TYPE_CHECKING:
    from bertdata.finetune.layout import TaskSplit
    from bertdata.finetune.settings import Columns, TaskConfig

TASK_SPLITS = ("train", "validation", "validation_mismatched", "test", "test_mismatched")
"""The splits of all tasks; mismatched: of other sources than the training texts, as those of MNLI."""
Labels = tuple[str, ...]
ReadSplits = Callable[[Mapping[str, str], Tokenizer, "TaskConfig", "Columns"], tuple[Labels, dict[str, "TaskSplit"]]]
"""Checks the files of a task, given by split, and returns the names of its labels and how each split is encoded."""
_FIXED_COLUMNS = ("input_ids", "token_type_ids", "example_id")


@dataclass(frozen=True, kw_only=True)
class Task:
    """One fine-tuning task.

    help: what is learnt, for --help.
    read: see `ReadSplits`; it raises InputError, with the line, row or place, where a file is damaged or in another
    format, and ConfigError for missing columns.
    columns: the columns of a shard beside `input_ids`, `token_type_ids` and `example_id`.
    batch_lists: the columns of lists with a value for each token that go into a batch, padded.
    batch_numbers: the columns of numbers that go into a batch, with the names that they have there.
    batch_sets: the columns of lists of label ids, of any length, which are rows of 0 and 1 in a batch, with the names
    that they have there; a text whose labels are not known has the id -100 alone, and NaN in the batch.
    choices: whether a row holds several choices one after another, whose lengths are in the column `choice_lengths`;
    lists are (N, choices, L) in a batch.
    texts: how many texts a row has that have ids of their own, in the columns `input_ids`, `input_ids_2` and so on.
    max_seq_length: tokens in a row where --max-seq-length is 0.
    windows: whether rows are windows of texts, which are then kept beside the shards.
    splits: the splits that its files may be of, among `TASK_SPLITS`.
    check: raises ConfigError for settings that do not suit the task.
    file_columns: the columns that are read of a file, given (path, columns); `encode-task` names the others. None where
    files have more columns by nature, as those of CoNLL.
    head: the model that learns it, as transformers names it after BertFor. metrics: the names of its scores.
    category: the task category of dataset hubs.
    """

    help: str
    read: ReadSplits
    columns: tuple[tuple[str, pa.DataType], ...]
    batch_lists: tuple[str, ...] = ()
    batch_numbers: Mapping[str, str] = field(default_factory=dict)
    batch_sets: Mapping[str, str] = field(default_factory=dict)
    choices: bool = False
    texts: int = 1
    max_seq_length: int = 128
    windows: bool = False
    splits: tuple[str, ...] = ("train", "validation", "test")
    check: Callable[[TaskConfig], None] = lambda config: None
    file_columns: Callable[[str, Columns], Sequence[str]] | None = None
    head: str = ""
    metrics: tuple[str, ...] = ()
    category: str = "other"

    @property
    def scored(self) -> bool:
        """Whether the labels of its texts are numbers."""
        return ("label", pa.float32()) in self.columns

    def __post_init__(self) -> None:
        names = [*_FIXED_COLUMNS, *(name for name, _ in self.columns)]
        repeated = {name for name in names if names.count(name) > 1}
        unknown = {*self.batch_lists, *self.batch_numbers, *self.batch_sets} - {name for name, _ in self.columns}
        if repeated or unknown:
            problem = f"has the column {min(repeated)!r} twice" if repeated else f"has no column {min(unknown)!r}"
            raise ConfigError(
                f"the task ({self.help}) {problem}; expected distinct names in `columns` beside "
                f"{', '.join(_FIXED_COLUMNS)}, and in `batch_lists`, `batch_numbers` and `batch_sets` names from "
                "`columns`"
            )
