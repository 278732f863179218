"""Sources mixed by weight: epochs, whole copies, and what is drawn of the last."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertdata.errors import ConfigError
from bertdata.objectives.mixing import check_mix, documents_of_copy, epochs_of, number_of_copies
from bertdata.objectives.settings import parse_mix
from tests.statistics import hoeffding


@given(
    st.lists(st.tuples(st.floats(0.05, 20), st.integers(1, 10**12)), min_size=1, max_size=4).filter(
        lambda drawn: max(w * sum(s for _, s in drawn) / s for w, s in drawn) < 1000 * sum(w for w, _ in drawn)
    ),
    st.integers(1, 3),
)
def test_shares_of_the_text_are_the_weights_and_the_whole_stays_as_large(
    drawn: list[tuple[float, int]], dupe_factor: int
) -> None:
    weights = {f"s{number}": weight for number, (weight, _) in enumerate(drawn)}
    sizes = {f"s{number}": size for number, (_, size) in enumerate(drawn)}
    try:
        epochs = epochs_of(weights, sizes, dupe_factor)
    except ConfigError:
        assert dupe_factor > 1
        return
    taken = {name: epochs[name] * sizes[name] for name in sizes}
    assert sum(taken.values()) == pytest.approx(sum(sizes.values()) * dupe_factor)
    for name, weight in weights.items():
        assert taken[name] / sum(taken.values()) == pytest.approx(weight / sum(weights.values()))


def test_a_source_has_its_whole_copies_and_of_the_last_one_the_share_that_is_left() -> None:
    # 20,000 documents, one false alarm in 10**9: within 0.024 of 0.3.
    keys, sources = np.arange(40_000, dtype=np.uint64), np.repeat(np.array([0, 1], np.int8), 20_000)
    copies = [documents_of_copy(keys, sources, (2.3, 0.3), copy, 0) for copy in range(3)]
    assert number_of_copies((2.3, 0.3), 1) == 3
    shares = [[float(copy[sources == source].mean()) for copy in copies] for source in (0, 1)]
    assert shares[0][:2] == [1.0, 1.0]
    assert shares[1][1:] == [0.0, 0.0]
    assert abs(shares[0][2] - 0.3) < hoeffding(20_000)
    assert abs(shares[1][0] - 0.3) < hoeffding(20_000)


def test_what_is_drawn_depends_on_the_document_and_the_seed_alone() -> None:
    keys = np.arange(1000, dtype=np.uint64)
    every = documents_of_copy(keys, np.zeros(1000, np.int8), (0.5,), 0, 0)
    turned = documents_of_copy(keys[::-1], np.zeros(1000, np.int8), (0.5,), 0, 0)
    assert np.array_equal(every[::-1], turned)
    assert not np.array_equal(every, documents_of_copy(keys, np.zeros(1000, np.int8), (0.5,), 0, 1))


def test_a_larger_share_keeps_the_documents_of_a_smaller_one() -> None:
    keys, sources = np.arange(1000, dtype=np.uint64), np.zeros(1000, np.int8)
    few, many = (documents_of_copy(keys, sources, (share,), 0, 0) for share in (0.2, 0.6))
    assert (few <= many).all()
    assert few.sum() < many.sum()


@pytest.mark.parametrize("given", ["wikipedia", "=3", "books=", "books=0", "books=-1", "books=inf", "books=nan", "a=b"])
def test_what_is_no_source_and_weight_is_refused(given: str) -> None:
    with pytest.raises(ConfigError, match="expected as wikipedia=3, with a weight over 0"):
        parse_mix([given])


def test_a_source_named_twice_is_refused() -> None:
    with pytest.raises(ConfigError, match="names books twice"):
        parse_mix(["books=1", "books=2"])


def test_unknown_and_missing_sources_are_refused_with_the_list_of_those_there_are() -> None:
    with pytest.raises(ConfigError, match="names news, but the sources of this build are: wikipedia, books"):
        check_mix({"news": 1.0, "books": 1.0}, ["wikipedia", "books"])
    with pytest.raises(ConfigError, match="gives no weight to books; the sources of this build are: wikipedia, books"):
        check_mix({"wikipedia": 1.0}, ["wikipedia", "books"])
    check_mix({}, ["wikipedia", "books"])


def test_a_source_that_would_come_too_often_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"would take books 500,0\d\d times; expected 1,000"):
        epochs_of({"wikipedia": 1, "books": 1}, {"wikipedia": 1_000_000, "books": 1}, 1)
