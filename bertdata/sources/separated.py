"""Tables of comma- or tab-separated values as documents: two source formats.

Their first line names the columns. Fields may stand in double quotes (RFC 4180), and then hold separators, line
breaks, and quotes written twice, unless the setting `csv_quotes` says otherwise. As a line break in quotes looks like
any other, a file is read by one worker. The separator of a .csv is what its first line declares or shows: a tab, a
semicolon or a vertical bar in place of a comma.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice
from typing import Any

from bertdata.engine.parts import Task
from bertdata.errors import InputError
from bertdata.io import files
from bertdata.io.bounded_lines import bounded_lines
from bertdata.io.compression import endings
from bertdata.io.decoding import how_to_convert
from bertdata.io.encodings import open_text
from bertdata.io.separated_lines import CHECKED, NONE, WHAT, RowError, rows_of
from bertdata.sources import unsupported
from bertdata.sources.beginnings import first_whole
from bertdata.sources.formats import FileRange, Layout, Request, SourceFile
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.stored_bytes import NoRow, stored_bytes
from bertdata.sources.tabular import LOOKED_AT, TableFormat

_OTHER_NUMBER = "a line with more or fewer fields than the first"
_REMEDY = (
    f"where quotes are part of the text, as in files written without quoting, add --csv-quotes {NONE}; where a field "
    "does hold such lines, --csv-quotes unchecked"
)
_NUMBER = "0123456789+-."


class SeparatedFormat(TableFormat):
    """Lines of values; `separator` is a tab, or "" for what the first line shows or declares (`separator_of`).

    A column whose values in the first thousand rows are all numbers holds numbers, for conditions of `--where`.
    """

    revision: int | str = 2
    text = "files"
    settings = ("text_column", "id_column", "language_column", "csv_quotes", "encoding", "bad_files")
    names_are = "; the first line is taken as their names: if it is a row already, put a line with names above it"

    def __init__(self, name: str, separator: str, described: str) -> None:
        self.name, self._separator = name, separator
        self.described = f"{described} (.{name}, also .gz, .zst, .bz2 or .xz)"
        self.suffixes = endings(f".{name}")

    def ranges(self, path: str, target_bytes: int, text_column: str) -> Iterator[tuple[int, int, int]]:
        """Yield the whole file."""
        size = files.size(path)
        yield 0, size, size

    def beginning(self, task: Task, size: int, folder: str) -> Task | str:
        """Return the task of a copy of the first whole rows, if the first `size` bytes hold one."""
        chosen: FileRange = task.payload
        if task.weight <= size:
            return task
        whole = _whole_lines if chosen.quotes == NONE else _whole_rows
        return first_whole(task, size, folder, whole, "row")

    def layout(self, source: SourceFile, request: Request) -> Layout:
        """Return the column of the text; a note where one worker reads a large file."""
        quotes = request.config.csv_quotes
        layout = super().layout(source, request)
        if quotes != CHECKED:
            layout = replace(layout, quotes=quotes, made_from=(*layout.made_from, "quotes", quotes))
        if files.size(source.path) <= 4 * request.target_bytes:
            return layout
        note = f"one worker reads all of it, as it is {self.name.upper()}; Parquet or JSON lines are read by all"
        return replace(layout, note="; ".join(text for text in (layout.note, note) if text))

    def names_of(self, path: str) -> list[str]:
        """Return the names in the first line; raises InputError where there are none, or two are the same."""
        return self._names(path, CHECKED)

    def names_in(self, path: str, config: CleaningConfig) -> list[str]:
        """Return the names in the first line, in quotes or not."""
        return self._names(path, config.csv_quotes)

    def _names(self, path: str, quotes: str) -> list[str]:
        with self._open(path) as stream:
            names = next(self._lines(stream, path, quotes), None)
        if names is None:
            raise InputError(
                f"holds no lines; expected the names of columns in the first line of a .{self.name}", path=path
            )
        if twice := sorted(name for name, number in Counter(names).items() if number > 1):
            raise InputError(
                f"has several columns of the name {', '.join(map(repr, twice))} in its first line; expected each name "
                "once: rename them, or put a line with names above the others where there is none",
                path=path,
            )
        return names

    def columns_of(self, path: str) -> list[str]:
        """Return the names in the first line."""
        return self.names_of(path)

    def rows(self, chosen: FileRange) -> Iterator[tuple[int, dict[str, Any] | str]]:
        """Yield the rows by their number, the first after the names being 1."""
        numbers = _numbers(self._values(chosen.path, chosen.quotes), set(chosen.columns))
        for place, row in enumerate(self._values(chosen.path, chosen.quotes), 1):
            if isinstance(row, dict):
                for name in numbers:
                    row[name] = _number(row[name], name, place, chosen.path)
            yield place, row

    def _values(self, path: str, quotes: str) -> Iterator[dict[str, Any] | str]:
        with self._open(path) as stream:
            lines = self._lines(stream, path, quotes)
            names = next(lines)
            for line in lines:
                if len(line) == len(names):
                    yield dict(zip(names, line, strict=True))
                else:
                    yield NoRow(_OTHER_NUMBER, stored_bytes(line))

    def _open(self, path: str) -> io.TextIOWrapper:
        return io.TextIOWrapper(open_text(path), "utf-8-sig", newline="")

    def _lines(self, stream: io.TextIOWrapper, path: str, quotes: str) -> Iterator[list[str]]:
        """Yield the fields of each row; raises InputError where the file is something else, or not UTF-8."""
        try:
            first = next(bounded_lines(stream, path, WHAT), "")
            if description := unsupported.what_it_is("", first.encode()):
                raise InputError(description, path=path)
            lines = chain([first] if first else [], bounded_lines(stream, path, WHAT, 1))
            for _, fields in rows_of(lines, path, self._separator, quotes, _REMEDY):
                yield fields
        except RowError as error:
            raise InputError(
                f"cannot be read after line {error.line - 1:,} ({error}); expected fields that begin with a double "
                f"quote to end with one, and quotes in them written twice, as in RFC 4180; {_REMEDY}",
                path=path,
            ) from error
        except UnicodeDecodeError as error:
            problem = f"is not UTF-8 (byte 0x{error.object[error.start]:02x})"
            raise InputError(f"{problem}; {how_to_convert(error.object[error.start :])}", path=path) from error


CSV = SeparatedFormat("csv", "", "comma-separated values")
TSV = SeparatedFormat("tsv", "\t", "tab-separated values")


def _whole_lines(data: bytes) -> bytes:
    """Return the lines of a file, the first of which has names, without the last if it does not end."""
    end = data.rfind(b"\n")
    return data[: end + 1] if end > data.find(b"\n") else b""


def _whole_rows(data: bytes) -> bytes:
    """Return `_whole_lines` that end outside of quotes: a line break inside a field ends no row."""
    end = data.rfind(b"\n")
    while end > 0 and data.count(b'"', 0, end) % 2:
        end = data.rfind(b"\n", 0, end)
    return _whole_lines(data[: end + 1])


def _numbers(rows: Iterator[dict[str, Any] | str], names: set[str]) -> list[str]:
    """Return those of some columns whose values in the first rows are numbers, where they have any."""
    if not names:
        return []
    first_rows = [row for row in islice(rows, LOOKED_AT) if isinstance(row, dict)]
    values = {name: [row[name] for row in first_rows if row.get(name)] for name in sorted(names)}
    return [name for name, cells in values.items() if cells and all(_is_number(value) for value in cells)]


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.strip()[:1] in _NUMBER  # not nan, inf


def _number(text: str, name: str, place: int, path: str) -> int | float | None:
    """Return the number of a field, None of an empty one; raises InputError for anything else."""
    if not text.strip():
        return None
    if not _is_number(text):
        raise InputError(
            f"the column {name!r} holds {text[:40]!r} in row {place:,}, and numbers in the rows before; expected "
            "numbers in all, or strings in the first thousand rows too",
            path=path,
        )
    try:
        return int(text)
    except ValueError:
        return float(text)
