"""The stages of a build before any work: how many parts each has, and which of these are to be made.

A stage can be looked at as far as those before it are done: what a part is made from is in the records of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from bertdata.beam.stages import PartResult, finished, plan_documents
from bertdata.documents import cut_ranges
from bertdata.engine.parts import Task, load
from bertdata.inspect import summary
from bertdata.inspect.summary import Row
from bertdata.io import files
from bertdata.sources.cleaning import plan_books, plan_wikipedia
from bertdata.tokenizers.wordpiece.stage import merge_tasks, plan_words, vocabulary_task


def stage_rows(inputs: Any, stages: str, text_column: str, settings: Any, *, force: bool = False) -> Iterator[Row]:
    """Yield a row for each stage of a build: how many of its parts there are, and how many of these are done.

    With `force` none of them counts as done.
    """
    every: list[PartResult] = []
    whole = True
    if "wikipedia" in inputs:
        tasks, notes = plan_wikipedia(list(inputs["wikipedia"]), files.join(stages, "wikipedia"), settings.cleaning)
        yield "clean wikipedia", _state(tasks, "range", force)
        yield from (("  note", note) for note in notes)
        whole = _collect(tasks, every) and whole
    if "books" in inputs:
        tasks = plan_books(list(inputs["books"]), files.join(stages, "books"), settings.cleaning, inputs["books"])
        yield "clean books", _state(tasks, "group", force)
        whole = _collect(tasks, every) and whole
    if "documents" in inputs:
        own, tasks = plan_documents(
            list(inputs["documents"]), files.join(stages, "tables"), settings.cleaning, text_column
        )
        if tasks:
            yield "read documents", _state(tasks, "range", force)
        every += own
        whole = _collect(tasks, every) and whole
    if settings.dedup.dedup != "none":
        yield "duplicates", f"{settings.dedup.dedup} ones are dropped"
        whole = False
    wanted = settings.vocab or f"trained, {settings.vocabulary.vocab_size:,} pieces by {settings.vocabulary.criterion}"
    if settings.vocab is None and whole and every and not force:
        wanted += f"; {_vocabulary_state(every, stages, settings)}"
    yield "vocabulary", wanted


def _vocabulary_state(every: Sequence[PartResult], stages: str, settings: Any) -> str:
    counting = plan_words(
        cut_ranges([(task.path, record) for task, record in every]),
        files.join(stages, "words"),
        settings.vocabulary,
    )
    counted: list[PartResult] = []
    if not _collect(counting, counted):
        return "to be trained"
    merging = merge_tasks(finished(counting), stages)
    merged: list[PartResult] = []
    if not _collect(merging, merged):
        return "to be trained"
    return "kept" if load(vocabulary_task(merged, stages, settings.vocabulary)) else "to be trained again"


def _collect(tasks: Sequence[Task], into: list[PartResult]) -> bool:
    """Add the tasks that are done to a list; returns whether all are."""
    done = [(task, record) for task in tasks if (record := load(task)) is not None]
    into += done
    return len(done) == len(tasks)


def _state(tasks: Sequence[Task], unit: str, force: bool) -> str:
    """Return how many parts there are and, where there are any yet, how many are done, not made, or changed."""
    text = summary.counted(len(tasks), unit)
    records = [files.exists(task.record_path) for task in tasks]
    if not any(records):
        return text
    if force:
        return f"{text}: all to be made again"
    done = [load(task) is not None for task in tasks]
    stale = sum(there and not one for there, one in zip(records, done, strict=True))
    missing = len(tasks) - sum(records)
    parts = [(sum(done), "kept"), (stale, "to be made again: what they are made from changed"), (missing, "to be made")]
    return f"{text}: " + ", ".join(f"{number:,} {what}" for number, what in parts if number)
