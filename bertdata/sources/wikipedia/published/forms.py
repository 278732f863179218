"""The forms in which Wikipedia is published as rows, and which of them a file is, by its columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bertdata.sources.wikipedia.published.cirrus import CIRRUS, CIRRUS_WIKITEXT
from bertdata.sources.wikipedia.published.form import Form
from bertdata.sources.wikipedia.published.markdown import FINEWIKI, FINEWIKI_WIKITEXT
from bertdata.sources.wikipedia.published.pages import ENTERPRISE
from bertdata.sources.wikipedia.published.sections import STRUCTURED

_ALL = (FINEWIKI, FINEWIKI_WIKITEXT, ENTERPRISE, STRUCTURED, CIRRUS, CIRRUS_WIKITEXT)
FORMS: dict[str, Form] = {form.name: form for form in _ALL}
"""The forms by name; of several that fit a file, the first is read."""
USUAL_COLUMN = "text"


class Choice(NamedTuple):
    """The column of the text, the form that it is of (None: text as it is), and what the user should know of that."""

    column: str
    form: Form | None = None
    note: str = ""


def choose(names: Sequence[str], asked: str) -> Choice:
    """Return how the text of a file is read, by its columns and the column that was asked for.

    That column is taken where the file has it. Where the usual one is asked for and the file has none of that name, it
    is the column of the first form that the file is of.

    >>> choose(["id", "text"], "text")
    Choice(column='text', form=None, note='')
    >>> choice = choose(["name", "identifier", "article_body", "sections"], "text")
    >>> choice.form.name, choice.note
    ('enterprise', "has the columns 'article_body' and 'sections': reads 'article_body' (enterprise); for the other give
    --text-column sections")
    """
    fitting = [form for form in FORMS.values() if form.fits(names)]
    if asked != USUAL_COLUMN or not fitting:
        return Choice(asked, next((form for form in fitting if form.text_column == asked), None))
    form = next((candidate for candidate in fitting if candidate.text_column == asked), None)
    column, kind = asked, "as it is"
    if asked not in names:
        form = fitting[0]
    if form:
        column, kind = form.text_column, form.name
    others = [candidate.text_column for candidate in fitting if candidate.text_column != column]
    if not others:
        return Choice(column, form)
    has = " and ".join(map(repr, [column, *others]))
    other = f"for the other give --text-column {others[0]}"
    if len(others) > 1:
        other = "for another give --text-column with its name"
    return Choice(column, form, f"has the columns {has}: reads {column!r} ({kind}); {other}")
