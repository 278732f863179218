"""The shards of a fine-tuning task for their reader: figures of each split, and examples as text with their labels."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bertdata.finetune.task_info import TaskInfo
from bertdata.inspect.stats import length_rows
from bertdata.io.console import Row, counted
from bertdata.shards import Shards
from bertdata.shards.choices import CHOICE_LENGTHS, choices_apart

_UNKNOWN = -100


@dataclass(frozen=True)
class TaskFigures:
    """Figures of one split: rows, the rows of each length, and how often each label is there, "unlabelled" too.

    Where rows have choices, lengths are those of the choices.
    """

    rows: int
    max_seq_length: int
    lengths: tuple[int, ...]
    labels: dict[str, int]
    counts: dict[str, int]


def measure_task(shards: Shards, info: TaskInfo) -> TaskFigures:
    """Measure one split of a task; labels of tags are counted once for each word."""
    lengths = np.zeros(info.max_seq_length + 1, np.int64)
    labels: Counter[str] = Counter()
    for batch in shards.table.to_batches():
        tokens = choices_apart(batch)[0] if info.has_choices else batch
        row_lengths = np.diff(tokens["input_ids"].offsets.to_numpy())
        lengths += np.bincount(row_lengths, minlength=len(lengths))[: len(lengths)]
        if info.labels:
            column = next((name for name in ("labels", *info.set_columns) if name in batch.schema.names), "label")
            values = batch[column] if column == "label" else batch[column].flatten()
            numbers = values.to_numpy(zero_copy_only=False).astype(np.int64)
            for value, number in zip(*np.unique(numbers, return_counts=True), strict=True):
                if value != _UNKNOWN:
                    labels[info.labels[value]] += int(number)
                elif column != "labels":
                    labels["unlabelled"] += int(number)
    counts = shards.manifest["splits"][shards.split]["counts"]
    return TaskFigures(len(shards), info.max_seq_length, tuple(lengths.tolist()), dict(labels), dict(counts))


def task_rows(info: TaskInfo, figures: Mapping[str, TaskFigures]) -> list[Row]:
    """Return the rows of a table on the splits of a task."""
    rows: list[Row] = [("task", f"{info.task}: {info.definition.help}")]
    rows.append(("row", f"up to {info.max_seq_length} tokens"))
    for split, figure in figures.items():
        rows += [("", ""), (f"{split}: rows", f"{figure.rows:,}")]
        rows += [(f"  {name.replace('_', ' ')}", f"{number:,}") for name, number in figure.counts.items()]
        total = max(1, sum(figure.labels.values()))
        rows += [(f"  label {name}", f"{number:,} ({number / total:.1%})") for name, number in figure.labels.items()]
        rows += length_rows(figure.lengths)
    return rows


@dataclass(frozen=True)
class TaskExample:
    """A row of a task: its number, its text or texts, and what is to be learnt of it, in words."""

    number: int
    tokens: int
    texts: tuple[str, ...]
    target: str


def task_examples(shards: Shards, info: TaskInfo, numbers: Iterable[int]) -> Iterator[TaskExample]:
    """Yield rows of a split as texts, with special tokens, and their labels, tags, answers or scores."""
    tokenizer = shards.tokenizer()
    for number in numbers:
        row = shards[number]
        ids = [row[name] for name in info.ids_columns]
        if info.has_choices:
            ids = np.split(ids[0], np.cumsum(row[CHOICE_LENGTHS])[:-1])
        texts = tuple(tokenizer.decode(of_text, skip_special_tokens=False) for of_text in ids if len(of_text))
        yield TaskExample(number % len(shards), len(row["input_ids"]), texts, _target(row, info, tokenizer.tokens))


def _target(row: Mapping[str, Any], info: TaskInfo, tokens: Sequence[str]) -> str:
    if "labels" in row and info.labels:
        pairs = zip(row["input_ids"].tolist(), row["labels"].tolist(), strict=True)
        tagged = [f"{tokens[i]}/{info.labels[label]}" for i, label in pairs if label != _UNKNOWN]
        return f"tags: {' '.join(tagged)}" if tagged else "no tags"
    if "start_positions" in row:
        start, end = int(row["start_positions"]), int(row["end_positions"])
        answer = " ".join(tokens[i] for i in row["input_ids"].tolist()[start : end + 1])
        return f"answer: {answer}" if end else "no answer in this window"
    for name in info.set_columns:
        names = [info.labels[label] for label in row[name].tolist() if label != _UNKNOWN]
        return f"labels: {', '.join(names)}" if names else "unlabelled" if len(row[name]) else "no labels"
    label = row.get("label")
    if label is None or label == _UNKNOWN or math.isnan(label):
        return "unlabelled" if "label" in row else ""
    return f"label: {info.labels[label]}" if info.labels else f"score: {label:g}"


def task_example_text(example: TaskExample, total: int) -> str:
    """Return an example as lines."""
    head = f"example {example.number} of {total:,}: {counted(example.tokens, 'token')}"
    lines = [head, *(f"   {text}" for text in example.texts)]
    return "\n".join([*lines, f"   {example.target}"] if example.target else lines)
