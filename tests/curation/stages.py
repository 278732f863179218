"""Documents in parts, put through a stage in this process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from bertdata.curation.languages import languages_told
from bertdata.documents import DocumentRange, DocumentWriter, read_range
from bertdata.engine.parts import Counters, PartResult, Task, run_once
from bertdata.engine.stages import BuildState, Stage

Document = tuple[str, str]


def parts_of(folder: Path, parts: Sequence[Sequence[Document]], *, rows: int = 3) -> BuildState:
    """Write documents as parts whose row groups have so many documents."""
    done: list[PartResult] = []
    for number, documents in enumerate(parts):

        def write(task: Task, file: Any) -> Counters:
            counters = Counters()
            with DocumentWriter(file, counters) as writer:
                for begin in range(0, len(task.payload), rows):
                    ids, texts = zip(*task.payload[begin : begin + rows], strict=True)
                    writer.add_texts(ids, "documents", pa.array(texts, pa.string()))
            return counters

        task = Task(str(folder / "in"), f"documents-{number:05d}", ".parquet", "f", 1, list(documents))
        done.append((task, run_once(task, write)))
    return BuildState(tuple(done))


def part_with_languages(folder: Path, documents: Sequence[tuple[str, str, str]]) -> BuildState:
    """Write documents, each an id, a text and a language, as a part whose record has the documents of each language."""

    def write(task: Task, file: Any) -> Counters:
        counters = Counters()
        with DocumentWriter(file, counters, add_languages=languages_told) as writer:
            for name, text, language in documents:
                columns = f'{{"language": "{language}"}}' if language else "{}"
                writer.add(name, "documents", "", "", text, columns=columns)
        return counters

    task = Task(str(folder / "in"), "documents-00000", ".parquet", "f", 1, None)
    return BuildState(((task, run_once(task, write)),))


def run_stage(stage: Stage, build_state: BuildState) -> BuildState:
    """Run a stage, each of its tasks in turn."""
    plan = stage.plan(build_state)
    plan.prepare()
    done: list[list[PartResult]] = []
    for step in plan.steps:
        done.append([(task, run_once(task, step.make)) for task in step.plan(done[-1] if done else [])])
    return plan.finish(done)


def left_in(build_state: BuildState) -> pa.Table:
    """Return the documents of all parts, without those that were dropped, with their columns."""
    tables: list[pa.Table] = []
    for task, record in build_state.documents:
        groups, dropped = len(record.details["row_groups"]), tuple(record.details.get("dropped", ()))
        tables += read_range(DocumentRange(task.path, record.sha256, 0, groups, 0, dropped), columns=True)
    return pa.concat_tables(tables) if tables else pa.table({"id": [], "text": [], "columns": []})


def texts_in(build_state: BuildState) -> list[Document]:
    """Return the ids and texts of the documents of all parts, without those that were dropped."""
    table = left_in(build_state)
    return list(zip(table["id"].to_pylist(), table["text"].to_pylist(), strict=True))
