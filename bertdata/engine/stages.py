"""What a build is a list of: stages, each of which plans its parts from what the stages before it have made.

    Stage       how to plan from what stands, as a `Plan`; a build is a list of them
    Plan        the steps of one stage, and what is done before and after them
    Step        parts of one kind: which tasks there are, and the function that makes one part
    Grouping    how the tasks of a step follow from the parts of the step before it: by references grouped by key
    Standing    what stages hand on

Planning reads what is on disk and writes nothing, so that a dry run plans as a build does. `run_stages` carries them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from bertdata.engine.parts import PartFunction, PartMetadata, PartResult, Task, add_counts
from bertdata.errors import InputError


@dataclass(frozen=True)
class Standing:
    """What stages hand on: the parts of documents, the part with the vocabulary trained from them, and an account.

    account: what the last stage says of what it wrote, as JSON; of shards it is the manifest.
    """

    documents: tuple[PartResult, ...] = ()
    vocabulary: PartResult | None = None
    account: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Grouping:
    """How the tasks of a step follow from the parts of the step before it.

    references gives pairs (key, reference) into one part. tasks makes the tasks of one key from all of its references,
    in whatever order these come. keys are all keys there are; tasks are made also for one that nothing refers to.
    """

    keys: Sequence[Any]
    references: Callable[[Task, PartMetadata], Iterable[tuple[Any, Any]]]
    tasks: Callable[[Any, Iterable[Any]], Sequence[Task]]

    def plan(self, parts: Iterable[PartResult]) -> list[Task]:
        """Return the tasks that follow from finished parts: what a runner makes of the same parts by grouping."""
        groups: dict[Any, list[Any]] = {key: [] for key in self.keys}
        for task, record in parts:
            for key, reference in self.references(task, record):
                groups[key].append(reference)
        return [task for key, references in groups.items() for task in self.tasks(key, references)]


def all_together(task: Task, record: PartMetadata) -> list[tuple[None, PartResult]]:
    """Return the references of a step of which one task takes all parts of the step before it."""
    return [(None, (task, record))]


@dataclass(frozen=True)
class Step:
    """Parts of one kind: a title, the function that makes one, and the tasks, or how they follow from the step before.

    The first step of a stage has tasks, the others a grouping. Progress weighs parts by their bytes, or counts them
    in another unit. Steps of one title in a row are shown as one.
    """

    title: str
    make: PartFunction
    tasks: Sequence[Task] = ()
    grouping: Grouping | None = None
    unit: str = "B"

    def plan(self, before: Iterable[PartResult]) -> list[Task]:
        """Return the tasks, from the finished parts of the step before."""
        return self.grouping.plan(before) if self.grouping else list(self.tasks)


def _nothing() -> None:
    pass


@dataclass(frozen=True)
class Plan:
    """One stage as it is to be carried: all steps run as one pipeline, in which each feeds the next.

    finish    makes what stands after the stage, from the finished parts of each step; of the last stage it may write
    prepare   writes what the parts read
    inputs    the files that the parts of the first step read
    folders   where the parts lie: those of earlier runs that belong to no task are deleted there
    notes     what the user should know of the plan
    """

    steps: Sequence[Step]
    finish: Callable[[Sequence[Sequence[PartResult]]], Standing]
    prepare: Callable[[], None] = _nothing
    inputs: Sequence[str] = ()
    folders: Sequence[str] = ()
    notes: Sequence[str] = ()


class Stage(Protocol):
    """One stage of a build, by its title; `first` where it plans from the user's files alone, whatever stands."""

    @property
    def title(self) -> str:
        """What a dry run calls it as long as its steps are not known; nothing where it has none to show."""

    @property
    def first(self) -> bool:
        """Whether it can be planned before the stages before it are done."""

    def plan(self, standing: Standing) -> Plan:
        """Return what is to be done, from what stands; raises what the input is refused with."""


def require_documents(parts: Sequence[PartResult], source: str = "") -> None:
    """Raise InputError where parts, all or those of one source, hold no document, saying what was dropped."""
    if not any(record.counts.get("documents") for _, record in parts):
        drops = add_counts(record.drops for _, record in parts)
        dropped = ", ".join(f"{reason}: {number:,}" for reason, number in drops.items()) or "nothing"
        what, remedy = (
            (f"the source {source}", "leave it out, or add to it") if source else ("these sources", "add others")
        )
        raise InputError(f"no document is left of {what} (dropped: {dropped}); {remedy}")
