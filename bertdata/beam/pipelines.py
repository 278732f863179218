"""Empty pipelines of Beam for the runner that the flags name, and the clusters and job servers that these start."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from bertdata.beam import dask_cluster, internals, runner_flags
from bertdata.beam.dask_cluster import DaskCluster
from bertdata.beam.job_server import JobServer


@dataclass
class Pipelines:
    """Makes pipelines for a runner, by Beam's `flags`; what they start is used for all of them, until `close`.

    workers: how many processes Beam's own runner for one machine starts, where no runner is named.
    """

    flags: Sequence[str] = ()
    workers: int = 0
    _dask: DaskCluster | None = field(default=None, init=False, repr=False)
    _job_server: JobServer | None = field(default=None, init=False, repr=False)

    def new(self, parsed: argparse.Namespace, tasks: int, titles: Sequence[str], further: Sequence[str] = ()) -> Any:
        """Return an empty pipeline for so many tasks; `parsed` are the flags, as Beam reads them.

        further: flags of this pipeline, which come after those of the runner.
        """
        from apache_beam.options.pipeline_options import DirectOptions, PipelineOptions
        from apache_beam.runners.portability.fn_api_runner import FnApiRunner

        flags = [*self.flags, *further, *runner_flags.job_name(parsed, titles), *runner_flags.defaults(parsed)]
        options = PipelineOptions(flags)
        runner = None
        if dask_cluster.is_named(parsed.runner):
            self._dask = self._dask or DaskCluster(parsed)
            options, runner = PipelineOptions(self._dask.flags(flags, tasks)), dask_cluster.RUNNER
        elif runner_flags.starts_job_server(parsed):
            name = runner_flags.runner_name(parsed)
            self._job_server = self._job_server or JobServer(name, parsed.runner, options)
            options = PipelineOptions(self._job_server.flags(flags))
        elif not parsed.runner:
            if self.workers > 1 and not parsed.mode_is_named:
                options.view_as(DirectOptions).direct_num_workers = self.workers
                options.view_as(DirectOptions).direct_running_mode = "multi_processing"
            runner = FnApiRunner()
        try:
            return internals.new_pipeline(runner, options)
        except (ValueError, ImportError) as error:
            raise runner_flags.refused(error) from error

    def close(self) -> None:
        """End the cluster and the job server that were started, if any."""
        if self._dask is not None:
            self._dask.close()
            self._dask = None
        if self._job_server is not None:
            self._job_server.close()
            self._job_server = None
