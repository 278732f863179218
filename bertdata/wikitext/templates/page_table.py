"""A wiki's template pages as a table of templates: which are kept, what redirects stand for, how they call each other.

What `templates/table` knows by name comes first, a user's own templates before that.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache, partial
from typing import NamedTuple

from bertdata.wikitext.mediawiki.folding import fold_template
from bertdata.wikitext.mediawiki.language import Language
from bertdata.wikitext.mediawiki.page_kinds import page_kinds
from bertdata.wikitext.templates import english_names, pages
from bertdata.wikitext.templates.convert import Arguments
from bertdata.wikitext.templates.expansions import Key, OnPage, PageExpansions, key_of
from bertdata.wikitext.templates.factories import Handler, nothing
from bertdata.wikitext.templates.pages import NotSimpleError, OverBudgetError, PageTemplate, Work
from bertdata.wikitext.templates.parser_functions import UNKNOWN
from bertdata.wikitext.templates.table import BUILT_IN, TEMPLATES, Templates
from bertdata.wikitext.templates.unknown import is_silent

is_known = BUILT_IN.carries_text
TEXT, SILENT, REDIRECT = "text", "silent", "redirect"
_LONGEST_NAME, _MOST_EXPANSIONS, _DEEPEST, _MOST_REDIRECTS = 100, 200, 20, 3


class Entry(NamedTuple):
    """A template page: its folded name, and its text (kind TEXT), no text (SILENT) or another's name (REDIRECT)."""

    name: str
    kind: str
    text: str


def entry(title: str, source: str, redirect: str | None, language: Language = UNKNOWN) -> Entry | None:
    """Return the entry of a page of the template namespace; None where the page says nothing that is of use.

    language: that of the wiki, whose names of functions the text is written with.

    >>> entry("Template:Ink", "<b>{{{1}}}</b><noinclude>A template.</noinclude>", None)
    Entry(name='ink', kind='text', text='<b>{{{1}}}</b>')
    >>> entry("Template:Dye", "", "Template:Ink")
    Entry(name='dye', kind='redirect', text='ink')
    """
    name = _name(title)
    tells_kind = name in page_kinds(language.code)
    if not name or len(name.encode()) > _LONGEST_NAME or tells_kind or is_silent(name) or is_known(name):
        return None
    if redirect is not None:
        return Entry(name, REDIRECT, _name(redirect))
    text = pages.included(source)
    text = text and english_names.in_english_namespaces(text, language)
    if text is None or pages.is_silent_page(text):
        return Entry(name, SILENT, "") if "{{{" in source else None
    text = english_names.in_english(pages.without_categories(text), language)
    try:
        PageTemplate.parse(text)
    except NotSimpleError:
        return None
    return Entry(name, TEXT, text)


def _name(title: str) -> str:
    name = fold_template(title.partition(":")[2].strip())
    return "" if ":" in name else name


def gather(entries: Iterable[Entry]) -> list[Entry]:
    """Return the entries that are of use together, by name; of two of one name the first counts.

    A redirect to a template that is known by name, or to an entry, is kept; a text that calls an unknown template is
    dropped.
    """
    by_name: dict[str, Entry] = {}
    for entry in entries:
        by_name.setdefault(entry.name, entry)
    for name, entry in list(by_name.items()):
        target = entry
        for _ in range(_MOST_REDIRECTS):
            if target.kind == REDIRECT and target.text in by_name:
                target = by_name[target.text]
        if target.kind != REDIRECT:
            by_name[name] = target._replace(name=name)
        elif is_silent(target.text):
            by_name[name] = Entry(name, SILENT, "")
        elif is_known(target.text):
            by_name[name] = Entry(name, REDIRECT, target.text)
        else:
            del by_name[name]
    calls = {
        name: pages.calls_of(PageTemplate.parse(entry.text).parts)
        for name, entry in by_name.items()
        if entry.kind == TEXT
    }
    callers = defaultdict[str, list[str]](list)
    for name, called in calls.items():
        for other in called:
            callers[other].append(name)
    lacking = [name for name in callers if not _has_text_or_none(by_name, name)]
    while lacking:  # each name once, when it is deleted
        for name in callers.pop(lacking.pop(), ()):
            if by_name.pop(name, None) and not _has_text_or_none(by_name, name):
                lacking.append(name)
    return [by_name[name] for name in sorted(by_name)]


def _has_text_or_none(entries: Mapping[str, Entry], name: str) -> bool:
    return name in entries or is_known(name) or is_silent(name)


def page_handlers(entries: Iterable[Entry], language: Language = UNKNOWN) -> dict[str, Handler]:
    """Return the functions that write the texts of gathered entries on a wiki of a language.

    >>> handlers = page_handlers(gather([Entry("ink", "text", "<b>{{{1}}}</b>"), Entry("dye", "redirect", "ink")]))
    >>> handlers["dye"]({"1": "blue"})
    '<b>blue</b>'
    """
    texts: dict[str, str] = {}
    handlers: dict[str, Handler] = {}
    for entry in entries:
        for name in {entry.name, entry.name[0].lower() + entry.name[1:]}:  # a call may begin with a small letter
            if entry.kind == TEXT:
                texts[name] = entry.text
                handlers[name] = PageHandler(texts, name, language)
            else:
                handlers[name] = _handler_of(entry)
    return handlers


def _handler_of(entry: Entry) -> Handler:
    """Return the function of a redirect, which the kernels may know, or of a template that prints nothing."""
    if entry.kind == SILENT:
        return nothing
    return TEMPLATES.get(entry.text) or partial(BUILT_IN.render, entry.text)


def with_pages(templates: Templates, entries: Iterable[Entry]) -> Templates:
    """Return templates to which those of pages are added; those that are known by name, or a user's own, come first."""
    by_name = {**TEMPLATES, **templates.locale.handlers, **templates.own}
    return Templates({**page_handlers(entries, templates.locale.wiki), **by_name}, templates.locale)


class PageHandler(OnPage):
    """Writes the text of one template by its page, and by those of the templates that it calls."""

    def __init__(self, texts: Mapping[str, str], name: str, language: Language) -> None:
        self.texts, self.name, self.language = texts, name, language

    def __call__(self, arguments: Arguments) -> str | None:
        """Return the text of a call on a page of its own."""
        return self.expand(arguments, PageExpansions())

    def expand(self, arguments: Arguments, expansions: PageExpansions) -> str | None:
        """Return the text of a call on a page, None where it would take more than the call's share of its budget."""
        key = key_of(self.name, arguments)
        if key not in expansions.texts:
            expansion = _Expansion(self.texts, Work(expansions.share), self.language, expansions.title)
            try:
                expansions.texts[key] = expansion.render(self.name, arguments)
            except OverBudgetError:
                expansions.texts[key] = None
                expansions.over_budget += 1
        return expansions.texts[key]


class _Expansion:
    """The expansion of one call: all templates that it calls may be expanded so many times, and nested so deep.

    A text is remembered with how many expansions it took, and how deep. A template that calls itself, by way of others,
    too, prints nothing there, as on a wiki; a text with such a call is not remembered.
    """

    def __init__(self, texts: Mapping[str, str], work: Work, language: Language, title: str) -> None:
        self.texts, self.work, self.language, self.title = texts, work, language, title
        self.expanding: list[str] = []
        self.loops = 0
        self.left, self.depth, self.deepest = _MOST_EXPANSIONS, 0, 0
        self.remembered: dict[Key, tuple[str | None, int, int]] = {}

    def render(self, name: str, arguments: Arguments) -> str | None:
        """Return the text of a call, None where it is one too many or too deep."""
        if is_known(name):
            return BUILT_IN.render(name, arguments)
        self.deepest = max(self.deepest, self.depth + 1)
        if self.left <= 0 or self.depth == _DEEPEST or name not in self.texts:
            self.left -= 1
            return None
        source = self.texts[name]
        if source in self.expanding:
            self.loops += 1
            return None
        key = key_of(name, arguments)
        self.work.spend(1, sum(map(len, arguments.values())))
        if key in self.remembered:
            text, expansions, levels = self.remembered[key]
            if self.left >= expansions and self.depth + levels <= _DEEPEST:
                self.left -= expansions
                self.deepest = max(self.deepest, self.depth + levels)
                return text
        before, loops, deepest, self.deepest = self.left, self.loops, self.deepest, self.depth + 1
        self.left -= 1
        self.depth += 1
        self.expanding.append(source)
        text = _parsed(source).expand(arguments, self.render, self.work, self.language, self.title)
        self.expanding.pop()
        self.depth -= 1
        if self.loops == loops and self.left >= 0 and self.deepest <= _DEEPEST:
            self.remembered[key] = text, before - self.left, self.deepest - self.depth
        self.deepest = max(self.deepest, deepest)
        return text


@lru_cache(maxsize=4096)
def _parsed(text: str) -> PageTemplate:
    return PageTemplate.parse(text)
