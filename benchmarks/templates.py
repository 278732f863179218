"""Template calls in rendered articles: what the table of templates and the rule for unknown ones are worth, and how
often the rule is right.

Run: python benchmarks/templates.py
First the quality (`_quality.py`) of articles that their wiki rendered, with the table, with the rule, with both, with
neither. Then the rule against what the wiki shows, as if no template were known, for the calls that stand in the prose:
of those for which it prints an argument, for how many the wiki shows these words between the same words before and
after (precision); of those for which the wiki shows something, for how many these words are printed (recall). Left out
are calls whose surroundings are not in one paragraph of the rendered page, for example because another call is beside
them, and those of templates whose text the table computes, as that of {{convert}}: no argument of theirs is their text.
Each set of articles is also shown in two halves, by a hash of the title. Last, what the template pages of the data's
dump add to it, and the CPU seconds of reading them beside those of cleaning its articles, in turns. It needs the folder
that BERTDATA_DATA names, or ../shared/data.
"""

from __future__ import annotations

import io
import re
import statistics
import sys
import tempfile
import time
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from _harness import table
from _quality import figures, share, words
from wikitext import DATA, FIGURES, RENDERED, rows_of

from bertdata import clean_wikitext
from bertdata.engine.parts import run_once
from bertdata.engine.stages import BuildState
from bertdata.sources.formats import write_documents
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.stage import ReadSource
from bertdata.sources.wikipedia.template_pages import read_entries, read_part
from bertdata.wikitext import template_calls
from bertdata.wikitext.mediawiki.folding import fold_name
from bertdata.wikitext.reference import brackets
from bertdata.wikitext.rules import NAME_EDGES
from bertdata.wikitext.templates.expansions import PageExpansions
from bertdata.wikitext.templates.factories import Handler, Kept
from bertdata.wikitext.templates.page_table import Entry, gather, with_pages
from bertdata.wikitext.templates.table import BUILT_IN, Templates

_MARK = re.compile(r"qzx(\d+)qzx")
_AROUND, _MOST_SHOWN = 2, 60
_KEPT = Kept("1")
_ROUNDS = 5


class _Without(Templates):
    """The templates without the table: all are unknown."""

    def carries_text(self, name: str) -> bool:
        return False


class _Silent(Templates):
    """The templates with the table or without, and without the rule: what is not in the table prints nothing."""

    def __init__(self, handlers: Mapping[str, Handler]) -> None:
        super().__init__(handlers)
        self.known = handlers

    def carries_text(self, name: str) -> bool:
        return True

    def render(self, name: str, arguments: Mapping[str, str], expansions: PageExpansions | None = None) -> str | None:
        is_known = name in self.known or (bool(self.known) and name.startswith("lang-"))
        return super().render(name, arguments, expansions) if is_known else None


def main() -> None:
    """Print the tables."""
    sets: dict[str, list[dict[str, Any]]] = {}
    for name in RENDERED:
        rows = rows_of(DATA / "wikipedia" / f"{name}.jsonl")
        if not rows:
            sys.exit(f"no {name}.jsonl below {DATA}; set BERTDATA_DATA to a folder with wikipedia/")
        halves = [[row for row in rows if zlib.crc32(row["title"].encode()) % 2 == half] for half in (0, 1)]
        sets |= {f"{name}, all": rows, f"{name}, first half": halves[0], f"{name}, second half": halves[1]}
    ways = {
        "neither": _Silent({}), "table": _Silent(BUILT_IN.handlers), "rule": _Without(), "table and rule": BUILT_IN
    }  # fmt: skip
    dump = next(iter(sorted((DATA / "wikipedia").glob("*-pages-articles*.xml.bz2"))))
    entries, reading, cleaning = read_dump(str(dump))
    ways["table, rule, pages of the dump"] = with_pages(BUILT_IN, entries)
    lines = []
    for name, rows in sets.items():
        for way, templates in ways.items():
            texts = {row["title"]: _clean(row, templates) for row in rows}
            measured = figures(rows, texts)
            lines.append([name, way, *(str(measured[figure]) for figure in FIGURES.values())])
    print(table(["articles", "templates by", *FIGURES], lines))
    counted = {name: count(rows) for name, rows in sets.items()}
    head = ["articles", "calls in prose", "printed", "right", "precision", "shown by the wiki", "recall"]
    print("\n" + table(head, [[name, *map(str, numbers)] for name, numbers in counted.items()]))
    print(f"\n{len(entries)} templates of {dump.name}, read in {reading:.2f} CPU s; cleaned in {cleaning:.2f} CPU s")


def read_dump(path: str) -> tuple[list[Entry], float, float]:
    """Return what the template pages of a dump define, the CPU seconds of reading them, and those of cleaning it."""
    with tempfile.TemporaryDirectory(prefix="bertdata-benchmark-") as folder:
        stage = ReadSource("wikipedia", {path: ""}, folder, CleaningConfig(template_pages=True))
        [first, *_] = stage.plan(BuildState()).steps
        [step] = replace(stage, config=CleaningConfig()).plan(BuildState()).steps
        both = {"reading": (first.tasks, read_part), "cleaning": (step.tasks, write_documents)}
        seconds: dict[str, list[float]] = {name: [] for name in both}
        for _ in range(_ROUNDS + 1):
            for name, (tasks, work) in both.items():
                began = time.process_time()
                for task in tasks:
                    work(replace(task, payload=replace(task.payload, compiled=True)), io.BytesIO())
                seconds[name].append(time.process_time() - began)
        for task in first.tasks:
            run_once(task, read_part)
        entries = gather(
            entry for task in first.tasks for entries_read in read_entries(task.path).values() for entry in entries_read
        )
    return entries, *(statistics.median(seconds[name][1:]) for name in both)  # type: ignore[return-value]


def _clean(row: Mapping[str, Any], templates: Templates) -> str:
    title = row.get("page", row["title"])
    return clean_wikitext(row["wikitext"], title=title, templates=templates, compiled=False) or ""


def count(rows: Sequence[Mapping[str, Any]]) -> tuple[int, int, int, float, int, float]:
    """Return calls in prose, those that print, those that print what the wiki shows, precision, calls shown, recall."""
    calls = printed = right = shown = 0
    for row in rows:
        gold = " ¶ ".join(["", *(" ".join(words(paragraph)) for paragraph in row["gold_prose"]), ""])
        text, texts = marked(row)
        words_there = words(text)
        for place, word in enumerate(words_there):
            mark = _MARK.fullmatch(word)
            if mark is None:
                continue
            before, after = words_there[max(0, place - _AROUND) : place], words_there[place + 1 : place + 1 + _AROUND]
            if len(before) < _AROUND or len(after) < _AROUND or any(map(_MARK.fullmatch, before + after)):
                continue
            there = [match.split() for match in between(before, after).findall(gold)]
            if not there:
                continue
            ours = words(texts[int(mark[1])])
            calls += 1
            shown += [] not in there
            printed += bool(ours)
            right += bool(ours) and ours in there
    return calls, printed, right, share(right, printed), shown, share(right, shown)


def between(before: list[str], after: list[str]) -> re.Pattern[str]:
    """Return the pattern of the words between others, in one paragraph, wherever these are."""
    begin, end = re.escape(" ".join(before)), re.escape(" ".join(after))
    return re.compile(f"(?= {begin} ((?:[^ ¶]+ ){{0,{_MOST_SHOWN}}}?){end} )")


def marked(row: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Return the prose with a mark for each call in it, and what the rule prints for each, as if none were known."""
    texts: list[str] = []
    unmarked = template_calls.call_text

    def call_text(head: str, parts: list[str], *given: Any, inside: bool, **named: Any) -> tuple[str | None, str]:
        text, kind = unmarked(head, parts, *given, inside=inside, **named)
        name = fold_name(head.strip(NAME_EDGES))
        if kind or ":" in name or name.startswith("lang-") or not isinstance(BUILT_IN.handlers.get(name, _KEPT), Kept):
            return text, kind
        texts.append(_MARK.sub(lambda mark: texts[int(mark[1])], text or ""))
        return f" qzx{len(texts) - 1}qzx ", ""

    setattr(brackets, "call_text", call_text)  # noqa: B010
    try:
        return _clean(row, _Without()), texts
    finally:
        setattr(brackets, "call_text", unmarked)  # noqa: B010


if __name__ == "__main__":
    main()
