"""Parts of documents that earlier runs of bertdata wrote, as a build is given them, and as they are shown."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from bertdata.documents import cut_ranges, open_parquet, read_range
from bertdata.documents.given import check_given
from bertdata.documents.reread import is_textless
from bertdata.engine.parts import PART, PartMetadata, PartResult, Task, read_record
from bertdata.errors import InputError
from bertdata.io import files
from bertdata.io.digests import damaged
from bertdata.io.engine_outputs import MARKER
from bertdata.sources.source_rows import with_recorded_rows


@dataclass(frozen=True)
class FinishedPart:
    """A part that bertdata wrote, by the path it was given under."""

    path: str


def finished_parts(paths: Sequence[str] | Mapping[str, str]) -> list[PartResult]:
    """Return the parts of documents among files that bertdata wrote, with their records."""
    parts = []
    for path in paths:
        if record := record_of_part(path):
            folder, name = os.path.split(path)
            stem = name.removesuffix(".parquet")
            task = Task(folder, stem, ".parquet", record.fingerprint, 0, FinishedPart(path))
            parts.append((task, with_recorded_rows(record, path)))
    return parts


def record_of_part(path: str) -> PartMetadata | None:
    """Return the record of a Parquet file that bertdata's own cleaning wrote, None where the file is another's.

    Raises InputError for a part in a folder of bertdata's whose record is gone, damaged or of another file, and for one
    whose record says what none of documents says.
    """
    record_path = path.removesuffix(".parquet") + ".json"
    if not path.endswith(".parquet"):
        return None
    record = read_record(record_path)
    if record is not None and "slots" in record.details and files.size(path) == record.bytes:
        check_given(record, path)
        return record
    if PART.search(path) and files.exists(files.join(os.path.dirname(path), MARKER)):
        raise InputError(
            "the record beside these documents is missing, damaged or of another file; run clean-wikipedia or "
            "clean-books again, which makes only what is damaged again",
            path=path,
        )
    return None


def refuse_damaged(parts: Sequence[PartResult]) -> None:
    """Raise InputError for a local part that is not as cleaning wrote it; those at a URL are checked when read."""
    expected = [(task.path, record.sha256) for task, record in parts if not files.is_remote(task.path)]
    for path, problem in damaged(expected, "check documents"):
        raise InputError(
            f"{problem}: these documents were damaged; delete the file and run clean-wikipedia or clean-books again",
            path=path,
        )


def texts_again(path: str) -> Iterator[pa.Table] | None:
    """Return the documents of a part that has no texts, read from its source; None where a file is no such part.

    They are tables of `SCHEMA`. Raises InputError where the source is not as it was.
    """
    with files.open_raw(path) as raw:
        if not is_textless(open_parquet(raw, path).schema_arrow):
            return None
    record = record_of_part(path)
    if record is None:
        raise InputError("has no texts, and no record of where they are; give the files it was made of", path=path)
    ranges = cut_ranges([(path, with_recorded_rows(record, path))])
    return (table for documents in ranges for table in read_range(documents))
