"""The record of a part of documents that a build is given: what is read of it, checked before it is read.

Documents may come from anyone. What a record says sizes arrays and numbers rows, so each number is in its range, and
together they are those of the part.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bertdata.documents.document import DOCUMENT_LANGUAGES, SLOTS, DocumentCount
from bertdata.documents.dropped import DROPPED_TEXTS
from bertdata.engine.int_rows import IntRows
from bertdata.engine.parts import PartMetadata
from bertdata.errors import InputError, shortened
from bertdata.io.json_shape import check_shape

_SHAPE: dict[str, Any] = {
    "fingerprint": str,
    "sha256": str,
    "counts": {"*": int},
    "drops": {"*": int},
    "details": {
        "kind": str,
        "broken": [{"path": str}],
        "languages": {"*": int},
        DOCUMENT_LANGUAGES: {"*": [int]},
        DROPPED_TEXTS: {"*": [[]]},
        "encodings": [[str]],
        "doubtful encodings": [[str]],
    },
}
_MOST = 1 << 48
"""Above every count and number of bytes of a part, so that no sum of them is over 63 bits."""


def check_given(record: PartMetadata, path: str) -> None:
    """Raise InputError, which names the part at a path, where its record does not say what one of documents says."""
    try:
        check_shape(vars(record), _SHAPE, "the record")
        for name in ("counts", "drops"):
            _check_range(name, [*getattr(record, name).values()])
        details = record.details
        _check_range("languages", [number for row in details.get(DOCUMENT_LANGUAGES, {}).values() for number in row])
        groups, slots = _rows(details, "row_groups", 2), _rows(details, "slots", 3)
        documents = record.counts.get(DocumentCount.DOCUMENTS, 0)
        if documents != groups[:, 0].sum() or documents != slots[:, 1].sum():
            raise ValueError(f"counts.documents is {documents:,}, expected the number in its row groups and slots")
        if slots.size and slots[:, 0].max() >= SLOTS:
            raise ValueError(f"a slot is {slots[:, 0].max():,}, expected one below {SLOTS:,}")
        if "dropped" in details:
            raise ValueError("it names dropped rows, expected a record as cleaning writes it")
    except ValueError as error:
        raise InputError(
            f"its record does not say what is in these documents ({error}); clean the sources again", path=path
        ) from error


def _check_range(name: str, numbers: list[int]) -> None:
    for number in numbers:
        if not 0 <= number < _MOST:
            raise ValueError(f"a number of {name} is {shortened(number)}, expected one from 0 to {_MOST - 1:,}")


def _rows(details: dict[str, Any], name: str, width: int) -> Any:
    """Return rows of whole numbers, int64 (R, width); raises ValueError where they are others."""
    rows = details.get(name, [])
    if not isinstance(rows, IntRows):
        if rows != []:
            raise ValueError(f"{name} is {shortened(rows)}, expected lists of {width} whole numbers")
        return np.zeros((0, width), np.int64)
    array = rows.array.astype(np.int64)
    if array.shape[1] != width or array.min() < 0 or array.max() >= _MOST:
        raise ValueError(f"{name} has {shortened(array.tolist())}, expected lists of {width} whole numbers from 0 on")
    return array
