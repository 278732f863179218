"""Sources to documents: one range of a dump, or one group of books, to one part of documents.

`plan_*` cuts the input into tasks and runs where the build was started; `*_part` does one task anywhere. Pages in are
documents plus drops by reason, always. What it does not do: the cleaning itself (`wikipedia.wikitext`, `books`).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any, BinaryIO

from bertdata.documents import DocumentWriter
from bertdata.engine.parts import Counters, Task, fingerprint, labels, part_name
from bertdata.errors import InputError
from bertdata.io import files
from bertdata.io.compression import compression
from bertdata.kernels.warmup import compiling_pays
from bertdata.sources.books.read import Book, Volume, clean_book, clean_chapters, group_books, read_books
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.wikipedia.dump.ranges import DumpRange, plan_ranges
from bertdata.sources.wikipedia.dump.reader import Page, read_pages, read_siteinfo
from bertdata.sources.wikipedia.templates.registry import BUILT_IN, Templates, own_templates
from bertdata.sources.wikipedia.wikitext.clean import Namespaces, clean_utf8

DUMP_SUFFIXES = (".xml", ".xml.bz2", ".xml.gz", ".xml.zst", ".xml-p*p*.bz2")
BOOK_SUFFIXES = (".txt", ".txt.gz", ".txt.zst", ".zip")
REVISION = 5
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]")
_REJECTS = re.compile(r"-\d{5,}\.jsonl$")
_INDEX = re.compile(r"-multistream-index\d*\.txt(-p\d+p\d+)?(\.bz2)?$")


@dataclass(frozen=True)
class CleaningTask:
    """One range of a dump, and how its pages are cleaned; `rejects` is where the dropped ones are named, or "".

    `compiled` says whether by compiled kernels: it is a matter of speed, and no part of the task's fingerprint.
    """

    span: DumpRange
    min_words: int
    templates: str
    rejects: str
    compiled: bool

    @property
    def path(self) -> str:
        """The dump."""
        return self.span.path


@dataclass(frozen=True)
class BookGroup:
    """Files that one worker takes together, and the label that begins the ids of each one's books.

    `compiled` says whether compiled kernels clean them, as in `CleaningTask`.
    """

    volumes: tuple[Volume, ...]
    labels: tuple[str, ...]
    split_chapters: bool
    compiled: bool

    @property
    def path(self) -> str:
        """The first of its files, all of which are of one source."""
        return self.volumes[0].path


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
    templates = files.sha256(config.templates) if config.templates else ""
    rules = (config.min_words, templates, config.rejects)
    compiled = compiling_pays(_text_bytes(paths), None)
    tasks: list[Task] = []
    notes: list[str] = []
    for path, label in zip(paths, labels(paths), strict=True):
        plan = plan_ranges(path, target)
        notes += [f"{label}: {note}" for note in plan.notes]
        for number, one in enumerate(plan.ranges):
            name = part_name(label, number)
            mark = fingerprint("clean_wikipedia", REVISION, files.identity(path), one.start, one.end, rules)
            rejects = files.join(config.rejects, name + ".jsonl") if config.rejects else ""
            work = CleaningTask(one, config.min_words, config.templates, rejects, compiled)
            tasks.append(Task(directory, name, ".parquet", mark, one.weight, work))
    return tasks, tuple(notes)


def _text_bytes(paths: Sequence[str]) -> int:
    """Return about how many bytes of text files hold, compressed ones taken to be a quarter of theirs."""
    return sum(files.size(path) * (4 if compression(path) else 1) for path in paths)


def remove_stale_rejects(tasks: Sequence[Task], folder: str) -> None:
    """Remove the rejects of another cut of the dumps: the files named as a part's that none of these tasks writes."""
    if folder and files.exists(folder):
        wanted = {task.payload.rejects for task in tasks}
        for path in files.expand([files.join(folder, "*")], (".jsonl",)):
            if path not in wanted and _REJECTS.search(path):
                files.remove(path)


def wikipedia_part(task: Task, file: BinaryIO) -> Counters:
    """Write the documents of one range of a dump; broken pages are counted and named in details["broken"]."""
    work: CleaningTask = task.payload
    site = read_siteinfo(work.span.path)
    namespaces = Namespaces.from_siteinfo(site.namespaces)
    templates = own_templates(work.templates) if work.templates else BUILT_IN
    wiki = site.dbname or site.language or "wiki"
    tally = Counters()
    broken: list[dict[str, Any]] = []
    with _rejects(work.rejects) as reject, DocumentWriter(file, tally, task.filters) as writer:
        for page in read_pages(work.span, site, compiled=work.compiled):
            tally.add("pages")
            if isinstance(page, Page):
                tally.add("wikitext_bytes", len(page.wikitext))
                text, reason = article(page, namespaces, templates, work.min_words, work.compiled)
                if not reason:
                    on_drop = partial(reject, page.id, page.title, page.offset)
                    url = site.url(page.title)
                    writer.add(f"{wiki}:{page.id}", "wikipedia", page.title, url, text, on_drop)
                    continue
            else:
                place = {"path": work.span.path, "offset": page.offset}
                broken.append({**place, "title": page.title, "reason": page.reason})
                reason = f"broken: {page.reason}"
            tally.drop(reason)
            reject(page.id if isinstance(page, Page) else None, page.title, page.offset, reason)
    tally.details["broken"] = broken
    return tally


@contextmanager
def _rejects(path: str) -> Iterator[Callable[[int | None, str | None, int, str], None]]:
    """Give a function that names a dropped page in a file of JSON lines, which is there when it is whole."""
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
) -> tuple[bytes, str]:
    """Return the prose of a page, and why it is no document ("" if it is one)."""
    if reason := _not_an_article(page):
        return b"", reason
    drops: Counter[str] = Counter()
    text = clean_utf8(
        page.wikitext,
        title=page.title,
        namespaces=namespaces,
        templates=templates,
        drops=drops,
        compiled=compiled,
    )
    if text is None:
        return b"", next(iter(drops))
    return text, "stub" if min_words and count_words(text.decode(), min_words) < min_words else ""


def count_words(text: str, most: int) -> int:
    """Count the words of a text, as far as `most`; in scripts without spaces each character counts as one.

    >>> count_words("It rained all day.", 100), count_words("雨が降った。", 100)
    (4, 6)
    """
    words = len(text.split(maxsplit=most))
    return words if words >= most else words + sum(1 for _ in islice(_UNSPACED.finditer(text), most))


def _not_an_article(page: Page) -> str | None:
    if page.ns != 0:
        return "not an article"
    if page.redirect is not None:
        return "redirect"
    if page.model not in ("", "wikitext"):
        return f"content model {page.model}"
    return None


def plan_books(
    patterns: Sequence[str], directory: str, config: CleaningConfig, source_of: Mapping[str, str] | None = None
) -> list[Task]:
    """Return one task for each group of books of like size; a group is of one source ("books" unless told)."""
    paths = files.expand(patterns, BOOK_SUFFIXES)
    compiled = compiling_pays(_text_bytes(paths), None)
    names = dict(zip(paths, labels(paths), strict=True))
    target = config.target_bytes(sum(files.size(path) for path in paths))
    shelves: dict[str, list[str]] = {}
    for path in paths:
        shelves.setdefault((source_of or {}).get(path, "books"), []).append(path)
    tasks = []
    for source, shelf in shelves.items():
        for number, group in enumerate(group_books(shelf, target)):
            given = tuple(names[volume.path] for volume in group)
            one = BookGroup(group, given, config.split_chapters, compiled)
            identities = [files.identity(volume.path) for volume in group]
            ranges = [volume.members for volume in group if volume.members]
            mark = fingerprint("clean_books", REVISION, identities, one.labels, one.split_chapters, *ranges)
            weight = sum(volume.weight for volume in group)
            tasks.append(Task(directory, part_name(source, number), ".parquet", mark, weight, one))
    return tasks


def books_part(task: Task, file: BinaryIO) -> Counters:
    """Write the documents of one group of books: a book, or a chapter, is a document.

    Its id begins with its file's label; behind the book's id stands the number of the chapter.
    """
    group: BookGroup = task.payload
    tally = Counters()
    broken: list[dict[str, Any]] = []
    drops: Counter[str] = Counter()
    encodings: Counter[str] = Counter()
    with DocumentWriter(file, tally, task.filters) as writer:
        for volume, label in zip(group.volumes, group.labels, strict=True):
            path = volume.path
            for book in read_books(path, notes=encodings, members=volume.members):
                tally.add("books")
                if not isinstance(book, Book):
                    broken.append({"path": path, "title": book.title, "reason": book.reason})
                    drops[f"broken: {book.reason}"] += 1
                    continue
                if group.split_chapters:
                    chapters = clean_chapters(book.text, drops=drops, compiled=group.compiled)
                    tally.add("books_in_chapters", int(bool(chapters)))
                    tally.add("chapters", len(chapters))
                    for number, chapter in enumerate(chapters, 1):
                        title = f"{book.title}: {chapter.title}" if chapter.title else book.title
                        writer.add(f"{label}:{book.id}:{number}", "books", title, "", chapter.text)
                    continue
                text = clean_book(book.text, drops=drops, compiled=group.compiled)
                if text is not None:
                    writer.add(f"{label}:{book.id}", "books", book.title, "", text)
    for encoding, number in sorted(encodings.items()):
        tally.add(f"read as {encoding}", number)
    for reason, number in drops.items():
        tally.drop(reason, number)
    tally.details["broken"] = broken
    return tally
