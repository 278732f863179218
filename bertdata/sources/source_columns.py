"""Which columns of tables hold the text, the id and the language of documents, of all sources or of some."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bertdata.errors import ConfigError, did_you_mean
from bertdata.options.option import require
from bertdata.sources.names import is_source_name

TEXT, ID, LANGUAGE = "text", "id", "language"
"""The columns that are read where none is named."""


@dataclass(frozen=True)
class SourceColumns:
    """The columns of the text, the id and the language by source, each as (SOURCE, COLUMN), "" being all others.

    Raises ConfigError where a source has two.

    >>> columns = SourceColumns.of(["content", "tickets=description"], ["tickets=key"])
    >>> columns.text("reports"), columns.text("tickets"), columns.id("reports"), columns.id("tickets")
    ('content', 'description', 'id', 'key')
    """

    texts: tuple[tuple[str, str], ...] = ()
    ids: tuple[tuple[str, str], ...] = ()
    languages: tuple[tuple[str, str], ...] = ()

    def __post_init__(self) -> None:
        for flag, pairs in self.by_flag().items():
            names = [name for name, _ in pairs]
            for twice in (name for name in names if names.count(name) > 1):
                both = " and ".join(column for name, column in pairs if name == twice)
                raise ConfigError(
                    f"{flag} names two columns for {f'the source {twice}' if twice else 'all sources'}: {both}; name a "
                    'source before each, as tickets=description, or join columns as "{title}\\n\\n{body}"'
                )

    @staticmethod
    def of(texts: Iterable[str] = (), ids: Iterable[str] = (), languages: Iterable[str] = ()) -> SourceColumns:
        """Make it of what --text-column, --id-column and --language-column name: COLUMN, or SOURCE=COLUMN."""
        return SourceColumns(*(tuple(map(_parsed, named)) for named in (texts, ids, languages)))

    def text(self, source: str) -> str:
        """Return the column of the text of a source, or the template of it."""
        pairs = dict(self.texts)
        return pairs.get(source, pairs.get("", TEXT))

    def id(self, source: str) -> str:
        """Return the column of the id of a source, or the template of it."""
        pairs = dict(self.ids)
        return pairs.get(source, pairs.get("", ID))

    def language(self, source: str) -> str:
        """Return the column of the language of a source."""
        pairs = dict(self.languages)
        return pairs.get(source, pairs.get("", LANGUAGE))

    def check_sources(self, names: Collection[str]) -> None:
        """Raise ConfigError where a column is named for a source that there is not."""
        for flag, pairs in self.by_flag().items():
            for name, column in pairs:
                require(
                    not name or name in names,
                    f"{flag} {name}={column} names the source {name}, but the sources are: {', '.join(names)}"
                    f"{did_you_mean(name, names)}; a column whose own name has a = is written {{{name}={column}}}",
                )

    def stored(self) -> dict[str, list[list[str]]]:
        """Return it as JSON for fingerprints, without a column that is read anyway; {} where none is named."""
        defaults = {"texts": ["", TEXT], "ids": ["", ID], "languages": ["", LANGUAGE]}
        values = {key: sorted([*pair] for pair in getattr(self, key)) for key in defaults}
        return {key: pairs for key, pairs in values.items() if [pair for pair in pairs if pair != defaults[key]]}

    @staticmethod
    def from_stored(value: Mapping[str, Any]) -> SourceColumns:
        """Make it of what `stored` returned."""
        keys = ("texts", "ids", "languages")
        return SourceColumns(*(tuple((name, column) for name, column in value.get(key, ())) for key in keys))

    def by_flag(self) -> dict[str, Sequence[tuple[str, str]]]:
        """Return the columns by the flags that name them."""
        return {"--text-column": self.texts, "--id-column": self.ids, "--language-column": self.languages}


def _parsed(given: str) -> tuple[str, str]:
    name, sign, column = given.partition("=")
    return (name, column) if sign and column and (not name or is_source_name(name)) else ("", given)
