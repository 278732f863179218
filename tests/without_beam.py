"""Makes the parts of a build one after another in this process: for tests of what a build writes, not of who runs it.

More than half of the time of a small build is Beam's, which makes the graph, translates it and hands out bundles. Here
the same transform makes the same parts, pickled as Beam pickles it. That a build has the same bytes through Beam is
tested in tests/pipelines/test_same_bytes.py.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

from bertdata.beam.failures import remove_failures
from bertdata.beam.progress import expected
from bertdata.beam.runner import Runner
from bertdata.engine.parts import PartResult, Task
from bertdata.engine.stages import Step

_run_with_beam = Runner.run


def run(
    runner: Runner, steps: Sequence[tuple[Step, Sequence[Task]]], begin: Sequence[Sequence[Task]], paths: Sequence[str]
) -> None:
    """Do what `Runner.run` does, without Beam and progress where one worker of this process would do it."""
    if runner.flags or runner.workers > 1:
        _run_with_beam(runner, steps, begin, paths)
        return
    began, starts = time.monotonic(), iter(begin)
    parts: list[PartResult] = []
    try:
        for step, _ in steps:
            parts = _made(runner, step, step.grouping.plan(parts) if step.grouping else next(starts))
    finally:
        remove_failures(expected(steps))
    runner.seconds.append((" and ".join(step.title for step, _ in steps), time.monotonic() - began))


def _made(runner: Runner, step: Step, tasks: Sequence[Task]) -> list[PartResult]:
    from apache_beam.internal import pickler

    from bertdata.beam.transforms import MakePart

    maker: MakePart = pickler.loads(pickler.dumps(MakePart(step.make, runner.objects)))
    maker.setup()
    maker.start_bundle()
    parts = [part for task in tasks for part in maker.process(task)]
    return parts + [windowed.value for windowed in maker.finish_bundle()]
