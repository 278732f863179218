"""Rows of tables, which become documents."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bertdata.curation.languages import LANGUAGE
from bertdata.documents import DocumentGroups, escaped, paragraphs, paragraphs_of
from bertdata.engine.parts import Counters
from bertdata.sources.batch_columns import document_columns
from bertdata.sources.formats import FileRange
from bertdata.sources.kept_values import kept_values
from bertdata.sources.names import NO_TEXT, InputCount
from bertdata.sources.path_columns import path_columns
from bertdata.sources.source_columns import ID
from bertdata.sources.stored_bytes import stored_bytes
from bertdata.sources.text_template import is_template, kind_of, parse_template, text_at, value_at

if TYPE_CHECKING:
    from bertdata.sources.wikipedia.published.form import Article, Form

SOURCE = "documents"


class Rows:
    """The rows of a range, which become documents one by one, or as columns; `broken` names those that cannot."""

    def __init__(self, chosen: FileRange, writer: DocumentGroups, counters: Counters) -> None:
        self._chosen, self._writer, self._counters = chosen, writer, counters
        self._form, self._of_path = form_of(chosen), path_columns(chosen.path) if chosen.columns else {}
        self.broken: list[dict[str, Any]] = []

    def add(self, place: int, stored: dict[str, Any] | str) -> None:
        """Write a row at a place in its file, or count why it is none."""
        chosen, counters = self._chosen, self._counters
        counters.add(InputCount.ROWS)
        row = self._of_path | stored if self._of_path and isinstance(stored, dict) else stored
        if self._form and isinstance(row, dict):
            _write_article(self._form.article(row, chosen.rules), row, place, chosen, self._writer, counters)
            return
        text = None if isinstance(row, str) else text_at(row, chosen.text_column)
        if isinstance(row, str) or text is None:
            reason = str(row) if isinstance(row, str) else _no_text(row, chosen.text_column)
            self.broken.append({"path": chosen.path, "place": place, "reason": reason})
            counters.drop(reason, size=stored_bytes(row))
            return
        text = paragraphs(text)
        if not text:
            counters.drop(NO_TEXT)
            return
        self._writer.add(
            _text(_id_of(row, chosen), f"{chosen.label}:{place}"),
            _text(row.get("source"), SOURCE),
            _text(row.get("title"), ""),
            _text(row.get("url"), ""),
            text,
            columns=kept_values(row, chosen) if chosen.columns else None,
        )

    def add_batch(self, place: int, batch: pa.RecordBatch) -> None:
        """Write the rows of a batch, the first of which is at a place: as columns; one by one those without a text."""
        columns = document_columns(batch, self._chosen.text_column)
        has_text = np.zeros(len(batch), np.bool_)
        if columns is not None:
            has_text = pc.is_valid(columns[-1]).to_numpy(zero_copy_only=False)
        others = np.flatnonzero(~has_text).tolist()
        for number in others:
            self.add(place + number, batch.slice(number, 1).to_pylist()[0])
        if columns is not None and len(others) < len(batch):
            columns = [column.filter(pa.array(has_text)) for column in columns] if len(others) else columns
            self.add_columns(np.flatnonzero(has_text) + place, columns)

    def add_columns(self, places: NDArray[np.int64], columns: Sequence[pa.StringArray]) -> None:
        """Write rows given as their columns (see `NAMES`), "" where a row has none, and a text each."""
        counters, texts = self._counters, paragraphs_of(columns[-1])
        counters.add(InputCount.ROWS, len(texts))
        filled = pc.not_equal(pc.binary_length(texts), 0)
        if empty := len(texts) - (pc.sum(filled).as_py() or 0):
            counters.drop(NO_TEXT, empty)
            places, texts = places[filled.to_numpy(zero_copy_only=False)], texts.filter(filled)
            columns = [column.filter(filled) for column in columns]
        ids, sources, titles, urls = columns[:-1]
        if pc.min(pc.binary_length(ids)).as_py() == 0:
            label = self._chosen.label
            named = zip(ids.to_pylist(), places.tolist(), strict=True)
            ids = pa.array([document_id or escaped(f"{label}:{place}") for document_id, place in named], pa.string())
        sources = pc.if_else(pc.equal(sources, ""), SOURCE, sources)
        self._writer.add_columns([ids, sources, titles, urls, texts])


def form_of(chosen: FileRange) -> Form | None:
    """Return the form of the rows of a range, None where their text is taken as it is."""
    if not chosen.form:
        return None
    from bertdata.sources.wikipedia.published.forms import FORMS

    return FORMS[chosen.form]


def _no_text(row: Mapping[str, Any], text_column: str) -> str:
    """Return why a row has no text: what is in its column is something else, or nothing is.

    >>> _no_text({"text": 5}, "text"), _no_text({"text": ["a"]}, "text"), _no_text({}, "text")
    ('no text: a number', 'no text: a list', 'no text')
    >>> _no_text({"title": "Salt", "tags": ["sea"]}, "{title} {tags}")
    'no text: a list in tags'
    """
    if text_column not in row and is_template(text_column):
        kind = parse_template(text_column).not_taken(row)
    else:
        value = row.get(text_column)
        kind = "" if value is None else kind_of(value)
    return f"{NO_TEXT}: {kind}" if kind else NO_TEXT


def _write_article(
    article: Article, row: dict[str, Any], place: int, chosen: FileRange, writer: DocumentGroups, counters: Counters
) -> None:
    if article.reason:
        counters.drop(article.reason, size=stored_bytes(row))
        return
    if article.language:
        languages = counters.details.setdefault("languages", {})
        languages[article.language] = languages.get(article.language, 0) + 1
    columns = kept_values(row, chosen) if chosen.columns else None
    if LANGUAGE in chosen.columns and article.language:
        columns = json.dumps({LANGUAGE: article.language} | json.loads(columns or "{}"))
    named = None if chosen.id_column == ID else _id_of(row, chosen)
    document_id = _text(named, article.id or f"{chosen.label}:{place}")
    writer.add(document_id, SOURCE, article.title, article.url, article.text, columns=columns)


def _id_of(row: dict[str, Any], chosen: FileRange) -> Any:
    """Return the id of a row, in a column, at a place in one, or by a template; None where it has none."""
    if chosen.id_column not in row and is_template(chosen.id_column):
        return parse_template(chosen.id_column).text_of(row)
    return value_at(row, chosen.id_column)


def _text(value: Any, default: str) -> str:
    return default if value is None or value == "" else str(value)
