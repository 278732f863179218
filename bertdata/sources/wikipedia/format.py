"""Dumps of Wikipedia as a source format: one range of a dump to one part of documents.

Every page that is read is a document or counted under the reason why it was dropped. `dump` reads a dump, `wikitext`
cleans pages.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import Any, BinaryIO

from bertdata.curation.document_rules import rules_of
from bertdata.curation.languages import LANGUAGE, add_languages
from bertdata.curation.text_rules import text_rules
from bertdata.documents import LEFT_OUT, DocumentWriter
from bertdata.engine.parts import Counters, PartResult, Task, fingerprint, part_name
from bertdata.engine.stages import Step
from bertdata.errors import ConfigError, InputError, expected_one_of
from bertdata.io import files
from bertdata.io.compression import compression
from bertdata.io.console import byte_size
from bertdata.io.patterns import expand
from bertdata.kernels.warmup import compiling_pays
from bertdata.sources.beginnings import copy_beginning
from bertdata.sources.formats import Request, SourceFile, SourceFormat, text_bytes
from bertdata.sources.names import InputCount
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.wikipedia import template_pages
from bertdata.sources.wikipedia.dump.exports import check_folders, check_overlap, join_split_pages
from bertdata.sources.wikipedia.dump.ranges import DumpPlan, DumpRange, as_utf8, plan_ranges, read_head, whole_pages
from bertdata.sources.wikipedia.dump.reader import BrokenPage, Page, read_pages, read_split_page
from bertdata.sources.wikipedia.dump.siteinfo import SiteInfo, read_siteinfo
from bertdata.wikitext.clean import Namespaces, clean_utf8
from bertdata.wikitext.mediawiki.language import language_of
from bertdata.wikitext.reference.variants import check_variant
from bertdata.wikitext.templates.table import BUILT_IN, Templates

REVISION = 9
ARTICLES = (0,)
"""The namespaces whose pages are articles."""
_UNSPACED = re.compile("[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\U00020000-\U0003ffff]")
_REJECTS = re.compile(r"-\d{5,}\.jsonl$")
_INDEX = re.compile(r"-multistream-index\d*\.txt(-p\d+p\d+)?(\.bz2)?$")


@dataclass(frozen=True)
class CleaningTask:
    """One range of a dump, and how its pages are cleaned; `rejects` is where the dropped ones are named, or "".

    `span` is the first file of a page whose revisions are in several, `more` are the others. `compiled` says whether by
    compiled kernels: this changes only the speed, and is not in the task's fingerprint. `table` is that of the dumps'
    template pages, "" where these are not read; `language`, if it is not "", is taken for that in the head of the dump.
    """

    span: DumpRange
    min_words: int
    templates: str
    rejects: str
    compiled: bool
    more: tuple[DumpRange, ...] = ()
    table: str = ""
    table_sha256: str = ""
    language: str = ""
    variant: str = ""
    keep_lists: bool = False
    format = "wikipedia"

    @property
    def path(self) -> str:
        """The dump."""
        return self.span.path


class WikipediaFormat(SourceFormat):
    """Dumps of a MediaWiki; a part is one range of pages."""

    kind = "wikipedia"
    suffixes = (".xml", ".xml.bz2", ".xml.gz", ".xml.zst", ".xml-p*p*.bz2")
    described = ".xml, .xml.bz2, .xml.gz or .xml.zst"
    settings = ("min_words", "templates", "template_pages", "language", "variant", "keep_lists", "rejects")

    def select(self, paths: Sequence[str]) -> list[str]:
        """Return the dumps among files; an index that a glob met beside its dump is left out."""
        dumps = [path for path in paths if not _INDEX.search(path)]
        if not dumps:
            raise InputError("is the index of a dump; name the dump itself", path=paths[0])
        return dumps

    def plan(self, sources: Sequence[SourceFile], request: Request) -> tuple[list[Task], list[str]]:
        """Return one task for each range of the dumps, and what the user should know of how they were cut."""
        config = request.config
        templates = files.sha256(config.templates) if config.templates else ""
        rules = (config.min_words, templates, config.rejects)
        compiled = compiling_pays(text_bytes(sources), None)
        tasks: list[Task] = []
        paths = [source.path for source in sources]
        source_of = dict(zip(paths, sources, strict=True))
        groups = join_split_pages(paths)
        _check_sources(config, {source.source for source in sources})
        notes = [*check_folders(paths), *(check_overlap(groups) if len(groups) > 1 else [])]
        for path, *others in groups:
            label, language = source_of[path].label, config.language_of(source_of[path].source)
            if config.variant:
                _check_variant(config.variant, language or read_siteinfo(path).content_language, path)
            more = tuple(DumpRange(other, 0, files.size(other)) for other in others)
            plan = (
                DumpPlan((DumpRange(path, 0, files.size(path)),)) if more else plan_ranges(path, request.target_bytes)
            )
            notes += [f"{label}: {note}" for note in plan.notes]
            identity: Any = [files.identity(part) for part in (path, *others)] if more else files.identity(path)
            all_rules: tuple[Any, ...] = (*rules, language) if language else rules
            all_rules = (
                (*all_rules, config.variant, config.keep_lists) if config.variant or config.keep_lists else all_rules
            )
            for number, span in enumerate(plan.ranges):
                name = part_name(label, number)
                made_from = fingerprint("clean_wikipedia", REVISION, identity, span.start, span.end, all_rules)
                rejects = files.join(config.rejects, name + ".jsonl") if config.rejects else ""
                work = CleaningTask(
                    span,
                    config.min_words,
                    config.templates,
                    rejects,
                    compiled,
                    more,
                    language=language,
                    variant=config.variant,
                    keep_lists=config.keep_lists,
                )
                weight = span.weight + sum(extra.weight for extra in more)
                tasks.append(Task(request.directory, name, ".parquet", made_from, weight, work))
        return tasks, notes

    def prepare(self, tasks: Sequence[Task], config: CleaningConfig) -> None:
        """Remove the rejects of another cut of the dumps: files named as those of a part that no task writes."""
        folder = config.rejects
        if folder and files.exists(folder):
            wanted = {task.payload.rejects for task in tasks}
            for path in expand([files.join(folder, "*")], (".jsonl",)):
                if path not in wanted and _REJECTS.search(path):
                    files.remove(path)

    def steps_before(self, tasks: Sequence[Task], config: CleaningConfig) -> list[Step]:
        """Return the steps that make a table of the dumps' template pages, if these are to be read."""
        return template_pages.steps(tasks) if config.template_pages and tasks else []

    def after(self, task: Task, parts: Sequence[PartResult]) -> Task:
        """Return the task of one range once the table of template pages is there."""
        return template_pages.after(task, parts)

    def write(self, task: Task, file: BinaryIO) -> Counters:
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

    def files_of(self, task: Task) -> list[str]:
        """Return the dump, or the files that a page is split over, and the file of templates."""
        work: CleaningTask = task.payload
        return [*(span.path for span in (work.span, *work.more)), *([work.templates] if work.templates else [])]

    def beginning(self, task: Task, size: int, folder: str) -> Task | str:
        """Return the task of the pages that begin in the first bytes; a dump that is not cut into ranges is copied."""
        work: CleaningTask = replace(task.payload, compiled=compiling_pays(size, None))
        span = work.span
        if task.weight <= size:
            return replace(task, payload=work)
        if work.more:
            return f"{files.name(span.path)} and others have the revisions of one page, and are read whole"
        if compression(span.path) not in (None, "bz2") or read_head(span.path)[1]:
            copied = copy_beginning(span.path, size, files.join(folder, task.name), whole_pages, as_utf8)
            if copied is None:
                return f"{files.name(span.path)} has no page that ends in its first {byte_size(size)}"
            path, taken = copied
            return replace(task, weight=taken, payload=replace(work, span=DumpRange(path, 0, files.size(path))))
        return replace(task, weight=size, payload=replace(work, span=replace(span, end=span.start + size)))


WIKIPEDIA = WikipediaFormat()


def _check_sources(config: CleaningConfig, names: set[str]) -> None:
    """Raise ConfigError where --language names a source that has no dumps."""
    named = [text.rpartition("=")[0] for text in config.language]
    for other in sorted({*named} - names - {""}):
        raise ConfigError(f"--language names {other!r}, no source of dumps{expected_one_of(other, sorted(names))}")


def _check_variant(variant: str, language: str, path: str) -> None:
    """Raise ConfigError where the language of a dump has no such variant."""
    if others := check_variant(variant, language_of(language)):
        raise ConfigError(
            f"--variant is {variant!r}, which the language {language or 'en'!r} of {files.name(path)} does not have; "
            f"its variants are {', '.join(others)}"
        )


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


def count_words(text: str, most: int) -> int:
    """Count the words of a text, as far as `most`; in scripts without spaces each character counts as one.

    >>> count_words("It rained all day.", 100), count_words("雨が降った。", 100)
    (4, 6)
    """
    words = len(text.split(maxsplit=most))
    return words if words >= most else words + sum(1 for _ in islice(_UNSPACED.finditer(text), most))
