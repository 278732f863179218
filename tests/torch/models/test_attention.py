from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from bertdata.torch.data.dataset import PretrainingCollator, ShardDataset
from bertdata.torch.models.albert import AlbertConfig, AlbertForPreTraining
from bertdata.torch.models.attention import PackedSequences, attention, packed_sequences
from bertdata.torch.models.bert import BertConfig, BertForMaskedLM, BertForPreTraining
from bertdata.torch.models.electra import ElectraConfig, ElectraForPreTraining

SIZES: dict[str, Any] = {
    "vocab_size": 100,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 32,
}


def attention_by_block_mask(query: Tensor, key: Tensor, value: Tensor, packed: PackedSequences) -> Tensor:
    """Return what `attention` does for packed rows, slowly: all scores of the row, those between sequences masked."""
    owner = torch.arange(len(packed.taken)).repeat_interleave(packed.cu_seqlens.diff().long())
    return functional.scaled_dot_product_attention(query, key, value, attn_mask=owner[:, None] == owner[None, :])


def ends(lengths: Sequence[int]) -> Tensor:
    return torch.tensor([0, *torch.tensor(lengths).cumsum(0).tolist()], dtype=torch.int32)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=6))
def test_packed_attention_is_that_of_a_block_mask(lengths: list[int]) -> None:
    generator = torch.Generator().manual_seed(sum(lengths))
    query, key, value = (torch.randn(1, 2, sum(lengths), 4, generator=generator) for _ in range(3))
    borders = packed_sequences(ends(lengths))
    found = attention(query, key, value, borders, 0.0)
    assert torch.allclose(found, attention_by_block_mask(query, key, value, borders), atol=1e-6)


def test_a_token_of_one_sequence_changes_no_other() -> None:
    generator = torch.Generator().manual_seed(0)
    query, key, value = (torch.randn(1, 2, 9, 4, generator=generator) for _ in range(3))
    borders = packed_sequences(ends([4, 5]))
    before = attention(query, key, value, borders, 0.0)
    key[:, :, 2], value[:, :, 2] = 7.0, 7.0
    after = attention(query, key, value, borders, 0.0)
    assert torch.equal(before[:, :, 4:], after[:, :, 4:])
    assert not torch.allclose(before[:, :, :4], after[:, :, :4])


@pytest.mark.parametrize("kind", [BertForPreTraining, BertForMaskedLM, AlbertForPreTraining, ElectraForPreTraining])
def test_a_packed_batch_gives_what_the_padded_one_gives(static_build: Any, kind: type[Any]) -> None:
    configs = {AlbertForPreTraining: AlbertConfig, ElectraForPreTraining: ElectraConfig}
    config = configs.get(kind, BertConfig)(**SIZES)
    model = kind(replace(config, initializer_range=0.2)).eval()
    dataset = ShardDataset(static_build)
    examples = [dataset[number] for number in (0, 5, 1, 9)]
    padded = PretrainingCollator(dataset)(examples)
    packed = PretrainingCollator(dataset, packing=True)(examples)
    with torch.no_grad():
        if kind is ElectraForPreTraining:
            for batch in (padded, packed):
                del batch["labels"], batch["sentence_order_label"]
            tokens = padded["attention_mask"].bool()
            expected = model(**padded)[tokens]
            assert torch.allclose(model(**packed)[0, : len(expected)], expected, atol=1e-5)
            return
        if kind is BertForMaskedLM:
            for batch in (padded, packed):
                del batch["sentence_order_label"]
        expected, found = model(**padded), model(**packed)
    assert abs(expected.loss.item() - found.loss.item()) < 1e-5
    assert torch.allclose(found.prediction_logits, expected.prediction_logits, atol=1e-5)
    if kind is not BertForMaskedLM:
        assert found.seq_relationship_logits.shape == (4, 2)
        assert torch.allclose(found.seq_relationship_logits, expected.seq_relationship_logits, atol=1e-5)


def test_packed_rows_learn_the_same(static_build: Any) -> None:
    model = BertForPreTraining(BertConfig(**SIZES, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))
    dataset = ShardDataset(static_build)
    examples = [dataset[number] for number in range(6)]
    gradients = []
    for packing in (False, True):
        model.zero_grad()
        model(**PretrainingCollator(dataset, packing=packing)(examples)).loss.backward()
        gradients.append([one.grad.clone() for one in model.parameters() if one.grad is not None])
    assert all(torch.allclose(left, right, atol=1e-5) for left, right in zip(*gradients, strict=True))
