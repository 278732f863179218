"""Runs a pipeline: on the cores of this machine by default, or on the runner that the flags name.

On this machine the steps run in this process and, for several workers, in processes beside it, without Beam
(`bertdata.engine.run_parts`). Little work is done in this process alone unless --workers is given, since starting a
worker takes longer. An error on a worker is raised again here as the same class.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tqdm import tqdm

from bertdata import errors
from bertdata.beam import dask_cluster, flink_jobs, internals, job_server, runner_flags, worker_check
from bertdata.beam.dask_cluster import DaskCluster
from bertdata.beam.failures import remove_failures, without_beam, worker_error
from bertdata.beam.pipelines import Pipelines
from bertdata.beam.progress import Expected, Progress, expected
from bertdata.beam.quiet_import import import_beam
from bertdata.engine.messages import Run
from bertdata.engine.parts import Task
from bertdata.engine.processes import Workers, new_workers
from bertdata.engine.run_parts import run_parts
from bertdata.engine.stages import Step
from bertdata.errors import BertDataError, ConfigError, JobNotRun, names_flags
from bertdata.io import imports, log
from bertdata.io.console import counted
from bertdata.io.machine import cores, without_cores
from bertdata.io.os_errors import require_address_space
from bertdata.io.time_limit import finished_within
from bertdata.kernels import warmup
from bertdata.plugins import consent
from bertdata.registry import handed_over

COMPILING = (
    "compiling the kernels of these settings that no earlier run has compiled: progress can stand still for half a "
    "minute; later runs load them from disk"
)
_ADDRESS_SPACE = 2200 << 20
"""Bytes of address space in which no pipeline ends: numba, Arrow and gRPC reserve more than they use."""
_FLEX = "; a Flex template runs it as a job of its own (docs/clusters.md)"
BYTES_PER_WORKER = 16 << 20
"""The work, in bytes, for which starting another worker process, which takes a second, is worth it."""


@dataclass
class Runner:
    """Where pipelines run: in `workers` processes on this machine, or as Beam's `flags` say (those after `--`).

    objects: those that no module has, for the registries of the workers, by kind and name. seconds: the titles and the
    seconds of each pipeline that ran.
    """

    workers: int = 0
    flags: tuple[str, ...] = ()
    quiet: bool = False
    objects: dict[tuple[str, str], object] = field(default_factory=dict)
    seconds: list[tuple[str, float]] = field(default_factory=list, init=False)
    _said_compiling: bool = field(default=False, init=False, repr=False)
    _workers: Workers | None = field(default=None, init=False, repr=False)
    _pipelines: Pipelines = field(init=False, repr=False)
    _keeps_workers: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.workers < 0:
            raise ConfigError(f"--workers is {self.workers}; expected 1 or more, or 0 for as many as are worth it")
        self._pipelines = Pipelines(self.flags, self.workers)

    def say(self, text: str) -> None:
        """Print to stderr, above the line of progress, unless quiet; in a log with the time of day."""
        if self.quiet:
            return
        if log.is_json():
            log.event("message", text=errors.without_passwords(text))
        else:
            tqdm.write(log.timed(errors.printable_lines(text)), file=sys.stderr)

    def announce(self, jobs: Sequence[str]) -> None:
        """Say how many jobs a cluster gets, and that this process must live for them."""
        if not (self.flags and jobs):
            return
        parsed = internals.parse_flags(self.flags)
        if parsed.runner and runner_flags.runner_name(parsed) not in runner_flags.LOCAL:
            self.say(
                f"{counted(len(jobs), 'job')} on {parsed.runner}, one after another: {'; '.join(jobs)}. This process "
                "plans each from what is there by then, so keep it alive until the end (what is done already needs no "
                f"job){_FLEX if runner_flags.runner_name(parsed) == 'dataflow' else ''}"
            )

    @contextlib.contextmanager
    def keep_workers(self) -> Iterator[None]:
        """Keep the workers and servers that pipelines start for those that follow, until the context is left.

        Without it, they end with their pipeline. Contexts can be nested: the outermost ends them.
        """
        if self._keeps_workers:
            yield
            return
        self._keeps_workers = True
        try:
            yield
        finally:
            self._keeps_workers = False
            if self._workers is not None:
                self._workers.end()
                self._workers = None
            self._pipelines.close()

    @contextlib.contextmanager
    def checked(self, output: str, inputs: Sequence[str]) -> Iterator[None]:
        """Check as `check` does, and keep what that starts, as `keep_workers` does, until the context is left."""
        with self.keep_workers():
            self.check(output, inputs)
            yield

    def start_workers(self, work: int) -> None:
        """Start the worker processes that so many bytes of work are worth: they import while this one plans.

        To be called inside `keep_workers`, which ends them; for one worker, or where flags name a runner, none is.
        """
        number = self.workers or _workers_for(work)
        if number > 1 and not self.flags and self._keeps_workers:
            self._start_beside(self._usable_workers(), number)

    def _start_beside(self, workers: Workers, number: int) -> None:
        """Start the processes that make up so many workers with this one, or say why there are fewer."""
        try:
            workers.start(number - 1)
        except OSError as error:
            self.say(f"{counted(1 + len(workers.every), 'worker')} in place of {number}: {error}")

    def _usable_workers(self) -> Workers:
        """Return the workers that are kept, or new ones where a pipeline failed or one was lost since."""
        if self._workers is not None and not self._workers.usable:
            self._workers.end()
            self._workers = None
        self._workers = self._workers or new_workers()
        return self._workers

    def run(
        self, steps: Sequence[tuple[Step, Sequence[Task]]], begin: Sequence[Sequence[Task]], paths: Sequence[str]
    ) -> None:
        """Run the steps of stages as one pipeline, and show their progress.

        Each step is given with all of its tasks. One without a grouping begins a stage, with the tasks of the next of
        `begin`. `paths` must be reachable from where it runs. Raises the BertDataError that was raised on a worker, and
        JobNotRun where the runner makes the job and is not to run it.
        """
        all_steps = expected(steps)
        titles = [step.title for step in all_steps]
        number = self.workers or _worker_count(all_steps)
        parsed = self._checked(paths) if self.flags else None
        remove_failures(all_steps)
        began = time.monotonic()
        progress = None if self.quiet else Progress(all_steps)
        with self.keep_workers():
            workers = self._usable_workers()
            warmup.listeners.append(workers.compiling.set)
            try:
                planned = [step for step, _ in steps]
                if parsed is None:
                    failure = self._run_here(planned, begin, workers, progress, number)
                else:
                    failure = self._run_with_beam(planned, begin, workers, progress, (parsed, titles))
                if progress:
                    progress.update(final=True)
            except BaseException:
                if progress:
                    progress.interrupted()
                raise
            finally:
                warmup.listeners.remove(workers.compiling.set)
        self.seconds.append((" and ".join(titles), time.monotonic() - began))
        if failure is not None:
            error = worker_error(all_steps)
            raise (
                failure if parsed is None else error or runner_flags.explained(failure, parsed) or without_beam(failure)
            )
        if parsed and (parsed.dry_run or parsed.template_location):
            where = f", at {parsed.template_location}" if parsed.template_location else ""
            raise JobNotRun(
                f"the job of {self.seconds[-1][0]} was made{where}, and not run, as the flags of the runner ask; the "
                "jobs after it are planned from what it writes, so they are not made"
            )

    def _run_here(
        self,
        steps: Sequence[Step],
        begin: Sequence[Sequence[Task]],
        workers: Workers,
        progress: Progress | None,
        number: int,
    ) -> BaseException | None:
        """Run steps on this machine, without Beam, whose import and graph take longer than a small build."""
        if imports.is_command:
            imports.keep_pandas_out_of_pyarrow()
            imports.keep_scipy_out_of_numba()
        for name, item in self.objects.items():
            handed_over.setdefault(name, item)
        if number > 1:
            self._start_beside(workers, number)
        beside = workers if number > 1 and workers.every else None
        run = Run([step.make for step in steps], self.objects, consent(), names_flags())
        stop, ended = threading.Event(), False
        try:
            failure = self._wait_for(lambda: run_parts(steps, begin, stop, beside, run), workers, progress)
            ended = failure is None
            return failure
        finally:
            stop.set()
            if not ended:
                workers.end()

    def _run_with_beam(
        self,
        steps: Sequence[Step],
        begin: Sequence[Sequence[Task]],
        workers: Workers,
        progress: Progress | None,
        job: tuple[argparse.Namespace, Sequence[str]],
    ) -> BaseException | None:
        """Run steps as a pipeline of Beam, a job of parsed flags and titles; returns its error."""
        from bertdata.beam.transforms import construct
        from bertdata.engine.parts import TASKS_AT_ONCE

        parsed, titles = job
        with internals.outside_ipython(), internals.quiet_readers(), internals.quiet_jobs():
            pipeline = self._pipelines.new(parsed, sum(map(len, begin)), titles)
            at_once = 1 if dask_cluster.is_named(parsed.runner) else TASKS_AT_ONCE
            construct(pipeline, steps, begin, self.objects, at_once)
            succeeded = False
            running = internals.Job(pipeline, flink_jobs.address(parsed))
            try:
                failure = self._wait_for(running.run, workers, progress)
                succeeded = failure is None
                return failure
            finally:
                if not succeeded and runner_flags.runner_name(parsed) in runner_flags.PORTABLE:
                    finished_within(worker_check.CANCEL_SECONDS, running.cancel, "bertdata-cancel")

    @staticmethod
    def require_memory() -> None:
        """Raise ConfigError where the address space is limited to less than stages, also of samples, take."""
        require_address_space(_ADDRESS_SPACE, "a pipeline")

    def check(self, output: str, inputs: Sequence[str]) -> None:
        """Raise ConfigError, before any work, where the named runner or its workers cannot do it, or not at the paths.

        Without flags Beam is not needed.
        """
        self.require_memory()
        if not self.flags:
            if message := without_cores(self.workers):
                self.say(message)
            return
        parsed = self._checked([output, *inputs])
        name = runner_flags.runner_name(parsed)
        if dask_cluster.is_named(parsed.runner) and (parsed.address or parsed.scheduler_file):
            with DaskCluster(parsed) as cluster, worker_check.Needs.of(output, inputs) as needs:
                if not cluster.check_workers(needs):
                    self.say("no Dask worker has joined the scheduler yet: the build waits for one")
        elif name in runner_flags.PORTABLE and not parsed.output_executable_path:
            with worker_check.Needs.of(output, inputs) as needs:
                self._ask_a_worker(parsed, needs)

    def _ask_a_worker(self, parsed: argparse.Namespace, needs: worker_check.Needs) -> None:
        """Raise ConfigError where the server of a portable runner, or a worker of its, does not answer or suit."""
        if parsed.job_endpoint and parsed.job_endpoint != "embed":
            job_server.require_answer(parsed.job_endpoint)
        with internals.outside_ipython(), internals.quiet_readers(), internals.quiet_jobs(), self.keep_workers():

            def job_of(function: Callable[[Any], None]) -> internals.Job:
                import apache_beam

                pipeline = self._pipelines.new(parsed, 1, [flink_jobs.CHECK], runner_flags.of_check(parsed))
                _ = pipeline | apache_beam.Create([0], reshuffle=False) | "Ask" >> apache_beam.Map(function)
                return internals.Job(pipeline, flink_jobs.address(parsed))

            try:
                silence = partial(runner_flags.silence, parsed)
                worker_check.ask(needs, job_of, runner_flags.WORKER_SECONDS, silence, self.say)
            except BertDataError:
                raise
            except Exception as error:
                raise runner_flags.explained(error, parsed) or error from error
            if words := runner_flags.too_few_slots(parsed):
                self.say(words)

    def _checked(self, paths: Sequence[str]) -> argparse.Namespace:
        import_beam(without_packages=imports.is_command and not self.flags)
        parsed = internals.parse_flags(self.flags)
        runner_flags.check(parsed, self.workers, paths)
        if parsed.runner:
            runner_flags.check_runner(parsed)
        return parsed

    def _wait_for(self, run: Callable[[], None], workers: Workers, progress: Progress | None) -> BaseException | None:
        outcome: list[BaseException | None] = []

        def work() -> None:
            try:
                run()
                outcome.append(None)
            except BaseException as error:
                outcome.append(error)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        while thread.is_alive():
            thread.join(0.1)
            if workers.compiling.is_set() and not self._said_compiling:
                self._said_compiling = True
                self.say(COMPILING)
            if progress:
                progress.update()
        return outcome[0]


def _worker_count(steps: Sequence[Expected]) -> int:
    """Return the number of workers for what is not done yet: one for each core, fewer for little work."""
    return _workers_for(sum(step.pending_bytes() for step in steps))


def _workers_for(work: int) -> int:
    return min(cores(), max(1, work // BYTES_PER_WORKER))
