"""Rows of tables as documents: what the formats of tables share.

A row needs a text column; `id`, `source`, `title` and `url` are used where present, other columns where a selection
reads them. A row without an id gets one from its file's name and its place in it. Text with blank lines keeps them as
paragraph borders; in text with none, every line is a paragraph. Files that are a published form of Wikipedia by their
columns are read as `wikipedia/published` says.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from bertdata.curation.languages import LANGUAGE
from bertdata.documents import SCHEMA, DocumentGroups
from bertdata.engine.parts import Counters, Task
from bertdata.errors import InputError
from bertdata.io import files
from bertdata.io.console import byte_size
from bertdata.kernels.warmup import compiling_pays
from bertdata.sources.batch_columns import NAMES
from bertdata.sources.formats import FileRange, Layout, RangeFormat, Request, SourceFile, text_bytes
from bertdata.sources.path_columns import path_columns
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.source_columns import ID
from bertdata.sources.table_rows import Rows, form_of
from bertdata.sources.text_template import (
    TEMPLATE_REVISION,
    columns_of_text,
    is_template,
)

_CHATS = {
    "messages": "{messages[]:{role}: {content}}",
    "conversations": "{conversations[]:{from}: {value}}",
}
"""The templates of the columns that chats are usually in."""
LOOKED_AT = 1000
"""How many rows are looked at for the columns of a file without a schema."""
_OF_ARTICLES = ("min_words", "templates", "variant", "keep_lists")
"""The settings by which rows are read that are articles of Wikipedia."""


class TableFormat(RangeFormat):
    """A format of rows with one column of text."""

    settings: tuple[str, ...] = ("text_column", "id_column", "language_column", *_OF_ARTICLES)
    revision: int | str = 3
    names_are = ""
    """What an error says of where the names of columns are, where a file may lack them."""

    @abstractmethod
    def names_of(self, path: str) -> list[str]:
        """Return the columns by which a file is known; raises InputError where it is no table of this format."""

    def names_in(self, path: str, config: CleaningConfig) -> list[str]:
        """Return the columns of a file that is read by these settings."""
        return self.names_of(path)

    def all_names(self, path: str, config: CleaningConfig) -> list[str]:
        """Return the columns of a file, also those that its first row lacks, where rows need not have them all."""
        return self.names_in(path, config)

    def text_columns(self, path: str, names: Sequence[str]) -> Sequence[str]:
        """Return those of the columns of a file that may hold text, to be offered as its text."""
        return names

    def settings_for(self, path: str) -> Sequence[str]:
        """Return the settings by which a file is read; those of articles only where its columns are of a form of them.

        All of them where the file is refused later.
        """
        from bertdata.sources.wikipedia.published.forms import FORMS

        try:
            of_articles = any(form.fits(self.names_of(path)) for form in FORMS.values())
        except InputError:
            return self.settings
        return [name for name in self.settings if of_articles or name not in _OF_ARTICLES]

    def layout(self, source: SourceFile, request: Request) -> Layout:
        """Return the column of the text and the form of the rows; raises InputError where there is no such column."""
        from bertdata.sources.wikipedia.format import REVISION
        from bertdata.sources.wikipedia.published.form import ArticleRules
        from bertdata.sources.wikipedia.published.forms import choose

        names, config = self.names_in(source.path, request.config), request.config
        if is_template(request.text_column) and request.text_column not in names:
            column, form, note = request.text_column, None, ""
            names = self.all_names(source.path, config)
        else:
            column, form, note = choose(names, request.text_column)
            if not form and column not in names:  # a first row may lack what others have
                names = self.all_names(source.path, config)
                column, form, note = choose(names, request.text_column)
        if not form and column not in names and not is_template(column) and root(column) in names:
            column = f"{{{column}}}"  # a place in a column of objects
        read = columns_of_text(column, names)
        if not {*read} & {*names}:
            offered = self.text_columns(source.path, names)
            hint = next(
                (f"as of a chat --text-column '{_CHATS[name]}'" for name in names if name in _CHATS),
                "name the one that holds the text with --text-column, of this source alone as "
                f"{source.source}=NAME, or "
                'several as "{title}\\n\\n{body}"',
            )
            lacks = f"has no column {' or '.join(map(repr, read))}; its columns are {', '.join(map(repr, names))}"
            if not offered:
                raise InputError(f"{lacks}, and none holds text; expected a column of strings", path=source.path)
            if len(offered) < len(names):
                lacks += f" (text is in {', '.join(map(repr, offered))})"
            raise InputError(f"{lacks}{self.rows_inside(source.path)}: {hint}{self.names_are}", path=source.path)
        self._check_ids(source, request, names)
        self._check_languages(source, request, names)
        if not form:
            by_template = is_template(column) and column not in names
            return Layout(column, made_from=("template", TEMPLATE_REVISION) if by_template else (), note=note)
        templates = files.sha256(config.templates) if config.templates else ""
        compiled = compiling_pays(text_bytes([source]), None)
        chosen = (config.variant, config.keep_lists)
        rules = ArticleRules(config.min_words, config.templates, templates, compiled, *chosen)
        made_from: tuple[Any, ...] = (form.name, form.revision, REVISION, config.min_words, templates)
        made_from = (*made_from, *chosen) if any(chosen) else made_from
        return Layout(column, form.name, rules, made_from, note)

    def _check_ids(self, source: SourceFile, request: Request, names: Sequence[str]) -> None:
        """Raise InputError where a file has none of the columns of the id that was named."""
        read, every = columns_of_text(request.id_column, names), {*names}
        if request.id_column == ID or {*map(root, read)} & every or {*read} & every:
            return
        if not {*read, *map(root, read)} & {*self.all_names(source.path, request.config)}:
            raise InputError(
                f"has no column {request.id_column!r}, which --id-column names; its columns are "
                f"{', '.join(map(repr, names))}: name that of each source as --id-column {source.source}=NAME, where "
                f"{source.source}={ID} is what is read without",
                path=source.path,
            )

    def _check_languages(self, source: SourceFile, request: Request, names: Sequence[str]) -> None:
        """Raise InputError where a file has not the column of the language that was named."""
        places = {(name := request.language_column), root(name)}
        if name == LANGUAGE or places & {*names, *path_columns(source.path)}:
            return
        if not places & {*self.all_names(source.path, request.config)}:
            raise InputError(
                f"has no column {name!r}, which --language-column names; its columns are "
                f"{', '.join(map(repr, names))}: name that of each source as --language-column {source.source}=NAME",
                path=source.path,
            )

    def rows_inside(self, path: str) -> str:
        """Return where rows are inside the only row of a file, as words for a message; "" for other files."""
        return ""

    @abstractmethod
    def rows(self, chosen: FileRange) -> Iterator[tuple[int, dict[str, Any] | str]]:
        """Yield the place of each row of a range in its file, and the row, or what it is instead of one."""

    def read(self, chosen: FileRange, writer: DocumentGroups, counters: Counters) -> None:
        """Write the documents of one range: counts rows, drops those without text, names broken ones."""
        rows = Rows(chosen, writer, counters)
        for place, stored in self.rows(chosen):
            rows.add(place, stored)
        counters.details["broken"] = rows.broken

    def beginning(self, task: Task, size: int, folder: str) -> Task | str:
        """Return the task of the first row groups or batches, if these are not over eight times the size."""
        chosen: FileRange = task.payload
        for _, end, weight in self.ranges(chosen.path, size, chosen.text_column):
            if end > chosen.start:
                shortened = replace(task, weight=min(weight, task.weight), payload=replace(chosen, end=end))
                if shortened.weight <= 8 * size:
                    return shortened
                return (
                    f"the least part of {files.name(chosen.path)} that can be read has {byte_size(shortened.weight)}, "
                    f"and a sample at most {byte_size(8 * size)}"
                )
        return f"{files.name(chosen.path)} has no rows where a sample would begin"


def are_columns_enough(chosen: FileRange) -> bool:
    """Return whether documents are made of the columns of `NAMES` and one of text, as they are in their files."""
    plain = chosen.text_column not in NAMES and not is_template(chosen.text_column)
    return plain and not chosen.form and not chosen.columns and chosen.id_column == ID


def require_strings(schema: pa.Schema, layout: Layout, path: str) -> None:
    """Raise InputError where the one column of the text does not hold strings, and is taken as it is."""
    if layout.form or layout.text_column not in schema.names:
        return
    kind = schema.field(layout.text_column).type
    if pa.types.is_dictionary(kind):  # as pandas and polars write categories
        kind = kind.value_type
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)):
        example = f"; a list goes by a template, as {{{layout.text_column}[]:{{role}}: {{content}}}}"
        hint = example if pa.types.is_list(kind) or pa.types.is_large_list(kind) else ""
        raise InputError(f"the column {layout.text_column!r} holds {kind}; expected strings{hint}", path=path)


def columns_read(chosen: FileRange, names: Sequence[str]) -> list[str]:
    """Return those of the columns of a file, sorted, that its documents need."""
    others = [*chosen.places.values(), *columns_of_text(chosen.id_column, names)]
    wanted = {*columns_of_text(chosen.text_column, names), *SCHEMA.names, *others, *map(root, others)}
    if form := form_of(chosen):
        wanted |= {*form.columns}
    return sorted(name for name in wanted if name in names)


def root(name: str) -> str:
    """Return the column that a name is a place in.

    >>> root("metadata.score"), root("score")
    ('metadata', 'score')
    """
    return name.partition(".")[0]
