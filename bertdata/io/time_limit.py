"""Calls of other people's code, which may retry for minutes: given up after some seconds."""

from __future__ import annotations

import threading
from collections.abc import Callable


def finished_within(seconds: float, work: Callable[[], object], name: str) -> bool:
    """Call a function in a thread of this name and return whether it ended in time; raises the error that it raises.

    Where it did not, its thread goes on in the background until it or the process ends.

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
    thread.start()
    thread.join(seconds)
    if outcome and outcome[0] is not None:
        raise outcome[0]
    return bool(outcome)
