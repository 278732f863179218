"""The names that the compiled passes know, and what becomes of each: one table for a wiki and its templates."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from html.entities import html5
from weakref import WeakKeyDictionary

from bertdata.sources.wikipedia.dump.site_config import PAGE_KINDS, SECTIONS_WITHOUT_PROSE, Namespaces
from bertdata.sources.wikipedia.templates import functions
from bertdata.sources.wikipedia.templates.convert import convert
from bertdata.sources.wikipedia.templates.factories import (
    Handler,
    joint,
    kept_name,
    kept_position,
    literal_text,
    wrapping,
)
from bertdata.sources.wikipedia.templates.parser_functions import FUNCTIONS, VARIABLES
from bertdata.sources.wikipedia.templates.registry import Templates
from bertdata.sources.wikipedia.wikitext.kernels import inline as inline_kernel
from bertdata.sources.wikipedia.wikitext.kernels import tags as tags_kernel
from bertdata.sources.wikipedia.wikitext.kernels import templates as templates_kernel
from bertdata.sources.wikipedia.wikitext.kernels.common import (
    ENTITY,
    FUNCTION,
    INLINE_TAG,
    PREFIX,
    PROTOCOL,
    SECTION,
    TAG,
    TEMPLATE,
    UNIT,
    Bytes,
    Ints,
    build_table,
)
from bertdata.sources.wikipedia.wikitext.kernels.convert import CODES
from bertdata.sources.wikipedia.wikitext.kernels.template_calls import (
    ASKED,
    CONVERSION,
    KEPT,
    LITERAL,
    NAMED,
    NO_ARTICLE,
    WRITTEN_CALL,
)
from bertdata.sources.wikipedia.wikitext.reference import inline, tags
from bertdata.sources.wikipedia.wikitext.template_calls import PageContext

REASONS = ("", *sorted(set(PAGE_KINDS.values())))
"""Why a page is no article, by the number that the kernels know."""

TAGS = (*tags.SPECIAL, *sorted(tags.EXTENSIONS), *sorted(tags.FORMATTING))
"""The tags of the first pass, by the number that the kernels know."""


def table_of(page: PageContext) -> tuple[Ints, Bytes]:
    """Return (table, blob) of the names that a page may use; one for all pages of a wiki."""
    tables = _tables.setdefault(page.templates, {})
    if page.namespaces not in tables:
        tables[page.namespaces] = build_table(_entries(page.templates, page.namespaces))
    return tables[page.namespaces]


_tables: WeakKeyDictionary[Templates, dict[Namespaces, tuple[Ints, Bytes]]] = WeakKeyDictionary()


def _entries(templates: Templates, namespaces: Namespaces) -> Iterator[tuple[int, bytes, int, bytes]]:
    """Yield every name that the kernels know; of two entries of one name the first counts."""
    for name in VARIABLES:
        yield TEMPLATE, name.encode(), ASKED, b""
    for name in FUNCTIONS:
        yield FUNCTION, name.encode(), 0, b""
    for name, handler in templates.handlers.items():
        yield TEMPLATE, name.encode(), *_code_of(handler)
    for name, reason in PAGE_KINDS.items():
        yield TEMPLATE, name.encode(), NO_ARTICLE | REASONS.index(reason) << 3, b""
    for number, unit in enumerate(CODES):
        yield UNIT, unit.encode(), number, b""
    for name in namespaces.hidden:
        yield PREFIX, name.encode(), 0, b""
    for name in SECTIONS_WITHOUT_PROSE:
        yield SECTION, name.encode(), 0, b""
    for number, name in enumerate(TAGS):
        yield TAG, name.encode(), _tag_kind(name) | number << 3, b""
    for name in inline.PROTOCOLS:
        yield PROTOCOL, name.encode(), 0, b""
    for kind_of_tag, names in enumerate((inline.BREAK_TAGS, inline.BLOCK_TAGS, inline.FLAT_TAGS)):
        for name in names:
            yield INLINE_TAG, name.encode(), kind_of_tag, b""
    for name in html5:
        if name.endswith(";"):
            yield ENTITY, name[:-1].encode(), 0, (inline.entity_text(name[:-1]) or "").encode()


def _code_of(handler: Handler) -> tuple[int, bytes]:
    """Return how the kernels write what a handler writes, and the text that they need for it."""
    text, around, join = literal_text(handler), wrapping(handler), joint(handler)
    if text is not None and "=" not in text and len(text) < 20:
        return LITERAL, text.encode()
    if position := kept_position(handler):
        return KEPT | position << 3, b""
    if name := kept_name(handler):
        return NAMED, name.encode()
    if handler is convert or (isinstance(handler, partial) and handler.func is convert):
        return CONVERSION | (handler is not convert) << 3, b""
    if handler in _WRITTEN:
        return WRITTEN_CALL | _WRITTEN[handler] << 3, b""
    if around is not None and "=" not in "".join(around):
        return WRITTEN_CALL | templates_kernel.WRAPPED << 3, "\0".join(around).encode()
    if join is not None and "=" not in join[0]:
        return WRITTEN_CALL | templates_kernel.JOINED << 3 | join[1] << 6, join[0].encode()
    return ASKED, b""


_WRITTEN: dict[Handler, int] = {
    functions.transliteration: templates_kernel.TRANSLITERATION,
    functions.chemistry: templates_kernel.CHEMISTRY,
    functions.nihongo: templates_kernel.NIHONGO,
}


def _tag_kind(name: str) -> int:
    if name in ("poem", "math", "chem", "ce"):
        return tags_kernel.FORMULA if name == "math" else tags_kernel.ASKED
    if name in ("ref", "nowiki"):
        return tags_kernel.REFERENCE if name == "ref" else tags_kernel.NOWIKI
    return tags_kernel.EXTENSION if name in tags.EXTENSIONS else tags_kernel.DROP


assert (inline_kernel.BREAK, inline_kernel.BLOCK, inline_kernel.FLAT) == (0, 1, 2)
