"""How the kernel of single tokens finds the lowest draws, equal ones among them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertdata.counter_rng import bits, key
from bertdata.masking import masking_kernel
from bertdata.masking.settings import MaskingConfig
from tests.masking.masker import mask_tokens

DRAWS = st.lists(st.integers(0, 2**32 - 1) | st.sampled_from([0, 1, 7, 2**32 - 2, 2**32 - 1]), min_size=1, max_size=60)


@given(DRAWS, st.data())
def test_a_bound_parts_the_lowest_draws_from_the_others_unless_some_are_equal(
    draws: list[int], data: st.DataObject
) -> None:
    needed = data.draw(st.integers(1, len(draws)))
    bound = masking_kernel._bound(np.array(draws, np.uint32), len(draws), len(draws), needed)
    below = sum(draw < bound for draw in draws)
    assert below == needed or len(set(draws)) < len(draws) or sorted(draws)[needed - 1] == 2**32 - 1


def test_a_bound_is_found_among_evenly_spread_draws() -> None:
    generator = np.random.default_rng(0)
    for _ in range(2000):
        draws = np.unique(generator.integers(0, 2**32, generator.integers(1, 600), dtype=np.uint32))
        needed = int(generator.integers(1, len(draws) + 1))
        assert (draws < masking_kernel._bound(draws, len(draws), len(draws), needed)).sum() == needed


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), min_size=1, max_size=30), st.data())
def test_of_equal_draws_the_first_are_taken(row: list[tuple[int, bool]], data: st.DataObject) -> None:
    places = [place for place, (_, special) in enumerate(row) if not special]
    needed = data.draw(st.integers(0, len(places)))
    chosen = np.zeros(len(row) + 1, np.uint32)
    draws, special = np.array([draw for draw, _ in row], np.uint64), np.array([one for _, one in row])
    masking_kernel._take_lowest(draws, special, needed, chosen)
    assert chosen[:needed].tolist() == sorted(places, key=lambda place: (row[place][0], place))[:needed]


@pytest.mark.parametrize("wanted", [35, 36, 37])
def test_draws_whose_high_halves_are_equal_are_told_apart_by_their_low_halves(wanted: int) -> None:
    # Of this example the 36th and the 37th lowest of 64 draws have the same high half: no bound on it parts them.
    example, places = 1_217_186, np.arange(1, 65)
    draws = bits(bits(key(0, "mask position"), 0), example, places)
    order = np.argsort(draws)
    assert draws[order[35]] >> np.uint64(32) == draws[order[36]] >> np.uint64(32)
    masked = mask_tokens(
        np.array([2, *[7] * 64, 3]),
        np.array([0, 66]),
        np.array([True, *[False] * 64, True]),
        np.array([example]),
        config=MaskingConfig(masked_lm_prob=0.9, max_predictions_per_seq=wanted),
        seed=0,
        epoch=0,
        mask_token_id=4,
        replacement_ids=np.arange(5, 10),
    )
    assert np.flatnonzero(masked.labels == 7).tolist() == sorted(places[order[:wanted]].tolist())
