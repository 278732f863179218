"""What template pages could add, and what reading them costs: whether `--template-pages` should be on by default.

Run: python benchmarks/template_pages.py
For each sample dump, the calls in the prose of up to ten articles (those with most): how many the tables know, how many
are notes or boxes by their names, for how many the rule prints an argument, how many print nothing, and how many are on
lines of their own or between sentences. Only of the last three kinds the text may change with the pages. Then the
English dump cleaned with its template pages and without: CPU seconds, and how many articles differ. Last, what a table
of pages takes in each worker: the dump's own entries under other names, as many as a large wiki has. It needs the
folder that BERTDATA_DATA names, or ../shared/data.
"""

from __future__ import annotations

import re
import resource
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from _harness import table
from templates import read_dump
from wikitext import DATA, wiki_language

from bertdata.errors import InputError
from bertdata.sources.wikipedia.dump.ranges import plan_ranges
from bertdata.sources.wikipedia.dump.reader import Page, read_pages
from bertdata.sources.wikipedia.dump.siteinfo import read_siteinfo
from bertdata.wikitext import template_calls
from bertdata.wikitext.clean import clean_wikitext
from bertdata.wikitext.mediawiki.folding import fold_name
from bertdata.wikitext.reference import brackets
from bertdata.wikitext.rules import NAME_EDGES
from bertdata.wikitext.symbol_table import table_of
from bertdata.wikitext.template_calls import PageContext
from bertdata.wikitext.templates.page_table import Entry, with_pages
from bertdata.wikitext.templates.table import BUILT_IN, Templates, templates_of
from bertdata.wikitext.templates.unknown import is_silent

ARTICLES = 10
SIZES = (0, 10_000, 100_000)
KINDS = ("known", "notes and boxes", "by the rule", "nothing printed", "outside sentences")


def main() -> None:
    """Print the tables."""
    english = english_dump()
    lines = [line for dump in [*sorted((DATA / "wikipedia-other").glob("*.xml*")), english] if (line := calls_of(dump))]
    print(table(["wiki", "articles", "calls in prose", *KINDS], lines))
    entries, reading, cleaning = read_dump(str(english))
    pages = list(pages_of(english))
    without, with_them = ([cleaned(page, way) for page in pages] for way in (BUILT_IN, with_pages(BUILT_IN, entries)))
    differ = sum(first != second for first, second in zip(without, with_them, strict=True))
    print(f"\n{english.name}: {len(entries)} templates of use")
    print(f"read in {reading:.2f} CPU s, articles cleaned in {cleaning:.2f} CPU s")
    print(f"{differ} of {sum(map(bool, without))} articles differ with them\n")
    head = ["templates of use", "CPU seconds of each worker", "MB of each worker"]
    costs = [subprocess.check_output([sys.executable, __file__, "--cost", str(size)], text=True) for size in SIZES]
    print(table(head, [text.split() for text in costs]))


def english_dump() -> Path:
    """Return the English dump of the data, with its template pages."""
    dumps = sorted((DATA / "wikipedia").glob("*-multistream.xml.bz2"))
    if not dumps:
        sys.exit(f"no dump below {DATA}; set BERTDATA_DATA to a folder with wikipedia/")
    return dumps[0]


def pages_of(dump: Path) -> Iterator[Page]:
    """Yield the articles of a dump, up to where it is cut off or damaged."""
    site = read_siteinfo(str(dump))
    try:
        for span in plan_ranges(str(dump), 1 << 30).ranges:
            for page in read_pages(span, site):
                if isinstance(page, Page) and page.ns == 0 and page.redirect is None and page.model in ("", "wikitext"):
                    yield page
    except InputError:
        return


def cleaned(page: Page, templates: Templates) -> str:
    """Return the prose of an article."""
    return clean_wikitext(page.text, title=page.title, templates=templates, compiled=True) or ""


def calls_of(dump: Path) -> list[str] | None:
    """Return a line of the table: the calls in sentences of a dump's articles, by what becomes of them."""
    try:
        language = wiki_language(dump)
        counts = sorted(
            (counted(page, templates_of(language)) for page in pages_of(dump)), key=lambda each: -sum(each.values())
        )
    except Exception as error:
        print(f"{dump.name} is left out: {error}", file=sys.stderr)
        return None
    most = sorted(counts, key=lambda counter: -counter.total())[:ARTICLES]
    total = sum(most, Counter[str]())
    return [language, str(len(most)), str(total.total()), *(str(total[kind]) for kind in KINDS)] if total else None


def counted(page: Page, templates: Templates) -> Counter[str]:
    """Return the calls in the prose of an article, by what becomes of them; each leaves a mark there."""
    kinds: list[str] = []
    unmarked = template_calls.call_text

    def call_text(head: str, parts: list[str], context: Any, *, inside: bool, **named: Any) -> tuple[str | None, str]:
        text, kind = unmarked(head, parts, context, inside=inside, **named)
        name = fold_name(head.strip(NAME_EDGES))
        if kind or ":" in name or name in context.templates.calls.variables:
            return text, kind
        if context.templates.carries_text(name):
            kinds.append(KINDS[0])
        elif is_silent(name):
            kinds.append(KINDS[1])
        elif not inside:
            kinds.append(KINDS[4])
        else:
            kinds.append(KINDS[2] if text else KINDS[3])
        return f" qzx{len(kinds) - 1}qzx ", ""

    setattr(brackets, "call_text", call_text)  # noqa: B010
    try:
        prose = clean_wikitext(page.text, title=page.title, templates=templates, compiled=False) or ""
    finally:
        setattr(brackets, "call_text", unmarked)  # noqa: B010
    return Counter(kinds[int(mark)] for mark in re.findall(r"qzx(\d+)qzx", prose))


def cost(size: int) -> None:
    """Print what so many templates of pages cost a process: their number, CPU seconds, MB."""
    own = read_dump(str(english_dump()))[0]
    table_of(PageContext())
    before, began = _megabytes(), time.process_time()
    entries = [
        Entry(f"{entry.name} {number}", entry.kind, entry.text) for number in range(size // len(own)) for entry in own
    ]
    templates = with_pages(BUILT_IN, entries)
    table_of(PageContext(templates=templates))
    print(len(entries), f"{time.process_time() - began:.2f}", f"{_megabytes() - before:.0f}")


def _megabytes() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


if __name__ == "__main__":
    if sys.argv[1:2] == ["--cost"]:
        cost(int(sys.argv[2]))
    else:
        main()
