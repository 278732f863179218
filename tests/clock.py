"""How long work takes a processor: what tests of speed compare, since the time on the wall also counts others' work."""

from __future__ import annotations

import resource
from collections.abc import Callable


def child_seconds(run: Callable[[], object]) -> float:
    """Return the processor seconds of the processes that `run` starts and waits for."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
