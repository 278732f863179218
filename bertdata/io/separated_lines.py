"""Rows of values between separators, from a file with or without quotes (RFC 4180), read by Python's `csv`.

A quote at the beginning of a field that is not meant as one, as in files that are written without quotes, makes a
field of all lines up to the next such quote. It is known by these lines: they look like rows of the table.
"""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import chain

from bertdata.errors import InputError, shortened
from bertdata.io.bounded_lines import LONGEST, too_long

CHECKED, UNCHECKED, NONE = "checked", "unchecked", "none"
QUOTES = (CHECKED, UNCHECKED, NONE)
"""How double quotes are read: as those of fields, which may not hold rows; of any fields; or as part of the text."""
MOST_ROWS = 3
"""How many lines in a row, inside of one field, may look like rows of the table."""
WHAT = "rows of values between separators, each in a line"
_SPACED_QUOTE = re.compile(r'^ ++"').match
_DECLARED = re.compile(r"""("?)sep=([^\w"\r\n])\1[\r\n]*""", re.IGNORECASE)


class RowError(csv.Error):
    """A row whose quotes are not those of RFC 4180, and the number of the line in which it begins."""

    def __init__(self, problem: str, line: int) -> None:
        super().__init__(problem)
        self.line = line


def rows_of(
    lines: Iterator[str], path: str, separator: str = "", quotes: str = CHECKED, remedy: str = ""
) -> Iterator[tuple[int, list[str]]]:
    """Yield (number of the line in which a row begins, its fields), none for a blank line; the first names the columns.

    lines: as `bertdata.io.bounded_lines` has them, their ends as in the file. separator: "" for the one that the first
    line declares, and which then is no row, or shows. remedy: what the user can do where quotes are part of the text.
    Raises InputError, with the line, for a field in quotes that holds rows, for one with a space before its quotes and
    for rows of over `LONGEST` characters, RowError for quotes that do not end their field, and UnicodeDecodeError.
    """
    begin = 1
    if not separator:
        first = next(lines, "")
        separator, begin = separator_of(first), 1 + is_declaration(first)
        lines = lines if begin > 1 else chain([first], lines) if first else iter(())
    if quotes == NONE:
        for number, line in enumerate(lines, begin):
            if text := line.rstrip("\r\n"):
                yield number, text.split(separator)
        return
    # The limit is one for the whole process and is not put back: a reader that ends would cut short the others.
    csv.field_size_limit(sys.maxsize)
    source = _Lines(lines, path, separator, quotes == CHECKED, remedy, begin)
    reader = csv.reader(source, delimiter=separator, strict=True)
    try:
        for fields in reader:
            if fields:
                if any(map(_SPACED_QUOTE, fields)):
                    source.refuse_spaces(fields)
                yield source.begin, fields
            source.end_row(fields)
    except csv.Error as error:
        raise RowError(str(error), source.begin) from error


class _Lines:
    """The lines of a file as `csv` asks for them: those of one row are bounded, and compared with the first row."""

    def __init__(
        self, lines: Iterator[str], path: str, separator: str, check: bool, remedy: str, begin: int = 1
    ) -> None:
        self._lines = lines
        self._path, self._separator, self._check, self._remedy = path, separator, check, remedy
        self._separators = 0
        self._has_names = self._is_spaced = False
        self._row: list[str] = []
        self._run = self._opened = self._size = 0
        self._number, self.begin = begin - 1, begin

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        if self._run > MOST_ROWS:
            raise InputError(
                f"a field that begins with a double quote in line {self._opened:,} holds lines that look like rows of "
                f"the table, as line {self._number:,} does; expected a quote at its end: "
                f"{self._remedy or 'put it there, or write quotes that are part of the text twice'}",
                path=self._path,
            )
        line = next(self._lines)
        self._number += 1
        self._row.append(line)
        self._size += len(line)
        if self._number == self.begin:
            self._opened = self._number
        elif self._size > LONGEST:
            raise too_long(self._path, self.begin, WHAT)
        elif '"' in line:
            self._opened, self._run = self._number, 0
        elif self._check and self._separators:
            self._run = self._run + 1 if self._is_row(line) else 0
        return line

    def _is_row(self, line: str) -> bool:
        """Tell whether a line has as many separators as the first row, and, as it, no space after any of them."""
        if line.count(self._separator) != self._separators:
            return False
        return self._is_spaced or not (f"{self._separator} " in line or line.startswith(" "))

    def end_row(self, fields: Sequence[str]) -> None:
        """Begin another row after one with these fields."""
        if fields and not self._has_names:
            self._has_names = True
            self._separators = max(0, len(fields) - 1)
            self._is_spaced = any(field.startswith(" ") for field in fields)
        self.begin, self._run, self._size = self._number + 1, 0, 0
        self._row.clear()

    def refuse_spaces(self, fields: Sequence[str]) -> None:
        """Raise InputError where a field of the row begins with a space and a quote in the file itself.

        A field in quotes may hold both: its own quotes are twice in the file.
        """
        row = "".join(self._row)
        for field in filter(_SPACED_QUOTE, fields):
            if row.startswith(field) or f"{self._separator}{field}" in row:
                raise InputError(
                    f"line {self.begin:,} has a space before a quote ({shortened(field)}): the quote is text then, and "
                    "its field ends at the next separator; expected quotes right after separators: take the spaces "
                    'away, as by python -c "import csv, sys; csv.writer(sys.stdout).writerows(csv.reader(sys.stdin, '
                    f'delimiter={self._separator!r}, skipinitialspace=True))" < FILE > NEW',
                    path=self._path,
                )


def is_declaration(first: str) -> bool:
    """Tell whether a first line only declares the separator of the rows after it, as spreadsheets write it.

    >>> is_declaration("sep=;\\r\\n"), is_declaration('"sep=\\t"'), is_declaration("sep=;text"), is_declaration("sep=a")
    (True, True, False, False)
    """
    return _DECLARED.fullmatch(first) is not None


def separator_of(first: str) -> str:
    """Return the separator of a .csv with this first line: the one that it declares, as `sep=;`, or else shows.

    It shows a tab where it has more of these than commas, and, where it has no commas, semicolons or, without these
    too, vertical bars. A line that begins with a quote, or has semicolons and any commas, is separated by commas.

    >>> separator_of("id;text"), separator_of("id,text;more"), separator_of("id\\ttext, as it is\\tlabel")
    (';', ',', '\\t')
    >>> separator_of("id|text"), separator_of("sep=,\\n")
    ('|', ',')
    """
    if declared := _DECLARED.fullmatch(first):
        return declared[2]
    if not first.startswith('"') and first.count("\t") > first.count(","):
        return "\t"
    return next((separator for separator in ";|" if separator in first and "," not in first), ",")
