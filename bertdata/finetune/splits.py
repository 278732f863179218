"""The files of a task as splits, read and encoded a run of examples at a time, under the labels of the training file.

A file is read once or twice to find its labels and whatever is wrong with it, then once more to be encoded, so nothing
is held but what is being encoded. How, is the task's (`bertdata.shards.tasks`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import pyarrow as pa

from bertdata.finetune.labels import check_given
from bertdata.finetune.layout import Encoded

CHECKED = 1000
"""Examples that are checked at a time."""


@dataclass(frozen=True)
class TaskSplit:
    """One split: how many examples its file has, and functions that read them anew and that encode a run of them.

    original: makes a table of examples as text, where the answers are mapped back to it.
    """

    examples: int
    read: Callable[[], Iterator[Any]]
    encode: Callable[[Sequence[Any]], Encoded]
    original: Callable[[Sequence[Any]], pa.Table] | None = None


@dataclass(frozen=True)
class Columns:
    """Which columns of the files are meant, and the labels in the order of their ids; empty where they are found."""

    text: tuple[str, ...] = ()
    label: str | None = None
    labels: tuple[str, ...] = ()

    def given_labels(self) -> tuple[str, ...]:
        """Return the labels that the user named, none if none are; raises ConfigError for fewer than two."""
        return check_given(self.labels) if self.labels else ()


def batches(examples: Iterator[Any], size: int) -> Iterator[list[Any]]:
    """Yield lists of `size` examples, the last one of what is left.

    >>> list(batches(iter("salty"), 2))
    [['s', 'a'], ['l', 't'], ['y']]
    """
    while batch := list(islice(examples, size)):
        yield batch
