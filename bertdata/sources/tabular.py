"""Any other text: rows of Parquet and JSON-lines files, and plain text in BERT's own form, as documents.

A row needs a text column; `id`, `source`, `title` and `url` are used where they are there, other columns are ignored.
A row without an id gets one from its file's name and its place in it, as every document of plain text does (`texts`).
Text with blank lines keeps them as paragraph borders; in text with none, every line is a paragraph. What it does not
do: cleaning.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

import pyarrow as pa

from bertdata.documents import SCHEMA, DocumentWriter, open_parquet
from bertdata.engine.output_lock import MARKER
from bertdata.engine.parts import PART, Counters, PartMetadata, Task, fingerprint, labels, part_name, read_record
from bertdata.errors import InputError
from bertdata.io import compression, files
from bertdata.sources import plain_text, unsupported

SUFFIXES = (
    *(".parquet", ".jsonl", ".jsonl.gz", ".jsonl.zst", ".ndjson", ".ndjson.gz", ".ndjson.zst"),
    *plain_text.SUFFIXES,
)
REVISION = 2
SOURCE = "documents"
_NO_OBJECT = "not a JSON object"


@dataclass(frozen=True)
class TableRange:
    """A run of row groups (Parquet) or of bytes (the others) of one file; `label` begins the ids it makes up."""

    path: str
    label: str
    start: int
    end: int
    text_column: str


def record_of_part(path: str) -> PartMetadata | None:
    """Return the record of a Parquet file that bertdata's own cleaning wrote, None where the file is another's.

    Raises InputError for a part in a folder of bertdata's whose record is gone or damaged, or fits it no more.
    """
    record_path = path.removesuffix(".parquet") + ".json"
    if not path.endswith(".parquet"):
        return None
    record = read_record(record_path)
    if record is not None and "slots" in record.details and files.size(path) == record.bytes:
        return record
    if PART.search(path) and files.exists(files.join(os.path.dirname(path), MARKER)):
        raise InputError(
            "the record beside these documents is missing or damaged, or is not of this file; run clean-wikipedia or "
            "clean-books again, which makes again just what is damaged",
            path=path,
        )
    return None


def plan_tables(paths: Sequence[str], directory: str, target_bytes: int, text_column: str = "text") -> list[Task]:
    """Return one task for each range of the files; raises InputError for a file without the text column."""
    tasks = []
    for path, label in zip(paths, labels(paths), strict=True):
        kind = _text_ranges if plain_text.is_text(path) else _parquet_ranges if _is_parquet(path) else _json_ranges
        ranges = kind(path, label, target_bytes, text_column)
        for number, (one, weight) in enumerate(ranges):
            mark = fingerprint("tables", REVISION, files.identity(path), label, one.start, one.end, text_column)
            tasks.append(Task(directory, part_name(label, number), ".parquet", mark, weight, one))
    if not tasks:
        raise InputError("these files hold no rows; expected documents", path=", ".join(paths[:3]) or None)
    return tasks


def _is_parquet(path: str) -> bool:
    return path.lower().endswith(".parquet")


def _text_ranges(path: str, label: str, target: int, column: str) -> Iterator[tuple[TableRange, int]]:
    for start, end in plain_text.text_ranges(path, target):
        yield TableRange(path, label, start, end, column), end - start


def _parquet_ranges(path: str, label: str, target: int, column: str) -> Iterator[tuple[TableRange, int]]:
    with files.open_raw(path) as raw:
        parquet = open_parquet(raw, path)
        _check_column(column, parquet.schema_arrow.names, path)
        kind = parquet.schema_arrow.field(column).type
        if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
            raise InputError(f"the column {column!r} holds {kind}; expected strings", path=path)
        sizes = [parquet.metadata.row_group(i).total_byte_size for i in range(parquet.metadata.num_row_groups)]
    first, held = 0, 0
    for number, size in enumerate(sizes):
        held += size
        if held >= target or number == len(sizes) - 1:
            yield TableRange(path, label, first, number + 1, column), held
            first, held = number + 1, 0


def _json_ranges(path: str, label: str, target: int, column: str) -> Iterator[tuple[TableRange, int]]:
    with compression.open_decompressed(path) as stream:
        for line in stream:
            if line.strip():
                row = _parse(line)
                if isinstance(row, str):
                    if known := unsupported.what_it_is(path, line[:64]):
                        raise InputError(known, path=path)
                    raise InputError(
                        f"the first line is {row}; expected JSON lines in UTF-8, one object in a line", path=path
                    )
                _check_column(column, list(row), path)
                break
        else:
            raise InputError("holds no lines; expected JSON lines, one object in a line", path=path)
    size = files.size(path)
    if compression.compression(path):
        yield TableRange(path, label, 0, size, column), size
        return
    for start in range(0, size, target):
        end = min(size, start + target)
        yield TableRange(path, label, start, end, column), end - start


def _check_column(column: str, names: Sequence[str], path: str) -> None:
    if column not in names:
        raise InputError(
            f"has no column {column!r}; its columns are {', '.join(map(repr, names))}: name the one that holds "
            "the text with --text-column",
            path=path,
        )


def _parse(line: bytes) -> dict[str, Any] | str:
    """Return the object of a line, or what the line is instead."""
    try:
        row = json.loads(line)
    except UnicodeDecodeError:
        return "not UTF-8"
    except (ValueError, RecursionError):
        return _NO_OBJECT
    return row if isinstance(row, dict) else _NO_OBJECT


def table_part(task: Task, file: BinaryIO) -> Counters:
    """Write the documents of one `TableRange`: counts rows, drops those without text, names broken ones.

    Raises InputError where the file cannot be read.
    """
    one: TableRange = task.payload
    tally = Counters()
    if plain_text.is_text(one.path):
        with DocumentWriter(file, tally, task.filters) as writer:
            for found in plain_text.read_texts(one.path, one.start, one.end):
                tally.add("rows", len(found.texts))
                writer.add_texts([f"{one.label}:{place}" for place in found.places.tolist()], SOURCE, found.texts)
        return tally
    broken: list[dict[str, Any]] = []
    rows = _parquet_rows(one) if _is_parquet(one.path) else _json_rows(one)
    with DocumentWriter(file, tally, task.filters) as writer:
        for place, row in rows:
            tally.add("rows")
            text = None if isinstance(row, str) else row.get(one.text_column)
            if isinstance(row, str) or not isinstance(text, str):
                reason = row if isinstance(row, str) else "no text"
                broken.append({"path": one.path, "place": place, "reason": reason})
                tally.drop(reason)
                continue
            text = paragraphs(text)
            if not text:
                tally.drop("empty")
                continue
            writer.add(
                _text(row.get("id"), f"{one.label}:{place}"),
                _text(row.get("source"), SOURCE),
                _text(row.get("title"), ""),
                _text(row.get("url"), ""),
                text,
            )
    tally.details["broken"] = broken
    return tally


def _text(value: Any, default: str) -> str:
    return default if value is None or value == "" else str(value)


def paragraphs(text: str) -> str:
    r"""Return text with one blank line between paragraphs and none at its ends.

    >>> paragraphs("One.\nTwo."), paragraphs("One\nline.\n\n\nTwo.")
    ('One.\n\nTwo.', 'One\nline.\n\nTwo.')
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    border = r"\n[^\S\n]*\n\s*" if re.search(r"\n[^\S\n]*\n", text) else r"\n+"
    return "\n\n".join(part.strip() for part in re.split(border, text) if part.strip())


def _parquet_rows(one: TableRange) -> Iterator[tuple[int, dict[str, Any]]]:
    with files.open_raw(one.path) as raw:
        parquet = open_parquet(raw, one.path)
        names = [name for name in {one.text_column, *SCHEMA.names} if name in parquet.schema_arrow.names]
        place = sum(parquet.metadata.row_group(i).num_rows for i in range(one.start))
        batches = parquet.iter_batches(1024, row_groups=list(range(one.start, one.end)), columns=sorted(names))
        while True:
            try:
                batch = next(batches, None)
                rows = [] if batch is None else batch.to_pylist()
            except (pa.ArrowException, OSError, ValueError) as error:
                raise InputError(
                    f"cannot be read from row {place} on ({error}); get it again", path=one.path
                ) from error
            if batch is None:
                break
            for row in rows:
                yield place, row
                place += 1


def _json_rows(one: TableRange) -> Iterator[tuple[int, dict[str, Any] | str]]:
    compressed = compression.compression(one.path) is not None
    with compression.open_decompressed(one.path) if compressed else files.open_raw(one.path) as stream:
        place = one.start
        if one.start:
            stream.seek(one.start - 1)
            place += len(stream.readline(one.end - one.start + 1)) - 1
        while compressed or place < one.end:
            line = stream.readline()
            if not line:
                break
            if line.strip():
                yield place, _parse(line)
            place += len(line)
