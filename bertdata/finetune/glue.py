"""The nine tasks of GLUE (Wang et al. 2019) by name: their columns, their classes and their metrics, in `glue.toml`.

Files are those that GLUE distributes (TSV without quotes), or CSV, JSON lines and Parquet with the columns of data set
hubs, where the label of a test example is -1. As in the readers of `datasets`, a line that lacks a field is left out;
such lines are counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import pyarrow as pa

from bertdata.errors import ConfigError
from bertdata.finetune.classification import class_splits, number_splits
from bertdata.finetune.layout import TaskSplit, is_unlabelled
from bertdata.finetune.settings import Columns, TaskConfig
from bertdata.finetune.task import TASK_SPLITS, Labels, Task
from bertdata.io.package_data import toml_beside
from bertdata.sources.labelled.labelled_files import (
    class_names,
    column_names,
    file_format,
    read_rows,
)
from bertdata.sources.labelled.labelled_texts import LabelledText, read_classes
from bertdata.tokenizers.base import Tokenizer


@dataclass(frozen=True, kw_only=True)
class GlueTask:
    """A task of GLUE.

    texts: the columns of the texts, first as GLUE's files name them, then as data set hubs do; label: those of the
    label; labels: the names of the classes by their ids, as in `datasets`, none for scores; scores: the lowest and the
    highest; positions: the columns of the text and of the label, from 1, in a TSV file without a line of names;
    mismatched: whether there are splits of other sources than the training texts.
    """

    help: str
    texts: tuple[tuple[str, ...], ...]
    label: tuple[str, ...] = ("label",)
    labels: Labels = ()
    scores: tuple[float, float] | None = None
    metrics: tuple[str, ...] = ("accuracy",)
    positions: tuple[str, str] | None = None
    mismatched: bool = False


def _tuples(value: Any) -> Any:
    """Return a value of TOML with tuples in place of lists."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


_TABLE = toml_beside(__file__)
GLUE = {name: GlueTask(**{key: _tuples(value) for key, value in task.items()}) for name, task in _TABLE.items()}
"""The tasks by name."""


def read_glue(
    paths: Mapping[str, str], tokenizer: Tokenizer, config: TaskConfig, columns: Columns, *, task: GlueTask
) -> tuple[Labels, dict[str, TaskSplit]]:
    """Return the labels and the splits of a task's files.

    Raises ConfigError for a file without the task's columns, and where columns or labels are given, which are known.
    """
    if columns != Columns():
        raise ConfigError(
            f"--task {config.task} knows its columns and labels; leave out --text-columns, --label-column and "
            f"--labels, or take --task {'classification' if task.labels else 'regression'}"
        )
    read = partial(_read, task=task)
    if task.scores:
        return (), number_splits(paths, read, tokenizer, config, task.scores)
    return task.labels, class_splits(paths, read, task.labels, tokenizer, config, numbered=True)


def _read(split: str, path: str, *, task: GlueTask) -> Iterator[LabelledText[Any]]:
    without_names = task.positions is not None and file_format(path) == ".tsv"
    there = _first_fields(path) if without_names else column_names(path)
    texts = next((names for names in task.texts if set(names) <= set(there)), ())
    label = next((name for name in task.label if name in there), None)
    if not texts and without_names and task.positions:
        texts, label = (task.positions[0],), task.positions[1]
    if not texts or not (label or is_unlabelled(split)):
        expected = [names if is_unlabelled(split) else (*names, " or ".join(task.label)) for names in task.texts]
        raise ConfigError(
            f"has the columns {', '.join(map(repr, there))}; expected {'; or '.join(map(', '.join, expected))}, as the "
            "files of GLUE have them",
            path=path,
        )
    label = label or task.label[-1]
    named = class_names(path, label)
    if named and named != task.labels:
        raise ConfigError(
            f"numbers its labels as {', '.join(named)}; expected the order of GLUE, {', '.join(task.labels)}: take "
            "--task classification",
            path=path,
        )
    yield from read_classes(path, texts, label, unlabelled=is_unlabelled(split), lenient=True)


def _first_fields(path: str) -> list[str]:
    """Return the fields of the first line, which may be names or an example."""
    return [str(field) for _, row in islice(read_rows(path, header=False), 1) for field in row.values()]


def _task(name: str) -> Task:
    glue = GLUE[name]
    return Task(
        help=glue.help,
        read=partial(read_glue, task=glue),
        columns=(("label", pa.float32() if glue.scores else pa.int64()),),
        batch_numbers={"label": "labels"},
        splits=TASK_SPLITS if glue.mismatched else Task.splits,
        head="SequenceClassification",
        metrics=glue.metrics,
        category="text-classification",
    )


COLA, SST2, MRPC, STSB, QQP, MNLI, QNLI, RTE, WNLI = map(_task, GLUE)
