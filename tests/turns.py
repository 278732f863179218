"""On which days a costly test runs where `scripts/test` runs them all: one day in so many, by its name."""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import pytest

DAYS = 5


def turn_of(name: str) -> int:
    """Return on which of `DAYS` days a test has its turn, by its name with its parameters.

    >>> turn_of("tests/test_runs.py::test_the_checks[cpu]") in range(DAYS)
    True
    """
    return zlib.crc32(name.encode()) % DAYS


def of_other_days(items: Sequence[pytest.Item], day: int) -> list[pytest.Item]:
    """Return the costly tests whose turn is on another day than this one, a number of days."""
    costly = [item for item in items if item.get_closest_marker("costly")]
    return [item for item in costly if turn_of(item.nodeid) != day % DAYS]
