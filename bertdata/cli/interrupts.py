"""How a command ends that is stopped: an interrupt (SIGINT) or SIGTERM is one line, and an exit code of its own."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from functools import partial
from typing import Any, NoReturn

from bertdata import INTERRUPTED, INTERRUPTED_CODE

TERMINATED = "terminated: run the same command again to go on; what is done is kept"
TERMINATED_CODE = 128 + signal.SIGTERM


class Terminated(KeyboardInterrupt):
    """The process got SIGTERM, as from Slurm, Kubernetes or `timeout`: it ends as after an interrupt."""


def raise_at_sigterm() -> None:
    """Let SIGTERM raise Terminated in the main thread, unless it is ignored; a second one ends the process at once.

    Not under torchrun, which ends its processes itself, and where one of several may wait for another.
    """
    if signal.getsignal(signal.SIGTERM) == signal.SIG_DFL and os.environ.get("WORLD_SIZE", "1") == "1":
        signal.signal(signal.SIGTERM, _terminate)
        sys.unraisablehook = partial(_send_again, sys.unraisablehook)


_waiting = set[int]()
"""The signals that are about to be sent again."""
_SOON = 0.02
"""Seconds after which a destructor is over; where it is not, the next signal is sent again as well."""
_NO_HANDLER = "ignored due to race condition"
"""What Python says of a signal that came while it had a handler, which is taken away before Python could call it."""


def _send_again(report: Any, lost: Any) -> None:
    """Send the signal again of a stop that was raised in a destructor, where Python drops exceptions; report others.

    That a worker of torch's loader died is an error, which torch raises again where the next batch is waited for. Of a
    signal that came with SIGTERM, whose handler is the system's from then on, Python says that it ignores it.
    """
    kind, text = lost.exc_type, str(lost.exc_value)
    if kind is RuntimeError and text.startswith("DataLoader worker"):
        return
    if kind is OSError and text.endswith(_NO_HANDLER):
        return
    if kind is None or not issubclass(kind, KeyboardInterrupt) or threading.current_thread() != threading.main_thread():
        report(lost)
        return
    number = signal.SIGTERM if issubclass(kind, Terminated) else signal.SIGINT
    if number == signal.SIGTERM:
        signal.signal(signal.SIGTERM, _terminate)
    if number not in _waiting:
        _waiting.add(number)
        sender = threading.Timer(_SOON, _send, (number,))
        sender.daemon = True
        sender.start()


def _send(number: int) -> None:
    _waiting.discard(number)
    os.kill(os.getpid(), number)


def _terminate(*_: Any) -> None:
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    # The workers of torch's loaders got it as well, and for each that ends torch raises an error in whatever runs then.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    raise Terminated


def ending(stop: KeyboardInterrupt) -> tuple[str, int]:
    """Return what a command says that was stopped, and its exit code.

    >>> ending(KeyboardInterrupt())[1], ending(Terminated())[1]
    (130, 143)
    """
    return (TERMINATED, TERMINATED_CODE) if isinstance(stop, Terminated) else (INTERRUPTED, INTERRUPTED_CODE)


def interrupt_of(error: BaseException) -> KeyboardInterrupt | None:
    """Return the interrupt that an error is, or that was its cause; None where there was none.

    Before Python 3.12 one that comes while a class is made, as in imports, becomes the cause of a RuntimeError.

    >>> interrupt_of(ValueError()) is None
    True
    """
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, KeyboardInterrupt):
        cause = cause.__cause__
    return cause


def exit_at_once(code: int) -> NoReturn:
    """End the process with a code, without waiting for its threads, as `os._exit` does.

    Names of semaphores, which the queues of a loader have whose workers are not forks, are removed. Otherwise a process
    of multiprocessing removes them, with a warning.
    """
    util: Any = sys.modules.get("multiprocessing.util")
    with contextlib.suppress(Exception):  # a version of Python without these attributes warns
        for finalizer in list(util._finalizer_registry.values()):
            if getattr(finalizer._callback, "__qualname__", "") == "SemLock._cleanup":
                finalizer()
    os._exit(code)
