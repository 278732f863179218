from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from bertdata.errors import ConfigError
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig
from bertdata.torch import PretrainingCollator, ResumableBatchSampler, ShardDataset
from tests.torch.build import tokenizer_of, write_build


def test_a_dynamic_batch_is_mask_tokens_padded(dynamic_build: Path) -> None:
    dataset = ShardDataset(dynamic_build)
    indices = [(1, 3), (1, 0), (2, 3), (1, 9)]
    examples = dataset.__getitems__(indices)
    batch = PretrainingCollator(dataset)(examples)
    info = dataset.shards.expect_pretraining()
    for row, ((epoch, _), example) in enumerate(zip(indices, examples, strict=True)):
        ids, length = example["input_ids"], len(example["input_ids"])
        masker = info.masker(dataset.shards.tokenizer())
        expected = masker.mask(ids, np.array([0, length]), np.array([example["example_id"]]), epoch)
        assert batch["input_ids"][row, :length].tolist() == expected.input_ids.tolist()
        assert batch["labels"][row, :length].tolist() == expected.labels.tolist()
        assert batch["token_type_ids"][row, :length].tolist() == example["token_type_ids"].tolist()
        assert batch["attention_mask"][row].tolist() == [1] * length + [0] * (batch["labels"].shape[1] - length)
    assert batch["labels"][0].tolist() != batch["labels"][2].tolist()
    assert batch["next_sentence_label"].tolist() == [example["next_sentence_label"] for example in examples]


@pytest.mark.parametrize("build", ["dynamic_build", "static_build"])
def test_padding_is_never_masked_or_labelled(build: str, request: pytest.FixtureRequest) -> None:
    dataset = ShardDataset(request.getfixturevalue(build))
    batch = PretrainingCollator(dataset, pad_to_multiple_of=64)(dataset.__getitems__(range(len(dataset))))
    padding = batch["attention_mask"] == 0
    assert padding.any()
    assert (batch["input_ids"][padding] == dataset.info.pad_token_id).all()
    assert (batch["labels"][padding] == -100).all()
    assert (batch["token_type_ids"][padding] == 0).all()
    special = np.isin(batch["input_ids"].numpy(), [dataset.info.cls_token_id, dataset.info.sep_token_id])
    assert (batch["labels"].numpy()[special] == -100).all()
    assert ((batch["labels"] != -100).sum(1) >= 1).all()


def test_static_masks_pass_through(static_build: Path) -> None:
    dataset = ShardDataset(static_build)
    examples = dataset.__getitems__([(0, 4), (5, 70)])
    batch = PretrainingCollator(dataset)(examples)
    for row, example in enumerate(examples):
        length = len(example["input_ids"])
        assert batch["input_ids"][row, :length].tolist() == example["input_ids"].tolist()
        assert batch["labels"][row, :length].tolist() == example["labels"].tolist()
    assert batch["sentence_order_label"].tolist() == [example["sentence_order_label"] for example in examples]


@pytest.mark.parametrize("multiple", [1, 7, 8, 64])
def test_every_tensor_is_int64_and_padded_to_the_multiple(dynamic_build: Path, multiple: int) -> None:
    dataset = ShardDataset(dynamic_build)
    batch = PretrainingCollator(dataset, pad_to_multiple_of=multiple)([dataset[0], dataset[1]])
    longest = max(len(dataset[0]["input_ids"]), len(dataset[1]["input_ids"]))
    assert {tensor.dtype for tensor in batch.values()} == {torch.int64}
    for name in ("input_ids", "token_type_ids", "attention_mask", "labels"):
        assert batch[name].shape == (2, -(-longest // multiple) * multiple)


def test_an_objective_without_pairs_has_no_pair_label(tmp_path: Path) -> None:
    dataset = ShardDataset(write_build(tmp_path, ExamplesConfig(objective="full-sentences", max_seq_length=32)))
    batch = PretrainingCollator(dataset)([dataset[0]])
    assert set(batch) == {"input_ids", "token_type_ids", "attention_mask", "labels"}


def test_the_epoch_seed_and_masking_change_the_mask_and_a_pair_overrides_the_epoch(dynamic_build: Path) -> None:
    dataset = ShardDataset(dynamic_build)

    def labels(index: int | tuple[int, int], **keywords: Any) -> list[list[int]]:
        result: list[list[int]] = PretrainingCollator(dataset, **keywords)([dataset[index]])["labels"].tolist()
        return result

    assert labels(3, epoch=0) == labels((0, 3)) == labels((0, 3), epoch=4)
    assert labels(3, epoch=4) == labels((4, 3))
    assert labels((0, 3)) != labels(3, epoch=4)
    assert labels((0, 3)) != labels((0, 3), seed=9)
    many = labels((0, 3), masking=MaskingConfig(masked_lm_prob=0.9))
    assert sum(label != -100 for label in many[0]) > sum(label != -100 for label in labels((0, 3))[0])


@pytest.mark.parametrize("method", ["fork", pytest.param("spawn", marks=pytest.mark.slow)])
def test_batches_are_the_same_for_any_number_of_workers(dynamic_build: Path, method: str) -> None:
    dataset = ShardDataset(dynamic_build)
    batches = []
    for workers in (0, 2):
        loader: DataLoader[Any] = DataLoader(
            dataset,
            batch_sampler=ResumableBatchSampler(dataset, 16, epochs=2),
            collate_fn=PretrainingCollator(dataset),
            num_workers=workers,
            multiprocessing_context=method if workers else None,
        )
        batches.append([{name: tensor.tolist() for name, tensor in batch.items()} for batch in loader])
    assert batches[0] == batches[1]
    assert len(batches[0]) > 2


def test_a_collator_pickles(dynamic_build: Path) -> None:
    dataset = ShardDataset(dynamic_build)
    collator = PretrainingCollator(dataset)
    again = pickle.loads(pickle.dumps(collator))
    assert again([dataset[(0, 2)]])["labels"].tolist() == collator([dataset[(0, 2)]])["labels"].tolist()


def test_a_tokenizer_that_is_not_the_shards_own_is_refused(dynamic_build: Path) -> None:
    PretrainingCollator(str(dynamic_build), tokenizer=tokenizer_of())
    with pytest.raises(ConfigError, match="not the one the shards were made with"):
        PretrainingCollator(dynamic_build, tokenizer=tokenizer_of(94))


def test_masking_settings_for_static_shards_are_refused(static_build: Path) -> None:
    with pytest.raises(ConfigError, match="static"):
        PretrainingCollator(static_build, masking=MaskingConfig())
    with pytest.raises(ConfigError, match="static"):
        PretrainingCollator(static_build, seed=3)


def test_examples_that_are_not_the_shards_are_refused(dynamic_build: Path) -> None:
    collator = PretrainingCollator(dynamic_build)
    with pytest.raises(ConfigError, match="no examples"):
        collator([])
    with pytest.raises(ConfigError, match="has no 'token_type_ids'"):
        collator([{"input_ids": np.array([2, 3])}])
    with pytest.raises(ConfigError, match="pad_to_multiple_of is 0"):
        PretrainingCollator(dynamic_build, pad_to_multiple_of=0)


@pytest.mark.parametrize(
    "masking",
    [
        MaskingConfig(),
        MaskingConfig(masked_lm_prob=0.4, max_predictions_per_seq=3, random_tokens="vocabulary"),
        MaskingConfig(mask_token_prob=0.0, random_token_prob=1.0, replace_unit="unit"),
        MaskingConfig(mask_unit="word"),
    ],
)
@pytest.mark.parametrize("packing", [False, True])
def test_the_first_batches_of_a_process_are_those_of_the_kernel(
    dynamic_build: Path, masking: MaskingConfig, packing: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = ShardDataset(dynamic_build)
    collator = PretrainingCollator(dataset, masking=masking, packing=packing)
    examples = dataset.__getitems__([(epoch, number) for epoch in (0, 2**40) for number in range(len(dataset))])
    compiled = collator(examples)
    monkeypatch.setattr("bertdata.torch.data.dataset.COMPILED_FROM", 1 << 62)
    first = collator(examples)
    assert first.keys() == compiled.keys()
    for name, tensor in compiled.items():
        assert first[name].dtype == tensor.dtype
        assert torch.equal(first[name], tensor), name
