"""What shards of fine-tuning data say of themselves, and their columns.

They have the files, reader, loader and padding of pretraining shards. A row has what a task predicts instead of masks
and pair labels.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any, ClassVar, Self

import pyarrow as pa

from bertdata.errors import InputError
from bertdata.shards.card import LOADING, dataset_card, markdown_table
from bertdata.shards.schema import ShardInfo, id_type, vocabulary_fields
from bertdata.shards.tasks import TASKS, Task
from bertdata.tokenizers.base import Tokenizer

TASK_SPLITS = ("train", "validation", "test")


@dataclass(frozen=True, kw_only=True)
class TaskInfo(ShardInfo):
    """What a reader must know of fine-tuning shards: the task, its labels, and the ids it needs to pad rows.

    labels: the names of the labels in the order of their ids, none for questions and for regression; max_seq_length:
    the most tokens of a row, special tokens included; doc_stride: that of `TaskConfig`, 0 without windows.
    """

    task: str
    labels: tuple[str, ...] = ()
    max_seq_length: int = 128
    doc_stride: int = 0

    splits: ClassVar[tuple[str, ...]] = TASK_SPLITS

    @property
    def definition(self) -> Task:
        """The task; raises ConfigError where no package that adds it is loaded."""
        return TASKS[self.task]

    @property
    def id2label(self) -> dict[int, str]:
        """The name of each label by its id, as the configuration of a model has it."""
        return dict(enumerate(self.labels))

    @property
    def purpose(self) -> str:
        return self.task + (f" ({', '.join(self.labels)})" if self.labels else "")

    @property
    def list_columns(self) -> tuple[str, ...]:
        return ("input_ids", "token_type_ids", *self.definition.batch_lists)

    @property
    def scalar_columns(self) -> dict[str, str]:
        return dict(self.definition.batch_numbers)

    def columns(self) -> list[pa.Field]:
        """Return the columns of a shard.

        `label`: the class, -100 where it is not known; float32, NaN where not known, in regression. `labels`: the class
        of a word at its first token, -100 elsewhere. `start_positions` and `end_positions`: the first and last token of
        the answer, both 0 ([CLS]) where the window does not hold it. `offsets_start` and `offsets_end`: the characters
        of the context that a token stands for, -1 where it is not of the context.
        """
        columns = [
            ("input_ids", pa.list_(id_type(self.vocab_size))),
            ("token_type_ids", pa.list_(pa.uint8())),
            ("example_id", pa.int64()),
            *self.definition.columns,
        ]
        return [pa.field(name, kind) for name, kind in columns]

    def values(self) -> dict[str, Any]:
        return asdict(self) | {"labels": list(self.labels)}

    @classmethod
    def read(cls, values: dict[str, Any], path: str) -> Self:
        try:
            kept = {"labels": tuple(values["labels"]), "max_seq_length": values["max_seq_length"]}
            if values["task"] == "classification" and not kept["labels"]:
                kept["task"] = "regression"  # what shards of before it was a task of its own say
            info = cls(**(values | kept))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"does not say how it was made ({error}); encode again", path=path) from error
        if info.task not in TASKS or not info.are_numbers_whole():
            raise InputError(f"does not hold a task this version reads ({info.task!r}); encode again", path=path)
        return info

    def card(self, manifest: dict[str, Any]) -> str:
        splits = []
        for split, entry in manifest["splits"].items():
            numbers = (entry["counts"][name] for name in ("examples", "truncated_examples"))
            size = sum(shard["bytes"] for shard in entry["shards"])
            splits.append([split, manifest["sources"][split]["name"], len(entry["shards"]), *numbers, size])
        body = markdown_table(["split", "source", "shards", "examples", "truncated", "bytes"], splits)
        if self.labels:
            body += ["", f"Labels, in the order of their ids: {', '.join(f'`{name}`' for name in self.labels)}."]
        body += ["", *LOADING, "", "The tokenizer is in `tokenizer/`."]
        title = f"{self.task.capitalize()} examples of up to {self.max_seq_length} tokens"
        licences = "Texts keep the licences of their sources."
        return dataset_card(manifest, self.definition.category, "fine-tuning", title, licences, body)

    def with_length(self, max_seq_length: int) -> Self:
        return replace(self, max_seq_length=max_seq_length)


def make_task_info(
    tokenizer: Tokenizer, task: str, max_seq_length: int, labels: tuple[str, ...] = (), doc_stride: int = 0
) -> TaskInfo:
    """Return what shards of a task made with a tokenizer say of themselves.

    >>> from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer
    >>> make_task_info(WordPieceTokenizer.from_tokens(SPECIAL_TOKENS), "classification", 128, ("bad", "good")).id2label
    {0: 'bad', 1: 'good'}
    """
    return TaskInfo(
        task=task, labels=labels, max_seq_length=max_seq_length, doc_stride=doc_stride, **vocabulary_fields(tokenizer)
    )
