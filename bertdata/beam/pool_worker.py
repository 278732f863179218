"""The program of a worker of a pool (`bertdata.beam.worker_pool`): Beam's own, for one job of an engine.

It waits for its job with its packages imported, and ends with the process that started it: the operating system closes
its standard input then.
"""

from __future__ import annotations

import gc
import json
import logging
import os
import queue
import signal
import sys
import threading
from collections.abc import Callable

from bertdata.beam import internals
from bertdata.io.imports import (
    collector_paused,
    keep_pandas_out_of_pyarrow,
    keep_scipy_out_of_numba,
    without_packages_of_beam,
)


def work() -> None:
    """Run Beam's worker for one pipeline, whose engine may end first: Spark's executors do with every application."""
    jobs = read_jobs()
    run = prepared()
    import grpc

    os.environ.update(jobs.get())
    with internals.quiet_readers():
        try:
            run(sys.argv)
        except grpc.RpcError:
            print("a worker ends: the task manager or executor of its job has ended", file=sys.stderr)


def prepared() -> Callable[[list[str]], None]:
    """Import what a worker needs; returns Beam's worker, for one job.

    Failures reach the engine through Beam, which reports them, so nothing is logged here; interrupts are the pool's.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    logging.disable(logging.CRITICAL)

    with collector_paused(), without_packages_of_beam():
        import pyarrow as pa
        from apache_beam.runners.worker import sdk_worker_main

    keep_pandas_out_of_pyarrow()
    keep_scipy_out_of_numba()
    with collector_paused():  # what most stages use
        import numba  # noqa: F401

        from bertdata.beam import transforms  # noqa: F401

    gc.freeze()
    pa.set_cpu_count(1)
    run: Callable[[list[str]], None] = sdk_worker_main.main
    return run


def read_jobs() -> queue.SimpleQueue[dict[str, str]]:
    """Start a thread that reads the pipe from the pool, and exits as soon as that is closed.

    Returns the queue to which it adds the environment variables of a job.
    """
    jobs: queue.SimpleQueue[dict[str, str]] = queue.SimpleQueue()

    def read() -> None:
        with open(0, "rb", closefd=False) as lines:
            for line in lines:
                jobs.put(json.loads(line))
        os._exit(1)

    threading.Thread(target=read, daemon=True).start()
    return jobs


if __name__ == "__main__":
    work()
