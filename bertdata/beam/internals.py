"""Everything that is used of Beam beyond its public interface: what a new minor version of it may break.

flags          parsed strictly, where Beam only warns of an unknown flag
readers        the threads that read from workers and job servers
notebooks      in IPython Beam imports its interactive runner, which needs packages that a build does not
temporaries    the folders that a pipeline makes for external transforms and for what it hands to a runner
job servers    the command of the one that a portable runner starts, and what it says of a failed job
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import logging
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from types import SimpleNamespace
from typing import Any

from bertdata.beam import dask_cluster, flink_jobs
from bertdata.errors import ConfigError

READERS = ("beam_control_read", "read_grpc_client_inputs", "wait_until_finish_read")
"""The names of Beam's threads that read from a worker or a job server."""
_OF_ONE_RUNNER = {
    "DaskOptions": "DaskRunner",
    "GoogleCloudOptions": "DataflowRunner",
    "WorkerOptions": "DataflowRunner",
    "FlinkRunnerOptions": "FlinkRunner",
    "SparkRunnerOptions": "SparkRunner",
    "KafkaStreamsRunnerOptions": "KafkaStreamsRunner",
    "PrismRunnerOptions": "PrismRunner",
}
"""The runner whose options a class declares; those of the other classes are for several."""


def parse_flags(flags: Sequence[str]) -> argparse.Namespace:
    """Parse Beam's flags strictly; raises ConfigError for one that it does not know, or that is another runner's."""
    parser, group_of = _parser(flags)
    try:
        parsed, unknown = parser.parse_known_args(list(flags))
    except argparse.ArgumentError as error:
        raise ConfigError(f"Beam does not take {error.argument_name}: {error.message}") from error
    if unknown:
        raise ConfigError(f"Beam knows no {unknown[0]}; flags after -- are Beam's, bertdata's own come before it")
    parsed.others = {flag: group_of[name] for flag in flags if (name := flag.partition("=")[0]) in group_of}
    parsed.mode_is_named = any(flag.partition("=")[0] == "--direct_running_mode" for flag in flags)
    return parsed  # type: ignore[no-any-return]


def flag_names(flags: Sequence[str]) -> set[str]:
    """Return the names of all flags that Beam knows, with those of the runner that `flags` name."""
    return set(_parser(flags)[0]._option_string_actions)


def _parser(flags: Sequence[str]) -> tuple[Any, dict[str, str]]:
    """Return the parser of Beam's flags, and the runner of each flag that is for one runner."""
    from apache_beam.options import pipeline_options

    _declare_options(flags)
    parser = pipeline_options._BeamArgumentParser(allow_abbrev=False, exit_on_error=False)
    group_of: dict[str, str] = {}
    for kind in pipeline_options.PipelineOptions.__subclasses__():
        before = set(parser._option_string_actions)
        kind._add_argparse_args(parser)
        if runner := _OF_ONE_RUNNER.get(kind.__name__):
            group_of |= dict.fromkeys(set(parser._option_string_actions) - before, runner)
    return parser, group_of


def _declare_options(flags: Sequence[str]) -> None:
    """Import the runner that flags name, which declares its own; what cannot be imported is told when it is checked."""
    parser = argparse.ArgumentParser(allow_abbrev=False, add_help=False, exit_on_error=False)
    parser.add_argument("--runner", default="")
    with contextlib.suppress(argparse.ArgumentError):
        name = parser.parse_known_args(list(flags))[0].runner
        if dask_cluster.is_named(name) or any(flag.startswith("--dask_") for flag in flags):
            dask_cluster.declare_options()
        elif "." in name:
            with contextlib.suppress(ImportError):
                importlib.import_module(name.rpartition(".")[0])


def new_pipeline(runner: Any, options: Any) -> Any:
    """Return a pipeline for which no folder is made: only external transforms need it, and an interrupt leaves it."""
    beam: Any = importlib.import_module("apache_beam.pipeline")
    its_own = beam.tempfile
    try:
        beam.tempfile = SimpleNamespace(mkdtemp=lambda prefix: os.devnull)  # which cannot be removed as a folder
        return beam.Pipeline(runner=runner, options=options)
    finally:
        beam.tempfile = its_own


@contextlib.contextmanager
def staging_deleted() -> Iterator[None]:
    """Delete, when the context is left, the folders in which Beam gathers what it hands to a runner: it keeps them."""
    environments: Any = importlib.import_module("apache_beam.transforms.environments")
    its_own, made = environments.tempfile, list[str]()

    def new_folder() -> str:
        made.append(tempfile.mkdtemp())
        return made[-1]

    environments.tempfile = SimpleNamespace(mkdtemp=new_folder)
    try:
        yield
    finally:
        environments.tempfile = its_own
        for folder in made:
            shutil.rmtree(folder, ignore_errors=True)


class Job:
    """A pipeline that a runner is to do."""

    def __init__(self, pipeline: Any, flink: str | None = None) -> None:
        """Take a pipeline; `run` begins with it. flink: the address of the cluster on which it runs, if it is one."""
        self._pipeline = pipeline
        self._flink = flink
        self._result: Any = None

    def run(self) -> None:
        """Run the pipeline to its end; with Dask, close the connection that Beam opens for it."""
        with staging_deleted():
            result = self._result = self._pipeline.run()
        client = getattr(result, "client", None)
        with contextlib.nullcontext() if client is None else dask_cluster.explained():
            try:
                result.wait_until_finish()
                if client is not None:
                    dask_cluster.require_not_cancelled(result.futures)
            finally:
                if client is not None:
                    client.close()

    def cancel(self) -> None:
        """Cancel what runs at a job server; what has not begun, or ended, or cannot be cancelled is left."""
        from apache_beam.options.pipeline_options import GoogleCloudOptions

        if self._result is None:
            return
        with contextlib.suppress(Exception):
            self._result.cancel()
        if self._flink:
            with contextlib.suppress(OSError, ValueError):
                flink_jobs.cancel(self._flink, self._pipeline.options.view_as(GoogleCloudOptions).job_name)

    def counters(self, namespace: str) -> list[str]:
        """Return the names of the counters of a namespace, once the job has ended; none where its runner has none."""
        from apache_beam.metrics import MetricsFilter

        try:
            counters = self._result.metrics().query(MetricsFilter().with_namespace(namespace))["counters"]
        except Exception:  # as many kinds as there are runners
            return []
        return [counter.key.metric.name for counter in counters]


def job_server(name: str, options: Any, folder: str) -> Any:
    """Return the job server of Beam's runner of a name (flink, spark, prism), whose artifacts are in a folder."""
    kind = {"flink": "FlinkJarJobServer", "spark": "SparkJarJobServer", "prism": "PrismJobServer"}[name]
    server = getattr(importlib.import_module(f"apache_beam.runners.portability.{name}_runner"), kind)(options)
    server._local_temp_root = folder
    return server


@contextlib.contextmanager
def quiet_jobs() -> Iterator[None]:
    """Hide the messages of job servers, which Beam gives to the root logger: the error of a failed job has them too."""

    def of_others(record: logging.LogRecord) -> bool:
        return "apache_beam" not in record.pathname

    root = logging.getLogger()
    root.addFilter(of_others)
    try:
        yield
    finally:
        root.removeFilter(of_others)


@contextlib.contextmanager
def outside_ipython() -> Iterator[None]:
    """Make Beam construct and run pipelines in IPython and Jupyter as elsewhere.

    There it imports its interactive environment for each transform's label, which needs a certain version of pandas.
    """
    from apache_beam import pipeline

    alter, inside = pipeline.alter_label_if_ipython, pipeline.is_in_ipython
    pipeline.alter_label_if_ipython, pipeline.is_in_ipython = lambda transform, pvalueish: None, lambda: False
    try:
        yield
    finally:
        pipeline.alter_label_if_ipython, pipeline.is_in_ipython = alter, inside


@contextlib.contextmanager
def quiet_readers() -> Iterator[None]:
    """Hide the errors of Beam's threads that read from what exits, which fail then, and wait for the threads."""
    hook: Callable[[threading.ExceptHookArgs], object] = threading.excepthook

    def pass_others(arguments: threading.ExceptHookArgs) -> None:
        if arguments.thread is None or arguments.thread.name not in READERS:
            hook(arguments)

    threading.excepthook = pass_others
    try:
        yield
    finally:
        for thread in threading.enumerate():
            if thread.name in READERS:
                thread.join(1)
        threading.excepthook = hook
