"""Rows of JSON-lines files as documents; a file need not state its columns, and a row need not have them all."""

from __future__ import annotations

import json
from collections.abc import Iterator
from io import BufferedReader
from itertools import islice
from typing import Any

from bertdata.engine.parts import Task
from bertdata.errors import InputError
from bertdata.io import files
from bertdata.io.bounded_lines import LONGEST, bounded_lines, lines_before, too_long
from bertdata.io.decoding import how_to_convert
from bertdata.io.encodings import is_stream, open_text
from bertdata.sources import unsupported
from bertdata.sources.beginnings import first_lines
from bertdata.sources.formats import FileRange
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.tabular import LOOKED_AT, TableFormat

_NO_OBJECT = "not a JSON object"
_SHOWN = 40
_WHAT = "JSON lines, one object in a line"


class JsonLinesFormat(TableFormat):
    """JSON lines; a range is a run of bytes, and has the lines that begin in it."""

    name = "json-lines"
    suffixes = (
        *(kind + ending for kind in (".jsonl", ".ndjson") for ending in ("", ".gz", ".zst", ".bz2")),
        *(f".json{ending}" for ending in (".gz", ".zst", ".bz2")),
    )
    text = "lines"
    settings = (*TableFormat.settings, "encoding", "bad_files")
    described = "JSON lines (.jsonl or .ndjson, also .gz, .zst or .bz2; .json.gz and the like)"

    def names_of(self, path: str) -> list[str]:
        """Return the columns of the first row."""
        with open_text(path) as stream:
            start = _start(stream)
            known = unsupported.what_it_is(path, start)
            if known and not start.startswith(b"{"):
                raise InputError(known, path=path)
            for line in bounded_lines(stream, path, _WHAT):
                if line.strip():
                    row = _parse(line)
                    if isinstance(row, str):
                        raise InputError(known or _other_start(line, row), path=path)
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
        with open_text(path) as stream:
            rows = [
                row
                for line in islice(bounded_lines(stream, path, _WHAT), LOOKED_AT)
                if isinstance(row := _parse(line), dict)
            ]
        return list(dict.fromkeys(name for row in rows for name in row))

    def all_names(self, path: str, config: CleaningConfig) -> list[str]:
        """Return the columns of the first row, and after them those of the first thousand."""
        return list(dict.fromkeys([*self.names_of(path), *self.columns_of(path)]))

    def has_column(self, path: str, name: str) -> bool:
        """Tell whether any row has a column: lines in which its name occurs are parsed, as far as the first."""
        written = {json.dumps(name, ensure_ascii=ascii_alone).encode() for ascii_alone in (True, False)}
        with open_text(path) as stream:
            for line in bounded_lines(stream, path, _WHAT):
                if any(one in line for one in written) and isinstance(row := _parse(line), dict) and name in row:
                    return True
        return False

    def rows(self, chosen: FileRange) -> Iterator[tuple[int, dict[str, Any] | str]]:
        """Yield the rows of a range."""
        compressed = is_stream(chosen.path)
        with open_text(chosen.path) if compressed else files.open_raw(chosen.path) as stream:
            place = chosen.start
            if chosen.start:
                stream.seek(chosen.start - 1)
                place += len(stream.readline(chosen.end - chosen.start + 1)) - 1
            while compressed or place < chosen.end:
                line = stream.readline(LONGEST + 1)
                if not line:
                    break
                if len(line) > LONGEST:
                    with open_text(chosen.path) as again:
                        raise too_long(chosen.path, lines_before(again, place) + 1, _WHAT)
                if line.strip():
                    yield place, _parse(line)
                place += len(line)

    def beginning(self, task: Task, size: int, folder: str) -> Task | str:
        """Return the task of the lines that begin in the first bytes of a range."""
        return first_lines(task, size, folder)


JSON_LINES = JsonLinesFormat()


def _other_start(line: bytes, found: str) -> str:
    """Return what a file is, if its first line is not a JSON object, and what to do about it."""
    if found != _NO_OBJECT:
        return (
            f"its first line is {found}; expected JSON lines in UTF-8: {how_to_convert(line)}, or add --encoding guess"
        )
    shown = line.decode("utf-8", "replace").strip()
    if shown.startswith("["):
        return "is a JSON array; expected JSON lines, one object in a line (.jsonl): jq -c '.[]' FILE > rows.jsonl"
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
    problem = (
        "begins with a JSON object that does not end in its line" if shown.startswith("{") else f"begins {shown!r}"
    )
    return (
        f'{problem}; expected JSON lines, one whole object in a line, as {{"text": ...}}; end the name of plain text '
        "in .txt, of a table in .csv or .tsv"
    )


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
        return "not UTF-8"
    except (ValueError, RecursionError):
        return _NO_OBJECT
    return row if isinstance(row, dict) else _NO_OBJECT
