"""Documents that are handed over in Python: rows in memory become a file beside a build, which the build reads.

Arrow tables and data frames, datasets of Hugging Face, and any iterable of rows are taken; a row is a dict, or a text.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from bertdata.errors import ConfigError, InputError
from bertdata.io import files
from bertdata.sources.names import is_source_name

_ROW_GROUP_BYTES = 8 << 20
_ROWS_AT_A_TIME = 1000


def paths_of(given: Any, output: str, text_column: str = "text") -> list[str]:
    """Return the paths that documents are given by: paths as they are, rows as the file that they are written to.

    given: a path or rows, a list of these, or a mapping from names of sources to these. The files are
    `OUTPUT-documents/NAME.parquet`, or .jsonl for iterables, and one is only written anew where the rows are others.
    Raises ConfigError for anything else, and InputError where there are no rows.
    """
    several = dict(given) if isinstance(given, Mapping) else {"": given}
    if not several:
        raise InputError("there are no rows; expected documents")
    paths: list[str] = []
    for source, value in several.items():
        if source and not is_source_name(source):
            raise ConfigError(f"documents has the source {source!r}; expected letters, digits, _ and -")
        if isinstance(value, list | tuple) and not value:
            raise InputError(f"there are no rows{f' of the source {source}' if source else ''}; expected documents")
        are_rows = not isinstance(value, list | tuple) or isinstance(next(iter(value), None), Mapping)
        parts = [value] if are_rows else value
        for number, part in enumerate(parts):
            is_path = isinstance(part, str | os.PathLike)
            name = (source or "documents") + (f".{number}" if number else "")
            path = os.fspath(part) if is_path else _written(part, f"{output.rstrip('/')}-documents", name, text_column)
            paths.append(f"{source}={path}" if source else path)
    return paths


def _written(rows: Any, folder: str, name: str, text_column: str) -> str:
    """Write rows into a file of a folder, unless they are there already; returns its path."""
    tables = _tables(rows)
    path = files.join(folder, f"{name}.jsonl" if tables is None else f"{name}.parquet")
    if tables is None and not isinstance(rows, Iterable):
        raise ConfigError(
            f"documents is {type(rows).__name__}; expected paths, an Arrow table, a dataset, or an iterable of dicts "
            "or texts"
        )
    if not files.is_remote(folder):
        os.makedirs(folder, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=None if files.is_remote(folder) else folder, prefix=files.TEMPORARY) as file:
        number = _write_lines(rows, file, text_column) if tables is None else _write_parquet(tables, file)
        if not number:
            raise InputError("there are no rows; expected documents", path=path)
        file.flush()
        if not files.exists(path) or files.sha256(path) != files.sha256(file.name):
            file.seek(0)
            with files.atomic_write(path) as whole:
                shutil.copyfileobj(file, whole)
    return path


def _tables(rows: Any) -> Iterator[pa.Table] | None:
    """Yield what is in memory as Arrow already; None for rows of Python."""
    if hasattr(rows, "__arrow_c_stream__"):
        return (pa.Table.from_batches([batch]) for batch in pa.RecordBatchReader.from_stream(rows))
    if hasattr(rows, "with_format") and hasattr(rows, "num_rows"):  # a dataset of Hugging Face that has a length
        return (table for table in rows.with_format("arrow").iter(_ROWS_AT_A_TIME))
    return None


def _write_parquet(tables: Iterator[pa.Table], file: IO[bytes]) -> int:
    """Write tables as Parquet with row groups of about 8 MiB; returns the number of rows."""
    first = next(tables, None)
    if first is None:
        return 0
    held, number = [], 0
    with pq.ParquetWriter(file, first.schema, compression="zstd") as writer:
        for table in chain([first], tables):
            held.append(table)
            number += len(table)
            if sum(one.nbytes for one in held) >= _ROW_GROUP_BYTES:
                writer.write_table(pa.concat_tables(held))
                held = []
        if held:
            writer.write_table(pa.concat_tables(held))
    return number


def _write_lines(rows: Iterable[Any], file: IO[bytes], text_column: str) -> int:
    """Write rows as JSON lines; returns their number."""
    number = 0
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping | str):
            raise ConfigError(f"row {number} of documents is {type(row).__name__}; expected a dict, or a text")
        values = {text_column: row} if isinstance(row, str) else dict(row)
        try:
            file.write(json.dumps(values, default=_plain).encode() + b"\n")
        except (TypeError, ValueError) as error:
            raise ConfigError(f"row {number} of documents cannot be written as JSON ({error})") from error
    return number


def _plain(value: Any) -> Any:
    """Return a date or a number of NumPy as JSON has it; raises TypeError for anything else."""
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"it holds {type(value).__name__}")
