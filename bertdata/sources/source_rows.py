"""The rows of a source whose texts are not stored in parts of documents, since they are quickly read again."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from bertdata.curation.document_rules import rules_of
from bertdata.curation.filters import leave_texts
from bertdata.documents import ROWS_OF, DocumentGroups
from bertdata.engine.parts import PartMetadata, PartResult, Task
from bertdata.errors import InputError, shortened
from bertdata.io import files
from bertdata.sources import SOURCE_FORMATS

MOST_BYTES = 64 << 20
"""The stored bytes of a part whose rows are read again: a range of its documents is found from its beginning on."""

Payload = TypeVar("Payload")


@dataclass(frozen=True)
class RowsOfTask:
    """What the source format of a task's payload reads again."""

    payload: Any

    def write(self, groups: DocumentGroups) -> None:
        """Give the documents of the rows."""
        SOURCE_FORMATS[self.payload.format].read_again(self.payload, groups)

    def described(self) -> str:
        """Return the first of the files."""
        return str(self.payload.path)


def are_read_again(task: Task) -> bool:
    """Tell whether the texts of a task are read again where they are needed: its payload says so, and nothing hinders.

    A rule hinders that changes texts or adds a column, and a part at a URL, which other machines may read.
    """
    if not getattr(task.payload, "again", False) or files.is_remote(task.path):
        return False
    rules = rules_of(task)
    return not rules.cleaners and not rules.language and leave_texts(rules.filters)


def recorded(task: Task) -> dict[str, Any]:
    """Return what the record of a part says of its rows, which are read again, as JSON values."""
    values = asdict(task.payload)
    if "paths" in values:
        return values | {"paths": [os.path.abspath(path) for path in values["paths"]]}
    return values | {"path": os.path.abspath(values["path"])}


def with_rows(part: PartResult) -> PartResult:
    """Return a part of documents that knows the rows of its task, if its texts are read again."""
    task, record = part
    return (task, _with(record, RowsOfTask(task.payload))) if ROWS_OF in record.details else part


def with_recorded_rows(record: PartMetadata, path: str) -> PartMetadata:
    """Return the record of a part at a path that knows the rows it names; raises InputError if there are no such."""
    values = record.details.get(ROWS_OF)
    if values is None:
        return record
    try:
        source_format = SOURCE_FORMATS.named_in(path, values["format"])
        return _with(record, RowsOfTask(source_format.payload_of(values)))
    except (TypeError, KeyError, ValueError, NotImplementedError) as error:
        raise InputError(
            f"its record does not say where the texts are that it does not hold ({error}); give the files that it was "
            "made of",
            path=path,
        ) from error


def _with(record: PartMetadata, rows: RowsOfTask) -> PartMetadata:
    return replace(record, details=dict(record.details) | {ROWS_OF: rows})


def payload_from(kind: type[Payload], values: Mapping[str, Any]) -> Payload:
    """Return a payload from its fields as JSON has them; raises TypeError for a field of another kind than it has.

    Lists become tuples.
    """
    hints, fields = get_type_hints(kind), {}
    for name, value in values.items():
        hint = hints.get(name)
        if hint is not None and get_origin(hint) is tuple:
            items = value if isinstance(value, list) else [None]
            is_right, value = all(type(item) is get_args(hint)[0] for item in items), tuple(items)  # noqa: PLW2901
        else:
            is_right = hint is Any or type(value) is hint
        if not is_right:
            raise TypeError(f"{name} is {shortened(values[name])}")
        fields[name] = value
    return kind(**fields)


def require_local(paths: Iterable[str]) -> None:
    """Raise ValueError for a path that no record of ours names: one at a URL, or that is not from the root on."""
    for path in paths:
        if files.is_remote(path) or not os.path.isabs(path) or "\0" in path:
            raise ValueError(f"{shortened(path)} is no absolute path of a local file")
