"""A source format of the user's own for one build: an object, a class, or a function from a path to rows.

`--source-format MODULE:NAME` names it, `bertdata.build(source_format=...)` takes it by itself. A function gets the path
of each file of --documents, and yields its rows: dicts as those of a JSON-lines file, or texts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from bertdata.engine.own_objects import digest
from bertdata.errors import BertDataError, ConfigError
from bertdata.io import files
from bertdata.registry import object_of
from bertdata.sources.formats import FileRange, Layout, Request, SourceFile, SourceFormat
from bertdata.sources.tabular import LOOKED_AT, TableFormat

ReadRows = Callable[[str], Iterable[Mapping[str, Any] | str]]
"""Takes a path or URL, and returns the rows of the file."""


def own_format(name: str, plugin: object) -> SourceFormat:
    """Return the source format that an object is, or whose rows a function returns."""
    if isinstance(plugin, SourceFormat | type) or not callable(plugin):
        return object_of("source format", name, plugin, SourceFormat)  # type: ignore[type-abstract]
    return FunctionFormat(name, plugin)


class FunctionFormat(TableFormat):
    """Files of any name that a function reads, each on one worker; its revision is the digest of its code."""

    suffixes = ("",)
    settings = ("text_column", "id_column", "language_column")

    def __init__(self, name: str, read_rows: ReadRows) -> None:
        self.name, self.described = name, f"what {name} reads"
        self.revision = digest(read_rows)
        self._read_rows = read_rows

    def ranges(self, path: str, target_bytes: int, text_column: str) -> Iterator[tuple[int, int, int]]:
        """Yield the whole file."""
        yield 0, 1, files.size(path)

    def layout(self, source: SourceFile, request: Request) -> Layout:
        """Return the column of the text: rows of a function are no published form."""
        return Layout(request.text_column)

    def names_of(self, path: str) -> list[str]:
        """Return the columns of the first thousand rows, which need not all have them."""
        rows = islice(self._read_rows(path), LOOKED_AT)
        return list(dict.fromkeys(name for row in rows if isinstance(row, Mapping) for name in row))

    columns_of = names_of

    def has_column(self, path: str, name: str) -> bool:
        """Tell whether any row has a column."""
        return any(isinstance(row, Mapping) and name in row for row in self._read_rows(path))

    def rows(self, chosen: FileRange) -> Iterator[tuple[int, dict[str, Any] | str]]:
        """Yield the rows of a file, a text as the row that has nothing else.

        Raises ConfigError, with the number of the row, where the function raises an exception or yields something else.
        """
        place = 0
        try:
            for place, row in enumerate(self._read_rows(chosen.path)):
                if not isinstance(row, Mapping | str):
                    raise ConfigError(
                        f"the source format {self.name} yielded {type(row).__name__} as row {place}; expected a dict, "
                        "or a text",
                        path=chosen.path,
                    )
                yield place, {chosen.text_column: row} if isinstance(row, str) else dict(row)
        except BertDataError:
            raise
        except Exception as error:
            raise ConfigError(
                f"the source format {self.name} raised {type(error).__name__}: {error}, after row {place}; correct it",
                path=chosen.path,
            ) from error
