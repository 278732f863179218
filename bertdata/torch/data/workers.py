"""Worker processes of a loader: how they begin, and why one cannot start or died, in words of who trains."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

from bertdata.errors import BertDataError, ConfigError
from bertdata.torch.data.dataset import ShardDataset

NEW_PROCESSES = (
    "Where workers are new processes and not forks, each imports the script first: since Python 3.14 on Linux, always "
    "on macOS"
)
GUARD = (
    'put what the script does below `if __name__ == "__main__":`, as the scripts in examples/ do, or give the loader '
    f"num_workers=0. {NEW_PROCESSES}"
)
_MAIN_ALONE = ["__main__"]
"""What the server of "forkserver" imports where nobody named modules."""


def import_once(context: Any) -> None:
    """Let the server that forks the workers of a context of multiprocessing import torch, so that none of them does.

    Since Python 3.14 this is how processes start on Linux. The server imports the script, but no module or command that
    is run, no notebook, and nothing that a script imports in a function: each worker would import torch again, in each
    iteration over the loader. Modules that `multiprocessing.set_forkserver_preload` was given stay as they are. It has
    no effect where the server runs already.
    """
    if context.get_start_method() != "forkserver":
        return
    from multiprocessing import forkserver  # there is none on some systems

    server = getattr(forkserver, "_forkserver", None)
    if getattr(server, "_preload_modules", None) == _MAIN_ALONE:
        context.set_forkserver_preload([*_MAIN_ALONE, __name__])  # and with it bertdata.torch


@contextmanager
def starting_workers(workers: int, context: Any) -> Iterator[None]:
    """Start the workers of a `DataLoader` by a context of multiprocessing; explain why they cannot.

    They need not import torch (`import_once`). A worker that is a new process and not a fork begins by importing the
    script. One that makes its loader without a condition comes to it there again. Raises ConfigError in both: in the
    worker, and in the process that starts it where it ends before it answers; and where the script comes from standard
    input, from which nothing imports it.
    """
    if not workers:
        yield
        return
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise ConfigError(f"this process begins as a worker of a loader, and its script begins a loader again; {GUARD}")
    if context.get_start_method() != "fork" and getattr(sys.modules["__main__"], "__file__", None) == "<stdin>":
        raise ConfigError(
            f"the script comes from standard input, and {workers} workers of the loader would import it; save it as a "
            f"file and run that, or give the loader num_workers=0. {NEW_PROCESSES}"
        )
    import_once(context)
    try:
        yield
    except (ConnectionError, EOFError) as error:
        raise ConfigError(
            f"the workers of the loader do not start ({type(error).__name__}: {error}); where the lines above name the "
            f"script, {GUARD}"
        ) from error


@contextmanager
def explaining_workers(dataset: ShardDataset) -> Iterator[None]:
    """Explain the death of a worker process of a `DataLoader`: a truncated or missing shard, or else torch's reason.

    torch raises its RuntimeError wherever the trainer is when the worker dies, so put the whole training loop inside.
    Raises InputError that names the shard, if one is truncated or missing, else BertDataError.
    """
    try:
        yield
    except RuntimeError as error:
        if "DataLoader worker" not in str(error):
            raise
        for shards in dataset.sets:
            shards.check_sizes()
        remedy = (
            "Often memory ran out: take fewer num_workers or a smaller prefetch_factor, or look at the system's log"
        )
        if "exited unexpectedly" in str(error):
            remedy += f"; where lines above, printed by the process, name the script, {GUARD}"
        raise BertDataError(
            f"a process that prepares batches died ({error}); all shards are intact. {remedy}"
        ) from error


def leave_no_cycle(error: BaseException) -> None:
    """Empty the frames that an error has come through and that are left, so that what they hold goes at once.

    torch has the error of a worker in a variable of such a frame: a cycle of references, with its iterator over batches
    in it. The garbage collector, which frees cycles, first ends the queues by which workers are told to end. Then the
    process waits 5 seconds for each worker.
    """
    traceback.clear_frames(error.__traceback__)


def begin_worker(then: Callable[[int], None] | None, number: int) -> None:
    """Prepare a worker process of a loader, then call its `worker_init_fn`.

    Interrupts, which a terminal sends to all processes, are those of the process that reads the batches, which may need
    more of them to end its step.
    When the process that reads its batches is killed, a thread of Python that hands them over prints a traceback; here
    it is left out, for the worker ends by itself.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    parent, hook = os.getppid(), sys.excepthook

    def unless_orphaned(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if isinstance(error, OSError | EOFError):
            for _ in range(20):  # files are closed a moment before a process is gone
                if os.getppid() != parent:
                    return
                time.sleep(0.05)
        hook(kind, error, trace)

    sys.excepthook = unless_orphaned
    if then is not None:
        then(number)
