"""The rules of a correct loader, a test or a few for each; those with worker processes are in tests/torch."""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tracemalloc
from collections import Counter
from dataclasses import make_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.loader import BatchCollator, EpochBatchSampler, ShardExamples, numpy_batches
from bertdata.objectives.settings import ExamplesConfig
from bertdata.options.flags import add_flags
from bertdata.options.option import option
from bertdata.shards import Shards
from tests.loader.runs import Lengths, Pair, bins, counted, lengths, once, ranks, run, settings_of_a_run
from tests.torch.build import write_build

ROOT = Path(__file__).resolve().parents[2]


def rows_of(batch: dict[str, Any], label: str = "next_sentence_label") -> list[tuple[Any, ...]]:
    """Return the rows of a padded batch as they stand in the shards."""
    ids = np.where(batch["labels"] == -100, batch["input_ids"], batch["labels"])
    taken = batch["attention_mask"].astype(bool)
    types, labels = batch["token_type_ids"], batch[label].tolist()
    return [(ids[i][taken[i]].tobytes(), types[i][taken[i]].tobytes(), labels[i]) for i in range(len(ids))]


def rows_of_table(examples: ShardExamples) -> list[tuple[Any, ...]]:
    return [
        (
            np.array(row["input_ids"], np.int64).tobytes(),
            np.array(row["token_type_ids"], np.int64).tobytes(),
            row["next_sentence_label"],
        )
        for row in examples.shards.table.to_pylist()
    ]


@pytest.mark.parametrize("shards", [1, 2, 3, 5])
def test_rule_21_any_number_of_shards_and_ranks_with_equal_counts_and_no_dropped_tail(
    shards: int, tmp_path: Path
) -> None:
    build = write_build(tmp_path, documents=5, shards=shards)
    expected = Counter(rows_of_table(ShardExamples(build)))
    for world_size in (1, shards, shards + 1, 7):
        seen: Counter[tuple[Any, ...]] = Counter()
        for rank in range(world_size):
            for batch in numpy_batches(build, 4, rank=rank, world_size=world_size):
                seen.update(rows_of(batch))
        assert seen == expected


@given(data=lengths, keywords=settings_of_a_run)
@settings(max_examples=60, deadline=None)
def test_rule_22_each_example_exactly_once_an_epoch_over_all_ranks(data: Lengths, keywords: dict[str, Any]) -> None:
    samplers = ranks(data, **keywords)
    steps = [len(sampler) for sampler in samplers]
    outputs = run(samplers)
    assert counted(outputs) == once(len(data), keywords.get("epochs", 1))
    assert [len(batches) for batches in outputs] == steps


def test_rule_23_label_and_tokens_come_from_the_same_row(dynamic_build: Path) -> None:
    examples = ShardExamples(dynamic_build)
    rows = rows_of_table(examples)
    assert len({label for _, _, label in rows}) == 2
    sampler = EpochBatchSampler(examples, 7, epochs=2)
    collator = BatchCollator(examples)
    for pairs in sampler:
        batch = collator.arrays(examples.__getitems__(pairs))
        assert rows_of(batch) == [rows[number] for _, number in pairs]


@given(data=lengths, keywords=settings_of_a_run)
@settings(max_examples=60, deadline=None)
def test_rule_24_every_rank_takes_the_same_bin_at_the_same_step_and_as_many_steps(
    data: Lengths, keywords: dict[str, Any]
) -> None:
    world_size = keywords["world_size"]
    samplers = ranks(data, **keywords)
    widths = [length_bin.width for length_bin in samplers[0].bins]
    outputs = run(samplers)
    if len(data) * keywords.get("epochs", 1) >= world_size:
        assert len({len(batches) for batches in outputs}) == 1
    if widths == [0]:
        return
    mixed = []
    for step in range(max(map(len, outputs))):
        taken = [number for batches in outputs if step < len(batches) for _, number in batches[step]]
        mixed.append(len(taken) if len(set(np.searchsorted(widths, data.lengths[taken]))) > 1 else 0)
    tail = next((step for step, size in enumerate(mixed) if size), len(mixed))
    assert all(mixed[tail:])  # only the last steps, which share out the rests of bins
    assert sum(mixed) < (len(widths) + 2) * world_size


@given(data=lengths, keywords=settings_of_a_run, stop=st.integers(0, 9))
@settings(max_examples=40, deadline=None)
def test_rule_21_a_tail_is_dropped_only_where_asked_and_then_all_batches_are_full(
    data: Lengths, keywords: dict[str, Any], stop: int
) -> None:
    try:
        samplers = ranks(data, **keywords, drop_last=True)
    except ConfigError:
        epochs = keywords.get("epochs", 1)
        assert all(
            length_bin.size * epochs < length_bin.batch * keywords["world_size"]
            for length_bin in ranks(data, **keywords)[0].bins
        )
        return
    outputs = run(samplers)
    assert len({len(batches) for batches in outputs}) == 1
    assert [len(batches) for batches in outputs] == [len(rank) for rank in ranks(data, **keywords, drop_last=True)]
    full = {length_bin.batch for length_bin in samplers[0].bins}
    assert {len(batch) for batches in outputs for batch in batches} <= full
    assert all(number == 1 for number in counted(outputs).values())
    again = ranks(data, **keywords, drop_last=True)
    before = run(again, stop)
    state = again[0].state_dict(len(before[0]))
    if len(before[0]) < len(outputs[0]):
        for sampler in again:
            sampler.load_state_dict(state)
        assert [a + b for a, b in zip(before, run(again), strict=True)] == outputs


@given(data=lengths, keywords=settings_of_a_run)
@settings(max_examples=40, deadline=None)
def test_rule_24_a_batch_is_never_larger_than_asked(data: Lengths, keywords: dict[str, Any]) -> None:
    outputs = run(ranks(data, **keywords))
    for batch in (batch for batches in outputs for batch in batches):
        if "max_tokens" in keywords:
            width = -(-int(data.lengths[[number for _, number in batch]].max()) // 8) * 8
            assert len(batch) == 1 or width * len(batch) <= keywords["max_tokens"] or is_tail_of_one(batch, keywords)
        else:
            assert len(batch) <= max(2, keywords["batch_size"])


def is_tail_of_one(batch: list[Pair], keywords: dict[str, Any]) -> bool:
    """Tell the one case in which a batch holds an example too many: two where there is room for one."""
    return len(batch) == 2 and keywords["max_tokens"] < 2 * 64


@given(data=lengths, keywords=settings_of_a_run, stops=st.lists(st.integers(0, 25), min_size=1, max_size=3))
@settings(max_examples=60, deadline=None)
def test_rule_25_resumed_any_number_of_times_the_batches_are_the_same(
    data: Lengths, keywords: dict[str, Any], stops: list[int]
) -> None:
    expected = run(ranks(data, **keywords))
    resumed: list[list[list[Pair]]] = [[] for _ in expected]
    state = None
    for stop in [*stops, None]:
        samplers = ranks(data, **keywords)
        if len(resumed[0]) == len(expected[0]):
            break
        for sampler, batches in zip(samplers, resumed, strict=True):
            if state is not None:
                sampler.load_state_dict(state)
            batches.extend(run([sampler], stop)[0])
        state = json.loads(json.dumps(samplers[0].state_dict()))
        assert stop is None or len(resumed[0]) == len(expected[0]) or samplers[0].state_dict(stop) == state
    assert resumed == expected


@given(
    data=lengths,
    bins=bins,
    runs=st.lists(st.tuples(st.integers(1, 6), st.integers(1, 6), st.integers(0, 12)), min_size=2, max_size=4),
)
@settings(max_examples=60, deadline=None)
def test_rule_25_resumed_on_other_world_sizes_each_example_still_comes_once(
    data: Lengths, bins: tuple[int, ...] | None, runs: list[tuple[int, int, int]]
) -> None:
    seen: Counter[Pair] = Counter()
    state = None
    for turn, (batch_size, world_size, stop) in enumerate(runs):
        samplers = ranks(data, world_size, batch_size=batch_size, bins=bins, epochs=2, seed=5)
        for sampler in samplers:
            if state is not None:
                sampler.load_state_dict(state)
        if state is not None and state["position"] == 2 * len(data):
            break
        outputs = run(samplers, None if turn == len(runs) - 1 else stop)
        seen += counted(outputs)
        state = samplers[0].state_dict(len(outputs[0]))
    assert seen == once(len(data), 2)


@given(data=lengths, keywords=settings_of_a_run, iterations=st.integers(1, 3))
@settings(max_examples=40, deadline=None)
def test_rule_25_resumed_at_the_border_of_an_epoch_the_next_one_comes(
    data: Lengths, keywords: dict[str, Any], iterations: int
) -> None:
    samplers = ranks(data, **keywords)
    for _ in range(iterations):
        run(samplers)
    states = [sampler.state_dict() for sampler in samplers]
    assert all(state == states[0] for state in states)
    again = ranks(data, **keywords)
    for sampler in again:
        sampler.load_state_dict(states[0])
    epochs = keywords.get("epochs", 1)
    assert again[0].epoch == iterations * epochs
    expected = Counter({(epoch + iterations * epochs, n): 1 for epoch, n in once(len(data), epochs)})
    assert run(again) == (following := run(samplers))
    assert counted(following) == expected


@pytest.mark.costly
def test_rule_25_masks_bins_and_packs_go_on_in_a_new_process(dynamic_build: Path) -> None:
    plain, binned = {"batch_size": 5}, {"max_tokens": 200, "bins": (16, 24, 32)}
    ways = [way | {"packing": packing} for way in (plain, binned) for packing in (False, True)]
    made: list[list[str]] = []
    states: list[dict[str, int]] = []
    for way in ways:
        batches = numpy_batches(dynamic_build, **way, epochs=2)
        made.append([])
        for number, batch in enumerate(batches):
            made[-1].append(digest(batch))
            if number == 3:
                states.append(batches.state_dict())
    code = f"""
import json
from bertdata.loader import numpy_batches
from tests.loader.test_rules import digest
went_on = []
for way, state in zip({ways!r}, json.loads({json.dumps(states)!r})):
    batches = numpy_batches({str(dynamic_build)!r}, **way, epochs=2)
    batches.load_state_dict(state)
    went_on.append([digest(batch) for batch in batches])
print(json.dumps(went_on))
"""
    assert json.loads(python(code)) == [digests[4:] for digests in made]


def digest(batch: dict[str, Any]) -> str:
    """Return a short text that tells one batch from another."""
    total = hashlib.sha256()
    for name in sorted(batch):
        total.update(f"{name} {batch[name].shape} {batch[name].dtype}".encode())
        total.update(np.ascontiguousarray(batch[name]).tobytes())
    return total.hexdigest()[:16]


def python(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=os.environ | environment,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_rule_26_the_order_of_a_trillion_examples_takes_no_memory() -> None:
    next(iter(EpochBatchSampler(range(10), 2)))  # what is imported when it is first used is no memory of the order
    tracemalloc.start()
    sampler = EpochBatchSampler(range(10**12), 256, epochs=None, rank=3, world_size=8)
    sampler.load_state_dict(sampler.state_dict(10**9))
    batch = next(iter(sampler))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len({number for _, number in batch}) == 256
    assert peak < 1 << 20


def test_rule_26_length_bins_take_a_byte_an_example() -> None:
    data = Lengths(range(1, 129), repeat=6000)
    next(iter(EpochBatchSampler(data, 256, bins=(32, 64, 96, 128))))
    tracemalloc.start()
    sampler = EpochBatchSampler(data, 256, bins=(32, 64, 96, 128))
    next(iter(sampler))
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held < 2 * len(data)


def test_rule_28_a_flag_that_is_true_by_default_can_be_switched_off() -> None:
    made = make_dataclass("Made", [("shuffled", bool, option(True, "in a drawn order"))])
    parser = argparse.ArgumentParser()
    made.__annotations__["shuffled"] = bool
    add_flags(parser, made)
    assert parser.parse_args([]).shuffled is True
    assert parser.parse_args(["--no-shuffled"]).shuffled is False


def wide(directory: Path) -> Shards:
    """Return shards whose ids lie above 65,535."""
    shards = Shards(str(write_build(directory)), "train", files.read_json(str(directory / "manifest.json")))
    ids = shards.table["input_ids"].combine_chunks()
    above = pa.ListArray.from_arrays(ids.offsets, pa.array(ids.values.to_numpy().astype(np.uint32) + 70_000))
    shards.table = shards.table.set_column(0, "input_ids", pa.chunked_array([above])).unify_dictionaries()
    return shards


def test_rule_29_ids_past_65535_do_not_wrap(tmp_path: Path) -> None:
    shards = wide(tmp_path)
    examples = ShardExamples(shards)
    collator = BatchCollator(examples)
    batch = collator.arrays(examples.__getitems__([(0, 1), (0, 2)]))
    masked = batch["labels"] != -100
    restored = np.where(masked, batch["labels"], batch["input_ids"])[batch["attention_mask"] == 1]
    rows = [shards.table["input_ids"][i].as_py() for i in (1, 2)]
    assert restored.tolist() == rows[0] + rows[1]
    assert restored.min() >= 70_000


@pytest.mark.costly
def test_rule_29_more_than_two_gib_of_tokens_are_numbered_whole(dynamic_build: Path) -> None:
    shards = ShardExamples(dynamic_build).shards
    tokens = pa.compute.sum(pa.compute.list_value_length(shards.table["input_ids"])).as_py()
    batch = pa.concat_tables([shards.table] * 5000).combine_chunks().to_batches()
    copies = (1 << 31) // (5000 * tokens) + 2
    large = Shards(shards.build, shards.split, shards.manifest)
    large.table = pa.Table.from_batches(batch * copies)  # the same memory again and again
    copies *= 5000
    examples = ShardExamples(large)
    rows = len(shards)
    assert len(examples) == rows * copies
    assert int(examples.lengths.sum(dtype=np.int64)) == tokens * copies > 1 << 31
    last = examples[rows * (copies - 1) + 5]
    assert last["input_ids"].tolist() == shards[5]["input_ids"].tolist()
    assert last["example_id"] == shards[5]["example_id"]


@pytest.mark.costly
def test_rule_30_nothing_depends_on_directory_order_cores_or_the_hash_seed(dynamic_build: Path) -> None:
    code = f"""
import os
names, count = os.listdir, int(os.environ["CORES"])
os.listdir = lambda *a: sorted(names(*a), reverse=count > 1)
os.cpu_count = lambda: count
from bertdata.loader import numpy_batches
from tests.loader.test_rules import digest
print([digest(batch) for batch in numpy_batches({str(dynamic_build)!r}, 8, bins=(24, 32))])
"""
    assert python(code, PYTHONHASHSEED="1", CORES="1") == python(code, PYTHONHASHSEED="2", CORES="64")


def test_rule_30_shards_stand_in_the_order_of_the_manifest_whatever_the_folder_says(tmp_path: Path) -> None:
    build = write_build(tmp_path, ExamplesConfig(max_seq_length=32), shards=4)
    names = [Path(path).name for path in ShardExamples(build).shards.paths]
    assert names == sorted(names)
    assert len(names) == 4
