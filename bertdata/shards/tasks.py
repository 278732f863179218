"""Fine-tuning tasks, one object each, listed in a registry: what a row holds, and how labelled files become rows.

A package outside bertdata adds one with `TASKS.add(name, Task(...))` in a module that `bertdata.registry` loads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from bertdata.errors import ConfigError
from bertdata.registry import Registry
from bertdata.tokenizers.base import Tokenizer

if TYPE_CHECKING:
    from bertdata.finetune.settings import TaskConfig
    from bertdata.finetune.splits import Columns, TaskSplit

Labels = tuple[str, ...]
ReadSplits = Callable[[Mapping[str, str], Tokenizer, "TaskConfig", "Columns"], tuple[Labels, dict[str, "TaskSplit"]]]
"""Checks the files of a task, given by split, and returns the names of its labels and how each split is encoded."""
_FIXED_COLUMNS = ("input_ids", "token_type_ids", "example_id")


def _no_check(config: TaskConfig) -> None:
    """Accept all settings."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """One fine-tuning task.

    help: what is learnt, for --help.
    read: see `ReadSplits`; it raises InputError, with the line, row or place, where a file is damaged or in another
    format, and ConfigError for missing columns.
    columns: the columns of a shard beside `input_ids`, `token_type_ids` and `example_id`.
    batch_lists: the columns of lists with a value for each token that go into a batch, padded.
    batch_numbers: the columns of numbers that go into a batch, with the names that they have there.
    max_seq_length: tokens in a row where --max-seq-length is 0.
    windows: whether rows are windows of texts, which are then kept beside the shards.
    check: raises ConfigError for settings that do not suit the task.
    head: the model that learns it, as transformers names it after BertFor. metrics: the names of its scores.
    category: the task category of dataset hubs.
    """

    help: str
    read: ReadSplits
    columns: tuple[tuple[str, pa.DataType], ...]
    batch_lists: tuple[str, ...] = ()
    batch_numbers: Mapping[str, str] = field(default_factory=dict)
    max_seq_length: int = 128
    windows: bool = False
    check: Callable[[TaskConfig], None] = _no_check
    head: str = ""
    metrics: tuple[str, ...] = ()
    category: str = "other"

    def __post_init__(self) -> None:
        names = [*_FIXED_COLUMNS, *(name for name, _ in self.columns)]
        repeated = {name for name in names if names.count(name) > 1}
        unknown = {*self.batch_lists, *self.batch_numbers} - {name for name, _ in self.columns}
        if repeated or unknown:
            problem = f"has the column {min(repeated)!r} twice" if repeated else f"has no column {min(unknown)!r}"
            raise ConfigError(
                f"the task ({self.help}) {problem}; expected distinct names in `columns` beside "
                f"{', '.join(_FIXED_COLUMNS)}, and in `batch_lists` and `batch_numbers` names from `columns`"
            )


TASKS: Registry[Task] = Registry(
    "task",
    {
        "classification": "bertdata.finetune.classification:CLASSIFICATION",
        "regression": "bertdata.finetune.classification:REGRESSION",
        "token-classification": "bertdata.finetune.token_classification:TOKEN_CLASSIFICATION",
        "question-answering": "bertdata.finetune.question_answering:QUESTION_ANSWERING",
    },
)
