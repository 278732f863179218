"""Runs a pipeline: on the cores of this machine by default, or on the runner that the flags name.

The local runner is Beam's FnApiRunner, in this process for one worker, with our worker processes for more. Little work
is done in this process unless --workers is given, since starting a worker takes longer. An error on a worker is raised
again here as the same class.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import logging
import re
import shutil
import sys
import threading
import time
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from tqdm import tqdm

from bertdata import errors
from bertdata.beam import dask_cluster, internals
from bertdata.beam.dask_cluster import DaskCluster
from bertdata.beam.processes import Workers
from bertdata.beam.progress import Expected, Progress, expected
from bertdata.engine.parts import Task
from bertdata.engine.stages import Step
from bertdata.errors import BertDataError, ConfigError, JobNotRun, MissingExtraError
from bertdata.io import files, remote
from bertdata.io.digests import cores
from bertdata.kernels import warmup

_CLUSTERS = ("dataflow", "flink", "spark", "portable", "kafkastreams")
_CARRIERS = ("extra_packages", "setup_file", "requirements_file", "sdk_container_image")
"""The options by which Dataflow's workers get packages."""
COMPILING = "compiling kernels, once: progress can stand still for half a minute; later runs load them from disk"
_LOCAL = ("direct", "fnapi", "switchingdirect", "bundlebaseddirect")
"""Beam's runners on this machine."""
BYTES_PER_WORKER = 8 << 20
"""The work, in bytes, for which starting another worker process, which takes seconds, is worth it."""
_BEAM_STEP = re.compile(r" \[while running '[^']*'\]$")
_IN_TRACEBACK = re.compile(
    r"^bertdata\.errors\.(?P<kind>\w+): (?P<message>.*?)(?: \[while running '|\n\n|\n?\Z)", re.M | re.S
)


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
    _dask: DaskCluster | None = field(default=None, init=False, repr=False)
    _keeps_workers: bool = field(default=False, init=False, repr=False)

    def __post_init__(self) -> None:
        if self.workers < 0:
            raise ConfigError(f"--workers is {self.workers}; expected 1 or more, or 0 for as many as are worth it")

    def timings(self) -> list[tuple[str, str]]:
        """Return the seconds of each pipeline that ran."""
        return [(f"  {title}", f"{seconds:.1f}") for title, seconds in self.seconds]

    def say(self, text: str) -> None:
        """Print to stderr, above the line of progress, unless quiet."""
        if not self.quiet:
            tqdm.write(errors.printable_lines(text), file=sys.stderr)

    @contextlib.contextmanager
    def keep_workers(self) -> Iterator[None]:
        """Keep the workers that pipelines start, here or by Dask, for those that follow, until the context is left.

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
            if self._dask is not None:
                self._dask.close()
                self._dask = None

    def _usable_workers(self) -> Workers:
        """Return the workers that are kept, or new ones where a pipeline failed or one was lost since."""
        if self._workers is not None and not self._workers.usable:
            self._workers.end()
            self._workers = None
        self._workers = self._workers or Workers()
        return self._workers

    def run(self, steps: Sequence[tuple[Step, Sequence[Task]]], begin: Sequence[Task], paths: Sequence[str]) -> None:
        """Run steps as one pipeline that begins with some tasks of the first, and show their progress.

        Each step is given with all of its tasks. `paths` must be reachable from where it runs. Raises the BertDataError
        that was raised on a worker, and JobNotRun where the runner makes the job and is not to run it.
        """
        parsed = self._checked(paths)
        from bertdata.beam.transforms import construct

        shown = expected(steps)
        _remove_failures(shown)
        began = time.monotonic()
        progress = None if self.quiet else Progress(shown)
        with internals.outside_ipython(), internals.quiet_readers(), self.keep_workers():
            workers = self._usable_workers()
            pipeline = self._pipeline(parsed, workers, self.workers or _worker_count(shown), len(begin))
            construct(pipeline, [step for step, _ in steps], begin, self.objects)
            warmup.listeners.append(workers.compiling.set)
            succeeded = False
            try:
                failure = self._wait_for(pipeline, workers, progress)
                succeeded = failure is None
            finally:
                warmup.listeners.remove(workers.compiling.set)
                if not succeeded:
                    workers.end()
                if progress:
                    progress.update(final=True)
        self.seconds.append((" and ".join(step.title for step in shown), time.monotonic() - began))
        if failure is not None:
            raise _worker_error(shown) or _without_beam(failure)
        if parsed.dry_run or parsed.template_location:
            where = f", at {parsed.template_location}" if parsed.template_location else ""
            raise JobNotRun(
                f"the job of {self.seconds[-1][0]} was made{where}, and not run, as the flags of the runner ask; the "
                "jobs after it are planned from what it writes, so they are not made"
            )

    def check(self, paths: Sequence[str]) -> None:
        """Raise ConfigError, before any work, where the named runner cannot work, or cannot reach the paths.

        Without flags Beam is not imported, only looked for: a build that is finished does not need it.
        """
        if self.flags:
            parsed = self._checked(paths)
            if dask_cluster.is_named(parsed.runner) and (parsed.address or parsed.scheduler_file):
                with DaskCluster(parsed) as cluster:
                    if not cluster.check_workers(paths):
                        self.say("no Dask worker has joined the scheduler yet: the build waits for one")
        elif importlib.util.find_spec("apache_beam") is None:
            raise MissingExtraError("apache-beam", "beam")

    def _checked(self, paths: Sequence[str]) -> argparse.Namespace:
        _import_beam()
        parsed = internals.parse_flags(self.flags)
        _check(parsed, self.workers, paths)
        if parsed.runner:
            _check_runner(parsed)
        return parsed

    def _wait_for(self, pipeline: Any, workers: Workers, progress: Progress | None) -> BaseException | None:
        outcome: list[BaseException | None] = []

        def work() -> None:
            try:
                internals.run(pipeline)
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
            if workers.lost is not None and not outcome:
                return BertDataError(workers.lost)
        return BertDataError(workers.lost) if outcome[0] and workers.lost else outcome[0]

    def _pipeline(self, parsed: argparse.Namespace, workers: Workers, number: int, tasks: int) -> Any:
        from apache_beam.options.pipeline_options import DirectOptions, PipelineOptions
        from apache_beam.runners.portability.fn_api_runner import FnApiRunner

        options = PipelineOptions(list(self.flags))
        runner = None
        if dask_cluster.is_named(parsed.runner):
            self._dask = self._dask or DaskCluster(parsed)
            options, runner = PipelineOptions(self._dask.flags(self.flags, tasks)), dask_cluster.RUNNER
        elif not parsed.runner and (number == 1 or parsed.mode_is_named):
            runner = FnApiRunner()
        elif not parsed.runner:
            options.view_as(DirectOptions).direct_num_workers = number
            runner = FnApiRunner(default_environment=internals.worker_environment(workers))
        try:
            return internals.new_pipeline(runner, options)
        except (ValueError, ImportError) as error:
            raise _refused(error) from error


def _worker_count(steps: Sequence[Expected]) -> int:
    """Return the number of workers for what is not done yet: one for each core, fewer for little work."""
    return min(cores(), max(1, sum(step.pending_bytes() for step in steps) // BYTES_PER_WORKER))


def _import_beam() -> None:
    logging.getLogger("apache_beam").setLevel(logging.CRITICAL)
    root = logging.getLogger()
    level = root.level
    root.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import apache_beam  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("apache-beam", "beam") from error
    finally:
        root.setLevel(level)


def _runner_name(parsed: argparse.Namespace) -> str:
    return (parsed.runner or "").rsplit(".")[-1].lower().removesuffix("runner")


def _is_cluster(parsed: argparse.Namespace) -> bool:
    here = (parsed.environment_type or "").upper() == "LOOPBACK" or parsed.job_endpoint == "embed"
    return _runner_name(parsed) in _CLUSTERS and not here


def _check(parsed: argparse.Namespace, workers: int, paths: Sequence[str]) -> None:
    """Refuse numbers of workers without effect, a cluster with local paths, Dataflow without its client or bertdata."""
    if workers and (parsed.runner or parsed.mode_is_named):
        raise ConfigError("--workers is for local runs; a runner or mode named after -- takes its own flag there")
    for flag, name in parsed.others.items():
        if flag.partition("=")[0] != "--num_workers" and (not parsed.runner or _runner_name(parsed) in _LOCAL):
            where = f"--runner={parsed.runner} was given" if parsed.runner else "no runner was given"
            raise ConfigError(f"{flag} is for {name}, and {where}; add --runner={name}, or leave {flag} out")
    if parsed.dry_run and _runner_name(parsed) != "dataflow":
        raise ConfigError("--dry_run is for Dataflow; bertdata's own --dry-run comes before the --")
    if parsed.num_workers and not _is_cluster(parsed):
        raise ConfigError("--num_workers is for Dataflow; local runs take --workers, before the --")
    if parsed.direct_num_workers != 1 and not parsed.mode_is_named:
        raise ConfigError("--direct_num_workers needs --direct_running_mode; local runs take --workers, before the --")
    if _is_cluster(parsed):
        for path in paths:
            if not files.is_remote(path):
                raise ConfigError("a cluster cannot see a local path; give a URL such as gs://bucket/folder", path=path)
    if _runner_name(parsed) == "dataflow":
        try:
            import apache_beam.runners.dataflow.internal.apiclient  # noqa: F401
        except ImportError as error:
            raise MissingExtraError("apache-beam[gcp]", "gcp") from error
        if not any(getattr(parsed, name) for name in _CARRIERS):
            raise ConfigError(
                "Dataflow's workers have no bertdata; add --extra_package=WHEEL, which scripts/build makes, or "
                "--sdk_container_image=IMAGE of the Dockerfile"
            )


def _check_runner(parsed: argparse.Namespace) -> None:
    """Raise ConfigError for a runner that is not there, MissingExtraError for one whose packages are not."""
    from apache_beam.runners import create_runner

    name = _runner_name(parsed)
    try:
        create_runner(dask_cluster.RUNNER if dask_cluster.is_named(parsed.runner) else parsed.runner)
    except (ValueError, ImportError, AttributeError, TypeError) as error:
        raise _refused(error) from error
    served = parsed.job_endpoint or parsed.flink_submit_uber_jar or parsed.spark_submit_uber_jar
    if name in ("flink", "spark") and not served and shutil.which(parsed.job_server_java_launcher) is None:
        raise ConfigError(
            f"--runner={parsed.runner} starts a job server in Java, and there is no "
            f"{parsed.job_server_java_launcher}; install Java, or name a server that runs with --job_endpoint"
        )


def _refused(error: Exception) -> ConfigError:
    return ConfigError(f"Beam refuses these flags: {' '.join(str(error).split())}")


def _failures(steps: Sequence[Expected]) -> list[str]:
    expected = {record.removesuffix(".json") + ".failure" for step in steps for record in step.sizes}
    folders = sorted({folder for step in steps for folder in step.directories()})
    names = zip(folders, remote.at_once(files.names, folders), strict=True)
    return sorted(expected & {files.join(folder, name) for folder, found in names for name in found})


def _worker_error(steps: Sequence[Expected]) -> BertDataError | None:
    """Return the first error that a worker wrote into a file, in its class, and delete these files."""
    failures = [files.read_json(path) for path in _failures(steps)]
    _remove_failures(steps)
    return _error(failures[0]["kind"], failures[0]["message"]) if failures else None


def _error(kind: str, message: str) -> BertDataError:
    kinds = (errors.ConfigError, errors.InputError, errors.OutputError, errors.VerificationError)
    return {kind.__name__: kind for kind in kinds}.get(kind, BertDataError)(message)


def _remove_failures(steps: Sequence[Expected]) -> None:
    for path in _failures(steps):
        files.remove(path)


def _without_beam(failure: BaseException) -> BaseException:
    """Return the BertDataError in a failure: Beam adds its step, or quotes it in a traceback of another process."""
    if isinstance(failure, BertDataError):
        return _error(type(failure).__name__, _BEAM_STEP.sub("", str(failure)))
    match = _IN_TRACEBACK.search(str(failure))
    return _error(match["kind"], match["message"]) if match else failure
