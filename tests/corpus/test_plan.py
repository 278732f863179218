"""How documents are assigned to shards."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from bertdata.corpus.plan import ShardPlan, plan_shards
from bertdata.documents import SLOTS, slot
from bertdata.engine.parts import PartMetadata
from bertdata.shards.settings import ShardsConfig

Slots = list[tuple[int, int, int]]
some_slots = st.lists(
    st.tuples(st.one_of(st.integers(0, SLOTS - 1), st.integers(0, 700)), st.integers(1, 3), st.integers(1, 9000)),
    min_size=1,
    max_size=120,
)
configs = st.builds(
    ShardsConfig, st.sampled_from([1024, 10_000, 1 << 26]), st.sampled_from([0.0, 0.01, 0.1, 0.5, 0.99, 0.999999])
)


def record(slots: Iterable[tuple[int, int, int]]) -> PartMetadata:
    return PartMetadata("part", "", 0, "", 0.0, {}, {}, {"slots": [list(slot) for slot in slots]})


def plan(slots: Slots, config: ShardsConfig) -> ShardPlan:
    return plan_shards([record(slots)], config)


def documents_in(slots: Slots, shard_plan: ShardPlan) -> list[int]:
    shards = np.searchsorted(shard_plan.ends, [slot for slot, _, _ in slots], side="right")
    counts = np.bincount(shards, [count for _, count, _ in slots], minlength=len(shard_plan.ends))
    return [int(count) for count in counts]


def even(documents: int, size: int = 1000) -> Slots:
    return [(slot(f"document {number}"), 1, size) for number in range(documents)]


@given(some_slots, configs)
def test_every_slot_is_in_exactly_one_shard(slots: Slots, config: ShardsConfig) -> None:
    assume(sum(count for _, count, _ in slots) >= 2)
    ends = plan(slots, config).ends
    assert all(first < second for first, second in zip((0, *ends), ends, strict=False))
    assert ends[-1] == SLOTS


@given(some_slots, configs)
def test_every_shard_has_at_least_two_documents(slots: Slots, config: ShardsConfig) -> None:
    assume(sum(count for _, count, _ in slots) >= 2)
    assert min(documents_in(slots, plan(slots, config))) >= 2


@given(some_slots, configs, st.randoms(use_true_random=False))
def test_the_plan_does_not_depend_on_the_order_or_number_of_records(
    slots: Slots, config: ShardsConfig, random: np.random.Generator
) -> None:
    assume(sum(count for _, count, _ in slots) >= 2)
    expected = plan(slots, config)
    mixed = list(slots)
    random.shuffle(mixed)
    middle = len(mixed) // 3
    assert plan_shards([record(mixed[:middle]), record(mixed[middle:])], config) == expected


@given(some_slots, configs)
def test_the_first_slots_are_the_validation_split(slots: Slots, config: ShardsConfig) -> None:
    assume(sum(count for _, count, _ in slots) >= 2)
    shard_plan = plan(slots, config)
    names = [shard_plan.split(shard) for shard in range(len(shard_plan.ends))]
    assert names == ["validation"] * shard_plan.validation + ["train"] * (len(shard_plan.ends) - shard_plan.validation)
    assert "train" in names


@given(some_slots, configs)
def test_shards_are_numbered_from_zero_in_each_split(slots: Slots, config: ShardsConfig) -> None:
    assume(sum(count for _, count, _ in slots) >= 2)
    shard_plan = plan(slots, config)
    train = len(shard_plan.ends) - shard_plan.validation
    expected = [f"validation/data-{n:05d}-of-{shard_plan.validation:05d}.arrow" for n in range(shard_plan.validation)]
    expected += [f"train/data-{n:05d}-of-{train:05d}.arrow" for n in range(train)]
    assert [shard_plan.file(shard) for shard in range(len(shard_plan.ends))] == expected


def test_a_document_stays_in_its_split_when_others_come() -> None:
    config = ShardsConfig(validation_fraction=0.05)
    few, many = plan(even(500), config), plan(even(5000), config)
    assert few.ends[few.validation - 1] == many.ends[many.validation - 1] == round(0.05 * SLOTS)


def test_the_validation_split_has_about_its_share_of_the_documents() -> None:
    slots = even(20_000)
    shard_plan = plan(slots, ShardsConfig(validation_fraction=0.05))
    assert sum(documents_in(slots, shard_plan)[: shard_plan.validation]) == pytest.approx(1000, rel=0.15)


def test_shards_hold_about_the_wanted_bytes() -> None:
    slots = even(20_000)
    shard_plan = plan(slots, ShardsConfig(shard_bytes=1 << 20, validation_fraction=0))
    assert len(shard_plan.ends) == 20
    assert all(800 < count < 1200 for count in documents_in(slots, shard_plan))


@pytest.mark.parametrize(("megabytes", "shards"), [(8, 2), (64, 10)])
def test_a_few_large_documents_make_few_shards_but_none_of_much_more_than_four_times_the_size(
    megabytes: int, shards: int
) -> None:
    assert len(plan(even(40, megabytes << 20), ShardsConfig(validation_fraction=0)).ends) == shards


@pytest.mark.parametrize(("documents", "shards"), [(16, 1), (31, 1), (32, 2), (47, 2), (48, 3), (64, 4), (160, 4)])
def test_a_shard_of_large_documents_has_at_least_16_of_them_in_the_mean(documents: int, shards: int) -> None:
    # All of them are as large as four shards.
    slots = even(documents, 4 * (1 << 20) // documents)
    assert len(plan(slots, ShardsConfig(shard_bytes=1 << 20, validation_fraction=0)).ends) == shards


@pytest.mark.parametrize("large", [(47,), (20, 21), (0, 1, 46, 47), (20, 47)])
def test_large_documents_side_by_side_leave_no_shard_with_less_than_two(large: tuple[int, ...]) -> None:
    slots = [(1000 * number, 1, 10**7 if number in large else 10) for number in range(48)]
    shard_plan = plan(slots, ShardsConfig(shard_bytes=1024, validation_fraction=0))
    assert shard_plan.ends[-1] == SLOTS
    assert min(documents_in(slots, shard_plan)) >= 2
    assert sum(documents_in(slots, shard_plan)) == 48


def test_no_validation_fraction_gives_no_validation_split() -> None:
    shard_plan = plan(even(100), ShardsConfig(validation_fraction=0))
    assert (shard_plan.validation, shard_plan.ends, shard_plan.notes) == (0, (SLOTS,), ())


def test_a_small_corpus_holds_two_documents_out_and_says_so() -> None:
    slots = even(60)
    shard_plan = plan(slots, ShardsConfig(validation_fraction=0.001))
    assert documents_in(slots, shard_plan) == [2, 58]
    assert shard_plan.notes == ("validation gets 2 of 60 documents: --validation-fraction 0.001 would be fewer than 2",)


def test_a_very_small_corpus_has_no_validation_split_and_says_so() -> None:
    shard_plan = plan(even(19), ShardsConfig(validation_fraction=0.001))
    assert shard_plan.validation == 0
    assert shard_plan.notes == ("19 documents are too few to hold some out: no validation split",)


def test_a_fraction_close_to_one_leaves_two_documents_for_training() -> None:
    slots = even(60)
    shard_plan = plan(slots, ShardsConfig(validation_fraction=0.9999))
    assert documents_in(slots, shard_plan)[shard_plan.validation :] == [2]
    assert "would leave fewer than 2 for training" in shard_plan.notes[0]


def test_documents_that_all_share_an_id_are_not_held_out() -> None:
    shard_plan = plan([(40_000, 100, 100_000)], ShardsConfig())
    assert (shard_plan.validation, shard_plan.ends) == (0, (SLOTS,))
    assert shard_plan.notes == ("100 documents have too few different ids to hold some out: no validation split",)


def test_a_corpus_of_one_document_is_one_shard() -> None:
    assert plan(even(1), ShardsConfig()).ends == (SLOTS,)
