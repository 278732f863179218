"""Rows of JSON-lines files as documents; a file need not state its columns, and a row need not have them all."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BufferedReader
from itertools import islice
from typing import Any, BinaryIO

from bertdata.documents import DocumentGroups
from bertdata.engine.parts import Counters, Task
from bertdata.errors import InputError
from bertdata.io import files
from bertdata.io.bounded_lines import LONGEST, bounded_lines, lines_before, too_long
from bertdata.io.compression import ENDINGS, compression, endings
from bertdata.io.decoding import how_to_convert
from bertdata.io.encodings import is_stream, open_text
from bertdata.kernels.warmup import compiling_pays
from bertdata.sources import unsupported
from bertdata.sources.batch_columns import NAMES
from bertdata.sources.beginnings import first_lines
from bertdata.sources.formats import FileRange
from bertdata.sources.json_columns import read_columns
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.stored_bytes import NoRow
from bertdata.sources.table_rows import Rows
from bertdata.sources.tabular import LOOKED_AT, TableFormat, are_columns_enough

_NO_OBJECT = "not a JSON object"
ROW_ID = "_id"
"""The column in which a row has the id that the line before it states."""
_LONGEST_ACTION = 4096
_SHOWN = 40
_SEEN = 1 << 16
_ARRAY = re.compile(r"\[\s*(?:[\[\]{\"]|$)")
_RECORD_SEPARATOR = b"\x1e"
"""What begins each object of a JSON text sequence (RFC 7464)."""
_WHAT = "JSON lines, one object in a line"


class JsonLinesFormat(TableFormat):
    """JSON lines; a range is a run of bytes, and has the lines that begin in it."""

    name = "json-lines"
    suffixes = (*endings(".jsonl", ".ndjson"), *(f".json{ending}" for ending in ENDINGS))
    text = "lines"
    settings = (*TableFormat.settings, "encoding", "bad_files")
    described = "JSON lines (.jsonl or .ndjson, also .gz, .zst, .bz2 or .xz; .json.gz and the like)"

    def names_of(self, path: str) -> list[str]:
        """Return the columns of the first row."""
        with open_text(path) as stream:
            start = _start(stream)
            description = unsupported.what_it_is(path, start)
            if description and not start.startswith(b"{"):
                raise InputError(description, path=path)
            for line in bounded_lines(stream, path, _WHAT):
                if line.strip():
                    row = _parse(line)
                    if isinstance(row, str):
                        raise InputError(description or _other_start(line, row), path=path)
                    if action_id(row) is None:
                        return list(row)
        raise InputError("holds no lines; expected JSON lines, one object in a line", path=path)

    def ranges(self, path: str, target_bytes: int, text_column: str) -> Iterator[tuple[int, int, int]]:
        """Yield runs of bytes; a compressed file is one."""
        size = files.size(path)
        if is_stream(path):
            yield 0, size, size
            return
        for start in range(0, size, target_bytes):
            end = min(size, start + target_bytes)
            yield start, end, end - start

    def columns_of(self, path: str) -> list[str]:
        """Return the columns of the first thousand rows, which need not all have them."""
        return list(dict.fromkeys(name for row in _first_rows(path) for name in row))

    def text_columns(self, path: str, names: Sequence[str]) -> Sequence[str]:
        """Return the columns that hold text, or a list or an object, in one of the first thousand rows."""
        holding = {name for row in _first_rows(path) for name, value in row.items() if _may_hold_text(value)}
        return [name for name in names if name in holding]

    def rows_inside(self, path: str) -> str:
        """Return where rows are inside the only row of a file: in a list of several objects."""
        rows = _first_rows(path)
        lists = {name: value for name, value in rows[0].items() if isinstance(value, list)} if len(rows) == 1 else {}
        names = [name for name, value in lists.items() if len(value) > 1 and {*map(type, value)} == {dict}]
        if len(names) != 1 or not (names[0].isascii() and names[0].isidentifier()):
            return ""
        return f" (one row, whose {names[0]!r} holds rows: jq -c '.{names[0]}[]' FILE > rows.jsonl)"

    def all_names(self, path: str, config: CleaningConfig) -> list[str]:
        """Return the columns of the first row, and after them those of the first thousand."""
        return list(dict.fromkeys([*self.names_of(path), *self.columns_of(path)]))

    def has_column(self, path: str, name: str) -> bool:
        """Tell whether any row has a column: lines in which its name occurs are parsed, as far as the first."""
        written = {json.dumps(name, ensure_ascii=ascii_alone).encode() for ascii_alone in (True, False)}
        with open_text(path) as stream:
            for line in bounded_lines(stream, path, _WHAT):
                if (
                    any(spelling in line for spelling in written)
                    and isinstance(row := _parse(line), dict)
                    and name in row
                ):
                    return True
        return False

    def reads_again(self, chosen: FileRange) -> bool:
        """Tell whether the rows are read by columns, and nothing is to be decompressed."""
        return _by_columns(chosen) and not is_stream(chosen.path)

    def read(self, chosen: FileRange, writer: DocumentGroups, counters: Counters) -> None:
        """Write the documents of one range: those of a large file by columns, where these are enough."""
        if not _by_columns(chosen):
            super().read(chosen, writer, counters)
            return
        rows = Rows(chosen, writer, counters)
        with _lines_of(chosen) as (stream, place, end):
            for lines in read_columns(stream, place, end, (*NAMES, chosen.text_column)):
                if lines.places is not None:
                    rows.add_columns(lines.places, lines.columns)
                    continue
                row = _parse(_not_too_long(lines.line, lines.place, chosen))
                if action_id(row) is None:
                    rows.add(lines.place, row)
        counters.details["broken"] = rows.broken

    def rows(self, chosen: FileRange) -> Iterator[tuple[int, dict[str, Any] | str]]:
        """Yield the rows of a range; of a search index in two lines for each, the second with the id of the first."""
        with _lines_of(chosen) as (stream, begin, end):
            place, number = begin, _id_before(stream, begin) if chosen.start else ""
            while place < end and (line := stream.readline(LONGEST + 1)):
                _not_too_long(line, place, chosen)
                if line.strip():
                    row = _parse(line)
                    named = action_id(row)
                    if named is None:
                        yield place, {ROW_ID: number, **row} if number and isinstance(row, dict) else row
                    number = named or ""
                place += len(line)

    def beginning(self, task: Task, size: int, folder: str) -> Task | str:
        """Return the task of the lines that begin in the first bytes of a range."""
        return first_lines(task, size, folder)


JSON_LINES = JsonLinesFormat()


def _by_columns(chosen: FileRange) -> bool:
    """Tell whether the rows of a range are read as columns."""
    size = files.size(chosen.path) * (4 if compression(chosen.path) else 1)
    return are_columns_enough(chosen) and chosen.text_column != ROW_ID and compiling_pays(size, None)


def action_id(row: Mapping[str, Any] | str) -> str | None:
    """Return the id of the row after this, where this is the first of two lines of a search index, else None.

    >>> action_id({"index": {"_type": "_doc", "_id": "12"}}), action_id({"index": 3})
    ('12', None)
    """
    action = row.get("index") if isinstance(row, Mapping) and len(row) == 1 else None
    return str(action["_id"]) if isinstance(action, Mapping) and "_id" in action else None


@contextmanager
def _lines_of(chosen: FileRange) -> Iterator[tuple[BinaryIO, int, int]]:
    """Give the stream of a range where the first line of it begins, that place, and where no line of it begins."""
    compressed = is_stream(chosen.path)
    with open_text(chosen.path) if compressed else files.open_raw(chosen.path) as stream:
        place = chosen.start
        if chosen.start:
            stream.seek(chosen.start - 1)
            place += len(stream.readline(chosen.end - chosen.start + 1)) - 1
        yield stream, place, sys.maxsize if compressed else chosen.end


def _not_too_long(line: bytes, place: int, chosen: FileRange) -> bytes:
    """Return a line; raises InputError, with its number, for one of over `LONGEST` bytes."""
    if len(line) > LONGEST:
        with open_text(chosen.path) as again:
            raise too_long(chosen.path, lines_before(again, place) + 1, _WHAT)
    return line


def _id_before(stream: BinaryIO, place: int) -> str:
    """Return the id that the line before a place states for the line there, "" where it states none."""
    begin = max(0, place - _LONGEST_ACTION)
    stream.seek(begin)
    before = stream.read(place - begin).splitlines()
    stream.seek(place)
    return action_id(_parse(before[-1])) or "" if before else ""


def _first_rows(path: str) -> list[dict[str, Any]]:
    """Return the first thousand rows."""
    with open_text(path) as stream:
        rows = (_parse(line) for line in islice(bounded_lines(stream, path, _WHAT), LOOKED_AT))
        return [row for row in rows if isinstance(row, dict) and action_id(row) is None]


def _may_hold_text(value: Any) -> bool:
    """Tell whether a value is text, or a list or an object with text in it."""
    if isinstance(value, list):
        return not value or _may_hold_text(value[0])
    return isinstance(value, str) or (isinstance(value, dict) and any(map(_may_hold_text, value.values())))


def begins_with_an_object(path: str) -> bool:
    """Tell whether the first line of a file is a JSON object, or too long to see, or there is none at all.

    So are files named .json that Spark and others write as JSON lines; one JSON value over lines does not begin so.
    """
    if not files.size(path):
        return True
    with files.open_raw(path) as raw:
        line = raw.readline(_SEEN)
    return isinstance(_parse(line), dict) or (len(line) == _SEEN and line.startswith(b'{"'))


def _other_start(line: bytes, reason: str) -> str:
    """Return what a file is, if its first line is not a JSON object, and what to do about it."""
    if reason != _NO_OBJECT:
        return (
            f"its first line is {reason}; expected JSON lines in UTF-8: {how_to_convert(line)}, or add --encoding guess"
        )
    beginning = line.decode("utf-8", "replace").strip()
    if _ARRAY.match(beginning):
        return "is a JSON array; expected JSON lines, one object in a line (.jsonl): jq -c '.[]' FILE > rows.jsonl"
    expected = 'expected JSON lines, one whole object in a line, as {"text": ...}'
    if line.lstrip(b" \t\r\n").startswith(_RECORD_SEPARATOR):
        program = "tr -d '\\036' < FILE | jq -c . > rows.jsonl"
        return f"is a JSON text sequence, with a record separator (0x1e) before each object; {expected}: {program}"
    if beginning.startswith("{"):
        if beginning.endswith(",") and isinstance(_parse(beginning[:-1].encode()), dict):
            return f"has a comma after the JSON object in its line; {expected}: sed 's/,$//' FILE > rows.jsonl"
        if beginning.startswith("{'"):
            return f"begins with an object in single quotes, as Python prints it; {expected}: write it by json.dumps"
        return f"begins with a JSON object that does not end in its line; {expected}: jq -c . FILE > rows.jsonl"
    beginning = beginning if len(beginning) <= _SHOWN else f"{beginning[:_SHOWN]}..."
    return f"begins {beginning!r}; {expected}; end the name of plain text in .txt, of a table in .csv or .tsv"


def _start(stream: BufferedReader) -> bytes:
    """Return the first bytes that are not white space, and leave the stream where they begin."""
    while (start := stream.peek(64)[:64]) and not start.strip():
        stream.read(len(start))
    return start.lstrip()


def _parse(line: bytes) -> dict[str, Any] | str:
    """Return the object of a line, or what the line is instead."""
    try:
        row = json.loads(line)
    except UnicodeDecodeError:
        return NoRow("not UTF-8", len(line))
    except (ValueError, RecursionError):
        return NoRow(_NO_OBJECT, len(line))
    return row if isinstance(row, dict) else NoRow(_NO_OBJECT, len(line))
