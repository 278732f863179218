"""Columns that a task does not read, and without which its examples have another sense.

In some public data sets a label is about a part of the texts: of WiC about a word, of the Winograd schemas about two
spans, of relations about two entities. In others it says which of the pairs of texts belong together, or of which
split a row is.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from bertdata.errors import ConfigError, InputError, shortened
from bertdata.sources.labelled.labelled_files import Row, column_names, first_row, has_names, read_rows
from bertdata.sources.text_template import names_in, value_at

PARTS = (
    ("word",),  # WiC, RUSSE
    ("target.span1_text", "target.span2_text"),  # WSC, RWSD and CLUEWSC, as they are published
    ("span1_text", "span2_text"),  # the same, of dataset hubs
    ("pronoun",),  # definite pronouns, Winograd schemas
    ("subject_entity.word", "object_entity.word"),  # KLUE's relations
)
"""The columns that say what of the texts a label is about."""
ANSWER = (("question", "sentence"), "answer")
"""Texts of known names to which an answer belongs: MC-TACO."""
BELONGING = (
    "label",
    "gold_label",
    "labels",
    "is_duplicate",
    "relationship",
    "entailment_judgment",
    "score",
    "similarity_score",
    "relatedness_score",
    "target",
)
"""The columns of public data sets that say whether, or how far, the texts of a pair belong together."""
SPLIT_COLUMNS = ("partition", "split", "set", "fold", "subset")
SPLITS = ("train", "training", "dev", "development", "val", "valid", "validation", "test", "testing")
"""The names of splits in columns that say of which one a row is, as in MASSIVE."""


def require_whole_texts(path: str, columns: Sequence[str], label_columns: Sequence[str]) -> None:
    """Raise ConfigError where a file has columns that say what of the texts, of known names, its label is about."""
    first = first_row(path)
    answer = [(ANSWER[1],)] if tuple(columns) == ANSWER[0] else []
    for parts in (*PARTS, *answer):
        if {*parts} & {*columns, *label_columns} or any(value_at(first, part) is None for part in parts):
            continue
        what = f"the column {parts[0]!r}, which says" if len(parts) == 1 else f"{', '.join(parts)}, which say"
        template = ", ".join(f"{{{part}}}" for part in parts) + f": {{{columns[-1]}}}"
        raise ConfigError(
            f"has {what} what of the texts a label is about; expected texts that tell: put it into one, as "
            f"--text-columns {' '.join([*columns[:-1], repr(template)])}, or, if the texts alone are meant, name them, "
            f"--text-columns {' '.join(columns)}",
            path=path,
        )


class SameLabel:
    """Checks that all pairs of a file have the same label, where it has one that the task does not read."""

    def __init__(self, path: str, columns: Sequence[str], there: Sequence[str]) -> None:
        self._path, self._columns = path, columns
        self._name = next((name for name in BELONGING if name in there and name not in columns), "")
        self._first: Any = None
        self._place = ""

    def check(self, row: Row, place: str) -> None:
        """Raise InputError, with the place, where the label of a row is not that of the first."""
        if not self._name:
            return
        label = row.get(self._name)
        if not self._place:
            self._first, self._place = label, place
        if label != self._first:
            shown = shortened(str(self._first)), shortened(str(label))
            texts = " ".join(self._columns)
            raise InputError(
                f"{self._place} has {shown[0]} in {self._name!r}, {place} {shown[1]}; expected pairs that all belong "
                f"together: take those of one label, as those of {shown[1]} in JSON lines by jq -c "
                f"'select(.{self._name} == {json.dumps(label, ensure_ascii=False, default=str)})' FILE > NEW; if all "
                f"belong together, whatever {self._name!r} says, name the texts, --text-columns {texts}",
                path=self._path,
            )


def splits_in_rows(path: str, unread: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """Return which of the columns that are not read names the split of each row, and the splits, sorted.

    ("", ()) where there is none, or all rows are of one split.
    """
    name = next((name for name in unread if name.lower() in SPLIT_COLUMNS), "")
    if not name:
        return "", ()
    values = {str(value_at(row, name)) for _, row in read_rows(path, lenient=True)}
    are_splits = len(values) > 1 and all(value.lower() in SPLITS for value in values)
    return (name, tuple(sorted(values))) if are_splits else ("", ())


def unread_columns(path: str, columns: Sequence[str]) -> list[str]:
    """Return the names of a file's columns of which nothing is read; `columns` are those that are, or templates."""
    there = column_names(path, header=has_names(path, columns))
    read = {name if name in there else name.partition(".")[0] for name in names_in(columns, there)}
    return [name for name in there if name not in read]
