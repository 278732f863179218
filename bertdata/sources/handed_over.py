"""Documents that are given in Python: rows in memory become a file beside a build, which the build reads.

Arrow tables and data frames, datasets of Hugging Face, and any iterable of rows are taken; a row is a dict, or a text.
"""

from __future__ import annotations

import contextlib
import glob
import json
import os
import shutil
import tempfile
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Set, ValuesView
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from bertdata.documents import cut, row_bytes
from bertdata.errors import ConfigError, InputError
from bertdata.io import files, paths
from bertdata.io.arrow_data import checked, reading_arrow
from bertdata.sources.names import is_source_name

_ROW_GROUP_BYTES = 8 << 20
_MOST_ROWS = 1000
_SHOWN = 40
_LONGEST_PATH = 4096
_MOST_WORDS = 8
"""The words of a path; a string with more, or with lines, that is not there is a text."""
_SCHEME = 20
"""Characters at the start of a text among which a URL has its ://."""


@dataclass
class HandedOver:
    """What documents are given by: their paths, and the rows that become files at some of these."""

    paths: list[str] = field(default_factory=list)
    rows: dict[str, Any] = field(default_factory=dict)
    _before: dict[str, str] = field(default_factory=dict)

    @contextlib.contextmanager
    def written(self, text_column: str = "text") -> Iterator[Callable[[], None]]:
        """Write the rows; a file is only written anew where the rows are others.

        Yields a function that keeps the files: where the block ends before it was called, the files of an earlier call
        are put back, and there are no new ones. Raises ConfigError for rows that are not, and InputError where there
        are none.
        """
        try:
            for path, rows in self.rows.items():
                self._write(rows, path, text_column)
            yield self._keep
        finally:
            self._put_back()

    def _keep(self) -> None:
        for earlier in self._before.values():
            if earlier:
                files.remove(earlier)
        self._before.clear()

    def _put_back(self) -> None:
        for path, earlier in self._before.items():
            if earlier:
                files.move(earlier, path)
            else:
                files.remove(path)
        for folder in {os.path.dirname(path) for path in self.rows if not files.is_remote(path)}:
            with contextlib.suppress(OSError):  # it holds files
                os.rmdir(folder)
        self._before.clear()

    def _write(self, rows: Any, path: str, text_column: str) -> None:
        """Write rows into a file, unless they are there already; one that is there gets another name for now."""
        folder, name = path.removesuffix(files.name(path)).rstrip("/"), files.name(path)
        earlier = files.join(folder, f"{files.TEMPORARY}earlier-{name}")
        place = None if files.is_remote(path) else folder
        if place:
            os.makedirs(place, exist_ok=True)
        if files.exists(earlier):  # a call was killed before it kept its files
            files.move(earlier, path)
        with tempfile.NamedTemporaryFile(dir=place, prefix=files.TEMPORARY) as file:
            tables = _tables(rows)
            number = _write_lines(rows, file, text_column) if tables is None else write_parquet(tables, file)
            if not number:
                raise InputError("there are no rows; expected documents", path=path)
            file.flush()
            is_there = files.exists(path)
            if is_there and files.sha256(path) == files.sha256(file.name):
                return
            if is_there:
                files.move(path, earlier)
            self._before[path] = earlier if is_there else ""
            file.seek(0)
            with files.atomic_write(path) as whole:
                shutil.copyfileobj(file, whole)


def handed_over(given: Any, output: str, text_column: str = "text") -> HandedOver:
    """Return the paths and the rows that documents are given by: rows as the files that they are to be written to.

    given: a path or rows, a list of these, or a mapping from names of sources to these. The files are
    `OUTPUT-documents/NAME.parquet`, or .jsonl for iterables. Raises ConfigError for anything else, and InputError where
    there are no rows.
    """
    several = dict(given) if isinstance(given, Mapping) else {"": given}
    if not several:
        raise InputError("there are no rows; expected documents")
    _refuse_one_row(several, text_column)
    documents = HandedOver()
    for source, value in several.items():
        if source and not is_source_name(source):
            raise ConfigError(f"documents has the source {source!r}; expected letters, digits, _ and -")
        if isinstance(value, list | tuple) and not value:
            raise InputError(f"there are no rows{f' of the source {source}' if source else ''}; expected documents")
        _refuse_open_file(value)
        value = _listed(value)  # noqa: PLW2901
        are_rows = not isinstance(value, list | tuple) or isinstance(next(iter(value), None), Mapping)
        parts = [value] if are_rows else value
        for number, part in enumerate(parts):
            if parts is value:
                _refuse_row_or_text(part, number)
            path = files.path_text(part) if paths.is_path(part) else ""
            if _is_text(path):
                raise ConfigError(
                    f"documents has the string {_shown(path)}, which is no path; texts are given as rows, "
                    f"[{{{text_column!r}: ...}}, ...]"
                )
            if not path:
                name = (source or "documents") + (f".{number}" if number else "")
                path = files.join(f"{output.rstrip('/')}-documents", name + _suffix(part))
                documents.rows[path] = part
            documents.paths.append(f"{source}={path}" if source else path)
    return documents


def _listed(given: Any) -> Any:
    """Return paths as a list where they are given by an iterator, as of `Path.glob`, or a set; all else as it is."""
    if _are_tables(given):
        return given
    if isinstance(given, Iterator):
        first = [*islice(given, 1)]
        rows: Iterable[Any] = chain(first, given)
    elif isinstance(given, Set | ValuesView | deque):
        first, rows = [*given][:1], given
    else:
        return given
    return [*rows] if any(map(_names_a_path, first)) else rows


def _names_a_path(row: Any) -> bool:
    """Tell whether a row is a path of some kind, or a text that is the path of something that is there."""
    if not isinstance(row, str):
        return paths.is_path(row)
    if not row or len(row) > _LONGEST_PATH or "\0" in row:
        return False
    return (files.is_remote(row[:_SCHEME]) and len(row.split()) == 1) or os.path.lexists(row)


def _is_text(given: str) -> bool:
    """Tell whether a string in the place of a path is a text."""
    if len(given.splitlines()) < 2 and len(given.split()) <= _MOST_WORDS:
        return False
    return not (files.is_remote(given[:_SCHEME]) or _names_a_path(given) or "\0" in given or glob.glob(given))


def _shown(text: str) -> str:
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")


def _refuse_open_file(given: Any) -> None:
    """Raise ConfigError for an open file, which is an iterator of lines."""
    if hasattr(given, "readline"):
        name = getattr(given, "name", None)
        path = f", {name!r}" if isinstance(name, str) else ""
        raise ConfigError(f"documents is an open file, whose lines would be the texts; give its path{path}")


def _refuse_row_or_text(part: Any, number: int) -> None:
    """Raise ConfigError for what stands in a list of paths and is a row, or the fields of one."""
    _refuse_open_file(part)
    row = isinstance(part, Mapping)
    if row or (isinstance(part, list | tuple) and part and isinstance(part[0], str)):
        raise ConfigError(
            f"item {number + 1} of documents is {type(part).__name__}{'' if row else ' of strings'} in a list of paths "
            "or tables; expected paths alone or rows alone, which are dicts; a mapping takes both, as "
            '{"web": [{...}, ...], "notes": ["notes/*.txt"]}'
        )


def _refuse_one_row(given: Mapping[str, Any], text_column: str) -> None:
    """Raise ConfigError for one row in the place of a mapping from sources: its text is not a path."""
    text = given.get(text_column)
    if isinstance(text, str) and not files.is_remote(text) and not os.path.lexists(text) and not glob.glob(text):
        raise ConfigError(
            f"documents is one mapping, in which {text_column!r} is {_shown(text)}, and there is no such path; "
            "expected a list of rows, as [{...}], or a mapping from names of sources to paths or rows"
        )


def _suffix(rows: Any) -> str:
    """Return how the name of the file of rows ends; raises ConfigError for what is no rows."""
    if _are_tables(rows):
        return ".parquet"
    if not isinstance(rows, Iterable) or isinstance(rows, Mapping | bytes):
        raise ConfigError(
            f"documents is {type(rows).__name__}; expected paths, an Arrow table, a dataset, or an iterable of dicts "
            "or texts"
        )
    return ".jsonl"


def _are_tables(rows: Any) -> bool:
    """Return whether rows are in memory as Arrow already: those with its interface, and datasets of a length."""
    return hasattr(rows, "__arrow_c_stream__") or (hasattr(rows, "with_format") and hasattr(rows, "num_rows"))


def _tables(rows: Any) -> Iterator[pa.Table] | None:
    """Yield what is in memory as Arrow already; None for rows of Python."""
    if hasattr(rows, "__arrow_c_stream__"):
        return (_checked(pa.Table.from_batches([batch])) for batch in pa.RecordBatchReader.from_stream(rows))
    if _are_tables(rows):  # a dataset of Hugging Face
        return _data_set_tables(rows.with_format("arrow"))
    return None


def _data_set_tables(rows: Any) -> Iterator[pa.Table]:
    """Yield the rows of a data set of Hugging Face, fewer at a time where they are long."""
    start, number = 0, 1
    while start < rows.num_rows:
        table = rows[start : start + number]
        yield _checked(table)
        start += number
        number = max(1, min(_MOST_ROWS, 4 * number, _ROW_GROUP_BYTES * number // max(1, table.nbytes)))


def _checked(table: pa.Table) -> pa.Table:
    """Return rows whose Arrow data are right; raises InputError where, say, offsets point outside of their buffer."""
    with reading_arrow(None, "the rows of documents are not whole Arrow data", "make them again"):
        return checked(table)


def write_parquet(tables: Iterator[pa.Table], file: IO[bytes]) -> int:
    """Write tables as Parquet with row groups of about 8 MiB; returns the number of rows.

    Raises InputError for a row of over 256 MiB, which no build would read.
    """
    first = next(tables, None)
    if first is None:
        return 0
    waiting, size, number = [], 0, 0
    with pq.ParquetWriter(file, first.schema, compression="zstd") as writer:
        for table in chain([first], tables):
            for batch in table.to_batches():
                for rows in cut(batch, row_bytes(batch), number):
                    waiting.append(rows)
                    number += len(rows)
                    size += rows.nbytes
                    if size >= _ROW_GROUP_BYTES:
                        writer.write_table(pa.Table.from_batches(waiting))
                        waiting, size = [], 0
        if waiting:
            writer.write_table(pa.Table.from_batches(waiting))
    return number


def _write_lines(rows: Iterable[Any], file: IO[bytes], text_column: str) -> int:
    """Write rows as JSON lines; returns their number."""
    number = 0
    for number, row in enumerate(rows, 1):
        if number == 1 and _names_a_path(row):
            raise ConfigError(
                f"documents is {type(rows).__name__} and gives the path {str(row)!r} as its first row; expected a list "
                "where paths are meant"
            )
        if isinstance(row, str):
            _refuse_other_text(row, number)
        elif not isinstance(row, Mapping):
            raise ConfigError(f"row {number} of documents is {type(row).__name__}; expected a dict, or a text")
        values = {text_column: row} if isinstance(row, str) else dict(row)
        try:
            file.write(json.dumps(values, default=_plain).encode() + b"\n")
        except (TypeError, ValueError) as error:
            raise ConfigError(f"row {number} of documents cannot be written as JSON ({error})") from error
    return number


def _refuse_other_text(text: str, number: int) -> None:
    """Raise ConfigError for a text among rows that is a path, or a line of JSON."""
    problem = ""
    if _names_a_path(text):
        problem = "is a path; rows and paths are sources of their own, in a mapping"
    elif text[:1] == "{":
        with contextlib.suppress(ValueError):
            json.loads(text)
            problem = "is a JSON object; give json.loads of it, or the path of its file"
    if problem:
        raise ConfigError(f"row {number} of documents, {_shown(text)}, {problem}; a text like that is given in a dict")


def _plain(value: Any) -> Any:
    """Return a date or a number of NumPy as JSON has it; raises TypeError for anything else."""
    if hasattr(value, "isoformat"):
        return value.isoformat()
    if hasattr(value, "tolist"):
        return value.tolist()
    raise TypeError(f"it holds {type(value).__name__}")
