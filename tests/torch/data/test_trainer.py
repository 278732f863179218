"""The `Trainer` of transformers with its defaults, other samplers, evaluation and checkpoints."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch.utils.data import Subset
from transformers.trainer_utils import RemoveColumnsCollator

from bertdata.errors import ConfigError
from bertdata.torch import PretrainingCollator, ShardDataset
from bertdata.torch.data.workers import leave_no_cycle

Batches = list[dict[str, torch.Tensor]]
NO_COLLATOR = r"give the Trainer data_collator=PretrainingCollator\(dataset\)"


def test_without_a_collator_the_message_says_which_to_pass(dynamic_build: Path, static_build: Path) -> None:
    for build in (dynamic_build, static_build):
        dataset = ShardDataset(build)
        removing = RemoveColumnsCollator(transformers.default_data_collator, ["input_ids", "labels"])
        for collate in (transformers.default_data_collator, removing):
            with pytest.raises(ConfigError, match=NO_COLLATOR):
                collate(dataset.__getitems__([0, 1]))
        assert dict(dataset[0].items()).keys() == set(dataset.names)


class Recording(transformers.Trainer):  # type: ignore[misc]
    """A trainer that keeps the batches it trains on."""

    seen: Batches

    def training_step(self, model: Any, inputs: Any, *rest: Any, **keywords: Any) -> Any:
        self.seen.append(dict(inputs))
        return super().training_step(model, inputs, *rest, **keywords)


def trainer_of(
    dataset: Any, output: Path, *, evaluated: Any = None, collator: Any = None, **arguments: Any
) -> Recording:
    """Return a trainer of a small model, the same in every call."""
    pytest.importorskip("accelerate")
    config = transformers.BertConfig(
        vocab_size=100,
        hidden_size=8,
        num_hidden_layers=1,
        num_attention_heads=1,
        intermediate_size=8,
        max_position_embeddings=32,
    )
    given = {"num_train_epochs": 2, "save_strategy": "no", "per_device_train_batch_size": 16} | arguments
    settings = transformers.TrainingArguments(str(output), report_to=[], disable_tqdm=True, use_cpu=True, **given)
    torch.manual_seed(0)
    model = transformers.BertForPreTraining(config)
    trainer = Recording(model, settings, train_dataset=dataset, eval_dataset=evaluated, data_collator=collator)
    trainer.seen = []
    return trainer


def rows_of(batches: Batches) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return the ids and labels of each row of some batches, in their order, without padding."""
    return [
        (tuple(ids[mask == 1].tolist()), tuple(labels[mask == 1].tolist()))
        for batch in batches
        for ids, labels, mask in zip(batch["input_ids"], batch["labels"], batch["attention_mask"], strict=True)
    ]


@pytest.mark.parametrize("strategy", ["random", "sequential", "group_by_length"])
@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_every_sampler_takes_each_example_once_an_epoch_with_the_masks_of_the_epoch(
    dynamic_build: Path, strategy: str, workers: int, tmp_path: Path
) -> None:
    dataset = ShardDataset(dynamic_build)
    collator = PretrainingCollator(dataset)
    trainer = trainer_of(
        dataset, tmp_path, collator=collator, train_sampling_strategy=strategy, dataloader_num_workers=workers
    )
    assert trainer.args.remove_unused_columns
    trainer.train()
    half = len(trainer.seen) // 2
    for epoch, batches in enumerate((trainer.seen[:half], trainer.seen[half:])):
        expected = collator(dataset.__getitems__([(epoch, number) for number in range(len(dataset))]))
        assert sorted(rows_of(batches)) == sorted(rows_of([expected]))


def test_batch_rebalance_asks_for_dictionaries_and_the_docs_name_what_to_take_in_its_place(
    dynamic_build: Path, tmp_path: Path
) -> None:
    dataset = ShardDataset(dynamic_build)
    collator = PretrainingCollator(dataset)
    trainer = trainer_of(dataset, tmp_path, collator=collator, train_sampling_strategy="batch_rebalance")
    with pytest.raises(ValueError, match="datasets whose items are dictionaries"):
        trainer.train()


@pytest.mark.parametrize("workers", [0, pytest.param(2, marks=pytest.mark.slow)])
def test_each_evaluation_has_the_masks_of_epoch_0(dynamic_build: Path, workers: int, tmp_path: Path) -> None:
    dataset, evaluated = ShardDataset(dynamic_build), ShardDataset(dynamic_build)
    fixed = Subset(evaluated, [(0, number) for number in range(len(evaluated))])  # type: ignore[misc]
    settings: dict[str, Any] = {"dataloader_num_workers": workers, "eval_strategy": "epoch"}
    trainer = trainer_of(dataset, tmp_path, evaluated=evaluated, collator=PretrainingCollator(dataset), **settings)
    trainer.train()
    losses = [record["eval_loss"] for record in trainer.state.log_history if "eval_loss" in record]
    assert len(losses) == 2
    assert trainer.evaluate()["eval_loss"] == trainer.evaluate(fixed)["eval_loss"] == losses[-1]
    other = Subset(evaluated, [(1, number) for number in range(len(evaluated))])  # type: ignore[misc]
    assert trainer.evaluate(other)["eval_loss"] != losses[-1]


@pytest.mark.costly
@pytest.mark.parametrize("workers", [pytest.param(0, marks=pytest.mark.slow), 2])
def test_a_run_resumed_from_a_checkpoint_sees_the_batches_of_one_that_was_not_stopped(
    dynamic_build: Path, workers: int, tmp_path: Path
) -> None:
    dataset = ShardDataset(dynamic_build)
    collator = PretrainingCollator(dataset)
    shared: dict[str, Any] = {"collator": collator, "dataloader_num_workers": workers}
    whole = trainer_of(dataset, tmp_path / "whole", **shared, num_train_epochs=3)
    whole.train()
    steps = len(whole.seen) // 3
    saved = steps + steps // 2
    assert steps < saved < 2 * steps
    stopped = {"save_strategy": "steps", "save_steps": saved, "num_train_epochs": 3}
    first = trainer_of(dataset, tmp_path / "stopped", **shared, **stopped)
    first.train()
    again, checkpoint = ShardDataset(dynamic_build), tmp_path / "stopped" / f"checkpoint-{saved}"
    again.set_epoch(int(json.loads((checkpoint / "trainer_state.json").read_text())["epoch"]))
    resumed = trainer_of(again, tmp_path / "stopped", **shared, **stopped)
    resumed.train(resume_from_checkpoint=str(checkpoint))
    assert rows_of(resumed.seen) == rows_of(whole.seen[saved:])
    weights = [list(trainer.model.parameters()) for trainer in (whole, resumed)]
    assert all(torch.equal(*pair) for pair in zip(*weights, strict=True))


def test_the_trainer_says_which_collator_to_pass(dynamic_build: Path, tmp_path: Path) -> None:
    for workers in (0, 2):
        trainer = trainer_of(ShardDataset(dynamic_build), tmp_path, dataloader_num_workers=workers)
        with pytest.raises(ConfigError, match=NO_COLLATOR) as raised:
            trainer.train()
        leave_no_cycle(raised.value)  # torch waits 5 seconds for each worker if the collector frees their iterator


@pytest.mark.slow
def test_rows_of_datasets_are_masked_where_the_trainer_keeps_their_columns(dynamic_build: Path, tmp_path: Path) -> None:
    datasets = pytest.importorskip("datasets")
    dataset = ShardDataset(dynamic_build)
    rows = datasets.Dataset(dataset.shards.table)
    for kept in (True, False):
        trainer = trainer_of(rows, tmp_path, collator=PretrainingCollator(dataset), remove_unused_columns=not kept)
        if kept:
            trainer.train()
            assert all((batch["labels"] != -100).any() for batch in trainer.seen)
        else:
            with pytest.raises(ConfigError, match="set remove_unused_columns=False in its TrainingArguments"):
                trainer.train()


def test_of_a_subset_a_callback_tells_each_epoch_as_the_warning_says(dynamic_build: Path, tmp_path: Path) -> None:
    """An epoch that was said before the run alone would be that of all epochs after it."""
    dataset, count = ShardDataset(dynamic_build), 16
    collator, part = PretrainingCollator(dataset), Subset(dataset, range(count))
    with pytest.warns(UserWarning, match="before each one, by a callback's on_epoch_begin"):
        trainer_of(part, tmp_path, collator=collator).train()

    class Epochs(transformers.TrainerCallback):  # type: ignore[misc]
        def on_epoch_begin(self, args: Any, state: Any, control: Any, **others: Any) -> None:
            dataset.set_epoch(int(state.epoch))

    trainer = trainer_of(part, tmp_path, collator=collator)
    trainer.add_callback(Epochs())
    trainer.train()
    for epoch, batch in enumerate(trainer.seen):
        expected = collator(dataset.__getitems__([(epoch, number) for number in range(count)]))
        assert sorted(rows_of([batch])) == sorted(rows_of([expected]))
