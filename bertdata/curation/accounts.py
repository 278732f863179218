"""What documents are counted by: a column, or a function of one, as `license`, `domain(url)` and `year(date)`.

`--account` names them. The value of a document is a string, or none; it is decided from that document alone, where the
token store is written, so that it is the same for any ranges and workers.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from bertdata.curation import ACCOUNT_FUNCTIONS
from bertdata.errors import ConfigError, did_you_mean

WORDS = "words(text)"
"""The name under which the token store keeps the number of words of a document, what white space separates."""
_FUNCTION = re.compile(r"([a-z_]+)\(([^()]+)\)")
_YEAR = re.compile(r"(?<!\d)[12]\d{3}(?!\d)|^[12]\d{3}(?=(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])(?!\d))")


@dataclass(frozen=True, kw_only=True)
class AccountFunction:
    """A function of the value of a column, by which documents are counted.

    help: what it returns, for --help. of: returns the value of a document, None where it has none, from what the column
    holds: a string, a number, or true and false. made_from: returns what its values depend on beside its code, as the
    version of a table, for fingerprints and for the account; "" of nothing. It may raise MissingExtraError.
    """

    help: str
    of: Callable[[Any], str | None]
    made_from: Callable[[], str] = lambda: ""


@dataclass(frozen=True)
class Account:
    """One thing that documents are counted by: its name, as `domain(url)`, the column, and the function of it or ""."""

    name: str
    column: str
    function: str = ""

    def value(self, cell: Any) -> str | None:
        """Return the value of a document from what its column holds; None where there is none.

        >>> parse_account("license").value("MIT"), parse_account("year(date)").value("2021-03-04")
        ('MIT', '2021')
        """
        if cell is None or cell == "":
            return None
        return ACCOUNT_FUNCTIONS[self.function].of(cell) if self.function else value_text(cell)

    @property
    def made_from(self) -> str:
        """What its values depend on beside the documents and the code, "" of nothing."""
        return ACCOUNT_FUNCTIONS[self.function].made_from() if self.function else ""


@lru_cache(maxsize=256)
def parse_account(text: str) -> Account:
    """Return what COLUMN or FUNCTION(COLUMN) names; raises ConfigError for a function that there is not.

    >>> parse_account("domain(url)")
    Account(name='domain(url)', column='url', function='domain')
    """
    name = text.strip()
    if match := _FUNCTION.fullmatch(name):
        function, column = match.groups()
        if function not in ACCOUNT_FUNCTIONS:
            near = did_you_mean(function, ACCOUNT_FUNCTIONS)
            raise ConfigError(
                f"--account has {text!r}, and there is no function {function!r}{near}; "
                f"expected a column, or {' or '.join(f'{choice}(COLUMN)' for choice in ACCOUNT_FUNCTIONS)}"
            )
        return Account(f"{function}({column.strip()})", column.strip(), function)
    if not name or "(" in name or ")" in name or ":" in name:
        raise ConfigError(f"--account has {text!r}; expected the name of a column, as license, or domain(url)")
    return Account(name, name)


def value_text(cell: Any) -> str | None:
    """Return what a column holds as the string that it is counted by, None for "".

    >>> value_text(True), value_text(3), value_text(0.5), value_text("mit")
    ('true', '3', '0.5', 'mit')
    """
    if isinstance(cell, bool):
        return "true" if cell else "false"
    return str(cell) or None


def words_in(texts: pa.StringArray | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return how many words each of some texts has, int32 (N,): what white space separates.

    >>> words_in(pa.array([" Salt is a mineral. ", ""])).to_pylist()
    [4, 0]
    """
    trimmed = pc.utf8_trim_whitespace(texts)
    return pc.if_else(pc.equal(trimmed, ""), 0, pc.list_value_length(pc.utf8_split_whitespace(trimmed)))


def year_of(cell: Any) -> str | None:
    """Return the year, from 1000 to 2999, that a date begins with or names; None where it names none.

    A number is a year itself: seconds since 1970 are not guessed at.

    >>> [year_of(date) for date in ("2021-03-04T10:00:00", "4 March 1998", "20210304", 1875, 1614816000, "03/04/21")]
    ['2021', '1998', '2021', '1875', None, None]
    """
    if isinstance(cell, bool):
        return None
    if isinstance(cell, float) and cell.is_integer():
        cell = int(cell)
    match = _YEAR.search(str(cell).strip())
    if not match or (isinstance(cell, (int, float)) and str(cell) != match.group()):
        return None
    return match.group()


YEAR = AccountFunction(help="the year of a date, as 2021-03-04 or 4 March 2021", of=year_of)
