"""Whole pages in rows: Wikimedia Enterprise's articles, with wikitext and HTML in `article_body`.

The wikitext goes through the cleaner of dumps; HTML is read only where there is no wikitext.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from bertdata.documents import storable
from bertdata.sources.wikipedia.dump.reader import Page
from bertdata.sources.wikipedia.format import article
from bertdata.sources.wikipedia.published.form import (
    Article,
    ArticleRules,
    Form,
    field,
    finished,
    identity,
    parsed,
    plain,
    title_reason,
    whole,
)
from bertdata.wikitext.mediawiki.folding import fold_name
from bertdata.wikitext.mediawiki.language import language_of as wiki_language
from bertdata.wikitext.mediawiki.page_kinds import page_kinds
from bertdata.wikitext.mediawiki.site_config import Namespaces
from bertdata.wikitext.templates.table import templates_of


class EnterpriseForm(Form):
    """Rows with `article_body`, an object with `wikitext` and `html`, or its JSON text."""

    name = "enterprise"
    text_column = "article_body"
    mark = ("name", "identifier")
    revision = 4
    others = ("url", "namespace", "in_language", "is_part_of", "categories", "templates", "event")

    def article(self, row: Mapping[str, Any], rules: ArticleRules) -> Article:
        """Return the prose of the page, dropped where it is a redirect, of another namespace, or no article."""
        found, body = identity(row), parsed(row.get("article_body"))
        if field(row, "event", "type") == "delete":
            return found._replace(reason="deleted")
        if whole(field(row, "namespace", "identifier")):
            return found._replace(reason="not an article")
        wikitext, html = field(body, "wikitext"), field(body, "html")
        if isinstance(wikitext, str) and wikitext.strip():
            return from_wikitext(found, wikitext, rules, category_prefix(row.get("categories")))
        if isinstance(html, str) and html.strip():
            kinds = (page_kinds(found.language).get(name) for name in _templates_of(row.get("templates")))
            return _from_html(found, html, rules, next(filter(None, kinds), ""))
        return found._replace(reason="no text")


ENTERPRISE = EnterpriseForm()


def from_wikitext(found: Article, wikitext: str, rules: ArticleRules, category: str = "") -> Article:
    """Return an article with the prose of its wikitext, dropped for the reasons for which a page of a dump is.

    category: the name of that namespace in the wiki's language, "" where it is unknown.
    """
    page = Page(0, 0, found.title, None, "wikitext", storable(wikitext).encode(), 0)
    text, reason = article(
        page,
        _namespaces(found.language, category),
        templates_of(found.language, rules.templates, rules.templates_sha256),
        rules.min_words,
        rules.compiled,
        variant=rules.variant,
        keep_lists=rules.keep_lists,
    )
    return found._replace(text=text.decode(), reason=reason)


def category_prefix(categories: Any) -> str:
    """Return the name of the namespace of categories in the wiki's language, which the names of categories begin with.

    >>> category_prefix([{"name": "Kategorija:Sāls"}])
    'Kategorija'
    """
    for one in _listed(categories):
        prefix, colon, _ = str(one.get("name") or "").partition(":")
        if colon:
            return prefix
    return ""


def _from_html(found: Article, html: str, rules: ArticleRules, kind: str) -> Article:
    if reason := kind:
        return found._replace(reason=reason)
    from bertdata.sources.wikipedia.published.html import prose_of_html

    prose = prose_of_html(html, wiki_language(found.language), rules.variant)
    reason = prose.reason or title_reason(found, rules, mostly_list=prose.mostly_list)
    return finished(found._replace(text=plain(prose.paragraphs), reason=reason), rules)


def _templates_of(templates: Any) -> list[str]:
    """Return the names of the templates that a page calls, folded, without the name of their namespace."""
    return [fold_name(str(one.get("name") or "").partition(":")[2]) for one in _listed(templates)]


def _listed(value: Any) -> list[Mapping[str, Any]]:
    value = parsed(value)
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


@lru_cache(maxsize=64)
def _namespaces(language: str, category: str) -> Namespaces:
    return Namespaces.from_siteinfo({14: category} if category else {}, language)
