"""A build is a list of stages, each of which plans its parts from the results of those before it.

    Stage       makes a `Plan` from a `BuildState`
    Plan        the steps of one stage, and what is done before and after them
    Step        parts of one kind: their tasks, and the function that makes one part
    Grouping    how the tasks of a step follow from the parts of the step before it: by references grouped by key
    BuildState    the results of the stages so far

Planning reads what is on disk and writes nothing, so that a dry run plans as a build does. `run_stages` runs them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from bertdata.engine.parts import PartFunction, PartMetadata, PartResult, Task, add_counts
from bertdata.errors import InputError


@dataclass(frozen=True)
class BuildState:
    """The results of the stages so far: the parts of documents, and the part with the trained vocabulary.

    account: what the last stage wrote, as JSON: of shards the manifest. sizes: for each phase the tokens that it takes
    of each source, where these were counted; token_counts: for each phase how often each token is in train
    (`bertdata.shards.token_counts.TokenCounts`), None where it was not counted. accounts: for each phase what its
    documents were counted by, as JSON (`bertdata.shards.accounts`), none without. decontamination, dedup_spans: what
    the manifest says of these stages, as JSON, none without.
    """

    documents: tuple[PartResult, ...] = ()
    vocabulary: PartResult | None = None
    account: dict[str, Any] = field(default_factory=dict)
    sizes: tuple[Mapping[str, int], ...] = ()
    token_counts: tuple[Any, ...] = ()
    accounts: tuple[dict[str, Any], ...] = ()
    decontamination: dict[str, Any] = field(default_factory=dict)
    dedup_spans: dict[str, Any] = field(default_factory=dict)

    def with_documents(self, other: BuildState) -> BuildState:
        """Return these results with the documents of others after its own."""
        return replace(self, documents=(*self.documents, *other.documents))


@dataclass(frozen=True)
class Grouping:
    """How the tasks of a step follow from the parts of the step before it.

    references gives pairs (key, reference) into one part. tasks makes the tasks of one key from all of its references,
    in whatever order these come. keys are all keys there are; tasks are made also for one that nothing refers to.
    together: where one key has many tasks, of which a task is made by any worker: those for which it returns the same
    are made by one worker. Without it, all tasks of a key are.
    """

    keys: Sequence[Any]
    references: Callable[[Task, PartMetadata], Iterable[tuple[Any, Any]]]
    tasks: Callable[[Any, Iterable[Any]], Sequence[Task]]
    together: Callable[[Task], Any] | None = None

    def plan(self, parts: Iterable[PartResult]) -> list[Task]:
        """Return the tasks that follow from finished parts, as a runner computes them by grouping."""
        return [task for tasks in self._of_keys(parts) for task in tasks]

    def shares(self, parts: Iterable[PartResult]) -> list[list[Task]]:
        """Return the tasks that follow from finished parts, those together that are made by one worker."""
        shares: dict[Any, list[Task]] = {}
        for number, tasks in enumerate(self._of_keys(parts)):
            for task in tasks:
                shares.setdefault(number if self.together is None else self.together(task), []).append(task)
        return list(shares.values())

    def _of_keys(self, parts: Iterable[PartResult]) -> list[Sequence[Task]]:
        """Return the tasks of each key."""
        groups: dict[Any, list[Any]] = {key: [] for key in self.keys}
        for task, record in parts:
            for key, reference in self.references(task, record):
                groups[key].append(reference)
        return [self.tasks(key, references) for key, references in groups.items()]


def all_together(task: Task, record: PartMetadata) -> list[tuple[None, PartResult]]:
    """Return the reference to a part where one task takes all parts of the step before."""
    return [(None, (task, record))]


@dataclass(frozen=True)
class Step:
    """Parts of one kind: a title, the function that makes one, and the tasks, or how they follow from the step before.

    The first step of a stage has tasks, the others a grouping. Progress adds up the bytes of parts, or counts them in
    another unit. Consecutive steps of one title are shown as one. of_kept: it has tasks only of parts that earlier runs
    made, so of a new build it has none.
    """

    title: str
    make: PartFunction
    tasks: Sequence[Task] = ()
    grouping: Grouping | None = None
    unit: str = "B"
    of_kept: bool = False

    def plan(self, before: Iterable[PartResult]) -> list[Task]:
        """Return the tasks, from the finished parts of the step before."""
        return self.grouping.plan(before) if self.grouping else list(self.tasks)


@dataclass(frozen=True)
class Plan:
    """What one stage does: all steps run as one pipeline, in which each feeds the next.

    finish    returns the results after the stage, from the finished parts of each step; that of the last may write
    prepare   writes what the parts read
    inputs    the files that the parts of the first step read
    states    of the user's files among these, their states before they were planned (`bertdata.io.unchanged`)
    folders   where the parts lie: those of earlier runs that belong to no task are deleted there
    notes     messages to the user
    """

    steps: Sequence[Step]
    finish: Callable[[Sequence[Sequence[PartResult]]], BuildState]
    prepare: Callable[[], None] = lambda: None
    inputs: Sequence[str] = ()
    states: Mapping[str, str] = field(default_factory=dict)
    folders: Sequence[str] = ()
    notes: Sequence[str] = ()


class Stage(Protocol):
    """One stage of a build."""

    @property
    def title(self) -> str:
        """Its name in a dry run while its steps cannot be planned yet; "" if it has none to show."""

    @property
    def first(self) -> bool:
        """Whether it plans from the user's files alone, and makes documents.

        The stages before it need not be done then, and its documents come after theirs.
        """

    def plan(self, build_state: BuildState) -> Plan:
        """Return what is to be done; raises the error with which the input is refused."""


def require_documents(parts: Sequence[PartResult], source: str = "") -> None:
    """Raise InputError, with what was dropped, where parts (all, or those of one source) hold no document."""
    if not any(record.counts.get("documents") for _, record in parts):
        drops = add_counts(record.drops for _, record in parts)
        dropped = ", ".join(f"{reason}: {number:,}" for reason, number in drops.items()) or "nothing"
        what, remedy = (
            (f"the source {source}", "leave it out, or add to it") if source else ("these sources", "add others")
        )
        broken = (row for _, record in parts for row in record.details.get("broken", ()))
        if any("place" in row and row["reason"].startswith("no text") for row in broken):  # not of pages, nor of files
            remedy = (
                "expected strings in the column of --text-column; "
                '"{NAME.KEY}" takes a string out of an object, "{NAME}" writes a number, "{NAME[]:{KEY}}" takes the '
                'items of a list, "{NAME[]:{}}" strings in one'
            )
        raise InputError(f"no document is left of {what} (dropped: {dropped}); {remedy}")
