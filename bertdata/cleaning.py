"""Sources to documents: one range of a dump, or one group of books, to one part of documents.

`plan_*` cuts the input into tasks and runs where the build was started; `*_part` does one task anywhere. Pages in are
documents plus drops by reason, always. What it does not do: the cleaning itself (`wikipedia.wikitext`, `books`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, BinaryIO

from bertdata import files
from bertdata.books import Book, clean_book, group_books, read_books
from bertdata.config import CleaningConfig
from bertdata.documents import DocumentWriter
from bertdata.errors import InputError
from bertdata.records import Tally, Task, fingerprint
from bertdata.tables import labels, part_name
from bertdata.wikipedia.dump import Page, read_pages, read_siteinfo
from bertdata.wikipedia.ranges import DumpRange, plan_ranges
from bertdata.wikipedia.wikitext import Namespaces, clean_wikitext

DUMP_SUFFIXES = (".xml", ".xml.bz2", ".xml.gz", ".xml.zst", ".xml-p*p*.bz2")
BOOK_SUFFIXES = (".txt", ".txt.gz", ".txt.zst", ".zip")
REVISION = 1
_INDEX = re.compile(r"-multistream-index\d*\.txt(-p\d+p\d+)?(\.bz2)?$")


@dataclass(frozen=True)
class BookGroup:
    """Files that one worker takes together, and the label that begins the ids of each one's books."""

    paths: tuple[str, ...]
    labels: tuple[str, ...]


def find_dumps(patterns: Sequence[str]) -> list[str]:
    """Return the dumps that paths, folders and globs name; an index that a glob met beside its dump is left out."""
    paths = files.expand(patterns, DUMP_SUFFIXES)
    dumps = [path for path in paths if not _INDEX.search(path)]
    if not dumps:
        raise InputError("is the index of a dump; name the dump itself", path=paths[0])
    return dumps


def plan_wikipedia(
    patterns: Sequence[str], directory: str, config: CleaningConfig
) -> tuple[list[Task], tuple[str, ...]]:
    """Return one task for each range of the dumps, and what the user should know of how they were cut."""
    paths = find_dumps(patterns)
    target = config.target_bytes(sum(files.size(path) for path in paths))
    tasks: list[Task] = []
    notes: list[str] = []
    for path, label in zip(paths, labels(paths), strict=True):
        plan = plan_ranges(path, target)
        notes += [f"{label}: {note}" for note in plan.notes]
        for number, one in enumerate(plan.ranges):
            mark = fingerprint("clean_wikipedia", REVISION, files.identity(path), one.start, one.end)
            tasks.append(Task(directory, part_name(label, number), ".parquet", mark, one.weight, one))
    return tasks, tuple(notes)


def wikipedia_part(task: Task, file: BinaryIO) -> Tally:
    """Write the documents of one range of a dump; broken pages are counted and named in details["broken"]."""
    span: DumpRange = task.payload
    site = read_siteinfo(span.path)
    namespaces = Namespaces.from_siteinfo(site.namespaces)
    wiki = site.dbname or site.language or "wiki"
    tally = Tally()
    broken: list[dict[str, Any]] = []
    drops: Counter[str] = Counter()
    with DocumentWriter(file, tally) as writer:
        for page in read_pages(span, site):
            tally.add("pages")
            if not isinstance(page, Page):
                broken.append({"path": span.path, "offset": page.offset, "title": page.title, "reason": page.reason})
                drops[f"broken: {page.reason}"] += 1
                continue
            tally.add("wikitext_bytes", len(page.text.encode("utf-8", "surrogatepass")))
            if reason := _not_an_article(page):
                drops[reason] += 1
                continue
            text = clean_wikitext(page.text, title=page.title, namespaces=namespaces, drops=drops)
            if text is not None:
                writer.add(f"{wiki}:{page.id}", "wikipedia", page.title, site.url(page.title), text)
    tally.drops = dict(drops)
    tally.details["broken"] = broken
    return tally


def _not_an_article(page: Page) -> str | None:
    if page.ns != 0:
        return "not an article"
    if page.redirect is not None:
        return "redirect"
    if page.model not in ("", "wikitext"):
        return f"content model {page.model}"
    return None


def plan_books(patterns: Sequence[str], directory: str, config: CleaningConfig) -> list[Task]:
    """Return one task for each group of books of like size."""
    paths = files.expand(patterns, BOOK_SUFFIXES)
    names = dict(zip(paths, labels(paths), strict=True))
    target = config.target_bytes(sum(files.size(path) for path in paths))
    tasks = []
    for number, group in enumerate(group_books(paths, target)):
        one = BookGroup(tuple(group), tuple(names[path] for path in group))
        mark = fingerprint("clean_books", REVISION, [files.identity(path) for path in group], one.labels)
        weight = sum(files.size(path) for path in group)
        tasks.append(Task(directory, part_name("books", number), ".parquet", mark, weight, one))
    return tasks


def books_part(task: Task, file: BinaryIO) -> Tally:
    """Write the documents of one group of books: a book is a document; its id begins with its file's label."""
    group: BookGroup = task.payload
    tally = Tally()
    broken: list[dict[str, Any]] = []
    drops: Counter[str] = Counter()
    with DocumentWriter(file, tally) as writer:
        for path, label in zip(group.paths, group.labels, strict=True):
            for book in read_books(path):
                tally.add("books")
                if not isinstance(book, Book):
                    broken.append({"path": path, "title": book.title, "reason": book.reason})
                    drops[f"broken: {book.reason}"] += 1
                    continue
                text = clean_book(book.text, drops=drops)
                if text is not None:
                    writer.add(f"{label}:{book.id}", "books", book.title, "", text)
    tally.drops = dict(drops)
    tally.details["broken"] = broken
    return tally
