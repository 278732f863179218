"""What a task's examples are made of: settings, checked when made; they make the flags of `bertdata encode-task`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from bertdata.errors import ConfigError
from bertdata.finetune.question_answering import STRIDES, check_settings
from bertdata.shards.task_info import CLASSIFICATION, QUESTION_ANSWERING, TASKS


def _option(default: Any, text: str, choices: tuple[str, ...] | None = None) -> Any:
    return field(default=default, metadata={"help": text, "choices": choices})


@dataclass(frozen=True)
class TaskConfig:
    """How labelled examples become rows."""

    task: str = _option(CLASSIFICATION, "what is learnt", TASKS)
    max_seq_length: int = _option(
        0, "tokens in a row, special tokens included; 0: 128, for questions 384 (BERT's released code)"
    )
    doc_stride: int = _option(128, "questions: tokens that two neighbouring windows of a context share")
    stride_is: str = _option(
        "overlap",
        "questions: overlap: --doc-stride is what two windows share (transformers); step: how far the next one begins "
        "(BERT's released code)",
        STRIDES,
    )
    max_query_length: int = _option(64, "questions: tokens of the question, those over it are cut off; 0: no limit")
    regression: bool = _option(False, "classification: the label is a number to be met")
    shard_examples: int = _option(65_536, "examples of the source in a shard")

    def __post_init__(self) -> None:
        if self.task not in TASKS:
            raise ConfigError(f"--task is {self.task!r}; expected one of {', '.join(TASKS)}")
        if self.max_seq_length and not 8 <= self.max_seq_length <= 65_536:
            raise ConfigError(f"--max-seq-length is {self.max_seq_length}; expected 8 to 65536, as 128 or 512")
        if self.shard_examples < 1:
            raise ConfigError(f"--shard-examples is {self.shard_examples}; expected at least 1")
        if self.regression and self.task != CLASSIFICATION:
            raise ConfigError(f"--regression is for --task {CLASSIFICATION}; leave it out for {self.task}")
        if self.task == QUESTION_ANSWERING:
            check_settings(self.length, self.doc_stride, self.max_query_length, self.stride_is)

    @property
    def length(self) -> int:
        """The tokens in a row."""
        return self.max_seq_length or (384 if self.task == QUESTION_ANSWERING else 128)
