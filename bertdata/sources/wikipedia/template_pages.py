"""The template pages of dumps, read before articles are cleaned: ranges to parts of entries, all parts to one table.

The table has the entries of each wiki by itself. It is a function of the dumps as a whole, so an article's text does
not depend on how they are cut.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any, BinaryIO

import pyarrow as pa

from bertdata.engine.fingerprints import fingerprint
from bertdata.engine.parts import Counters, PartResult, Task
from bertdata.engine.stages import Grouping, Step, all_together
from bertdata.io import files
from bertdata.io.arrow_data import read_stage_file
from bertdata.sources.wikipedia.dump.ranges import DumpRange
from bertdata.sources.wikipedia.dump.reader import Page, read_pages, read_split_page
from bertdata.sources.wikipedia.dump.siteinfo import SiteInfo, read_siteinfo
from bertdata.wikitext.mediawiki.language import language_of
from bertdata.wikitext.templates.page_table import Entry, entry, gather, with_pages
from bertdata.wikitext.templates.table import Templates
from bertdata.wikitext.templates.table import templates_of as known_templates

REVISION = 5
_TEMPLATE_NAMESPACE = 10
_SCHEMA = pa.schema([(name, pa.string()) for name in ("wiki", *Entry._fields)])


@dataclass(frozen=True)
class PagesTask:
    """One range of a dump whose template pages are read; `more`, `compiled` as in the task that cleans it."""

    span: DumpRange
    compiled: bool
    more: tuple[DumpRange, ...]

    @property
    def path(self) -> str:
        """The dump."""
        return self.span.path


def steps(tasks: Sequence[Task]) -> list[Step]:
    """Return the steps that read the template pages of all ranges and gather them; `tasks` clean these ranges later."""
    read, directory = [], folder(tasks[0].directory)
    for task in tasks:
        span, more = task.payload.span, task.payload.more
        identities = [files.identity(dump_range.path) for dump_range in (span, *more)]
        made_from = fingerprint("template_pages", REVISION, *identities, span.start, span.end)
        payload = PagesTask(span, task.payload.compiled, more)
        read.append(Task(directory, task.name, ".arrow", made_from, task.weight, payload, inputs=task.inputs))
    gathering = Grouping((None,), all_together, partial(_gather_task, directory))
    return [
        Step("read templates", read_part, read),
        Step("gather templates", gather_part, grouping=gathering, unit="table"),
    ]


def folder(directory: str) -> str:
    """Return the folder of the parts that are made before those of documents in `directory`."""
    return files.join(directory, "template-pages")


def read_part(task: Task, file: BinaryIO) -> Counters:
    """Write the entries of the template pages of one range; a page that cannot be read is left to the cleaning."""
    work: PagesTask = task.payload
    site = read_siteinfo(work.span.path)
    language = language_of(site.content_language)
    counters, entries = Counters(), []
    how: Any = {"compiled": work.compiled, "namespaces": (_TEMPLATE_NAMESPACE,)}
    spans = (work.span, *work.more)
    for page in read_split_page(spans, site, **how) if work.more else read_pages(work.span, site, **how):
        if isinstance(page, Page) and page.ns == _TEMPLATE_NAMESPACE and page.model in ("", "wikitext"):
            counters.add("template_pages")
            if template_entry := entry(page.title, page.text, page.redirect, language):
                entries.append(template_entry)
    _write({wiki_of(site): entries}, file, counters)
    return counters


def wiki_of(site: SiteInfo) -> str:
    """Return what the entries of a wiki are kept under: its name, or else its language."""
    return site.dbname or site.content_language


def _gather_task(directory: str, _: None, parts: Iterable[PartResult]) -> list[Task]:
    ordered = sorted((task.path, record.sha256) for task, record in parts)
    made_from = fingerprint("gather_templates", REVISION, [digest for _, digest in ordered])
    return [Task(directory, "table", ".arrow", made_from, 0, tuple(path for path, _ in ordered))]


def gather_part(task: Task, file: BinaryIO) -> Counters:
    """Write the table of all entries."""
    counters, entries_by_wiki = Counters(), defaultdict[str, list[Entry]](list)
    for path in task.payload:
        for wiki, entries in read_entries(path).items():
            entries_by_wiki[wiki] += entries
    _write({wiki: gather(entries_by_wiki[wiki]) for wiki in sorted(entries_by_wiki)}, file, counters)
    return counters


def after(task: Task, parts: Sequence[PartResult]) -> Task:
    """Return the task of cleaning once the table is there, on whose bytes it depends; as it is before."""
    if not parts:
        return task
    [(table, record)] = parts
    payload = replace(task.payload, table=table.path, table_sha256=record.sha256)
    return replace(task, fingerprint=fingerprint(task.fingerprint, record.sha256), payload=payload)


def templates_of(site: SiteInfo, user_table: str, table: str, sha256: str) -> Templates:
    """Return the templates that carry text: a wiki's language's, of a user's table, and of a table of pages, if any."""
    given = (site.content_language, user_table, files.sha256(user_table) if user_table else "")
    return _with_table(*given, wiki_of(site), table, sha256) if table else known_templates(*given)


@lru_cache(maxsize=8)
def _with_table(
    language: str, user_table: str, user_table_sha256: str, wiki: str, table: str, sha256: str
) -> Templates:
    return with_pages(known_templates(language, user_table, user_table_sha256), read_entries(table).get(wiki, []))


def read_entries(path: str) -> dict[str, list[Entry]]:
    """Return the entries of one part, by wiki."""
    columns = read_stage_file(path, "the entries of template pages").to_pydict()
    entries_by_wiki = defaultdict[str, list[Entry]](list)
    for wiki, *row in zip(*(columns[name] for name in _SCHEMA.names), strict=True):
        entries_by_wiki[wiki].append(Entry(*row))
    return dict(entries_by_wiki)


def _write(entries: Mapping[str, Sequence[Entry]], file: BinaryIO, counters: Counters) -> None:
    rows = [(wiki, *entry) for wiki, wiki_entries in entries.items() for entry in wiki_entries]
    columns = [pa.array([row[place] for row in rows], pa.string()) for place in range(len(_SCHEMA))]
    batch = pa.record_batch(columns, schema=_SCHEMA)
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, _SCHEMA) as writer:
        writer.write_batch(batch)
    file.write(sink.getvalue())
    counters.add("templates", len(rows))
