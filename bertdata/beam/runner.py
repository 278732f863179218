"""Runs a pipeline: on every core of this machine by default, or wherever the runner flags say.

The local runner is Beam's FnApiRunner, in this process for one worker and in worker processes of ours for more. A
failure on a worker comes back as the error it was there. What it does not do: know any stage.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from bertdata import errors, files
from bertdata.beam.liveness import Parent
from bertdata.beam.progress import Progress, Stage
from bertdata.errors import BertDataError, ConfigError, MissingExtraError

_IN_TRACEBACK = re.compile(r"^bertdata\.errors\.(?P<kind>\w+): (?P<message>.*?)(?: \[while running '.*)?$", re.M)


def cores() -> int:
    """Return the processor cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@dataclass(frozen=True)
class Runner:
    """Where pipelines run: `workers` processes here, or by Beam's own `flags` (what stands behind `--`)."""

    workers: int = 0
    flags: tuple[str, ...] = ()
    quiet: bool = False
    seconds: list[tuple[str, float]] = field(default_factory=list, compare=False)

    def __post_init__(self) -> None:
        if self.workers < 0:
            raise ConfigError(f"--workers is {self.workers}; expected 1 or more, or 0 for every core")

    def timings(self) -> list[tuple[str, str]]:
        """Return the seconds of each pipeline that ran."""
        return [(f"  {title}", f"{seconds:.1f}") for title, seconds in self.seconds]

    def say(self, text: str) -> None:
        """Tell the user something on stderr, unless quiet."""
        if not self.quiet:
            print(text, file=sys.stderr)

    def run(self, stages: Sequence[Stage], construct: Callable[[Any], None], paths: Sequence[str]) -> None:
        """Build a pipeline with `construct` and run it to its end, showing the progress of its stages.

        Raises the BertDataError that a worker met. `paths` are checked to be reachable from where it runs.
        """
        beam = _import_beam()
        options = _options(self.flags)
        _check_paths(self.flags, paths)
        _remove_failures(stages)
        began = time.monotonic()
        pipeline = beam.Pipeline(runner=self._runner(), options=options)
        construct(pipeline)
        progress = None if self.quiet else Progress(list(stages))
        with Parent() as parent:
            failure = _wait_for(pipeline, parent, progress)
        if progress:
            progress.update(final=True)
        self.seconds.append((" and ".join(stage.title for stage in stages), time.monotonic() - began))
        if failure is not None:
            raise _told_failure(stages) or _translated(failure)

    def _runner(self) -> Any:
        if any(flag.startswith(("--runner", "--direct_running_mode")) for flag in self.flags):
            named = any(flag.startswith("--runner") for flag in self.flags)
            return None if named else _fn_api_runner(None)
        workers = self.workers or cores()
        if workers == 1:
            return _fn_api_runner(None)
        from apache_beam.transforms.environments import SubprocessSDKEnvironment

        command = f"exec {sys.executable} -m bertdata.beam.worker"
        runner = _fn_api_runner(SubprocessSDKEnvironment.from_command_string(command))
        return _with_workers(runner, workers)


def _fn_api_runner(environment: Any) -> Any:
    from apache_beam.runners.portability.fn_api_runner import FnApiRunner

    return FnApiRunner(default_environment=environment)


def _with_workers(runner: Any, workers: int) -> Any:
    class Local(type(runner)):  # type: ignore[misc]
        def run_pipeline(self, pipeline: Any, options: Any) -> Any:
            from apache_beam.options.pipeline_options import DirectOptions

            options.view_as(DirectOptions).direct_num_workers = workers
            return super().run_pipeline(pipeline, options)

    runner.__class__ = Local
    return runner


def _import_beam() -> Any:
    logging.getLogger("apache_beam").setLevel(logging.CRITICAL)
    root = logging.getLogger()
    level = root.level
    root.setLevel(logging.CRITICAL)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import apache_beam
    except ImportError as error:
        raise MissingExtraError("apache-beam", "beam") from error
    finally:
        root.setLevel(level)
    return apache_beam


def _options(flags: Sequence[str]) -> Any:
    """Parse Beam's flags strictly: Beam itself only warns of a typo."""
    from apache_beam.options import pipeline_options

    parser = pipeline_options._BeamArgumentParser(allow_abbrev=False, exit_on_error=False)
    for kind in pipeline_options.PipelineOptions.__subclasses__():
        kind._add_argparse_args(parser)
    _, unknown = parser.parse_known_args(list(flags))
    if unknown:
        raise ConfigError(f"Beam knows no {unknown[0]}; flags behind -- are Beam's, bertdata's own stand before it")
    if not any(flag.startswith("--runner") for flag in flags) and any(f.startswith("--num_workers") for f in flags):
        raise ConfigError("--num_workers is for Dataflow; local runs take --workers, before the --")
    return pipeline_options.PipelineOptions(list(flags))


def _check_paths(flags: Sequence[str], paths: Sequence[str]) -> None:
    """Refuse a cluster with local paths: its workers are other machines."""
    text = " ".join(flags).lower()
    local = "loopback" in text or "job_endpoint=embed" in text.replace(" ", "=")
    if local or not any(name in text for name in ("dataflowrunner", "flinkrunner", "sparkrunner", "portablerunner")):
        return
    for path in paths:
        if not files.is_remote(path):
            raise ConfigError("a cluster cannot see a local path; give a URL such as gs://bucket/folder", path=path)


def _wait_for(pipeline: Any, parent: Parent, progress: Progress | None) -> BaseException | None:
    outcome: list[BaseException | None] = []

    def work() -> None:
        try:
            pipeline.run().wait_until_finish()
            outcome.append(None)
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.1)
        if progress:
            progress.update()
        if parent.lost is not None and not outcome:
            return BertDataError(
                f"worker process {parent.lost} was killed, most likely for want of memory; run the same command again "
                "with fewer --workers or a smaller --shard-bytes: what is done is kept"
            )
    return outcome[0]


def _failures(stages: Sequence[Stage]) -> list[str]:
    folders = {folder for stage in stages for folder in stage.directories()}
    return [files.join(one, name) for one in sorted(folders) for name in files.names(one) if name.endswith(".failure")]


def _told_failure(stages: Sequence[Stage]) -> BertDataError | None:
    """The first error that a worker told of, as the class it was."""
    told = [files.read_json(path) for path in _failures(stages)]
    _remove_failures(stages)
    if not told:
        return None
    return _error(told[0]["kind"], told[0]["message"])


def _error(kind: str, message: str) -> BertDataError:
    kinds = {kind.__name__: kind for kind in (errors.ConfigError, errors.InputError, errors.OutputError)}
    return kinds.get(kind, BertDataError)(message)


def _remove_failures(stages: Sequence[Stage]) -> None:
    for path in _failures(stages):
        files.remove(path)


def _translated(failure: BaseException) -> BaseException:
    """Return the error of ours behind a failure: from another process Beam brings it as the text of a traceback."""
    if isinstance(failure, BertDataError):
        return failure
    cause: BaseException | None = failure
    while cause is not None:
        if isinstance(cause, BertDataError):
            return cause
        cause = cause.__cause__
    found = _IN_TRACEBACK.search(str(failure))
    return _error(found["kind"], found["message"]) if found else failure
