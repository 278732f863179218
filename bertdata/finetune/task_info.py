"""`TaskInfo`: what a reader must know of the shards of a fine-tuning task."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import pyarrow as pa

from bertdata.errors import InputError
from bertdata.finetune import TASKS
from bertdata.finetune.task import TASK_SPLITS, Task
from bertdata.shards.card import ARROW, dataset_card, loading, markdown_table
from bertdata.shards.choices import CHOICE_LENGTHS
from bertdata.shards.info_numbers import Number
from bertdata.shards.schema import ShardInfo, ids_column


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
        task: Task = TASKS[self.task]
        return task

    @property
    def id2label(self) -> dict[int, str]:
        """The name of each label by its id, as the configuration of a model has it."""
        return dict(enumerate(self.labels))

    @property
    def limits(self) -> dict[str, tuple[str, int]]:
        names = ("label", "labels", *self.definition.batch_sets)
        of_labels = dict.fromkeys(names, ("a label", len(self.labels))) if self.labels else {}
        of_answers = {f"{end}_positions": ("the place of an answer", self.max_seq_length) for end in ("start", "end")}
        return super().limits | of_answers | of_labels

    def numbers(self) -> Iterator[Number]:
        stride, labels = self.doc_stride, self.labels
        within = type(stride) is int and 0 <= stride < self.max_seq_length
        yield "doc_stride", stride, "a whole number from 0, less than max_seq_length", within
        distinct = all(isinstance(name, str) for name in labels) and len({*labels}) == len(labels)
        yield "labels", labels, "names, each once", distinct

    @property
    def purpose(self) -> str:
        return self.task + (f" ({', '.join(self.labels)})" if self.labels else "")

    @property
    def ids_columns(self) -> tuple[str, ...]:
        """The columns of ids, one for each text of a row."""
        return tuple(map(ids_column, range(self.definition.texts)))

    @property
    def token_columns(self) -> dict[str, pa.DataType]:
        columns = super().token_columns
        return columns | dict.fromkeys(self.ids_columns, columns["input_ids"])

    @property
    def list_columns(self) -> tuple[str, ...]:
        of_choices = (CHOICE_LENGTHS,) if self.has_choices else ()
        return (*self.token_columns, *self.definition.batch_lists, *of_choices)

    @property
    def scalar_columns(self) -> dict[str, str]:
        return dict(self.definition.batch_numbers)

    @property
    def has_choices(self) -> bool:
        return self.definition.choices

    @property
    def set_columns(self) -> dict[str, tuple[str, int]]:
        return {column: (name, len(self.labels)) for column, name in self.definition.batch_sets.items()}

    def columns(self) -> list[pa.Field]:
        """Return the columns of a shard.

        `input_ids_2` and so on: the ids of the other texts of sentence embeddings. `choice_lengths`: how long each
        choice of a row is, whose lists hold all of them one after another. `label`: the class, or the place of the
        right choice, -100 where it is not known; float32, NaN where not known, in regression and similarity.
        `label_ids`: the classes of a text that may have any number, -100 alone where these are not known. `labels`: the
        class of a word at its first token, -100 elsewhere. `start_positions` and `end_positions`: the first and last
        token of the answer, both 0 ([CLS]) where the window does not hold it. `offsets_start` and `offsets_end`: the
        characters of the context that a token stands for, -1 where it is not of the context.
        """
        columns = [*self.token_columns.items(), ("example_id", pa.int64()), *self.definition.columns]
        return [pa.field(name, kind) for name, kind in columns]

    @classmethod
    def read(cls, values: dict[str, Any], path: str) -> Self:
        try:
            required = {"labels": tuple(values["labels"]), "max_seq_length": values["max_seq_length"]}
            if values["task"] == "classification" and not required["labels"]:
                required["task"] = "regression"  # what shards of before it was a task of its own say
            info = cls(**(values | required))
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"does not say how it was made ({error}); encode again", path=path) from error
        if isinstance(info.task, str) and ":" in info.task:
            TASKS.named_in(path, info.task)
        if not isinstance(info.task, str) or info.task not in TASKS or not info.are_numbers_whole():
            raise InputError(f"does not hold a task this version reads ({info.task!r}); encode again", path=path)
        return info

    def card(self, manifest: dict[str, Any], account: Mapping[str, Any] | None = None, files: str = ARROW) -> str:
        splits = []
        for split, entry in manifest["splits"].items():
            numbers = (entry["counts"][name] for name in ("examples", "truncated_examples"))
            size = sum(shard["bytes"] for shard in entry["shards"])
            splits.append([split, manifest["sources"][split]["name"], len(entry["shards"]), *numbers, size])
        body = markdown_table(["split", "source", "shards", "examples", "truncated", "bytes"], splits)
        if self.labels:
            body += ["", f"Labels, in the order of their ids: {', '.join(f'`{name}`' for name in self.labels)}."]
        body += ["", *loading(files), "", "The tokenizer is in `tokenizer/`."]
        title = f"{self.task.capitalize()} examples of up to {self.max_seq_length} tokens"
        licences = "Texts keep the licences of their sources."
        return dataset_card(manifest, self.definition.category, "fine-tuning", title, licences, body, files=files)

    def with_length(self, max_seq_length: int) -> Self:
        return replace(self, max_seq_length=max_seq_length)
