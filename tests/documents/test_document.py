from __future__ import annotations

import numpy as np

from bertdata.documents import (
    SLOTS,
    slot,
)
from tests.statistics import assert_uniform


def test_slots_are_in_range_and_evenly_filled() -> None:
    slots = [slot(f"enwiki:{number}") for number in range(20_000)]
    assert min(slots) >= 0
    assert max(slots) < SLOTS
    assert_uniform(np.bincount(np.array(slots) >> 10, minlength=64))
