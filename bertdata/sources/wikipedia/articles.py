"""Pages of one range of a dump in, documents out; each page is one, or counted under the reason why it is none."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any, BinaryIO

from bertdata.curation.document_rules import rules_of
from bertdata.curation.languages import LANGUAGE, add_languages
from bertdata.curation.text_rules import text_rules
from bertdata.documents import LEFT_OUT, DocumentWriter
from bertdata.engine.parts import Counters, Task
from bertdata.io import files
from bertdata.sources.names import InputCount
from bertdata.sources.wikipedia import template_pages
from bertdata.sources.wikipedia.cleaning_task import CleaningTask
from bertdata.sources.wikipedia.dump.reader import BrokenPage, Page, read_pages, read_split_page
from bertdata.sources.wikipedia.dump.siteinfo import SiteInfo, read_siteinfo
from bertdata.sources.wikipedia.words import count_words
from bertdata.wikitext.clean import Namespaces, clean_utf8
from bertdata.wikitext.templates.table import BUILT_IN, Templates

ARTICLES = (0,)
"""The namespaces whose pages are articles."""


def write_articles(task: Task, file: BinaryIO) -> Counters:
    """Write the documents of one range of a dump; broken pages are counted and named in details["broken"]."""
    work: CleaningTask = task.payload
    site = read_siteinfo(work.span.path)
    wiki = site.dbname or site.language or "wiki"
    if work.language:
        site = replace(site, language=work.language, dbname=template_pages.wiki_of(site))
    namespaces = Namespaces.from_siteinfo(site.namespaces, site.content_language, site.dbname)
    templates = template_pages.templates_of(site, work.templates, work.table, work.table_sha256)
    how: Any = {"variant": work.variant, "keep_lists": work.keep_lists}
    counters = Counters()
    articles = 0
    broken: list[dict[str, Any]] = []
    left_out: Counter[str] = Counter()
    columns = (
        json.dumps({LANGUAGE: site.content_language}) if rules_of(task).language and site.content_language else None
    )
    with (
        _rejects(work.rejects) as reject,
        DocumentWriter(file, counters, text_rules(task), add_languages=add_languages(task)) as writer,
    ):
        for page in _pages(work, site):
            counters.add(InputCount.PAGES)
            if isinstance(page, Page):
                counters.add(InputCount.WIKITEXT_BYTES, len(page.wikitext))
                text, reason = article(page, namespaces, templates, work.min_words, work.compiled, left_out, **how)
                if not reason:
                    articles += 1
                    on_drop = partial(reject, page.id, page.title, page.offset)
                    url = site.url(page.title)
                    writer.add(f"{wiki}:{page.id}", "wikipedia", page.title, url, text, on_drop, columns)
                    continue
            else:
                place = {"path": page.path or work.span.path, "offset": page.offset}
                broken.append({**place, "title": page.title, "reason": page.reason})
                reason = f"broken: {page.reason}"
            counters.drop(reason, size=len(page.wikitext) if isinstance(page, Page) else 0)
            reject(page.id if isinstance(page, Page) else None, page.title, page.offset, reason)
    for what, number in left_out.items():
        counters.add(LEFT_OUT + what, number)
    counters.details["broken"] = broken
    if articles and site.content_language:
        counters.details["languages"] = {site.content_language: articles}
    return counters


def _pages(work: CleaningTask, site: SiteInfo) -> Iterator[Page | BrokenPage]:
    if work.more:
        return read_split_page((work.span, *work.more), site, compiled=work.compiled, namespaces=ARTICLES)
    return read_pages(work.span, site, compiled=work.compiled, namespaces=ARTICLES)


@contextmanager
def _rejects(path: str) -> Iterator[Callable[[int | None, str | None, int, str], None]]:
    """Yield a function that writes a dropped page to a file of JSON lines, which appears when it is complete."""
    if not path:
        yield lambda number, title, offset, reason: None
        return
    with files.atomic_write(path) as file:

        def reject(number: int | None, title: str | None, offset: int, reason: str) -> None:
            row = {"id": number, "title": title, "offset": offset, "reason": reason}
            file.write(json.dumps(row).encode() + b"\n")

        yield reject


def article(
    page: Page,
    namespaces: Namespaces,
    templates: Templates = BUILT_IN,
    min_words: int = 0,
    compiled: bool | None = None,
    left_out: Counter[str] | None = None,
    *,
    variant: str = "",
    keep_lists: bool = False,
) -> tuple[bytes, str]:
    """Return the prose of a page, and why it does not become a document ("" if it does); `left_out` as `clean_utf8`."""
    if page.ns not in ARTICLES:
        return b"", "not an article"
    if page.deleted:
        return b"", "deleted revision"
    if page.redirect is not None:
        return b"", "redirect"
    if page.model not in ("", "wikitext"):
        return b"", f"content model {page.model}"
    drops: Counter[str] = Counter()
    text = clean_utf8(
        page.wikitext,
        title=page.title,
        namespaces=namespaces,
        templates=templates,
        variant=variant,
        keep_lists=keep_lists,
        drops=drops,
        compiled=compiled,
        left_out=left_out,
    )
    if text is None:
        return b"", next(iter(drops))
    return text, "stub" if min_words and count_words(text.decode(), min_words) < min_words else ""
