"""XLNet of transformers, trained on our batches."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader

from bertdata.loader import PermutationCollator
from bertdata.objectives.settings import ExamplesConfig
from bertdata.torch import PermutationLMCollator, ResumableBatchSampler, ShardDataset
from tests.torch.build import WORDS, write_build

transformers: Any = pytest.importorskip("transformers")


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_build(tmp_path_factory.mktemp("b"), ExamplesConfig(objective="doc-sentences", max_seq_length=33))


def model_of(layers: int = 2) -> Any:
    torch.manual_seed(0)
    config = transformers.XLNetConfig(
        vocab_size=WORDS + 5, d_model=32, n_layer=layers, n_head=2, d_inner=64, dropout=0.0, pad_token_id=0
    )
    return transformers.XLNetLMHeadModel(config)


def test_tensors_are_those_of_the_numpy_collator(build: Path) -> None:
    dataset = ShardDataset(build)
    rows = [dataset[(1, number)] for number in range(6)]
    tensors, arrays = PermutationLMCollator(dataset)(rows), PermutationCollator(dataset)(rows)
    assert {name: tensor.numpy().tolist() for name, tensor in tensors.items()} == {
        name: np.asarray(array).tolist() for name, array in arrays.items()
    }


@pytest.mark.costly
def test_the_loss_of_xlnet_falls(build: Path) -> None:
    dataset = ShardDataset(build)
    sampler = ResumableBatchSampler(dataset, 16, epochs=None, seed=1)
    loader = DataLoader(dataset, batch_sampler=sampler, collate_fn=PermutationLMCollator(dataset))
    model, losses = model_of(), []
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    for _, batch in zip(range(40), loader, strict=False):
        loss = model(**batch).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(float(loss.detach()))
    assert sum(losses[-5:]) / 5 < losses[0] - 0.8


def test_a_prediction_changes_with_the_tokens_before_it_in_the_order_and_with_no_other(build: Path) -> None:
    dataset = ShardDataset(build)
    batch = PermutationLMCollator(dataset, plm_probability=0.4)([dataset[(0, 0)]])
    model = model_of(layers=3).eval()
    with torch.no_grad():
        before = model(**batch).logits[0]
        for place in range(int(batch["attention_mask"].sum())):
            ids = batch["input_ids"].clone()
            ids[0, place] = 5 + (int(ids[0, place]) + 7) % WORDS
            after = model(**batch | {"input_ids": ids}).logits[0]
            for prediction in range(int((batch["labels"] >= 0).sum())):
                target = int(batch["target_mapping"][0, prediction].argmax())
                seen = batch["perm_mask"][0, target, place] == 0
                assert bool((before[prediction] != after[prediction]).any()) == bool(seen)
