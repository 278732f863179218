"""How tests deal with time: work is measured by the processor, as the time on the wall also counts others' work."""

from __future__ import annotations

import resource
from collections.abc import Callable

PATIENCE = 120.0
"""Seconds that a test waits for what another process is to do, which takes it a moment unless the machine is busy."""


def child_seconds(run: Callable[[], object]) -> float:
    """Return the processor seconds of the processes that `run` starts and waits for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
