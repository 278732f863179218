from __future__ import annotations

import gc
import pickle
from pathlib import Path

import numpy as np
import pytest
from torch.utils.data import DataLoader

from bertdata.errors import InputError
from bertdata.shards import open_shards
from bertdata.torch import ShardDataset
from bertdata.torch.data.dataset import Example
from tests.torch.build import write_build


def same(left: Example, right: Example) -> bool:
    return left.keys() == right.keys() and all(np.array_equal(left[name], right[name]) for name in left)


@pytest.mark.parametrize("build", ["dynamic_build", "static_build"])
def test_an_example_is_the_row_of_the_table(build: str, request: pytest.FixtureRequest) -> None:
    path = request.getfixturevalue(build)
    shards, dataset = open_shards(path, "train"), ShardDataset(path)
    assert len(dataset) == len(shards) > 40
    for number, row in enumerate(shards.table.to_pylist()):
        example = dataset[number]
        assert {name: np.asarray(value).tolist() for name, value in example.items()} == row
        assert len(example["input_ids"]) == len(example["token_type_ids"])


def test_lists_are_views_of_the_file_and_numbers_are_int(static_build: Path) -> None:
    example = ShardDataset(static_build)[5]
    assert example["input_ids"].dtype == np.uint16
    assert not example["input_ids"].flags.owndata
    assert not example["input_ids"].flags.writeable
    assert example["labels"].dtype == np.int16
    assert type(example["example_id"]) is int
    assert type(example["sentence_order_label"]) is int


def test_a_batch_is_its_examples_and_pairs_carry_the_epoch(dynamic_build: Path) -> None:
    dataset = ShardDataset(dynamic_build)
    last = len(dataset) - 1
    batch = dataset.__getitems__([last, 0, (7, 3), -1])
    assert same(batch[0], dataset[last])
    assert same(batch[1], dataset[0])
    assert batch[2]["epoch"] == 7
    assert same(Example({name: batch[2][name] for name in batch[0]}), dataset[3])
    assert same(batch[3], dataset[last])
    assert "epoch" not in batch[0]


def test_a_number_out_of_range_is_an_index_error(dynamic_build: Path) -> None:
    dataset = ShardDataset(dynamic_build)
    for index in (len(dataset), -len(dataset) - 1, (0, len(dataset))):
        with pytest.raises(IndexError, match="of"):
            dataset[index]
    assert [example["example_id"] for example in dataset] == dataset.shards.table["example_id"].to_pylist()


def test_a_pickled_data_set_holds_a_path_and_not_the_data(dynamic_build: Path) -> None:
    dataset = ShardDataset(dynamic_build)
    data = pickle.dumps(dataset)
    assert len(data) < 2000
    again = pickle.loads(data)
    assert all(same(again[i], dataset[i]) for i in range(len(dataset)))
    assert again.fingerprint == dataset.fingerprint


def test_the_fingerprint_tells_other_shards_and_does_not_depend_on_the_path(
    tmp_path: Path, dynamic_build: Path
) -> None:
    first = ShardDataset(dynamic_build).fingerprint
    assert ShardDataset(write_build(tmp_path / "same")).fingerprint == first
    assert ShardDataset(write_build(tmp_path / "seed", seed=1)).fingerprint != first
    assert ShardDataset(write_build(tmp_path / "fewer", documents=20)).fingerprint != first


@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_workers_read_what_the_main_process_reads(dynamic_build: Path, method: str) -> None:
    dataset = ShardDataset(dynamic_build)
    loader = DataLoader(dataset, batch_size=16, num_workers=2, collate_fn=list, multiprocessing_context=method)
    read = [example for batch in loader for example in batch]
    assert len(read) == len(dataset)
    assert all(same(read[i], dataset[i]) for i in range(len(dataset)))


def test_an_exception_in_a_worker_reaches_the_trainer_with_its_cause(dynamic_build: Path) -> None:
    dataset = ShardDataset(dynamic_build)
    running = iter(DataLoader(dataset, sampler=[0, len(dataset) + 5], num_workers=1, collate_fn=list))
    with pytest.raises(IndexError, match=f"example {len(dataset) + 5} of {len(dataset)}"):
        list(running)
    gc.collect()  # frees the traceback while `running` lives, so that its worker is ended at once


def test_a_truncated_shard_is_named(tmp_path: Path) -> None:
    path = write_build(tmp_path) / "train" / "data-00001-of-00002.arrow"
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(InputError, match=r"data-00001-of-00002\.arrow"):
        ShardDataset(tmp_path)
