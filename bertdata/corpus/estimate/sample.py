"""A build of a few samples of the input, in this process and a temporary folder: what estimates are scaled up from.

Of each kind of source some tasks are taken at even distances, by their bytes, and of each its beginning; so the same
input gives the same samples. They go through the stages of the build itself.
"""

from __future__ import annotations

import json
import time
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any

from bertdata.documents import DocumentCount
from bertdata.engine.fingerprints import sealed
from bertdata.engine.parts import Counts, PartMetadata, PartResult, Task, add_counts, run_once
from bertdata.engine.stages import BuildState, Stage
from bertdata.sources import SOURCE_FORMATS
from bertdata.sources.inputs import input_of

SAMPLES = 8
SAMPLE_BYTES = 256 << 10
"""Stored bytes of one sample, more where there are fewer samples.

A kind of source that has less than all of them together is read whole.
"""
FINISHED = "finished"
"""The kind of the documents that an earlier run of bertdata wrote."""


def choose(weights: Sequence[int], number: int) -> list[int]:
    """Return the places of `number` of some weights at even distances of their sum, those that repeat once.

    >>> choose([1, 1, 1, 1], 2), choose([10, 1, 1], 2), choose([5], 3)
    ([1, 3], [0], [0])
    """
    ends = list(accumulate(weights))
    wanted = [(2 * k + 1) * ends[-1] / (2 * number) for k in range(number)] if ends else []
    return sorted({next(place for place, end in enumerate(ends) if end > point) for point in wanted} if ends else set())


@dataclass
class Group:
    """The tasks of one kind of source, those of them that were sampled, and the beginnings that stand for these.

    `format` is that of most of them; `unread` says of each sample that could not be taken why; `documents` is their
    number where it is known.
    """

    tasks: Sequence[Task]
    taken: list[Task]
    format: str
    unread: Sequence[str] = ()
    documents: int | None = None

    @property
    def weight(self) -> int:
        """The stored bytes of all tasks."""
        return sum(task.weight for task in self.tasks)

    @property
    def sampled(self) -> int:
        """The stored bytes of the samples."""
        return sum(task.weight for task in self.taken)

    def by_source(self, source_of: dict[str, str]) -> dict[str, int]:
        """Return the stored bytes of each source."""
        sizes: defaultdict[str, int] = defaultdict(int)
        for task in self.tasks:
            sizes[source_of[input_of(task)]] += task.weight
        return dict(sizes)


@dataclass
class BeginningsOf:
    """Takes the beginnings of some tasks of each kind; `groups` has what was there and what was taken, by kind.

    `copied` has the file that each copy is the beginning of.
    """

    folder: str
    samples: int = SAMPLES
    sample_bytes: int = SAMPLE_BYTES
    groups: dict[str, Group] = field(default_factory=dict)
    copied: dict[str, str] = field(default_factory=dict)

    def tasks(self, kind: str, tasks: Sequence[Task]) -> list[Task]:
        """Return the beginnings of some tasks, all of all where they are small."""
        weights = [task.weight for task in tasks]
        whole = sum(weights) <= self.samples * self.sample_bytes
        chosen = [tasks[place] for place in (range(len(tasks)) if whole else choose(weights, self.samples))]
        size = sum(weights) if whole else self.samples * self.sample_bytes // len(chosen)
        beginnings = [SOURCE_FORMATS[task.payload.format].beginning(task, size, self.folder) for task in chosen]
        taken = [task for task in beginnings if isinstance(task, Task)]
        pairs = [
            (task, beginning) for task, beginning in zip(chosen, beginnings, strict=True) if isinstance(beginning, Task)
        ]
        self.copied |= {
            beginning.payload.path: task.payload.path
            for task, beginning in pairs
            if beginning.payload.path != task.payload.path
        }
        names = [task.payload.format for task in tasks]
        most = max(sorted(set(names)), key=names.count, default="")
        self.groups[kind] = Group(tasks, taken, most, [why for why in beginnings if isinstance(why, str)])
        return taken

    def naming_files(self, message: str) -> str:
        """Return a message with the names of the user's files in the place of those of copies."""
        for copy, path in self.copied.items():
            message = message.replace(copy, path)
        return message

    def finished(self, parts: Sequence[PartResult]) -> list[PartResult]:
        """Return some parts, of each its first row group alone."""
        weighed = [replace(task, weight=_text_bytes(record)) for task, record in parts]
        taken = []
        for place in choose([task.weight for task in weighed], self.samples // 2):
            task, record = parts[place]
            groups = record.details["row_groups"][:1]
            [documents, text] = groups[0] if groups else (0, 0)
            counts = {str(DocumentCount.DOCUMENTS): documents, str(DocumentCount.TEXT_BYTES): text}
            details = record.details | {"row_groups": groups}
            taken.append((task, replace(record, counts=counts, details=details)))
        if parts:
            sampled = [replace(task, weight=_text_bytes(record)) for task, record in taken]
            documents = sum(record.counts.get(DocumentCount.DOCUMENTS, 0) for _, record in parts)
            self.groups[FINISHED] = Group(weighed, sampled, FINISHED, documents=documents)
        return taken


def _text_bytes(record: PartMetadata) -> int:
    return record.counts.get(DocumentCount.TEXT_BYTES, 0)


@dataclass(frozen=True)
class Made:
    """A part of a step: its task, its record, the bytes of both on disk, and the processor seconds it took."""

    title: str
    task: Task
    record: PartMetadata
    stored: int
    seconds: float


@dataclass(frozen=True)
class Sample:
    """All parts of the samples by step, in their order; `kind_of` has the kind of the source of each path."""

    groups: dict[str, Group]
    made: list[Made]
    kind_of: dict[str, str]

    def parts(self, *titles: str) -> list[Made]:
        """Return the parts of steps."""
        return [part for part in self.made if part.title in titles]

    def stored(self, *titles: str) -> int:
        """Return the bytes on disk of the parts of steps."""
        return sum(part.stored for part in self.parts(*titles))

    def counts(self, *titles: str) -> Counts:
        """Return the sums of what the parts of steps counted."""
        return add_counts(part.record.counts for part in self.parts(*titles))

    def drops(self) -> Counts:
        """Return how many documents were dropped, by reason."""
        return add_counts(part.record.drops for part in self.made)


def run_sample(stages: Sequence[Stage], groups: dict[str, Group]) -> Sample:
    """Run stages, of which those that read sources take samples into `groups`; writes where the stages say.

    A stage that leaves duplicates out is run and leaves none out, as samples do not have those of the whole. Raises
    the errors of the stages.
    """
    from bertdata.corpus.write_shards import WriteShards
    from bertdata.curation.dedup.spans.stage import DropSpans
    from bertdata.curation.dedup.stage import DropDuplicates

    build_state, made, kind_of = BuildState(), list[Made](), dict[str, str]()
    for stage in stages:
        plan = stage.plan(BuildState() if stage.first else build_state)
        if not stage.first:
            plan.prepare()
        done: list[list[PartResult]] = []
        for step in plan.steps:
            parts = [_make(step.title, task, step.make) for task in step.plan(done[-1] if done else [])]
            made += parts
            done.append([(part.task, part.record) for part in parts])
        if stage.first:
            given = {task.path: task for group in groups.values() for task in group.tasks}
            documents = [(given.get(task.path, task), record) for task, record in plan.finish(done).documents]
            task_paths = {task.path for task, _ in done[-1]}
            kind: Any = getattr(stage, "kind", "")
            kind_of |= {task.path: kind if task.path in task_paths else FINISHED for task, _ in documents}
            build_state = build_state.with_documents(BuildState(tuple(documents)))
        elif not isinstance(stage, DropDuplicates | DropSpans | WriteShards):
            build_state = plan.finish(done)
    return Sample(groups, made, kind_of)


def _make(title: str, task: Task, make: Any) -> Made:
    began = time.process_time()
    record = run_once(task, make)
    seconds = time.process_time() - began
    described = json.dumps(sealed(replace(record, seconds=0.0).values()))
    return Made(title, task, record, record.bytes + len(described), seconds)
