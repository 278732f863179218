"""The program of a worker process of a local run (`bertdata.engine.processes`): makes parts until its parent ends.

Its arguments are modules that it imports before it is ready. It gets messages of its parent: `BEGIN` with the functions
of a run's steps, `GIVE` with tasks of one step, `END` once that step has no more of them.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import logging
import os
import pickle
import queue
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from pathlib import Path

from bertdata.engine.messages import (
    BEGIN,
    COMPILING,
    END,
    ENDED,
    FAILED,
    GIVE,
    READY,
    TOOK,
    Run,
    message_of,
    read_data,
    write_message,
)

_KILLED_SOONER = 200
"""How much sooner Linux kills a worker than its parent where memory runs out, in thousandths of all memory: the parent
says what happened and what to do."""


def work() -> None:
    """Make the parts of one run after another, until the parent exits."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # interrupts are the parent's
    messages = _read_messages()
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what anything prints goes where the parent reads the last lines
    _prepare(sys.argv[1:])

    from bertdata.engine.part_maker import PartMaker

    write_message(answers, (READY, None))
    run, makers = Run(()), dict[int, PartMaker]()
    while True:
        data, kind = messages.get(), ""
        try:
            kind, value = message_of(data)
            if kind == BEGIN:
                run, makers = pickle.loads(value), {}
                run.begin()
                continue
            step, tasks = value
            maker = makers.setdefault(step, PartMaker(run.makes[step]))
            if kind == GIVE:
                made = [each for task in tasks for each in maker.made(task)]
                answer = TOOK
            else:
                made, answer = list(maker.rest()), ENDED
            write_message(answers, (answer, [(task.path, record) for task, record in made]))
        except BaseException as error:
            write_message(answers, (FAILED, _told(error)))
        if kind == END:
            _give_back()


def _prepare(modules: Sequence[str]) -> None:
    """Import what most stages use, and modules: a worker may wait for its first tasks."""
    from bertdata.io.imports import collector_paused, keep_pandas_out_of_pyarrow, keep_scipy_out_of_numba

    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(str(_KILLED_SOONER))
    os.environ["TOKENIZERS_PARALLELISM"] = "false"
    logging.disable(logging.CRITICAL)  # failures reach the parent as answers
    keep_pandas_out_of_pyarrow()
    keep_scipy_out_of_numba()
    with collector_paused():
        import numba  # noqa: F401
        import pyarrow as pa

        from bertdata.kernels import warmup

        for name in modules:
            importlib.import_module(name)

    gc.freeze()
    warmup.listeners.append(lambda: print(COMPILING.decode(), end="", file=sys.stderr, flush=True))
    pa.set_cpu_count(1)


def _read_messages() -> queue.SimpleQueue[bytes]:
    """Start a thread that reads the pipe from the parent, and exits as soon as that is closed.

    Returns its messages, pickled: what cannot be unpickled is an error of the run, and not of the thread.
    """
    messages: queue.SimpleQueue[bytes] = queue.SimpleQueue()

    def read() -> None:
        with open(0, "rb", closefd=False) as stream:
            while (data := read_data(stream)) is not None:
                messages.put(data)
        os._exit(1)

    threading.Thread(target=read, daemon=True).start()
    return messages


def _told(error: BaseException) -> tuple[str, str]:
    """Return the class and the message of an error of ours, and "" and the traceback of any other."""
    from bertdata.errors import BertDataError

    if isinstance(error, BertDataError):
        return type(error).__name__, str(error)
    return "", f"worker process {os.getpid()} failed:\n{''.join(traceback.format_exception(error))}"


def _give_back() -> None:
    """Give memory back while the next tasks are planned."""
    import pyarrow as pa

    gc.collect()
    pa.default_memory_pool().release_unused()


if __name__ == "__main__":
    work()
