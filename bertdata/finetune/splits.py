"""The files of a task as splits, read and encoded a batch of examples at a time, with the labels of the training file.

A file is read once or twice to find its labels and errors, then once more to encode it, so only the examples that are
being encoded are in memory.
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
"""Examples that are checked at once."""


@dataclass(frozen=True)
class TaskSplit:
    """One split: the number of its examples, and functions that read them from the start and that encode some of them.

    original: makes a table of examples as text, for tasks whose answers are mapped back to it.
    """

    examples: int
    read: Callable[[], Iterator[Any]]
    encode: Callable[[Sequence[Any]], Encoded]
    original: Callable[[Sequence[Any]], pa.Table] | None = None


@dataclass(frozen=True)
class Columns:
    """The columns of the files, and the labels in the order of their ids; by default both are found in the files."""

    text: tuple[str, ...] = ()
    label: str | None = None
    labels: tuple[str, ...] = ()

    def given_labels(self) -> tuple[str, ...]:
        """Return the labels that the user gave, if any; raises ConfigError for fewer than two."""
        return check_given(self.labels) if self.labels else ()


def batches(examples: Iterator[Any], size: int) -> Iterator[list[Any]]:
    """Yield lists of `size` examples, the last one of what is left.

    >>> list(batches(iter("salty"), 2))
    [['s', 'a'], ['l', 't'], ['y']]
    """
    while batch := list(islice(examples, size)):
        yield batch
