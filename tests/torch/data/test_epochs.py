"""Masks are new in each epoch under every loader, and the same again where a run is repeated."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import ConcatDataset, DataLoader, Subset
from transformers.trainer_utils import RemoveColumnsCollator

from bertdata.errors import ConfigError
from bertdata.loader import BatchCollator, ShardExamples
from bertdata.masking.settings import MaskingConfig
from bertdata.torch import DeviceCollator, PretrainingCollator, ResumableBatchSampler, ShardDataset

HALF = MaskingConfig(masked_lm_prob=0.5)
"""So many are masked that two epochs do not mask a short row the same by chance."""

WORKERS: list[Any] = [
    {},
    pytest.param({"num_workers": 2}, marks=pytest.mark.slow),
    {"num_workers": 2, "persistent_workers": True},
    pytest.param(
        {"num_workers": 1, "persistent_workers": True, "multiprocessing_context": "spawn"}, marks=pytest.mark.slow
    ),
]

Masks = dict[tuple[Any, ...], tuple[Any, ...]]


def masks_of(batches: Iterator[dict[str, Any]] | DataLoader[Any]) -> Masks:
    """Return the mask of each row, as (input_ids, labels), by the row without it."""
    masks: Masks = {}
    for batch in batches:
        for ids, labels, there, label in zip(
            *(batch[name].tolist() for name in ("input_ids", "labels", "attention_mask", "next_sentence_label")),
            strict=True,
        ):
            ids, labels = tuple(ids[: sum(there)]), tuple(labels[: sum(there)])  # noqa: PLW2901
            row = tuple(one if one != -100 else other for one, other in zip(labels, ids, strict=True))
            masks[(row, label)] = ids, labels
    return masks


@pytest.mark.parametrize(("processes", "says"), [(1, "the Trainer of transformers resumes"), (2, "on_epoch_begin")])
def test_where_accelerate_runs_masks_of_no_epoch_are_warned_of(
    dynamic_build: Path, monkeypatch: pytest.MonkeyPatch, processes: int, says: str
) -> None:
    dataset = ShardDataset(dynamic_build)
    monkeypatch.setattr("bertdata.torch.data.dataset.accelerate_processes", lambda: processes)
    with pytest.warns(UserWarning, match=f"nobody told the data set or the collator the epoch.*{says}"):
        PretrainingCollator(dataset)([dataset[0]])
    dataset.set_epoch(1)
    PretrainingCollator(dataset)([dataset[0]])


def masks_of_epoch(dataset: ShardDataset, epoch: int, masking: MaskingConfig | None = HALF) -> Masks:
    rows = dataset.__getitems__([(epoch, number) for number in range(len(dataset))])
    return masks_of(iter([PretrainingCollator(dataset, masking=masking)(rows)]))


def same(epochs: list[Masks]) -> int:
    """Count the rows that have the same mask in two epochs, those left out that are so short that chance may do it."""
    rows = [row for row in epochs[0] if len(row[0]) >= 16]
    assert len(rows) > 20
    return sum(len({masks[row] for masks in epochs if row in masks}) < len(epochs) for row in rows)


@pytest.mark.costly
@pytest.mark.parametrize("workers", WORKERS)
def test_a_plain_data_loader_draws_new_masks_in_each_epoch_the_same_for_one_seed(
    dynamic_build: Path, workers: dict[str, Any]
) -> None:
    dataset = ShardDataset(dynamic_build)

    def epochs(seed: int) -> list[Masks]:
        torch.manual_seed(seed)
        collator = PretrainingCollator(dataset, masking=HALF)
        loader: DataLoader[Any] = DataLoader(dataset, batch_size=16, shuffle=True, collate_fn=collator, **workers)
        return [masks_of(loader) for _ in range(3)]

    first = epochs(1)
    assert len(first[0]) > 80
    assert same(first) == 0
    if workers.get("multiprocessing_context") != "spawn":
        assert epochs(1) == first
        assert same([*first, *epochs(2)]) == 0


@pytest.mark.parametrize("says_epoch", ["dataset", "collator"])
@pytest.mark.parametrize("workers", WORKERS)
def test_set_epoch_of_data_set_or_collator_gives_the_masks_of_that_epoch_in_all_workers(
    dynamic_build: Path, workers: dict[str, Any], says_epoch: str
) -> None:
    dataset = ShardDataset(dynamic_build)
    collator = PretrainingCollator(dataset, masking=HALF)
    loader: DataLoader[Any] = DataLoader(dataset, batch_size=16, shuffle=True, collate_fn=collator, **workers)
    for epoch in (0, 4, 1):
        (dataset if says_epoch == "dataset" else collator).set_epoch(epoch)
        assert masks_of(loader) == masks_of_epoch(dataset, epoch)


def test_what_wraps_the_data_set_keeps_masks_new(dynamic_build: Path) -> None:
    dataset = ShardDataset(dynamic_build)
    collator = PretrainingCollator(dataset, masking=HALF)
    several: tuple[Any, ...] = (Subset(dataset, range(60)), ConcatDataset([dataset]))
    for wrapped in several:
        loader: DataLoader[Any] = DataLoader(wrapped, batch_size=16, collate_fn=collator)
        assert same([masks_of(loader) for _ in range(3)]) == 0
    fixed = Subset(dataset, [(0, number) for number in range(len(dataset))])  # type: ignore[misc]
    loader = DataLoader(fixed, batch_size=16, collate_fn=collator)
    assert masks_of(loader) == masks_of(loader) == masks_of_epoch(dataset, 0)


def test_the_epoch_of_an_example_goes_before_that_of_the_collator(dynamic_build: Path) -> None:
    dataset = ShardDataset(dynamic_build)
    collator = PretrainingCollator(dataset, epoch=7)
    assert (dataset.epoch, collator.epoch) == (None, 7)
    pairs = [dataset[(2, 1)], dataset[3]]
    expected = PretrainingCollator(dataset)([dataset[(2, 1)], dataset[(7, 3)]])
    assert collator(pairs)["labels"].tolist() == expected["labels"].tolist()
    dataset.set_epoch(5)
    assert dataset[3]["epoch"] == 5
    assert dataset[(2, 3)]["epoch"] == 2
    assert dataset.__getitems__([3, (2, 3)]).epochs == [5, 2]
    assert pickle.loads(pickle.dumps(dataset)).epoch == 5
    assert pickle.loads(pickle.dumps(collator)).epoch == 7


def test_an_epoch_that_is_drawn_is_none_that_can_be_set(dynamic_build: Path) -> None:
    collator = PretrainingCollator(dynamic_build)
    drawn = [collator._unknown_epoch([{}]) for _ in range(20)]
    assert len(set(drawn)) == 20
    assert min(drawn) >= 1 << 62
    assert max(drawn) < 1 << 63


def test_a_batch_drawn_by_torch_is_masked_alike_by_torch_by_the_kernel_and_on_a_device(
    dynamic_build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = ShardDataset(dynamic_build)
    rows = [dataset[number] for number in range(9)]
    masked, device = PretrainingCollator(dataset), DeviceCollator(dataset)
    batches = []
    for tokens in (0, 1 << 62):
        monkeypatch.setattr("bertdata.torch.data.dataset.COMPILED_FROM", tokens)
        torch.manual_seed(3)
        batches.append(masked(rows))
    torch.manual_seed(3)
    batches.append(device.finish(device(rows)))
    for batch in batches[1:]:
        assert all(torch.equal(batch[name], tensor) for name, tensor in batches[0].items())


def test_the_collator_of_arrays_refuses_examples_whose_epoch_nobody_knows(
    dynamic_build: Path, static_build: Path
) -> None:
    examples = ShardExamples(dynamic_build)
    collator = BatchCollator(examples)
    with pytest.raises(ConfigError, match=r"would be the same in every epoch; index them by \(epoch, number\)"):
        collator.arrays(examples.__getitems__([0, 1]))
    collator.set_epoch(3)
    batch = collator.arrays(examples.__getitems__([0, 1]))
    expected = BatchCollator(examples).arrays(examples.__getitems__([(3, 0), (3, 1)]))
    assert np.array_equal(batch["labels"], expected["labels"])
    static = ShardExamples(static_build)
    assert BatchCollator(static).arrays(static.__getitems__([0, 1]))["labels"].shape[0] == 2


@pytest.mark.parametrize("epoch", [-1, 1.0, "1", True, None, 1 << 62])
def test_what_is_no_epoch_is_refused(dynamic_build: Path, epoch: Any) -> None:
    dataset = ShardDataset(dynamic_build)
    for with_epoch in (
        dataset,
        PretrainingCollator(dataset),
        ResumableBatchSampler(dataset, 4),
        ShardExamples(dynamic_build),
    ):
        with pytest.raises(ConfigError, match=f"the epoch is {epoch!r}; expected a number of 0 or more"):
            with_epoch.set_epoch(epoch)


def test_the_trainers_removal_of_columns_leaves_examples_whole(dynamic_build: Path) -> None:
    dataset = ShardDataset(dynamic_build)
    collator = PretrainingCollator(dataset)
    removing = RemoveColumnsCollator(collator, ["input_ids", "token_type_ids", "attention_mask", "labels"])
    for rows in (dataset.__getitems__([(2, 0), (2, 5)]), [dataset[(2, 0)], dataset[(2, 5)]]):
        assert {name: values.tolist() for name, values in removing(rows).items()} == {
            name: values.tolist() for name, values in collator(rows).items()
        }
    with pytest.raises(ConfigError, match=r"has no 'example_id', it has .*set remove_unused_columns=False"):
        removing([dict(dataset[0])])


@pytest.mark.costly
@pytest.mark.parametrize("workers", [{}, {"dataloader_num_workers": 2, "dataloader_persistent_workers": True}])
def test_the_trainer_of_transformers_with_its_defaults_draws_the_masks_of_each_epoch(
    dynamic_build: Path, tmp_path: Path, workers: dict[str, Any]
) -> None:
    pytest.importorskip("accelerate")
    from transformers import BertConfig, BertForPreTraining, Trainer, TrainingArguments

    dataset = ShardDataset(dynamic_build)
    seen: list[dict[str, Any]] = []

    class Recording(Trainer):  # type: ignore[misc]
        def training_step(self, model: Any, inputs: Any, *rest: Any, **keywords: Any) -> Any:
            seen.append(dict(inputs))
            return super().training_step(model, inputs, *rest, **keywords)

    config = BertConfig(
        vocab_size=dataset.info.vocab_size,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
        max_position_embeddings=32,
    )
    arguments = TrainingArguments(
        str(tmp_path), num_train_epochs=3, report_to=[], disable_tqdm=True, save_strategy="no", use_cpu=True, **workers
    )
    trainer = Recording(
        BertForPreTraining(config),
        arguments,
        train_dataset=dataset,
        data_collator=PretrainingCollator(dataset, masking=HALF),
    )
    trainer.train()
    steps = len(seen) // 3
    for epoch in range(3):
        assert masks_of(iter(seen[epoch * steps : (epoch + 1) * steps])) == masks_of_epoch(dataset, epoch)


def test_rows_of_datasets_are_collated_too(dynamic_build: Path) -> None:
    dataset = ShardDataset(dynamic_build)
    collator = PretrainingCollator(dataset, epoch=2)
    lists = [{name: np.asarray(value).tolist() for name, value in dataset[number].items()} for number in range(5)]
    expected = collator(dataset.__getitems__(range(5)))
    assert {name: values.tolist() for name, values in collator(lists).items()} == {
        name: values.tolist() for name, values in expected.items()
    }
