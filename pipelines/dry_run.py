"""What a build would do, as a table: the sources, the state of each stage, and the changes since the last run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from bertdata.beam.runner import Runner
from bertdata.engine.origin import Origin, changes, refusal
from bertdata.engine.run_stages import stage_states
from bertdata.engine.stages import Stage
from bertdata.io import files
from bertdata.io.console import Row, counted
from bertdata.io.digests import cores
from bertdata.sources.inputs import Inputs


def source_rows(inputs: Inputs) -> Iterator[Row]:
    """Yield a row for each source: its files and their bytes."""
    for name in inputs.names():
        paths = inputs.paths(name)
        yield name, f"{counted(len(paths), 'file')}, {sum(map(files.size, paths)):,} bytes"


def stage_rows(stages: Sequence[Stage], *, force: bool = False) -> Iterator[Row]:
    """Yield a row for each step of a build: the number of its parts, and how many are kept or made (again).

    With `force` no part counts as done.
    """
    for title, group in groupby(stage_states(stages), lambda state: state.title):
        states = list(group)
        if not all(state.is_known for state in states):
            yield title, "known once those before it are done"
            continue
        done, stale, missing = (sum(getattr(state, name) for state in states) for name in ("done", "stale", "missing"))
        text = counted(done + stale + missing, "part" if states[0].unit == "B" else states[0].unit)
        numbers = [
            (done, "kept"),
            (stale, "to be made again: what they are made from changed"),
            (missing, "to be made"),
        ]
        if force and done + stale:
            text += ": all to be made again"
        elif done + stale:
            text += ": " + ", ".join(f"{number:,} {what}" for number, what in numbers if number)
        yield title, text
        yield from (("  note", note) for state in states for note in state.notes)


def end_rows(output: str, origin: Origin, runner: Runner, *, force: bool = False) -> Iterator[Row]:
    """Yield the changes since the last run in the output, whether these are refused, and where the build runs."""
    yield from changes(output, origin)
    if (refused := refusal(output, origin)) and not force:
        yield "refused", f"{output} {refused}"
    yield "runs on", " ".join(runner.flags) or f"{runner.workers or f'up to {cores()}'} workers here"
