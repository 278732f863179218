"""What permutation language modelling predicts, and in which order, against a plain loop and the paper's definition."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from math import floor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bertdata.masking.permutation import Rows, factorization_ranks, perm_mask, seed_keys
from tests.generated import examples
from tests.oracles.masking import draw
from tests.statistics import assert_uniform, hoeffding

ROWS = st.lists(
    st.tuples(st.lists(st.sampled_from("sbbc"), max_size=40), st.integers(0, 2**63 - 1)), min_size=1, max_size=6
)
"""Rows of special tokens, tokens that begin a unit, and tokens that continue one; with the ids of their examples."""


def rows_of(rows: list[tuple[str, int]] | list[tuple[list[str], int]], seed: int = 0, epoch: int = 0) -> Rows:
    flat = [kind for row, _ in rows for kind in row]
    begins = [
        kind == "b" or (kind == "c" and (place == 0 or row[place - 1] == "s"))
        for row, _ in rows
        for place, kind in enumerate(row)
    ]
    offsets = np.cumsum([0, *(len(row) for row, _ in rows)])
    special, starts = np.array([kind == "s" for kind in flat], np.bool_), np.array(begins, np.bool_)
    return Rows(offsets, np.array([word for _, word in rows]), starts, special, np.array([epoch]), seed_keys(seed))


def reference(row: list[str], example: int, probability: float, max_span: int, seed: int, epoch: int) -> list[int]:
    """Return the ranks of one row, one span and one draw at a time."""

    def drawn(purpose: str, *places: int) -> int:
        return draw(seed, f"permutation {purpose}", epoch, example, *places)

    def rounded(number: float, purpose: str, place: int) -> int:
        return floor(number + (drawn(purpose, place) >> 11) * 2.0**-53)

    segments: list[list[list[int]]] = []
    for place, kind in enumerate(row):
        if kind != "s":
            if place == 0 or row[place - 1] == "s":
                segments.append([[place]])
            elif kind == "b":
                segments[-1].append([place])
            else:
                segments[-1][-1].append(place)
    taken: list[list[int]] = []
    for units in segments:
        at = 0
        while at < len(units):
            place, left = units[at][0], len(units) - at
            length = 1 + ((drawn("length", place) >> 32) * max_span >> 32)
            context = rounded(length / probability, "context", place)
            if context > left:
                context, length = left, rounded(left * probability, "number", place)
            start = at + ((drawn("start", place) >> 32) * (context - length + 1) >> 32)
            taken += units[start : start + length]
            at += context
    everything = [unit for units in segments for unit in units]
    if everything and not taken:
        taken = [everything[(drawn("one") >> 32) * len(everything) >> 32]]
    order = sorted((place for unit in taken for place in unit), key=lambda place: drawn("order", place))
    return [order.index(place) if place in order else -1 for place in range(len(row))]


@settings(deadline=None, max_examples=examples(300))
@given(ROWS, st.floats(0.02, 0.95), st.integers(1, 7), st.integers(0, 2**70), st.integers(0, 2**40))
def test_a_batch_is_what_the_plain_loop_makes_of_each_row(
    rows: list[tuple[list[str], int]], probability: float, max_span: int, seed: int, epoch: int
) -> None:
    ranks = factorization_ranks(rows_of(rows, seed, epoch), probability, max_span).tolist()
    expected = [reference(row, example, probability, max_span, seed, epoch) for row, example in rows]
    assert ranks == [rank for row in expected for rank in row]


def ranks_of(row: str, count: int, epoch: int = 0) -> NDArray[np.int64]:
    rows = rows_of([(row, number) for number in range(count)], epoch=epoch)
    return factorization_ranks(rows, 1 / 6, 5).reshape(count, -1)


@pytest.mark.parametrize("length", [6, 7, 17, 64, 129])
def test_the_mean_number_of_predictions_is_a_sixth_of_the_tokens_in_rows_of_every_length(length: int) -> None:
    # The number of a row is that of its whole contexts, which is exact, and one number rounded up or down by a draw.
    ranks = ranks_of("s" + "b" * length + "s", 4000)
    assert abs((ranks >= 0).sum(1).mean() - length / 6) < hoeffding(4000)
    assert (ranks[:, [0, -1]] < 0).all()


def test_rows_of_fewer_than_six_tokens_have_one_prediction_any_of_them() -> None:
    for length in range(1, 6):
        ranks = ranks_of("s" + "b" * length, 2000)
        assert ((ranks >= 0).sum(1) == 1).all()
        assert (ranks[:, 1:] >= 0).any(0).all()


def test_spans_are_of_one_to_five_tokens_each_as_often() -> None:
    predicted = ranks_of("b" * 150, 3000) >= 0
    edges = np.diff(np.pad(predicted, ((0, 0), (1, 1))).astype(int), axis=1)
    lengths = Counter((np.nonzero(edges < 0)[1] - np.nonzero(edges > 0)[1]).tolist())
    total = sum(lengths.values())
    assert sum(lengths[n] for n in range(1, 6)) > 0.93 * total  # two spans at the border of their contexts may touch
    for n in range(1, 6):
        assert abs(lengths[n] / total - 0.2) < 0.05


def test_a_span_lies_in_its_context() -> None:
    rows = rows_of([("b" * 30, number) for number in range(6000)])
    ranks = factorization_ranks(rows, 1 / 6, 1).reshape(-1, 5, 6)
    assert ((ranks >= 0).sum(2) == 1).all()
    assert_uniform((ranks >= 0).sum((0, 1)))


def test_words_are_predicted_whole() -> None:
    ranks = ranks_of("s" + "bcc" * 20 + "bbs", 500)[:, 1:61].reshape(500, 20, 3) >= 0
    assert (ranks.all(2) == ranks.any(2)).all()
    assert abs(ranks.mean() - 1 / 6) < 0.01


def test_a_row_of_special_tokens_has_no_prediction() -> None:
    assert factorization_ranks(rows_of([("ss", 1), ("", 2), ("sbs", 3)]), 1 / 6, 5).tolist() == [-1, -1, -1, 0, -1]


def test_every_order_of_the_predicted_tokens_is_as_likely() -> None:
    ranks = ranks_of("b" * 18, 12_000)
    orders = Counter(tuple(row[row >= 0].tolist()) for row in ranks)
    of_three = [orders[order] for order in permutations(range(3))]
    assert_uniform(of_three)
    assert sum(of_three) > 6000


def test_a_draw_depends_on_the_epoch_the_example_and_the_seed() -> None:
    one, other = ranks_of("b" * 60, 50), ranks_of("b" * 60, 50, epoch=1)
    assert (one != other).any(1).mean() > 0.9
    assert len({tuple(row) for row in one.tolist()}) > 45
    assert factorization_ranks(rows_of([("b" * 60, 3)], seed=1), 1 / 6, 5).tolist() != one[3].tolist()


@given(st.lists(st.booleans(), min_size=1, max_size=12), st.randoms())
def test_a_token_attends_to_those_before_it_in_the_order_and_a_predicted_one_not_to_itself(
    flags: list[bool], random: object
) -> None:
    predicted = [place for place, flag in enumerate(flags) if flag]
    targets = list(predicted)
    random.shuffle(targets)  # type: ignore[attr-defined]
    ranks = np.array([[targets.index(place) if flag else -1 for place, flag in enumerate(flags)]])
    non_targets = [place for place, flag in enumerate(flags) if not flag]
    order = [*non_targets, *targets]  # z: the non-target tokens, then the targets (equation 5)
    c = len(non_targets)
    mask = perm_mask(ranks)[0]
    for t, token in enumerate(order):
        seen = order[:t] if t >= c else non_targets
        assert np.flatnonzero(mask[token] == 0).tolist() == sorted(seen)
