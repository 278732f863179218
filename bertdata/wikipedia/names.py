"""The names that the compiled passes know, and what becomes of each: one table for a wiki and its templates."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from html.entities import html5
from weakref import WeakKeyDictionary

from bertdata.wikipedia import inline, kernel_inline, kernel_tags, kernel_templates, tags, template_functions
from bertdata.wikipedia.calls import PageContext
from bertdata.wikipedia.convert import convert
from bertdata.wikipedia.kernel import (
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
from bertdata.wikipedia.kernel_calls import ASKED, CONVERSION, KEPT, LITERAL, NAMED, NO_ARTICLE, WRITTEN_CALL
from bertdata.wikipedia.kernel_convert import CODES
from bertdata.wikipedia.parser_functions import FUNCTIONS, VARIABLES
from bertdata.wikipedia.template_makers import Handler, joint, kept_name, kept_position, literal_text, wrapping
from bertdata.wikipedia.templates import Templates
from bertdata.wikipedia.wikis import PAGE_KINDS, SECTIONS_WITHOUT_PROSE, Namespaces

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
        return WRITTEN_CALL | kernel_templates.WRAPPED << 3, "\0".join(around).encode()
    if join is not None and "=" not in join[0]:
        return WRITTEN_CALL | kernel_templates.JOINED << 3 | join[1] << 6, join[0].encode()
    return ASKED, b""


_WRITTEN: dict[Handler, int] = {
    template_functions.transliteration: kernel_templates.TRANSLITERATION,
    template_functions.chemistry: kernel_templates.CHEMISTRY,
    template_functions.nihongo: kernel_templates.NIHONGO,
}


def _tag_kind(name: str) -> int:
    if name in ("poem", "math", "chem", "ce"):
        return kernel_tags.FORMULA if name == "math" else kernel_tags.ASKED
    if name in ("ref", "nowiki"):
        return kernel_tags.REFERENCE if name == "ref" else kernel_tags.NOWIKI
    return kernel_tags.EXTENSION if name in tags.EXTENSIONS else kernel_tags.DROP


assert (kernel_inline.BREAK, kernel_inline.BLOCK, kernel_inline.FLAT) == (0, 1, 2)
