"""Calls of other people's code, which may retry for minutes: given up after some seconds."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence


def finished_within(
    seconds: float, work: Callable[[], object], name: str, after: Sequence[tuple[float, Callable[[], object]]] = ()
) -> bool:
    """Call a function in a thread of this name and return whether it ended in time; raises the error that it raises.

    Where it did not, its thread goes on in the background until it or the process ends. after: seconds, in order, and
    what is called when it has not ended by then.

    >>> finished_within(60, lambda: None, "nothing")
    True
    """
    outcome: list[BaseException | None] = []

    def attempt() -> None:
        try:
            work()
            outcome.append(None)
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=attempt, daemon=True, name=name)
    began = time.monotonic()
    thread.start()
    for until, call in after:
        thread.join(max(0.0, min(until, seconds) - (time.monotonic() - began)))
        if thread.is_alive() and until < seconds:
            call()
    thread.join(max(0.0, seconds - (time.monotonic() - began)))
    if outcome and outcome[0] is not None:
        raise outcome[0]
    return bool(outcome)
