"""Prose out of the wikitext of one page: `clean_wikitext`.

Five passes, each reading the text once from left to right, so that the time is linear whatever the nesting:

1. `tags` takes out comments, references and extension tags;
2. `brackets` walks the braces, brackets and tables with a stack: a link becomes its text, a template call the text
   that `templates` has for it; files, categories and tables go;
3. `paragraphs` drops lists, headings and sections without prose, and strips quote marks;
4. `inline` resolves external links, HTML tags and entities;
5. `cleanup` takes out empty parentheses, doubled spaces and the like where something was dropped.

Each pass is in `reference/` in plain Python and in `kernels/` compiled, over UTF-8; `driver` runs the kernels and
`extract` the reference, which the tests compare them with. No template of the wiki is expanded: a call becomes
the text that the function of that name in `templates` returns. Where there is none, a call inside a sentence becomes
the argument that it is likely to print.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from bertdata.errors import ConfigError, InputError
from bertdata.kernels.use import Kernels
from bertdata.wikitext.mediawiki.page_kinds import (
    DISAMBIGUATION,
    has_disambiguation_switch,
    is_mostly_list,
    title_kind,
)
from bertdata.wikitext.mediawiki.redirect_words import redirect_target
from bertdata.wikitext.mediawiki.site_config import DEFAULT_NAMESPACES, Namespaces
from bertdata.wikitext.reference.brackets import resolve_brackets
from bertdata.wikitext.reference.cleanup import finish
from bertdata.wikitext.reference.inline import resolve_inline
from bertdata.wikitext.reference.paragraphs import prose_lines
from bertdata.wikitext.reference.tags import take_out_tags
from bertdata.wikitext.rules import INVISIBLE_REFERENCES, RESERVED
from bertdata.wikitext.template_calls import PageContext
from bertdata.wikitext.templates.expansions import PageExpansions
from bertdata.wikitext.templates.table import BUILT_IN, Templates, templates_of

__all__ = ["DEFAULT_NAMESPACES", "OVER_BUDGET", "Namespaces", "clean_utf8", "clean_wikitext", "extract"]

OVER_BUDGET = "template calls over the budget of a page"
_INVISIBLE_REFERENCES = tuple(reference.encode() for reference in INVISIBLE_REFERENCES)
KERNELS = Kernels("bertdata.wikitext.kernels.page:page_kernel")


def clean_wikitext(
    source: str,
    *,
    title: str = "",
    namespaces: Namespaces = DEFAULT_NAMESPACES,
    templates: Templates = BUILT_IN,
    language: str = "",
    variant: str = "",
    keep_lists: bool = False,
    drops: Counter[str] | None = None,
    compiled: bool | None = None,
) -> str | None:
    """Return the prose of a page, paragraphs separated by a blank line, or None with the reason counted in `drops`.

    `source` is wikitext as the dump holds it once its XML is decoded. The reasons are "redirect", "soft redirect",
    "disambiguation", "list" and "no prose". Inside a paragraph only verse has line breaks. The time is linear in the
    length of `source`. Raises ConfigError if `source` is not a str, if `templates` and `language` are both given, or if
    the language has no such variant.

    `language` is the code of the wiki's language, as "de": namespaces, the names of functions, numbers and templates
    are then those of that wiki (docs/sources.md says what works in which language). Where `namespaces` are given, as
    the dump of a wiki names them, they are those.

    A page is a "list" by its title and by its lines, most of which are in lists or tables; `keep_lists` keeps the prose
    of such pages.

    `variant` is the script or region, as "zh-hant", that is shown of `-{zh-hans:a;zh-hant:b}-`; default: the one that
    the wiki shows to a reader who chooses none.

    `compiled` changes the speed and never the result: True runs compiled kernels, about fourteen times as fast as the
    plain Python of False. They are compiled once on a machine, in half a minute, and then loaded by each process, in
    about a second. With None a process loads them after 1 MiB of wikitext, in one call or many, where they were
    compiled before, and compiles them after 32 MiB where not.

    >>> print(clean_wikitext("'''Rome''' ({{IPA|ˈroma}}) is {{convert|20|km|mi}} from [[Ostia (Rome)|]].<ref>x</ref>"))
    Rome is 20 kilometres (12 mi) from Ostia.
    >>> clean_wikitext("Der Ort hat {{formatnum:12345.6}} Einwohner.", language="de")
    'Der Ort hat 12.345,6 Einwohner.'
    >>> reasons = Counter()
    >>> clean_wikitext("#REDIRECT [[Rome]]", drops=reasons), reasons
    (None, Counter({'redirect': 1}))
    """
    if not isinstance(source, str):
        raise ConfigError(
            f"expected the wikitext of one page as str, found {type(source).__name__}"
            + ("; decode it, or give it to clean_utf8" if isinstance(source, bytes | bytearray) else "")
        )
    if language:
        if templates is not BUILT_IN:
            raise ConfigError("templates and language were both given; leave one out: templates have their language")
        templates = templates_of(language)
        if namespaces is DEFAULT_NAMESPACES:
            namespaces = Namespaces.of_language(language)
    if variant:
        _check_variant(variant, templates)
    data = source.encode("utf-8", "surrogatepass")
    page = PageContext(title, namespaces, templates, PageExpansions(data, title), variant, keep_lists)
    prose = _clean(data, page, drops, compiled)
    return None if prose is None else prose.decode("utf-8", "surrogatepass")


def _check_variant(variant: str, templates: Templates) -> None:
    from bertdata.wikitext.reference.variants import check_variant

    wiki = templates.locale.wiki
    if others := check_variant(variant, wiki):
        raise ConfigError(
            f"variant is {variant!r}, which the language {wiki.code or 'en'!r} does not have; its variants are "
            + (", ".join(others))
        )


def clean_utf8(
    source: bytes,
    *,
    title: str = "",
    namespaces: Namespaces = DEFAULT_NAMESPACES,
    templates: Templates = BUILT_IN,
    variant: str = "",
    keep_lists: bool = False,
    drops: Counter[str] | None = None,
    compiled: bool | None = None,
    left_out: Counter[str] | None = None,
) -> bytes | None:
    """Do what `clean_wikitext` does where wikitext and prose are UTF-8, as in a dump and in an Arrow column.

    `left_out` counts under OVER_BUDGET the calls of templates, expanded by their pages, that print nothing as they take
    more than their share of the page's budget (`templates.expansions`).

    Raises InputError, with the byte, where `source` is not UTF-8, and ConfigError where it is not bytes.

    >>> clean_utf8("'''Köln''' is old.<ref>x</ref>".encode()).decode()
    'Köln is old.'
    """
    if not isinstance(source, bytes):
        raise ConfigError(f"expected the wikitext of one page as bytes, found {type(source).__name__}")
    if not source.isascii():
        try:
            source.decode()
        except UnicodeDecodeError as error:
            raise InputError(
                f"the wikitext is not UTF-8 (byte 0x{source[error.start]:02x}); decode it with the encoding it has, "
                "and give it to clean_wikitext",
                offset=error.start,
                title=title or None,
            ) from error
    expansions = PageExpansions(source, title)
    prose = _clean(source, PageContext(title, namespaces, templates, expansions, variant, keep_lists), drops, compiled)
    if left_out is not None and prose is not None and expansions.over_budget:
        left_out[OVER_BUDGET] += expansions.over_budget
    return prose


def _clean(source: bytes, page: PageContext, drops: Counter[str] | None, compiled: bool | None) -> bytes | None:
    prose, kind = b"", title_kind(page.title, page.templates.locale.code)
    if redirect_target(source) is not None:
        reason = "redirect"
    elif has_disambiguation_switch(source, page.templates.locale.code):
        reason = DISAMBIGUATION
    elif kind and (kind != "list" or (not page.keep_lists and is_mostly_list(source))):
        reason = kind
    else:
        prose, reason = _extractor(len(source), compiled)(without_reserved(source), page)
    if not reason and prose:
        return prose
    if drops is not None:
        drops[reason or "no prose"] += 1
    return None


def _extractor(size: int, compiled: bool | None) -> Callable[[bytes, PageContext], tuple[bytes, str]]:
    """Return the compiled passes where they pay, else the reference."""
    if not KERNELS.pay(size, compiled):
        return extract_readable
    from bertdata.wikitext.driver import extract_utf8

    return extract_utf8


def extract_readable(source: bytes, page: PageContext) -> tuple[bytes, str]:
    """Return what `extract` returns where wikitext and prose are UTF-8, as `driver.extract_utf8` does."""
    prose, reason = extract(source.decode("utf-8", "surrogatepass"), page)
    return prose.encode("utf-8", "surrogatepass"), reason


def without_reserved(source: bytes) -> bytes:
    """Return wikitext with plain line ends and without what the passes use as marks, or nobody sees."""
    for mark in RESERVED.encode():
        source = source.replace(bytes([mark]), b"")
    for reference in _INVISIBLE_REFERENCES:
        if reference[1] in source:  # a byte of Hebrew or Arabic, which is looked for in a tenth of the time
            source = source.replace(reference, b"")
    return source.replace(b"\r\n", b"\n") if b"\r" in source else source


def extract(source: str, page: PageContext) -> tuple[str, str]:
    """Return the prose of wikitext without reserved characters, and why the page is not an article ("" if it is one).

    >>> extract("'''Rome''' is old.<ref>x</ref>", PageContext()), extract("Rome is...{{disambig}}", PageContext())
    (('Rome is old.', ''), ('', 'disambiguation'))
    """
    text = take_out_tags(source)
    if "-{" in text:
        from bertdata.wikitext.reference.variants import resolve_variants

        text = resolve_variants(text, page.templates.locale.wiki, page.variant)
    text, reason = resolve_brackets(text, page)
    return ("", reason) if reason else (finish(resolve_inline(prose_lines(text), page.templates.locale.wiki)), "")
