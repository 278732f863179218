"""What engines write into a folder beside their files of data: marks, uncommitted parts, logs of tables, own outputs.

Hadoop's committers (of Spark and Flink) leave `_SUCCESS`, and `_temporary` where a job did not end; Databricks
`_started_*` and `_committed_*`; writers of Parquet `_metadata` and `_common_metadata`. Tables of Delta Lake, Hudi and
Iceberg keep the files of former versions beside those of the present one: their logs alone tell which is which.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

_MARKS = ("_SUCCESS", "_metadata", "_common_metadata")
_MARKS_BEGIN = ("_committed_", "_started_")
DELTA_LAKE, DELTA_LOG = "Delta Lake", "_delta_log"
UNCOMMITTED = "_temporary"
"""The folder of what a job of Hadoop's committers had not yet committed."""
MARKER = ".bertdata.json"
"""The file that says what a command of bertdata writes into its folder."""


def is_other_output(marker: bytes | None) -> bool:
    """Tell whether a folder with this marker (None: with none) is an output of bertdata that holds no documents.

    >>> is_other_output(b'{"kind": "build"}'), is_other_output(b'{"kind": "documents"}'), is_other_output(None)
    (True, False, False)
    """
    try:
        value = json.loads(marker or b"null")
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and value.get("kind", "documents") != "documents"


def is_mark(name: str) -> bool:
    """Tell whether a file of this name is an engine's mark, which holds no data.

    >>> is_mark("_SUCCESS"), is_mark("_committed_123"), is_mark("_notes.txt")
    (True, True, False)
    """
    return name in _MARKS or name.startswith(_MARKS_BEGIN)


def table_of(parts: Sequence[str]) -> str:
    """Return the kind of table that a path below a folder shows this to be, "" where it shows none.

    >>> table_of(["x", "_delta_log", "0.json"]), table_of(["metadata", "v1.metadata.json"]), table_of(["a.parquet"])
    ('Delta Lake', 'Iceberg', '')
    """
    if DELTA_LOG in parts[:-1]:
        return DELTA_LAKE
    if ".hoodie" in parts[:-1]:
        return "Hudi"
    if len(parts) > 1 and parts[-2] == "metadata" and parts[-1].endswith(".metadata.json"):
        return "Iceberg"
    return ""


def table_problem(kind: str) -> str:
    """Return why the files of a table are not read, and what to do."""
    return (
        f"is a table of {kind}, whose files may hold rows that are no longer in it; expected plain files: write it out "
        "with the engine, as with spark.read and df.write.parquet, and give that folder"
    )
