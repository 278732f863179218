"""Whole pages in rows: Wikimedia Enterprise's articles, with wikitext and HTML in `article_body`.

The wikitext goes through the cleaner of dumps; HTML is read only where there is no wikitext.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from bertdata.documents import storable
from bertdata.sources.names import NO_TEXT
from bertdata.sources.wikipedia.dump.reader import Page
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


class EnterpriseForm(Form):
    """Rows with `article_body`, an object with `wikitext` and `html`, or its JSON text."""

    name = "enterprise"
    text_column = "article_body"
    mark = ("name", "identifier")
    revision = 5
    others = ("url", "namespace", "in_language", "is_part_of", "categories", "templates", "event")

    def article(self, row: Mapping[str, Any], rules: ArticleRules) -> Article:
        """Return the prose of the page, dropped where it is a redirect, of another namespace, or no article."""
        metadata, body = identity(row), parsed(row.get("article_body"))
        if field(row, "event", "type") == "delete":
            return metadata._replace(reason="deleted")
        if whole(field(row, "namespace", "identifier")):
            return metadata._replace(reason="not an article")
        wikitext, html = field(body, "wikitext"), field(body, "html")
        if isinstance(wikitext, str) and wikitext.strip():
            return from_wikitext(metadata, wikitext, rules, category_prefix(row.get("categories")))
        if isinstance(html, str) and html.strip():
            kinds = (page_kinds(metadata.language).get(name) for name in _templates_of(row.get("templates")))
            return _from_html(metadata, html, rules, next(filter(None, kinds), ""))
        return metadata._replace(reason=NO_TEXT)


ENTERPRISE = EnterpriseForm()


def from_wikitext(metadata: Article, wikitext: str, rules: ArticleRules, category: str = "") -> Article:
    """Return an article with the prose of its wikitext, dropped for the reasons for which a page of a dump is.

    category: the name of that namespace in the wiki's language, "" where it is unknown.
    """
    # what cleans pages takes long to import, and every table is compared with the columns of these forms
    from bertdata.sources.wikipedia.articles import article
    from bertdata.wikitext.templates.table import templates_of

    page = Page(0, 0, metadata.title, None, "wikitext", storable(wikitext).encode(), 0)
    text, reason = article(
        page,
        _namespaces(metadata.language, category),
        templates_of(metadata.language, rules.templates, rules.templates_sha256),
        rules.min_words,
        rules.compiled,
        variant=rules.variant,
        keep_lists=rules.keep_lists,
    )
    return metadata._replace(text=text.decode(), reason=reason)


def category_prefix(categories: Any) -> str:
    """Return the name of the namespace of categories in the wiki's language, which the names of categories begin with.

    >>> category_prefix([{"name": "Kategorija:Sāls"}])
    'Kategorija'
    """
    for category in _listed(categories):
        prefix, colon, _ = str(category.get("name") or "").partition(":")
        if colon:
            return prefix
    return ""


def _from_html(metadata: Article, html: str, rules: ArticleRules, kind: str) -> Article:
    if reason := kind:
        return metadata._replace(reason=reason)
    from bertdata.sources.wikipedia.published.html import prose_of_html

    prose = prose_of_html(html, wiki_language(metadata.language), rules.variant)
    reason = prose.reason or title_reason(metadata, rules, mostly_list=prose.mostly_list)
    return finished(metadata._replace(text=plain(prose.paragraphs), reason=reason), rules)


def _templates_of(templates: Any) -> list[str]:
    """Return the names of the templates that a page calls, folded, without the name of their namespace."""
    return [fold_name(str(template.get("name") or "").partition(":")[2]) for template in _listed(templates)]


def _listed(value: Any) -> list[Mapping[str, Any]]:
    value = parsed(value)
    return [element for element in value if isinstance(element, Mapping)] if isinstance(value, list) else []


@lru_cache(maxsize=64)
def _namespaces(language: str, category: str) -> Namespaces:
    return Namespaces.from_siteinfo({14: category} if category else {}, language)
