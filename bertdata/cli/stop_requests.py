"""Interrupts (Ctrl-C) of commands that train: the first stops a run after its step, the second ends it at once.

Python runs the handler of a signal between instructions of its own, and a step of a large model can be minutes within
one call of torch. So a thread waits for the signal as well: it says at once what will happen, and ends the process.
"""

from __future__ import annotations

import logging
import os
import select
import signal
import threading
from types import FrameType, TracebackType

from bertdata import INTERRUPTED, INTERRUPTED_CODE
from bertdata.cli.interrupts import exit_at_once
from bertdata.io import log

_LOG = logging.getLogger("bertdata")
AFTER_STEP = "interrupted: the run stops after this step, with a checkpoint; interrupt again to end at once"
SOON = "interrupted: the command ends when torch is done with what it computes; interrupt again to end at once"
_END = b"\0"
"""What the thread gets when there is nothing more to wait for: no signal has the number."""
_WITHOUT_A_WORD = 1.0
"""Seconds in which a command may end without saying first that it will."""


class StopRequests:
    """While it is entered, an interrupt is a request to stop; called after each step it tells whether there is one.

    Before the first call there is nothing to keep, so the first interrupt raises KeyboardInterrupt, as ever. Does
    nothing where interrupts are not Python's own to handle: under torchrun, in a thread, or where they are ignored.
    """

    def __init__(self) -> None:
        self._has_steps = self._requested = False
        self._wakes: tuple[int, int] | None = None

    def __call__(self) -> bool:
        """Tell whether the run is to stop after the step that it has taken."""
        self._has_steps = True
        return self._requested

    def __enter__(self) -> StopRequests:
        in_main = threading.current_thread() is threading.main_thread()
        alone = os.environ.get("WORLD_SIZE", "1") == "1"
        if in_main and alone and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            self._wakes = read, write = os.pipe()
            os.set_blocking(write, False)
            self._other = signal.set_wakeup_fd(write, warn_on_full_buffer=False)
            signal.signal(signal.SIGINT, self._take)
            os.register_at_fork(after_in_child=self._leave)
            self._thread = threading.Thread(target=self._watch, args=(read,), daemon=True)
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._wakes is not None:
            signal.signal(signal.SIGINT, signal.default_int_handler)
            signal.set_wakeup_fd(self._other)
            read, write = self._wakes
            os.write(write, _END)
            self._thread.join()
            os.close(write)
            os.close(read)

    def _leave(self) -> None:
        """Leave interrupts of a forked process, as a worker of torch's loader, to itself: it has the same pipe."""
        if signal.getsignal(signal.SIGINT) == self._take:
            self._wakes = None
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _take(self, number: int, frame: FrameType | None) -> None:
        if not self._has_steps:
            raise KeyboardInterrupt
        self._requested = True

    def _watch(self, read: int) -> None:
        """Say what the first interrupt will do, and end the process at the second."""
        if not _is_interrupted(read):
            return
        if self._has_steps:
            _LOG.warning(AFTER_STEP)
        elif not select.select([read], [], [], _WITHOUT_A_WORD)[0]:
            _LOG.warning(SOON)
        if _is_interrupted(read):
            log.failure(INTERRUPTED, INTERRUPTED_CODE, prefix="")
            log.end(INTERRUPTED_CODE)
            exit_at_once(INTERRUPTED_CODE)


def _is_interrupted(read: int) -> bool:
    """Wait for an interrupt among the signals that a pipe gets; False at the end, before one came."""
    while (number := os.read(read, 1)) != _END:
        if number[0] == signal.SIGINT:
            return True
    return False
