from __future__ import annotations

import json
from collections import Counter
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils.data import DataLoader

from bertdata.errors import ConfigError
from bertdata.torch import PretrainingCollator, ResumableBatchSampler, ShardDataset
from tests.generated import examples

Pair = tuple[int, ...]


def ranks(n: int, batch_size: int, world_size: int, **keywords: Any) -> list[ResumableBatchSampler]:
    return [
        ResumableBatchSampler(range(n), batch_size, rank=rank, world_size=world_size, **keywords)
        for rank in range(world_size)
    ]


def run(samplers: list[ResumableBatchSampler], batches: int | None = None) -> list[list[list[Pair]]]:
    return [list(islice(sampler, batches)) for sampler in samplers]


def counted(outputs: list[list[list[Pair]]]) -> Counter[Pair]:
    return Counter(pair for batches in outputs for batch in batches for pair in batch)


def once(n: int, epochs: range) -> Counter[Pair]:
    return Counter((epoch, number) for epoch in epochs for number in range(n))


@pytest.mark.costly
@given(n=st.integers(1, 70), batch_size=st.integers(1, 9), world_size=st.integers(1, 9), epochs=st.integers(1, 3))
@settings(max_examples=100, deadline=None)
def test_each_example_comes_once_an_epoch_over_all_ranks(n: int, batch_size: int, world_size: int, epochs: int) -> None:
    samplers = ranks(n, batch_size, world_size, epochs=epochs)
    lengths = [len(sampler) for sampler in samplers]
    outputs = run(samplers)
    assert counted(outputs) == once(n, range(epochs))
    assert [len(batches) for batches in outputs] == lengths
    if n * epochs >= world_size:
        assert len(set(lengths)) == 1
    assert all(0 < len(batch) <= max(batch_size, 2) for batches in outputs for batch in batches)
    if batch_size > 1:
        assert all(len(batch) <= batch_size for batches in outputs for batch in batches)


@given(
    n=st.integers(1, 60),
    first=st.tuples(st.integers(1, 6), st.integers(1, 6)),
    second=st.tuples(st.integers(1, 6), st.integers(1, 6)),
    third=st.tuples(st.integers(1, 6), st.integers(1, 6)),
    stops=st.tuples(st.integers(0, 12), st.integers(0, 12)),
)
@settings(max_examples=examples(150), deadline=None)
def test_resumed_twice_on_other_world_sizes_each_example_still_comes_once(
    n: int, first: Pair, second: Pair, third: Pair, stops: Pair
) -> None:
    seen: Counter[Pair] = Counter()
    state: dict[str, int] | None = None
    for (batch_size, world_size), stop in zip((first, second, third), (*stops, None), strict=True):
        samplers = ranks(n, batch_size, world_size, epochs=2, seed=5)
        for sampler in samplers:
            if state is not None:
                sampler.load_state_dict(state)
        if state is not None and state["position"] == 2 * n:
            break
        outputs = run(samplers, stop)
        seen += counted(outputs)
        state = samplers[0].state_dict(len(outputs[0]))
    assert seen == once(n, range(2))


def test_an_epoch_is_shuffled_anew_and_by_the_seed() -> None:
    [[first]], [[other]] = (
        run([ResumableBatchSampler(range(50), 50)]),
        run([ResumableBatchSampler(range(50), 50, seed=1)]),
    )
    second = [number for epoch, number in run([ResumableBatchSampler(range(50), 50, epochs=2)])[0][1] if epoch == 1]
    orders = [tuple(number for _, number in first), tuple(number for _, number in other), tuple(second)]
    assert len({*orders, tuple(range(50))}) == 4
    assert run([ResumableBatchSampler(range(50), 50)]) == [[first]]


@pytest.mark.parametrize("taken", range(4))
def test_told_how_many_were_used_the_next_iteration_goes_on_behind_them_and_then_is_the_next_epoch(taken: int) -> None:
    whole = list(ResumableBatchSampler(range(10), 4, epochs=2))
    sampler = ResumableBatchSampler(range(10), 4)
    first = list(islice(sampler, taken))
    sampler.load_state_dict(sampler.state_dict(taken))
    assert sampler.epoch == (1 if taken == 3 else 0)
    rest = list(sampler)
    assert len(sampler) == 3
    seen = [pair for batch in first + rest for pair in batch]
    assert {epoch for epoch, _ in seen} == ({0, 1} if taken == 3 else {0})
    assert seen[:10] == [pair for batch in whole for pair in batch][:10]
    assert sampler.epoch == (2 if taken == 3 else 1)


def test_a_run_without_end_spans_epochs_with_full_batches() -> None:
    sampler = ResumableBatchSampler(range(5), 3, epochs=None)
    batches = list(islice(sampler, 10))
    assert {len(batch) for batch in batches} == {3}
    assert counted([batches]) == once(5, range(6))
    with pytest.raises(TypeError, match="no end"):
        len(sampler)


def test_state_is_a_few_integers_that_survive_json() -> None:
    sampler = ResumableBatchSampler(range(10), 3, seed=2)
    iterator = iter(sampler)
    next(iterator)
    state = json.loads(json.dumps(sampler.state_dict(1)))
    assert len(state) == 6
    assert all(type(value) is int for value in state.values())
    again = ResumableBatchSampler(range(10), 3, seed=2)
    again.load_state_dict(state)
    assert list(again) == list(iterator)


def test_a_state_at_the_end_of_an_epoch_goes_on_with_the_next() -> None:
    sampler = ResumableBatchSampler(range(10), 4)
    batches = list(sampler)
    again = ResumableBatchSampler(range(10), 4)
    again.load_state_dict(sampler.state_dict(len(batches)))
    assert {epoch for batch in again for epoch, _ in batch} == {1}


@pytest.mark.costly
@pytest.mark.parametrize("taken", [1, 4, 9])
def test_with_prefetch_in_flight_what_the_trainer_says_it_took_counts(dynamic_build: Path, taken: int) -> None:
    dataset = ShardDataset(dynamic_build)
    collator = PretrainingCollator(dataset)

    def loader(sampler: ResumableBatchSampler, workers: int) -> DataLoader[Any]:
        return DataLoader(dataset, batch_sampler=sampler, collate_fn=collator, num_workers=workers)

    whole = [batch["input_ids"].tolist() for batch in loader(ResumableBatchSampler(dataset, 5, epochs=2), 0)]
    sampler = ResumableBatchSampler(dataset, 5, epochs=2)
    running = iter(loader(sampler, 2))
    before = [next(running)["input_ids"].tolist() for _ in range(taken)]
    state = sampler.state_dict(taken)
    assert state["position"] == taken * 5
    del running
    again = ResumableBatchSampler(dataset, 5, epochs=2)
    again.load_state_dict(state)
    assert before + [batch["input_ids"].tolist() for batch in loader(again, 0)] == whole


def test_drop_last_gives_full_batches_and_moves_to_the_next_epoch() -> None:
    samplers = ranks(11, 2, 2, drop_last=True)
    outputs = run(samplers)
    assert [len(batch) for batches in outputs for batch in batches] == [2, 2, 2, 2]
    assert len(samplers[0]) == 2
    for sampler in samplers:
        sampler.set_epoch(1)
    assert {epoch for batches in run(samplers) for batch in batches for epoch, _ in batch} == {1}


def test_rank_and_world_size_are_one_process_where_torch_distributed_is_not_used() -> None:
    sampler = ResumableBatchSampler(range(4), 4)
    assert (sampler.rank, sampler.world_size) == (0, 1)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"world_size": 0}, "world_size is 0; expected at least 1"),
        ({"rank": 2, "world_size": 2}, "rank is 2; expected 0 to 1"),
        ({"batch_size": 0}, "batch_size is 0"),
        ({"epochs": 0}, "epochs is 0"),
        ({"dataset": []}, "no examples"),
        ({"batch_size": 11, "drop_last": True}, "drop_last leaves no batch"),
    ],
)
def test_settings_that_cannot_be_met_are_refused(keywords: dict[str, Any], message: str) -> None:
    settings_given: dict[str, Any] = {"dataset": range(10), "batch_size": 2} | keywords
    with pytest.raises(ConfigError, match=message):
        ResumableBatchSampler(**settings_given)


def test_a_state_of_another_data_set_or_seed_is_refused(dynamic_build: Path, static_build: Path) -> None:
    state = ResumableBatchSampler(range(10), 2, seed=1).state_dict()
    with pytest.raises(ConfigError, match="another data set"):
        ResumableBatchSampler(range(11), 2, seed=1).load_state_dict(state)
    with pytest.raises(ConfigError, match="of seed 1, this run's is 2"):
        ResumableBatchSampler(range(10), 2, seed=2).load_state_dict(state)
    with pytest.raises(ConfigError, match="not a state"):
        ResumableBatchSampler(range(10), 2).load_state_dict({"epoch": 1})
    with pytest.raises(ConfigError, match="version"):
        ResumableBatchSampler(range(10), 2, seed=1).load_state_dict({**state, "version": 99})
    dynamic, static = ShardDataset(dynamic_build), ShardDataset(static_build)
    cut = ResumableBatchSampler(dynamic, 2).state_dict() | {"examples": len(static)}
    with pytest.raises(ConfigError, match="another data set"):
        ResumableBatchSampler(static, 2).load_state_dict(cut)


def test_more_batches_than_the_iteration_has_are_refused() -> None:
    with pytest.raises(ConfigError, match="this iteration has 5"):
        ResumableBatchSampler(range(10), 2).state_dict(6)
