"""Several sets of shards in one run: which fit, and how weights mix them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.counter_rng import text_bits
from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.loader import BatchCollator, EpochBatchSampler, ShardExamples, numpy_batches
from bertdata.loader.sample_order import CYCLE, MixedOrder, PermutedOrder, apportion
from bertdata.objectives.settings import ExamplesConfig
from tests.loader.runs import Lengths, counted, once, ranks, run
from tests.torch.build import write_build

weights = st.lists(st.sampled_from([0.5, 1.0, 3.0, 10.0]), min_size=2, max_size=4)


def test_several_sets_are_one_data_set_without_weights(dynamic_build: Path, tmp_path: Path) -> None:
    other = write_build(tmp_path, documents=10, seed=3)
    both = ShardExamples([dynamic_build, other])
    single, second = ShardExamples(dynamic_build), ShardExamples(other)
    assert both.sizes == (len(single), len(second))
    assert [example["example_id"] for example in both] == [
        example["example_id"] for examples in (single, second) for example in examples
    ]
    assert both.fingerprint not in (
        single.fingerprint,
        second.fingerprint,
        ShardExamples([other, dynamic_build]).fingerprint,
    )
    sampler = EpochBatchSampler(both, 16, bins=(16, 32))
    assert counted([list(sampler)]) == once(len(both), 1)


@pytest.mark.costly
@pytest.mark.parametrize("bins", [None, (8, 16)])
@pytest.mark.parametrize(("weights", "sizes"), [([1.0, 1.0], [3000, 2000]), ([0.5, 10.0, 3.0], [900, 2000, 700])])
def test_sets_come_by_weight_and_each_example_of_a_set_as_often(
    weights: list[float], sizes: list[int], bins: tuple[int, ...] | None
) -> None:
    lengths = (np.arange(sum(sizes)) * 7 % 16 + 1).tolist()
    sampler = EpochBatchSampler(Lengths(lengths, sizes), 512, weights=weights, bins=bins, epochs=None)
    taken = [pair for _, batch in zip(range(CYCLE // 512), sampler, strict=False) for pair in batch]
    ends = np.cumsum(sizes)
    owners = np.searchsorted(ends, [number for _, number in taken], side="right")
    counts = np.bincount(owners).tolist()
    if bins is None:
        assert counts == apportion(CYCLE, weights)
    for owner, weight in enumerate(weights):
        assert counts[owner] / CYCLE == pytest.approx(weight / sum(weights), abs=2 * 512 / CYCLE)
        often = Counter(number for (_, number), at in zip(taken, owners.tolist(), strict=True) if at == owner)
        assert len(often) == sizes[owner]
        assert max(often.values()) - min(often.values()) <= (1 if bins is None else 2)


def test_data_sets_are_identified_by_the_digests_of_their_shards(dynamic_build: Path, tmp_path: Path) -> None:
    second = write_build(tmp_path, shards=1)
    digests = [
        [files.sha256(str(build / "train" / name)) for name in names]
        for build, names in (
            (dynamic_build, ["data-00000-of-00002.arrow", "data-00001-of-00002.arrow"]),
            (second, ["data-00000-of-00001.arrow"]),
        )
    ]
    assert ShardExamples([dynamic_build, second]).fingerprint == text_bits(json.dumps(digests)) >> 1
    assert ShardExamples(second).fingerprint == text_bits(json.dumps(digests[1:])) >> 1


def test_every_example_of_every_set_comes_once_in_each_epoch_of_its_set() -> None:
    lines = (PermutedOrder(5000, 1), PermutedOrder(7000, 2, first=5000))
    epochs, numbers = MixedOrder(lines, (CYCLE // 8, CYCLE * 7 // 8), 3).pairs(np.arange(3 * CYCLE))
    pairs = Counter(zip(epochs.tolist(), numbers.tolist(), strict=True))
    assert set(pairs.values()) == {1}
    assert (np.diff(epochs[numbers < 5000]) >= 0).all()  # an epoch ends before the next begins
    for first, size, share in ((0, 5000, CYCLE // 8), (5000, 7000, CYCLE * 7 // 8)):
        whole = 3 * share // size
        assert all((epoch, number) in pairs for epoch in range(whole) for number in range(first, first + size))


@pytest.mark.costly
@given(weights=weights, batch_size=st.integers(1, 9), world_size=st.integers(1, 5), stop=st.integers(0, 9))
@settings(max_examples=30, deadline=None)
def test_a_mixture_resumes_on_another_world_size_with_the_same_examples(
    weights: list[float], batch_size: int, world_size: int, stop: int
) -> None:
    data = Lengths([4] * 60, [60 // len(weights)] * len(weights) if 60 % len(weights) == 0 else [60])
    weights = weights[: len(data.sizes)]
    whole = counted(run(ranks(data, 1, batch_size=7, weights=weights, epochs=2)))
    first = ranks(data, world_size, batch_size=batch_size, weights=weights, epochs=2)
    outputs = run(first, stop)
    seen = counted(outputs)
    state = first[0].state_dict(len(outputs[0]))
    if state["position"] < 120:
        second = ranks(data, 3, batch_size=4, weights=weights, epochs=2)
        for sampler in second:
            sampler.load_state_dict(state)
        seen += counted(run(second))
    assert seen == whole


def test_masks_of_a_mixture_are_those_of_its_sets(dynamic_build: Path, tmp_path: Path) -> None:
    both = ShardExamples([dynamic_build, write_build(tmp_path, documents=10, seed=3)])
    single = ShardExamples(dynamic_build)
    batch = BatchCollator(both).arrays(both.__getitems__([(2, 4), (2, 9)]))
    expected = BatchCollator(single).arrays(single.__getitems__([(2, 4), (2, 9)]))
    assert all(np.array_equal(batch[name], expected[name]) for name in expected)


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (ExamplesConfig(objective="sop", max_seq_length=32), "another objective than .*: sentence_order_label here"),
        (ExamplesConfig(masking="static", max_seq_length=32), "another `masking` than .*: static here, dynamic there"),
    ],
)
def test_sets_of_other_objectives_or_masking_are_refused_by_name(
    dynamic_build: Path, tmp_path: Path, config: ExamplesConfig, message: str
) -> None:
    with pytest.raises(ConfigError, match=message) as raised:
        ShardExamples([dynamic_build, write_build(tmp_path, config)])
    assert str(tmp_path) in str(raised.value)


def test_the_longest_row_of_sets_is_that_of_any(dynamic_build: Path, tmp_path: Path) -> None:
    longer = write_build(tmp_path, ExamplesConfig(max_seq_length=48))
    for sets in ([dynamic_build, longer], [longer, dynamic_build]):
        assert ShardExamples(sets).info.max_seq_length == 48


def test_sets_of_another_vocabulary_are_refused_by_name(
    dynamic_build: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.torch.build.tokenizer_of.__defaults__", (99,))
    with pytest.raises(ConfigError, match="another vocabulary than") as raised:
        ShardExamples([dynamic_build, write_build(tmp_path)])
    assert str(tmp_path) in str(raised.value)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], "1 weights are given for 2 sets"),
        ([1.0, 0.0], "expected numbers over 0"),
        ([1.0, float("nan")], "expected numbers over 0"),
        ([1.0, 1e-9], "expected none below 1/65536"),
    ],
)
def test_weights_that_cannot_be_met_are_refused(weights: list[float], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        EpochBatchSampler(Lengths([4] * 9, [4, 5]), 2, weights=weights)
    with pytest.raises(ConfigError, match="no set of shards"):
        ShardExamples([])


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({}, "either batch_size or max_tokens"),
        ({"batch_size": 4, "max_tokens": 4}, "either batch_size or max_tokens"),
        ({"max_tokens": 31}, "the bin up to 32 tokens has rows of 32"),
        ({"batch_size": 4, "bins": (16,)}, "bins go up to 16 tokens, but the longest row has 30"),
        ({"batch_size": 4, "bins": (32, 16)}, "expected lengths that rise"),
        ({"batch_size": 4, "bins": ()}, "expected lengths that rise"),
        ({"batch_size": 4, "bins": (0, 32)}, "expected lengths that rise"),
    ],
)
def test_batches_that_cannot_be_made_are_refused(keywords: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        EpochBatchSampler(Lengths([4, 30, 9]), **keywords)  # type: ignore[arg-type]


def test_numpy_batches_count_what_was_taken_and_raise_what_went_wrong(dynamic_build: Path) -> None:
    batches = numpy_batches(dynamic_build, 4)
    running = iter(batches)
    taken = [next(running) for _ in range(3)]
    assert batches.state_dict()["position"] == sum(len(batch["labels"]) for batch in taken)
    assert len(batches) == 3 + len(list(running))
    broken = numpy_batches(dynamic_build, 4)
    broken.collator.info = None  # type: ignore[assignment]
    with pytest.raises(AttributeError):
        next(iter(broken))


def test_bins_leave_less_padding(dynamic_build: Path) -> None:
    def padding(**keywords: object) -> float:
        masks = [batch["attention_mask"] for batch in numpy_batches(dynamic_build, **keywords)]  # type: ignore[arg-type]
        return 1 - sum(int(mask.sum()) for mask in masks) / sum(mask.size for mask in masks)

    assert padding(batch_size=16, bins=(8, 16, 24, 32)) < padding(batch_size=16) / 2
