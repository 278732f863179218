"""Articles as sections in JSON: Wikimedia Enterprise's Structured Contents, and wikimedia/structured-wikipedia.

A section is an object of `type` "section" with a `name` and parts in `has_parts`; a part of `type` "paragraph" has its
text in `value`. Parts of other types (lists and their items, tables, images, the fields of infoboxes) are left out.
Source: https://enterprise.wikimedia.com/api/structured-contents/.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from bertdata.sources.wikipedia.published.form import (
    Article,
    ArticleRules,
    Form,
    finished,
    identity,
    parsed,
    plain,
    title_reason,
    without_prose,
)
from bertdata.wikitext.rules import MAX_DEPTH

_DISAMBIGUATIONS = frozenset(
    [
        "topics referred to by the same term",
        "wikimedia disambiguation page",
        "wikimedia-begriffsklärungsseite",
        "page d'homonymie de wikimedia",
        "página de desambiguación de wikimedia",
        "pagina di disambiguazione di un progetto wikimedia",
        "wikimedia-doorverwijspagina",
        "página de desambiguação da wikimedia",
        "halaman disambiguasi wikimedia",
    ]
)
"""What `description` says of disambiguation pages: such a row has neither templates nor wikitext."""


class StructuredForm(Form):
    """Rows with `sections`, a list or the JSON text of one."""

    name = "structured"
    text_column = "sections"
    mark = ("name", "identifier")
    revision = 2
    others = ("url", "description", "is_part_of", "in_language")

    def article(self, row: Mapping[str, Any], rules: ArticleRules) -> Article:
        """Return the paragraphs of the sections."""
        metadata = identity(row)
        sections = parsed(row.get("sections"))
        if not isinstance(sections, list):
            return metadata._replace(reason="no sections")
        if reason := title_reason(metadata, rules, mostly_list=_is_mostly_list(sections)):
            return metadata._replace(reason=reason)
        if _is_disambiguation(row.get("description")):
            return metadata._replace(reason="disambiguation")
        return finished(metadata._replace(text=plain(list(section_paragraphs(sections)))), rules)


STRUCTURED = StructuredForm()


def section_paragraphs(parts: Any, depth: int = 0) -> Iterator[str]:
    """Yield the paragraphs of parts in their order, those in sections of sections too.

    Sections without prose, such as "See also", are left out with those in them, and parts nested deeper than 100.

    >>> parts = [{"type": "paragraph", "value": "It rains."}, {"type": "list", "has_parts": []}]
    >>> list(section_paragraphs([{"type": "section", "name": "Climate", "has_parts": parts}]))
    ['It rains.']
    """
    for part in parts if isinstance(parts, list) and depth < MAX_DEPTH else ():
        if not isinstance(part, dict):
            continue
        kind, name, value = part.get("type"), part.get("name"), part.get("value")
        if kind == "section" and not (isinstance(name, str) and without_prose(name)):
            if isinstance(value, str):
                yield value
            yield from section_paragraphs(part.get("has_parts"), depth + 1)
        elif kind == "paragraph" and isinstance(value, str):
            yield value


def _is_mostly_list(sections: Any) -> bool:
    """Tell whether at least as much text is in lists and tables as in paragraphs.

    >>> listed = {"type": "list", "has_parts": [{"type": "list_item", "value": "Halite"}]}
    >>> _is_mostly_list([listed]), _is_mostly_list([listed, {"type": "paragraph", "value": "Salt is old."}])
    (True, False)
    """
    prose = everything = 0
    waiting = [(sections, 0)]
    while waiting:
        part, depth = waiting.pop()
        if isinstance(part, list):
            waiting += [(child, depth) for child in part]
        elif isinstance(part, dict) and depth < MAX_DEPTH:
            size = len(part["value"]) if isinstance(part.get("value"), str) else 0
            everything += size
            prose += size if part.get("type") in ("paragraph", "section") else 0
            waiting.append((part.get("has_parts"), depth + 1))
    return everything - prose >= prose


def _is_disambiguation(description: Any) -> bool:
    return isinstance(description, str) and description.strip().lower().replace("’", "'") in _DISAMBIGUATIONS
