"""A wiki's template pages as a table of templates: which are kept, what redirects stand for, how they call each other.

What `templates/table` knows by name comes first, a user's own templates before that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache, partial
from typing import NamedTuple

from bertdata.sources.wikipedia.dump.site_config import PAGE_KINDS, fold_name
from bertdata.sources.wikipedia.templates import pages
from bertdata.sources.wikipedia.templates.convert import Arguments
from bertdata.sources.wikipedia.templates.factories import Handler, nothing
from bertdata.sources.wikipedia.templates.pages import NotSimpleError, PageTemplate
from bertdata.sources.wikipedia.templates.table import BUILT_IN, TEMPLATES, Templates
from bertdata.sources.wikipedia.templates.unknown import is_silent

is_known = BUILT_IN.carries_text
TEXT, SILENT, REDIRECT = "text", "silent", "redirect"
_LONGEST_NAME, _MOST_EXPANSIONS, _DEEPEST, _MOST_REDIRECTS = 100, 200, 20, 3


class Entry(NamedTuple):
    """A template page: its folded name, and its text (kind TEXT), no text (SILENT) or another's name (REDIRECT)."""

    name: str
    kind: str
    text: str


def entry(title: str, source: str, redirect: str | None) -> Entry | None:
    """Return the entry of a page of the template namespace; None where the page says nothing that is of use.

    >>> entry("Template:Ink", "<b>{{{1}}}</b><noinclude>A template.</noinclude>", None)
    Entry(name='ink', kind='text', text='<b>{{{1}}}</b>')
    >>> entry("Template:Dye", "", "Template:Ink")
    Entry(name='dye', kind='redirect', text='ink')
    """
    name = _name(title)
    if not name or len(name.encode()) > _LONGEST_NAME or name in PAGE_KINDS or is_silent(name) or is_known(name):
        return None
    if redirect is not None:
        return Entry(name, REDIRECT, _name(redirect))
    text = pages.included(source)
    if text is None or pages.is_silent_page(text):
        return Entry(name, SILENT, "") if "{{{" in source else None
    try:
        PageTemplate.parse(text)
    except NotSimpleError:
        return None
    return Entry(name, TEXT, text)


def _name(title: str) -> str:
    name = fold_name(title.partition(":")[2].strip())
    return "" if ":" in name else name


def gather(entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries that are of use together, by name; of two of one name the first counts.

    A redirect to a template that is known by name, or to an entry, is kept; a text that calls a template of which
    nothing is known is not.
    """
    found: dict[str, Entry] = {}
    for one in entries:
        found.setdefault(one.name, one)
    for name, one in list(found.items()):
        target = one
        for _ in range(_MOST_REDIRECTS):
            if target.kind == REDIRECT and target.text in found:
                target = found[target.text]
        if target.kind != REDIRECT:
            found[name] = target._replace(name=name)
        elif is_silent(target.text):
            found[name] = Entry(name, SILENT, "")
        elif is_known(target.text):
            found[name] = Entry(name, REDIRECT, target.text)
        else:
            del found[name]
    calls = {
        name: pages.calls_of(PageTemplate.parse(one.text).parts) for name, one in found.items() if one.kind == TEXT
    }
    while lacking := [name for name in calls if not all(map(partial(_has_text_or_none, found), calls[name]))]:
        for name in lacking:
            del found[name], calls[name]
    return [found[name] for name in sorted(found)]


def _has_text_or_none(found: Mapping[str, Entry], name: str) -> bool:
    return name in found or is_known(name) or is_silent(name)


def page_handlers(entries: Iterable[Entry]) -> dict[str, Handler]:
    """Return the functions that write the texts of gathered entries.

    >>> handlers = page_handlers(gather([Entry("ink", "text", "<b>{{{1}}}</b>"), Entry("dye", "redirect", "ink")]))
    >>> handlers["dye"]({"1": "blue"})
    '<b>blue</b>'
    """
    texts: dict[str, str] = {}
    handlers: dict[str, Handler] = {}
    for one in entries:
        if one.kind == TEXT:
            texts[one.name] = one.text
            handlers[one.name] = partial(_expanded, texts, one.name)
        else:
            handlers[one.name] = _handler_of(one)
    return handlers


def _handler_of(one: Entry) -> Handler:
    """Return the function of a redirect, which the kernels may know, or of a template that prints nothing."""
    if one.kind == SILENT:
        return nothing
    return TEMPLATES.get(one.text) or partial(BUILT_IN.render, one.text)


def with_pages(templates: Templates, entries: Iterable[Entry]) -> Templates:
    """Return templates to which those of pages are added; those that are known by name, or a user's own, come first."""
    known = {**TEMPLATES, **templates.locale.handlers, **templates.own}
    return Templates({**page_handlers(entries), **known}, templates.locale)


def _expanded(texts: Mapping[str, str], name: str, arguments: Arguments) -> str | None:
    """Return the text of a call; all templates that it calls may be expanded so many times, and nested so deep."""
    left, depth = _MOST_EXPANSIONS, 0

    def render(called: str, given: Arguments) -> str | None:
        nonlocal left, depth
        if is_known(called):
            return BUILT_IN.render(called, given)
        left -= 1
        if left < 0 or depth == _DEEPEST or called not in texts:
            return None
        depth += 1
        text = _parsed(texts[called]).expand(given, render)
        depth -= 1
        return text

    return render(name, arguments)


@lru_cache(maxsize=4096)
def _parsed(text: str) -> PageTemplate:
    return PageTemplate.parse(text)
