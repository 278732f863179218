"""The Dask cluster that Beam's DaskRunner runs pipelines on: the one of a scheduler, or processes on this machine.

Beam's runner starts a cluster of its own for each pipeline, and assigns 128 elements at a time to a worker; an element
of ours is a part, which takes seconds to minutes. So the cluster is opened here, once for all pipelines of a build, and
the flags that Beam gets name its address and a number of partitions.
"""

from __future__ import annotations

import argparse
import contextlib
import logging
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from typing import Any

from bertdata.beam.quiet_import import quiet_dask_worker
from bertdata.beam.worker_check import Needs
from bertdata.errors import BertDataError, ConfigError, MissingExtraError
from bertdata.io.machine import cores

_LOG = logging.getLogger("bertdata")
RUNNER = "apache_beam.runners.dask.dask_runner.DaskRunner"
"""The name by which Beam finds its runner."""
MOST_PARTITIONS = 256
"""Partitions at most by default: Dask sends elements from each partition to each, and takes about a millisecond for
every ten of them."""
PARTITIONS_PER_THREAD = 8
"""Partitions for each thread of the workers: enough that all end at about the same time. With one for each of some 95
parts of 1.5 GB of XML two workers took 1.6 times the processor time."""
_PARTITIONS = ("--dask_npartitions", "--dask_partition_size")
_CANCELLED = (
    "the job was cancelled at Dask's scheduler, not by this process, or its workers were restarted; run the same "
    "command again: what is done is kept"
)
_CONNECTION_LOST = "scheduler-connection-lost"
"""The reason that Dask has for giving up tasks where its scheduler is gone."""
_PLACE = ("--dask_client_address", "--dask_scheduler_file")


def is_named(runner: str | None) -> bool:
    """Tell whether the name of a runner is that of Dask's.

    >>> is_named("dask"), is_named("DaskRunner"), is_named(RUNNER), is_named("DirectRunner")
    (True, True, True, False)
    """
    return (runner or "").rpartition(".")[2].lower().removesuffix("runner") == "dask"


def declare_options() -> None:
    """Import Beam's runner, which declares its options; raises MissingExtraError where Dask is not installed."""
    if find_spec("distributed") is None or find_spec("dask") is None:
        raise MissingExtraError("dask", "dask")
    import apache_beam.runners.dask.dask_runner  # noqa: F401


class DaskCluster:
    """A connection to a Dask scheduler, as a context manager.

    Without an address or a scheduler file among Beam's flags it is a new one on this machine, with a worker process for
    each core.
    """

    def __init__(self, parsed: argparse.Namespace) -> None:
        """Connect, or start workers; raises ConfigError where no scheduler answers."""
        from distributed import Client, LocalCluster

        for name in ("distributed", "bokeh"):
            logging.getLogger(name).setLevel(logging.CRITICAL)
        self._local: Any = None
        place = parsed.address or parsed.scheduler_file
        if not place:
            self._local = LocalCluster(
                n_workers=cores(), threads_per_worker=1, dashboard_address=":0", silence_logs=logging.CRITICAL
            )
        options = {"timeout": parsed.timeout} if parsed.timeout else {}
        if not parsed.address and parsed.scheduler_file:
            options["scheduler_file"] = parsed.scheduler_file
        try:
            self.client = Client(parsed.address or self._local, set_as_default=False, **options)
        except (OSError, ValueError) as error:
            raise ConfigError(
                f"no Dask scheduler answers ({error}); start one with `dask scheduler`, or correct {_PLACE[0]}",
                path=place,
            ) from error
        if self._local is not None:
            self.client.run(quiet_dask_worker)

    def __enter__(self) -> DaskCluster:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the connection, and the workers that were started here."""
        self.client.close()
        if self._local is not None:
            self._local.close()

    def flags(self, flags: Sequence[str], tasks: int) -> list[str]:
        """Return Beam's flags with the address, and a number of partitions for so many tasks if none is given.

        Raises BertDataError where the scheduler is gone.
        """
        own_flags = [flag for flag in flags if not flag.startswith(_PLACE)]
        own_flags += [f"{_PLACE[0]}={self.client.scheduler.address}"]
        if not any(flag.startswith(_PARTITIONS) for flag in flags):
            with explained():
                threads = sum(self.client.nthreads().values())
            own_flags += [f"{_PARTITIONS[0]}={partitions(tasks, threads)}"]
        return own_flags

    def check_workers(self, needs: Needs) -> int:
        """Return the number of workers there are now, each of which has what it needs; raises ConfigError otherwise."""
        _LOG.info("asking the Dask workers whether each has what the build needs")
        answers = self.client.run(needs.question(), on_error="return")
        for worker, answer in answers.items():
            needs.require(answer, f"the Dask worker at {worker}")
        self.client.run(quiet_dask_worker, on_error="return")  # of one that joins later, the log is less quiet
        return len(answers)


def partitions(tasks: int, threads: int) -> int:
    """Return the number of partitions for so many tasks, on workers of so many threads, 0 where none has joined yet.

    >>> partitions(7, 2), partitions(1000, 2), partitions(1000, 100), partitions(1000, 0), partitions(0, 2)
    (7, 16, 256, 256, 1)
    """
    most = PARTITIONS_PER_THREAD * threads or MOST_PARTITIONS
    return max(1, min(tasks, most, MOST_PARTITIONS))


def require_not_cancelled(futures: Iterable[Any]) -> None:
    """Raise BertDataError where tasks of a job that has ended were cancelled: Beam takes them for done."""
    if any(future.cancelled() for future in futures):
        raise BertDataError(_CANCELLED)


@contextlib.contextmanager
def explained() -> Iterator[None]:
    """Raise the errors of Dask itself as BertDataError.

    They are workers that died again and again, a scheduler that is gone, and tasks that somebody else has cancelled.
    """
    from distributed import KilledWorker
    from distributed.client import FutureCancelledError
    from distributed.comm.core import CommClosedError

    try:
        yield
    except KilledWorker as error:
        raise BertDataError(
            f"Dask gave up a task after {error.allowed_failures + 1} of its workers had died, most likely for want of "
            "memory; give workers more of it, or build with a smaller --shard-bytes: what is done is kept"
        ) from error
    except (CommClosedError, FutureCancelledError) as error:
        if getattr(error, "reason", _CONNECTION_LOST) != _CONNECTION_LOST:
            raise BertDataError(_CANCELLED) from error
        raise BertDataError(
            f"the Dask scheduler is gone ({error}); start it, and run the same command again: what is done is kept"
        ) from error
