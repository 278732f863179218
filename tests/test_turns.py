"""Each costly test has its turn one day in so many, and the others run each day."""

from __future__ import annotations

import pytest

from tests.turns import DAYS, of_other_days


@pytest.mark.costly
@pytest.mark.parametrize("number", range(12))
def test_a_costly_test_is_left_out_on_all_days_but_one(number: int, request: pytest.FixtureRequest) -> None:
    days = [day for day in range(20_000, 20_000 + DAYS) if not of_other_days([request.node], day)]
    assert len(days) == 1


def test_another_test_is_left_out_on_no_day(request: pytest.FixtureRequest) -> None:
    assert not any(of_other_days([request.node], day) for day in range(20_000, 20_000 + DAYS))
