"""The program of a worker of a pool (`bertdata.beam.worker_pool`): Beam's own, for one job of an engine."""

from __future__ import annotations

import os
import sys

from bertdata.beam import internals, processes


def work() -> None:
    """Run Beam's worker for one pipeline, whose engine may end first: Spark's executors do with every application."""
    pipelines, run = processes.prepared()
    import grpc

    os.environ.update(pipelines.get())
    with internals.quiet_readers():
        try:
            run(sys.argv)
        except grpc.RpcError:
            print("a worker ends: the task manager or executor of its job has ended", file=sys.stderr)


if __name__ == "__main__":
    work()
