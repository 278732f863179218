"""Fine-tuning tasks, one object each, listed in a registry: what a row holds, and how labelled files become rows.

A package outside bertdata adds one with `TASKS.add(name, Task(...))` in a module that `bertdata.registry` loads.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import pyarrow as pa

from bertdata.registry import Registry
from bertdata.tokenizers.base import Tokenizer

if TYPE_CHECKING:
    from bertdata.finetune.settings import TaskConfig
    from bertdata.finetune.splits import Columns, TaskSplit

Labels = tuple[str, ...]
ReadSplits = Callable[[Mapping[str, str], Tokenizer, "TaskConfig", "Columns"], tuple[Labels, dict[str, "TaskSplit"]]]
"""Checks the files of a task, given by split, and returns the names of its labels and how each split is encoded."""


def _no_check(config: TaskConfig) -> None:
    """Accept all settings."""


@dataclass(frozen=True, kw_only=True)
class Task:
    """One fine-tuning task.

    help: what is learnt, for --help.
    read: see `ReadSplits`; it raises InputError, with the line, row or place, where a file is not what it should be,
    and ConfigError for columns that are not there.
    columns: the columns of a shard beside `input_ids`, `token_type_ids` and `example_id`.
    batch_lists: those of the columns that are lists with a value for each token, and go into a batch, padded.
    batch_numbers: those that are numbers and go into a batch, with the names that they have there.
    max_seq_length: tokens in a row where --max-seq-length is 0.
    windows: whether several rows are windows of one text, and the examples are kept as text beside the shards.
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


TASKS: Registry[Task] = Registry(
    "task",
    {
        "classification": "bertdata.finetune.classification:CLASSIFICATION",
        "regression": "bertdata.finetune.classification:REGRESSION",
        "token-classification": "bertdata.finetune.token_classification:TOKEN_CLASSIFICATION",
        "question-answering": "bertdata.finetune.question_answering:QUESTION_ANSWERING",
    },
)
