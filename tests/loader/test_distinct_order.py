"""Batches of a sampler in which no text occurs twice over all ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertdata.errors import ConfigError
from bertdata.loader import EpochBatchSampler, text_numbers
from tests.loader.runs import Pair, counted, once, ranks, run

TEXTS = np.random.default_rng(0).integers(0, 300, (500, 2)).astype(np.int32)


def steps_of(outputs: Sequence[Sequence[Sequence[Pair]]]) -> list[list[Pair]]:
    """Return the rows of each step over all ranks, which have as many steps each."""
    assert len({len(batches) for batches in outputs}) == 1
    assert all(batch for batches in outputs for batch in batches)
    return [[pair for batch in step for pair in batch] for step in zip(*outputs, strict=True)]


def assert_apart(steps: Sequence[Sequence[Pair]], texts: Any) -> None:
    for step in steps:
        texts_of_step = [text for pair in step for text in set(texts[pair[1]].tolist())]
        assert len(texts_of_step) == len(set(texts_of_step))
        assert len({pair[0] for pair in step}) == 1


@pytest.mark.filterwarnings("ignore:without equal texts")
@given(
    rows=st.integers(10, 200), kinds=st.integers(8, 400), world_size=st.integers(1, 4), size=st.integers(1, 20),
    epochs=st.integers(1, 3), seed=st.integers(0, 99),
)  # fmt: skip
def test_every_row_comes_once_an_epoch_and_no_text_twice_in_a_step(
    rows: int, kinds: int, world_size: int, size: int, epochs: int, seed: int
) -> None:
    texts = np.random.default_rng(seed).integers(0, kinds, (rows, 2))
    samplers = ranks(range(rows), world_size, batch_size=size, epochs=epochs, seed=seed, distinct=texts)
    try:
        outputs = run(samplers)
    except ConfigError as error:
        assert "fewer rows than" in str(error)  # noqa: PT017
        return
    assert counted(outputs) == once(rows, epochs)
    steps = steps_of(outputs)
    assert [len(sampler) for sampler in samplers] == [len(steps)] * world_size
    assert_apart(steps, texts)
    assert max(map(len, steps)) <= size * world_size


def test_a_run_goes_on_exactly_from_the_state_after_any_step() -> None:
    settings: dict[str, Any] = {"batch_size": 40, "epochs": 2, "seed": 5, "distinct": TEXTS}
    whole = list(EpochBatchSampler(range(500), **settings))
    assert [len(batch) for batch in whole].count(40) > 16
    for used in range(1, len(whole) + 1):
        sampler = EpochBatchSampler(range(500), **settings)
        iterator = iter(sampler)
        assert [next(iterator) for _ in range(used)] == whole[:used]
        state = sampler.state_dict()
        assert all(type(value) is int for value in state.values())
        resumed = EpochBatchSampler(range(500), **settings)
        resumed.load_state_dict(state)
        rest = list(resumed)
        if used < len(whole):
            assert rest == whole[used:]
        else:
            assert {pair[0] for batch in rest for pair in batch} == {2, 3}


@pytest.mark.parametrize(
    "change", [{"batch_size": 20}, {"distinct": TEXTS[::-1]}, {"distinct": None}, {"world_size": 2}]
)
def test_a_state_of_other_batches_is_refused(change: dict[str, Any]) -> None:
    settings: dict[str, Any] = {"batch_size": 40, "rank": 0, "distinct": TEXTS}
    state = EpochBatchSampler(range(500), **settings).state_dict()
    with pytest.raises(ConfigError, match="other distinct texts"):
        EpochBatchSampler(range(500), **settings | change).load_state_dict(state)


def test_epochs_differ_and_a_sampler_without_an_end_goes_on() -> None:
    endless = iter(EpochBatchSampler(range(500), 40, epochs=None, distinct=TEXTS))
    first: list[list[Pair]] = []
    while not first or first[-1][0][0] < 2:
        first.append(next(endless))
    assert counted([first[:-1]]) == once(500, 2)
    numbers = [[pair[1] for batch in first for pair in batch if pair[0] == epoch] for epoch in range(2)]
    assert numbers[0] != numbers[1]
    again = EpochBatchSampler(range(500), 40, distinct=TEXTS)
    again.set_epoch(1)
    assert [pair[1] for batch in again for pair in batch] == numbers[1]


def test_short_steps_take_rows_of_others_until_each_rank_has_one() -> None:
    texts = np.arange(80).reshape(40, 2)
    texts[:9, 0] = 0  # nine batches, of which those after the first two would have one row
    with pytest.warns(UserWarning, match=r"make 9 batches, where they would fill 3.* A text of row 0 is in 9 rows"):
        outputs = run(ranks(range(40), 4, batch_size=4, distinct=texts))
    steps = steps_of(outputs)
    assert sorted(len(step) for step in steps)[:7] == [4] * 7
    assert counted(outputs) == once(40, 1)
    assert_apart(steps, texts)


@pytest.mark.filterwarnings("ignore:without equal texts")
def test_where_ranks_would_be_without_rows_it_is_an_error_and_drop_last_omits_these_steps() -> None:
    texts = np.arange(80).reshape(40, 2)
    texts[:30, 0] = 0
    with pytest.raises(ConfigError, match="a text of row 0 is in 30 rows"):
        list(EpochBatchSampler(range(40), 4, rank=0, world_size=2, distinct=texts))
    kept = steps_of(run(ranks(range(40), 2, batch_size=4, drop_last=True, distinct=texts)))
    assert kept
    assert all(len(step) == 8 for step in kept)
    for epochs in (1, None):
        with pytest.raises(ConfigError, match="drop_last leaves no batch"):
            next(iter(EpochBatchSampler(range(40), 64, epochs=epochs, drop_last=True, distinct=np.zeros((40, 1), int))))


def test_numbers_alone_are_for_the_data_sets_of_others() -> None:
    plain: list[Any] = list(EpochBatchSampler(range(500), 40, distinct=TEXTS, with_epochs=False))
    pairs = EpochBatchSampler(range(500), 40, distinct=TEXTS)
    assert plain == [[pair[1] for pair in batch] for batch in pairs]
    with pytest.raises(ConfigError, match="with_epochs is False"):
        EpochBatchSampler(range(500), 40, with_epochs=False, run_epochs=2)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"distinct": TEXTS[:7]}, r"of the shape \(7, 2\); expected .* \(500, texts of a row\)"),
        ({"distinct": TEXTS.astype(float)}, "distinct is float64"),
        ({"bins": (8, 64)}, "distinct and bins are given"),
        ({"batch_size": None, "max_tokens": 64}, "distinct and max_tokens are given"),
        ({"batch_size": 0}, "batch_size is 0"),
    ],
)
def test_settings_that_texts_cannot_be_kept_apart_with_are_refused(given: dict[str, Any], message: str) -> None:
    settings: dict[str, Any] = {"batch_size": 8, "distinct": TEXTS}
    with pytest.raises(ConfigError, match=message):
        EpochBatchSampler(range(500), **settings | given)


def test_any_numbers_may_stand_for_texts() -> None:
    wide = np.where(TEXTS % 2, -TEXTS.astype(np.int64), TEXTS.astype(np.int64) << 40)
    batches, expected = (list(EpochBatchSampler(range(500), 40, distinct=texts)) for texts in (wide, TEXTS))
    assert batches == expected


def test_texts_have_numbers_by_their_strings_however_they_are_given() -> None:
    lists = [["sea", "salt", "sea"], ["water", "sea", "Sea"]]
    chunked = [pa.chunked_array([column[:1], column[1:]]) for column in lists]
    expected = [[0, 2], [1, 0], [0, 3]]
    assert text_numbers(lists).tolist() == expected
    assert text_numbers(chunked).tolist() == expected
    assert text_numbers([pa.array(column).dictionary_encode() for column in lists]).tolist() == expected
    assert text_numbers([[], []]).shape == (0, 2)
    with pytest.raises(ConfigError, match="columns of 1 and 2 texts"):
        text_numbers([["a"], ["a", "b"]])
    with pytest.raises(ConfigError, match="no columns"):
        text_numbers([])
