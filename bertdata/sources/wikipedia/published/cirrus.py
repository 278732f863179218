"""Articles of the dumps of a wiki's search index (dumps.wikimedia.org/other/cirrussearch), as text or as wikitext.

In the dump each page is two lines, of which `json_lines` makes one row. Its `text` is the prose that the wiki rendered,
in one line, with lists in it; its `source_text` is the wikitext, which is cleaned as a page of a dump is.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bertdata.sources.names import NO_TEXT
from bertdata.sources.wikipedia.published.form import Article, ArticleRules, Form, finished, plain, title_reason, whole
from bertdata.sources.wikipedia.published.pages import from_wikitext
from bertdata.wikitext.mediawiki.page_kinds import is_mostly_list


class CirrusForm(Form):
    """Rows whose `text` is the prose."""

    name = "cirrus"
    text_column = "text"
    mark = ("namespace", "wiki", "title")
    others = ("page_id", "_id", "language", "source_text")

    def article(self, row: Mapping[str, Any], rules: ArticleRules) -> Article:
        """Return the text of the page, dropped where it is of another namespace, or no article by its title."""
        article = _identity(row)
        if not article.reason and not isinstance(row.get("text"), str):
            article = article._replace(reason=NO_TEXT)
        if article.reason:
            return article
        source = row.get("source_text")
        listed = is_mostly_list(source.encode("utf-8", "replace")) if isinstance(source, str) else True
        if reason := title_reason(article, rules, mostly_list=listed):
            return article._replace(reason=reason)
        return finished(article._replace(text=plain([row["text"]])), rules)


class CirrusWikitextForm(CirrusForm):
    """The same rows, read from their `source_text`."""

    name = "cirrus-wikitext"
    text_column = "source_text"

    def article(self, row: Mapping[str, Any], rules: ArticleRules) -> Article:
        """Return the prose of the wikitext."""
        article, source = _identity(row), row.get("source_text")
        if not article.reason and not isinstance(source, str):
            article = article._replace(reason="no wikitext")
        return article if article.reason else from_wikitext(article, str(source), rules)


CIRRUS = CirrusForm()
CIRRUS_WIKITEXT = CirrusWikitextForm()


def _identity(row: Mapping[str, Any]) -> Article:
    """Return the article of a row without its text; its id is that of the page in a dump."""
    wiki, title, language = (str(row.get(name) or "") for name in ("wiki", "title", "language"))
    number = row.get("page_id") if row.get("page_id") is not None else row.get("_id")
    page = whole(number)
    reason = "not an article" if whole(row.get("namespace")) else ""
    return Article(f"{wiki}:{page}" if wiki and page is not None else "", title, "", language=language, reason=reason)
