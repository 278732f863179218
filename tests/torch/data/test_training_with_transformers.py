from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch.utils.data import DataLoader

from bertdata.torch import BertConfig, BertForPreTraining, PretrainingCollator, ResumableBatchSampler, ShardDataset


@pytest.mark.costly
@pytest.mark.parametrize("workers", [0, 2])
def test_transformers_bert_learns_from_the_shards(dynamic_build: Path, workers: int) -> None:
    dataset = ShardDataset(dynamic_build)
    loader: DataLoader[Any] = DataLoader(
        dataset,
        batch_sampler=ResumableBatchSampler(dataset, 16, epochs=12),
        collate_fn=PretrainingCollator(dataset),
        num_workers=workers,
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = transformers.BertForPreTraining(
            transformers.BertConfig(
                vocab_size=dataset.info.vocab_size,
                hidden_size=64,
                num_hidden_layers=2,
                num_attention_heads=2,
                intermediate_size=128,
                max_position_embeddings=32,
            )
        )
        optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3)
        losses = []
        for batch in loader:
            loss = model(**batch).loss
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
    start, end = sum(losses[:5]) / 5, sum(losses[-5:]) / 5
    assert len(losses) > 40
    assert end < start - 1.0


def test_the_trainer_of_transformers_is_told_that_the_loss_takes_no_further_arguments() -> None:
    """`Trainer` looks for this attribute, and else hands `num_items_in_batch` to a `forward` that takes `**inputs`."""
    assert BertForPreTraining.accepts_loss_kwargs is False


def test_the_trainer_of_transformers_trains_our_encoder(tmp_path: Path, dynamic_build: Path) -> None:
    pytest.importorskip("accelerate")
    dataset = ShardDataset(dynamic_build)
    model = BertForPreTraining(BertConfig.tiny(vocab_size=dataset.info.vocab_size))
    arguments = transformers.TrainingArguments(
        str(tmp_path), max_steps=12, learning_rate=2e-3, save_strategy="no", logging_steps=1, use_cpu=True, report_to=[]
    )
    trainer = transformers.Trainer(model, arguments, PretrainingCollator(dataset), train_dataset=dataset)
    trainer.train()
    losses = [record["loss"] for record in trainer.state.log_history if "loss" in record]
    assert losses[-1] < losses[0]
    model.save_pretrained(tmp_path)
    transformers.BertForPreTraining.from_pretrained(tmp_path)


SIZES = {
    "vocab_size": 100,
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 32,
}
MASKED = ("Bert", "Roberta", "DebertaV2", "Electra", "Albert")


@pytest.mark.parametrize("family", MASKED)
def test_masked_language_models_of_transformers_still_need_to_be_told(family: str) -> None:
    """Where it fails, transformers counts the tokens of all parts: docs/howto/own-loop.md then need not say it."""
    config = getattr(transformers, f"{family}Config")(**SIZES, embedding_size=16)
    model = getattr(transformers, f"{family}ForMaskedLM")(config).eval()
    assert any(
        parameter.kind is parameter.VAR_KEYWORD for parameter in inspect.signature(model.forward).parameters.values()
    )
    ids = torch.arange(5, 29)[None]
    loss = model(input_ids=ids, labels=ids).loss
    assert torch.equal(model(input_ids=ids, labels=ids, num_items_in_batch=4 * ids.numel()).loss, loss)


@pytest.mark.parametrize(("counts_items", "ratio"), [(True, 1.0), (False, 4.0)])
def test_gradient_accumulation_multiplies_the_loss_unless_the_trainer_is_told(
    tmp_path: Path, dynamic_build: Path, counts_items: bool, ratio: float
) -> None:
    pytest.importorskip("accelerate")
    dataset = ShardDataset(dynamic_build)
    losses = []
    for parts in (1, 4):
        torch.manual_seed(0)
        model = transformers.BertForMaskedLM(transformers.BertConfig(**SIZES, max_position_embeddings=32))
        if counts_items:
            model.accepts_loss_kwargs = False
        arguments = transformers.TrainingArguments(
            str(tmp_path),
            max_steps=1,
            per_device_train_batch_size=16 // parts,
            gradient_accumulation_steps=parts,
            save_strategy="no",
            logging_steps=1,
            use_cpu=True,
            report_to=[],
        )
        trainer = transformers.Trainer(model, arguments, PretrainingCollator(dataset), train_dataset=dataset)
        trainer.train()
        losses.append(trainer.state.log_history[0]["loss"])
    assert losses[1] / losses[0] == pytest.approx(ratio, rel=0.05)


def test_the_page_and_the_example_tell_the_trainer() -> None:
    root = Path(__file__).parents[3]
    for name in ("docs/howto/own-loop.md", "examples/huggingface_trainer.py"):
        assert "model.accepts_loss_kwargs = False" in (root / name).read_text()
