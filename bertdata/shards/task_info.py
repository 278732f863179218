"""What shards of fine-tuning data say of themselves, and their columns.

They are shards like those of pretraining: the same files, reader, loader and padding. Instead of masks and pair labels
a row carries what a task predicts.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

import pyarrow as pa

from bertdata.errors import InputError
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards.schema import FORMAT, ShardInfo, data_files, id_type
from bertdata.shards.tasks import TASKS, Task
from bertdata.tokenizers.base import Tokenizer

TASK_SPLITS = ("train", "validation", "test")


@dataclass(frozen=True, kw_only=True)
class TaskInfo(ShardInfo):
    """What a reader must know of fine-tuning shards: the task, its labels, and the ids it needs to pad rows.

    labels: the name of each label in the order of their ids, none for questions and for regression; doc_stride: the
    tokens that neighbouring windows of one context share at least, 0 where there are no windows. Nothing is drawn, so
    of `examples` and `masking` only `examples.max_seq_length` means something; they are not in the shards.
    """

    task: str
    labels: tuple[str, ...] = ()
    doc_stride: int = 0

    @property
    def label(self) -> str | None:
        """None: there is no pair label of an objective."""
        return None

    @property
    def max_seq_length(self) -> int:
        """The most tokens of a row, special tokens included."""
        return self.examples.max_seq_length

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
        """What the rows are for."""
        return self.task + (f" ({', '.join(self.labels)})" if self.labels else "")

    @property
    def batch_lists(self) -> tuple[str, ...]:
        """The columns of lists that go into a batch, padded."""
        return ("input_ids", "token_type_ids", *self.definition.batch_lists)

    @property
    def batch_numbers(self) -> dict[str, str]:
        """The columns of numbers that go into a batch, and what they are called there."""
        return dict(self.definition.batch_numbers)

    def columns(self) -> list[pa.Field]:
        """Return the columns of a shard.

        `label`: the class, -100 where it is not known; float32, NaN where not known, in regression. `labels`: the class
        of a word at its first piece, -100 elsewhere. `start_positions` and `end_positions`: the first and last token of
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
        """Return it as the JSON of a schema or a manifest."""
        values = asdict(self) | {"labels": list(self.labels), "max_seq_length": self.max_seq_length}
        return {
            name: value for name, value in values.items() if name not in ("examples", "masking", "sources", "epochs")
        }


def make_task_info(
    tokenizer: Tokenizer, task: str, max_seq_length: int, labels: tuple[str, ...] = (), doc_stride: int = 0
) -> TaskInfo:
    """Return what shards of a task made with a tokenizer say of themselves.

    >>> from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer
    >>> make_task_info(WordPieceTokenizer.from_tokens(SPECIAL_TOKENS), "classification", 128, ("bad", "good")).id2label
    {0: 'bad', 1: 'good'}
    """
    return TaskInfo(
        examples=_rows(max_seq_length),
        masking=MaskingConfig(),
        tokenizer=tokenizer.fingerprint,
        vocab_size=tokenizer.vocab_size,
        pad_token_id=tokenizer.pad_token_id,
        cls_token_id=tokenizer.cls_token_id,
        sep_token_id=tokenizer.sep_token_id,
        mask_token_id=tokenizer.mask_token_id,
        unk_token_id=tokenizer.unk_token_id,
        task=task,
        labels=labels,
        doc_stride=doc_stride,
    )


def _rows(max_seq_length: int) -> ExamplesConfig:
    return ExamplesConfig(
        objective="doc-sentences", masking="static", max_seq_length=max_seq_length, short_seq_prob=0.0
    )


def task_info(values: dict[str, Any], path: str) -> TaskInfo:
    """Make it of the JSON of a schema or a manifest; raises InputError where that is not whole."""
    try:
        given = dict(values)
        if given["task"] == "classification" and not given["labels"]:
            given["task"] = "regression"  # what shards of before it was a task of its own say
        examples, labels = _rows(given.pop("max_seq_length")), tuple(given.pop("labels"))
        info = TaskInfo(examples=examples, masking=MaskingConfig(), labels=labels, **given)
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"does not say how it was made ({error}); encode again", path=path) from error
    numbers = [getattr(info, one.name) for one in fields(info) if one.type == "int"]
    if info.task not in TASKS or not all(type(number) is int for number in numbers) or info.format != FORMAT:
        raise InputError(f"does not hold a task this version reads ({info.task!r}); encode again", path=path)
    return info


def task_card(manifest: dict[str, Any]) -> str:
    """Return the dataset card of a task as Markdown with the metadata block that dataset hubs read."""
    info = manifest["info"]
    category = TASKS[info["task"]].category
    lines = [
        "---",
        f"task_categories: [{category}]",
        "tags: [bert, fine-tuning, bertdata]",
        "configs:",
        *data_files(manifest["splits"]),
        "---",
        "",
        f"# {info['task'].capitalize()} examples of up to {info['max_seq_length']} tokens",
        "",
        f"Made by bertdata {manifest['bertdata']}. Texts keep the licences of their sources.",
        "",
        "| split | source | shards | examples | truncated | bytes |",
        "|---|---|---:|---:|---:|---:|",
    ]
    for split, entry in manifest["splits"].items():
        counts, shards = entry["counts"], entry["shards"]
        size = sum(shard["bytes"] for shard in shards)
        cells = [len(shards), counts["examples"], counts["truncated_examples"], size]
        name = manifest["sources"][split]["name"]
        lines.append(f"| {split} | {name} | " + " | ".join(f"{cell:,}" for cell in cells) + " |")
    if info["labels"]:
        lines += ["", "Labels, in the order of their ids: " + ", ".join(f"`{name}`" for name in info["labels"]) + "."]
    code = ["```python", "import datasets", "", 'dataset = datasets.load_from_disk("THIS FOLDER")', "```"]
    return "\n".join([*lines, "", *code, "", "The tokenizer is in `tokenizer/`.", ""])
