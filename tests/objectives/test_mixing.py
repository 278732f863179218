"""Sources mixed by weight: epochs, whole copies, and what is drawn of the last."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertdata.errors import ConfigError
from bertdata.objectives.mixing import check_mix, documents_of_copy, number_of_copies, plan_shares
from bertdata.objectives.settings import MixingConfig, parse_mix
from tests.statistics import hoeffding


def epochs_of(config: MixingConfig, sizes: dict[str, int], dupe_factor: int = 1) -> dict[str, float]:
    return {name: share.epochs for name, share in plan_shares(config, sizes, dupe_factor).items()}


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
        given = tuple(f"{name}={weight!r}" for name, weight in weights.items())
        epochs = epochs_of(MixingConfig(given), sizes, dupe_factor)
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
        plan_shares(MixingConfig(("wikipedia=1", "books=1")), {"wikipedia": 1_000_000, "books": 1}, 1)


SIZES = st.dictionaries(st.sampled_from("abcdef"), st.integers(10**6, 10**8), min_size=1)


@given(SIZES, st.floats(0.1, 1))
def test_a_temperature_weights_sources_by_their_size_to_a_power(sizes: dict[str, int], tau: float) -> None:
    taken = {name: number * sizes[name] for name, number in epochs_of(MixingConfig(mix_temperature=tau), sizes).items()}
    assert sum(taken.values()) == pytest.approx(sum(sizes.values()))
    for document, size in sizes.items():
        for other, other_size in sizes.items():
            assert taken[document] / taken[other] == pytest.approx((size / other_size) ** tau)


@given(SIZES, st.floats(1, 5), st.floats(0.1, 1))
def test_no_source_has_more_than_the_most_epochs_and_the_others_fill_what_it_leaves(
    sizes: dict[str, int], most: float, tau: float
) -> None:
    shares = plan_shares(MixingConfig(mix_temperature=tau, max_epochs=most), sizes, 1)
    assert all(share.epochs <= most for share in shares.values())
    assert sum(share.epochs * sizes[name] for name, share in shares.items()) == pytest.approx(sum(sizes.values()))
    capped = [name for name, share in shares.items() if share.epochs == most]
    others = [name for name in shares if name not in capped]
    ratios = [shares[name].epochs * sizes[name] / sizes[name] ** tau for name in others]
    assert not ratios or max(ratios) == pytest.approx(min(ratios))
    assert all(shares[name].wanted >= most or len(capped) > 1 for name in capped)


def test_a_budget_of_tokens_is_the_size_of_train_and_refused_where_epochs_do_not_reach_it() -> None:
    sizes = {"web": 9_000, "books": 1_000}
    assert epochs_of(MixingConfig(train_tokens=5_000), sizes) == {"web": 0.5, "books": 0.5}
    assert epochs_of(MixingConfig(("web=1", "books=1"), train_tokens=4_000), sizes)["books"] == 2
    odd = {"a": 3, "b": 7, "c": 11}
    assert epochs_of(MixingConfig(train_epochs=3), odd) == dict.fromkeys(odd, 3), "exactly, or there is a fourth copy"
    assert epochs_of(MixingConfig(train_epochs=1.5), sizes, 4) == {"web": 1.5, "books": 1.5}
    assert epochs_of(MixingConfig(("web=1", "books=1"), train_epochs=0.5), sizes)["books"] == 2.5
    with pytest.raises(ConfigError, match="train is to have 30,000 tokens, and `max_epochs` 2 of the 10,000"):
        plan_shares(MixingConfig(train_tokens=30_000, max_epochs=2), sizes, 1)


def test_settings_of_mixtures_that_contradict_each_other_are_refused() -> None:
    with pytest.raises(ConfigError, match="both weight the sources; give one"):
        MixingConfig(("web=1",), mix_temperature=0.5)
    with pytest.raises(ConfigError, match=r"`train_tokens` 9 and `train_epochs` 0\.5 both say how much text train has"):
        MixingConfig(train_tokens=9, train_epochs=0.5)
    with pytest.raises(
        ConfigError, match="`max_epochs` 2 has no effect without `mix`, `mix_temperature`, `train_tokens`"
    ):
        MixingConfig(max_epochs=2)
