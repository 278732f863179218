"""Batches of rows of several models: the same from the device, and learned by these models of transformers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch.utils.data import DataLoader

from bertdata.errors import ConfigError
from bertdata.objectives.settings import ExamplesConfig
from bertdata.torch import BertConfig, BertForPreTraining, PretrainingCollator, ResumableBatchSampler, ShardDataset
from bertdata.torch.data.device_collator import DeviceCollator
from bertdata.torch.models.model_loading import model_class
from tests.small_build import write_build
from tests.tokenizers.of_models import MODELS, tokenizer_of

SIZES = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 80,
}
ROW = 64


def dataset_of(folder: Path, model: str, objective: str = "full-sentences") -> ShardDataset:
    return ShardDataset(
        write_build(folder, ExamplesConfig(objective, max_seq_length=ROW), documents=40, pieces=tokenizer_of(model))
    )


def model_of(name: str, dataset: ShardDataset) -> Any:
    """Return a small model of transformers for the ids of a data set."""
    info = dataset.info
    ids = {"vocab_size": info.vocab_size, "pad_token_id": info.pad_token_id}
    ids |= {"bos_token_id": info.cls_token_id, "eos_token_id": info.sep_token_id}
    config: Any
    if name == "RoBERTa":
        config = transformers.RobertaConfig(**ids, **SIZES, type_vocab_size=1)
        return transformers.RobertaForMaskedLM(config)
    if name == "XLM-R":
        config = transformers.XLMRobertaConfig(**ids, **SIZES, type_vocab_size=1)
        return transformers.XLMRobertaForMaskedLM(config)
    if name == "ModernBERT":
        own = {"cls_token_id": info.cls_token_id, "sep_token_id": info.sep_token_id}
        return transformers.ModernBertForMaskedLM(transformers.ModernBertConfig(**ids, **own, **SIZES))
    config = transformers.XLNetConfig(**ids, d_model=32, n_layer=2, n_head=2, d_inner=64)
    return transformers.XLNetLMHeadModel(config)


def steps(model: Any, dataset: ShardDataset, number: int = 10, rate: float = 1e-2) -> list[float]:
    """Train for some steps with the batches of a data set; returns the losses."""
    sampler = ResumableBatchSampler(dataset, 8, epochs=None)
    loader: DataLoader[Any] = DataLoader(dataset, batch_sampler=sampler, collate_fn=PretrainingCollator(dataset))
    optimizer, losses = torch.optim.AdamW(model.parameters(), lr=rate), []
    for _, batch in zip(range(number), loader, strict=False):
        loss = model(**batch).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


@pytest.mark.costly
@pytest.mark.parametrize("name", MODELS)
def test_the_model_of_transformers_learns_from_its_rows(name: str, tmp_path: Path) -> None:
    dataset = dataset_of(tmp_path, name)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        losses = steps(model_of(name, dataset), dataset)
    assert sum(losses[-3:]) < sum(losses[:3]) - 1


def test_albert_of_transformers_learns_sentence_order(tmp_path: Path) -> None:
    dataset = ShardDataset(write_build(tmp_path, ExamplesConfig("sop", max_seq_length=ROW)))
    config = transformers.AlbertConfig(vocab_size=dataset.info.vocab_size, embedding_size=16, **SIZES)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        losses = steps(transformers.AlbertForPreTraining(config), dataset, 20)
    assert sum(losses[-3:]) < sum(losses[:3]) - 0.5


@pytest.mark.costly
@pytest.mark.parametrize("name", MODELS)
def test_our_encoder_learns_from_rows_of_any_template(name: str, tmp_path: Path) -> None:
    dataset = dataset_of(tmp_path, name, "nsp")
    info = dataset.info
    config = BertConfig.tiny(vocab_size=info.vocab_size, pad_token_id=info.pad_token_id, type_vocab_size=3)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        losses = steps(BertForPreTraining(config), dataset, 30, 3e-3)
    assert sum(losses[-3:]) < sum(losses[:3]) - 0.5


def test_a_model_with_too_few_token_types_is_refused(tmp_path: Path) -> None:
    info = dataset_of(tmp_path, "XLNet").sets[0].expect_pretraining()
    config = BertConfig.tiny(vocab_size=info.vocab_size, type_vocab_size=2)
    with pytest.raises(ConfigError, match="knows 2 token types, and rows of full-sentences have 3"):
        model_class(config, info)


@pytest.mark.parametrize("objective", ["nsp", "single-segment", "full-sentences"])
@pytest.mark.parametrize("name", MODELS)
def test_batches_made_on_the_device_are_those_of_the_collator(name: str, objective: str, tmp_path: Path) -> None:
    dataset = dataset_of(tmp_path, name, objective)
    examples = dataset.__getitems__([(1, number) for number in range(16)])
    on_device = DeviceCollator(dataset)
    batch, expected = on_device.finish(on_device(examples)), PretrainingCollator(dataset)(examples)
    assert batch.keys() == expected.keys()
    for key, value in expected.items():
        assert torch.equal(batch[key], value)
