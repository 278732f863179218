"""The steps of stages as a Beam graph: each step makes the parts of its tasks; references are grouped between steps.

An element is a `Task`, a task with its `PartMetadata`, or a reference into a part, never text or tokens. A task that is
done already returns its record at once, so that replays, retries and reruns do no work twice. Counters of Beam's tell
what is done where users of an engine look.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import apache_beam as beam
from apache_beam.metrics import Metrics
from apache_beam.transforms.window import GlobalWindows

from bertdata.engine.part_maker import PartMaker
from bertdata.engine.parts import TASKS_AT_ONCE, PartFunction, PartMetadata, PartResult, Task
from bertdata.engine.stages import Grouping, Step
from bertdata.engine.versions import differences, versions
from bertdata.errors import ConfigError, names_flags, set_naming_flags
from bertdata.plugins import adopt, consent
from bertdata.registry import handed_over

COUNTERS = "bertdata"
"""The namespace of the counters that engines show."""


class MakePart(beam.DoFn):  # type: ignore[misc]
    """Does a task once, as `PartMaker` does.

    Beam pickles it by value for the workers, with `objects` that registries find there by their kind and name. What is
    begun at once is given out when the bundle ends.
    """

    def __init__(
        self,
        make: PartFunction,
        objects: Mapping[tuple[str, str], object] | None = None,
        at_once: int = TASKS_AT_ONCE,
    ) -> None:
        self._make = make
        self._versions = versions()
        self._objects = dict(objects or {})
        self._consent = consent()
        self._names_flags = names_flags()
        self._at_once = at_once
        self._maker = PartMaker(make, at_once)

    def setup(self) -> None:
        set_naming_flags(self._names_flags)
        if other := differences(versions(), self._versions):
            raise ConfigError(
                f"a worker has other versions than the process that started the build: {', '.join(other)}; install the "
                "same there"
            )
        adopt(self._consent)
        for name, item in self._objects.items():
            handed_over.setdefault(name, item)

    def start_bundle(self) -> None:
        """Begin with no task."""
        self._maker = PartMaker(self._make, self._at_once)

    def process(self, task: Task) -> Iterator[PartResult]:
        """Yield the task with its record, or begin it and yield those that must end before."""
        for made in self._maker.made(task):
            yield _counted(*made)

    def finish_bundle(self) -> Iterator[Any]:
        """Yield what was begun."""
        for made in self._maker.rest():
            yield GlobalWindows.windowed_value(_counted(*made))


def _counted(task: Task, record: PartMetadata) -> PartResult:
    """Return a task with its record, counted for the engine: parts, bytes read and written, and the record's counts.

    To be called in the thread that Beam calls: its counters are of the step that this thread runs. As all of Beam's
    they count attempts, so a part that a retry finds done is counted again; manifests add up the records.
    """
    counts = {"parts": 1, "bytes_read": task.weight, "bytes_written": record.bytes} | record.counts
    for name, number in counts.items():
        Metrics.counter(COUNTERS, str(name)).inc(number)
    return task, record


def _group_tasks(parts: Any, grouping: Grouping) -> Any:
    """Turn the finished parts of one step into the tasks of the next: references into the parts, grouped by key."""
    keys = parts.pipeline | "Keys" >> beam.Create([(key, None) for key in grouping.keys], reshuffle=False)
    references = parts | beam.FlatMapTuple(grouping.references)
    tasks = (references, keys) | beam.Flatten() | beam.GroupByKey() | beam.FlatMap(_tasks, grouping)
    together = grouping.together
    if together is None:
        return tasks
    keyed = tasks | "Keyed" >> beam.Map(lambda task: (together(task), task))
    return keyed | "Spread" >> beam.GroupByKey() | "Each" >> beam.FlatMapTuple(lambda key, group: group)


def _tasks(group: tuple[Any, Iterable[Any]], grouping: Grouping) -> Sequence[Task]:
    key, references = group
    return grouping.tasks(key, [reference for reference in references if reference is not None])


group_tasks = beam.ptransform_fn(_group_tasks)


def construct(
    pipeline: Any,
    steps: Sequence[Step],
    begin: Sequence[Sequence[Task]],
    objects: Mapping[tuple[str, str], object],
    at_once: int = TASKS_AT_ONCE,
) -> None:
    """Add the graph of the steps of some stages to a pipeline.

    A step without a grouping begins a stage, with the next of `begin`; the stages do not depend on each other. objects:
    those that no module has, for the registries of the workers (`bertdata.registry.handed_over`). at_once: how many
    parts at a URL a worker makes at once; 1 for a runner that does not take what is given out at the end of a bundle.
    """
    parts, starts = None, iter(begin)
    ends: list[Any] = []
    for number, step in enumerate(steps):
        if step.grouping:
            ends.pop()
            tasks = parts | f"{number} references" >> group_tasks(step.grouping)
        else:
            tasks = create(pipeline, next(starts), f"{number} " if number else "")
        parts = tasks | f"{number} {step.title}" >> beam.ParDo(MakePart(step.make, objects, at_once))
        ends.append(parts)
    if len(ends) > 1:  # a runner may compute only what the last transform needs, as Dask's does
        ends | beam.Flatten()


def create(pipeline: Any, tasks: Sequence[Task], label: str = "") -> Any:
    """Return the tasks as a PCollection that is spread over all workers; its transforms' names begin with `label`.

    `Create` is a single bundle; grouping the tasks by number separates them from it, and a local runner assigns groups
    in turn, so that of tasks with the heaviest first each worker gets about the same weight.
    """
    numbered = pipeline | f"{label}Create" >> beam.Create(list(enumerate(tasks)), reshuffle=False)
    assigned = numbered | f"{label}Assign" >> beam.GroupByKey()
    return assigned | f"{label}Each" >> beam.FlatMapTuple(lambda number, group: group)
