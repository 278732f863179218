"""Dumps of Wikipedia as a source format: one range of a dump to one part of documents.

`dump` reads a dump, `articles` makes documents of its pages.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, BinaryIO

from bertdata.engine.fingerprints import fingerprint
from bertdata.engine.parts import Counters, PartResult, Task, part_name
from bertdata.engine.stages import Step
from bertdata.errors import ConfigError, InputError, expected_one_of
from bertdata.io import files
from bertdata.io.compression import compression, endings
from bertdata.io.console import byte_size
from bertdata.io.patterns import expand
from bertdata.kernels.warmup import compiling_pays
from bertdata.sources.beginnings import copy_beginning
from bertdata.sources.formats import Request, SourceFile, SourceFormat, text_bytes
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.wikipedia.cleaning_task import CleaningTask
from bertdata.sources.wikipedia.dump.exports import check_folders, check_overlap, join_split_pages
from bertdata.sources.wikipedia.dump.ranges import (
    SUPPORTED,
    DumpPlan,
    DumpRange,
    as_utf8,
    plan_ranges,
    read_head,
    whole_pages,
)
from bertdata.sources.wikipedia.dump.siteinfo import read_siteinfo
from bertdata.wikitext.mediawiki.language import language_of

REVISION = 11
_REJECTS = re.compile(r"-\d{5,}\.jsonl$")
_INDEX = re.compile(r"-multistream-index\d*\.txt(-p\d+p\d+)?(\.bz2)?$")


class WikipediaFormat(SourceFormat):
    """Dumps of a MediaWiki; a part is one range of pages."""

    kind = "wikipedia"
    suffixes = (*endings(".xml"), ".xml-p*p*.bz2")
    described = SUPPORTED
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
        if not config.template_pages or not tasks:
            return []
        from bertdata.sources.wikipedia import template_pages

        return template_pages.steps(tasks)

    def after(self, task: Task, parts: Sequence[PartResult]) -> Task:
        """Return the task of one range once the table of template pages is there."""
        from bertdata.sources.wikipedia import template_pages

        return template_pages.after(task, parts)

    def write(self, task: Task, file: BinaryIO) -> Counters:
        """Write the documents of one range of a dump."""
        # what cleans pages takes long to import, and a build of other sources loads this module too
        from bertdata.sources.wikipedia.articles import write_articles

        return write_articles(task, file)

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

    from bertdata.wikitext.reference.variants import check_variant

    if others := check_variant(variant, language_of(language)):
        raise ConfigError(
            f"--variant is {variant!r}, which the language {language or 'en'!r} of {files.name(path)} does not have; "
            f"its variants are {', '.join(others)}"
        )
