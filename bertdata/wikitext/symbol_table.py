"""The names that the kernels know, and what becomes of each: one table for a wiki and its templates."""

from __future__ import annotations

from collections.abc import Iterator
from html.entities import html5
from weakref import WeakKeyDictionary

from bertdata.kernels.characters import Bytes
from bertdata.wikitext import rules
from bertdata.wikitext.kernels import common, inline, paragraphs, tags, template_calls
from bertdata.wikitext.kernels.common import TEMPLATE, Ints
from bertdata.wikitext.kernels.convert import CODES
from bertdata.wikitext.mediawiki.page_kinds import KINDS, page_kinds
from bertdata.wikitext.mediawiki.site_config import SECTIONS_OF_NOTES, SECTIONS_WITHOUT_PROSE, Namespaces
from bertdata.wikitext.reference.inline import entity_text
from bertdata.wikitext.switches import switches_of
from bertdata.wikitext.template_calls import PageContext
from bertdata.wikitext.templates import factories, functions
from bertdata.wikitext.templates.convert import convert, cvt
from bertdata.wikitext.templates.parser_functions import known_functions, known_variables
from bertdata.wikitext.templates.table import Templates
from bertdata.wikitext.templates.unknown import SILENT

REASONS = ("", *KINDS)
"""Why a page is not an article; the kernels know a reason by its index."""


def table_of(page: PageContext) -> tuple[Ints, Bytes]:
    """Return (table, blob) of the names that a page may use; one for all pages of a wiki."""
    tables = _tables.setdefault(page.templates, {})
    if page.namespaces not in tables:
        tables[page.namespaces] = common.build_table(_entries(page.templates, page.namespaces))
    return tables[page.namespaces]


_tables: WeakKeyDictionary[Templates, dict[Namespaces, tuple[Ints, Bytes]]] = WeakKeyDictionary()


def _entries(templates: Templates, namespaces: Namespaces) -> Iterator[tuple[int, bytes, int, bytes]]:
    """Yield (kind, name, code, value) of every name the kernels know; of two entries of one name the first counts."""
    language = templates.locale.wiki
    for name in known_variables(language):
        yield TEMPLATE, name.encode(), template_calls.ASKED, b""
    for name, handler in templates.handlers.items():
        yield TEMPLATE, name.encode(), *_code_of(handler)
    for name, reason in page_kinds(templates.locale.code).items():
        yield TEMPLATE, name.encode(), template_calls.NO_ARTICLE + template_calls.CODES * REASONS.index(reason), b""
    for name in SILENT:
        yield TEMPLATE, name.encode(), template_calls.SILENT, b""
    for number, unit in enumerate(CODES):
        yield common.UNIT, unit.encode(), number, b""
    for number, name in enumerate(rules.TAGS):
        yield common.TAG, name.encode(), _TAG_KINDS.get(name, tags.DROP) | number << 3, b""
    for kind, code, names in (
        (common.FUNCTION, 0, known_functions(language) | namespaces.templates),
        (common.PREFIX, 0, namespaces.hidden),
        (common.SECTION, paragraphs.NOTES, SECTIONS_OF_NOTES),
        (common.SECTION, paragraphs.OTHERS, SECTIONS_WITHOUT_PROSE),
        (common.PROTOCOL, 0, rules.PROTOCOLS),
        (common.SWITCH, 0, switches_of(language).folded),
        (common.EXACT_SWITCH, 0, switches_of(language).exact),
        (common.BLOCK_TAG, paragraphs.BEGINS, rules.BEGINS_BLOCK),
        (common.BLOCK_TAG, paragraphs.ENDS, rules.ENDS_BLOCK),
        (common.INLINE_TAG, inline.BREAK, rules.BREAK_TAGS),
        (common.INLINE_TAG, inline.BLOCK, rules.BLOCK_TAGS),
        (common.INLINE_TAG, inline.STRIPPED, rules.STRIPPED_TAGS),
    ):
        for name in names:
            yield kind, name.encode(), code, b""
    for name in html5:
        if name.endswith(";"):
            yield common.ENTITY, name[:-1].encode(), 0, (entity_text(name[:-1]) or "").encode()


def _code_of(handler: factories.Handler) -> tuple[int, bytes]:
    """Return how the kernels write what a handler writes, and the text that they need for it."""
    match handler:
        case factories.Literal(text=text) if "=" not in text and len(text) < 20:
            return template_calls.LITERAL, text.encode()
        case factories.Kept(names=(("1" | "2" | "3" | "4") as first, *_)):
            return template_calls.KEPT + template_calls.CODES * int(first), b""
        case factories.Wrapped(before=before, after=after) if "=" not in before + after:
            return template_calls.WRAPPED, f"{before}\0{after}".encode()
        case _:
            return _WRITTEN.get(handler, template_calls.ASKED), b""


_WRITTEN: dict[factories.Handler, int] = {
    convert: template_calls.CONVERSION,
    cvt: template_calls.CONVERSION + template_calls.CODES,
    factories.nothing: template_calls.SILENT,
    functions.transliteration: template_calls.TRANSLITERATION,
    functions.chemistry: template_calls.CHEMISTRY,
    functions.nihongo: template_calls.NIHONGO,
}


_TAG_KINDS = {
    **dict.fromkeys(rules.EXTENSION_TAGS, tags.EXTENSION),
    **dict.fromkeys(rules.BLOCK_EXTENSION_TAGS, tags.BLOCK),
    **dict.fromkeys(rules.CODE_TAGS, tags.CODE),
    **dict.fromkeys(("poem", "chem", "ce", "nowiki"), tags.ASKED),
    **{"math": tags.FORMULA, "ref": tags.REFERENCE},
}
