from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from torch.utils.data import DataLoader

from bertdata.torch import PretrainingCollator, ResumableBatchSampler, ShardDataset


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
