"""Dropout depends on the seed, the step and a row's own tokens, and on nothing beside the row."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from bertdata.torch.data.dataset import PretrainingCollator, ShardDataset
from bertdata.torch.models.albert import AlbertConfig, AlbertForPreTraining
from bertdata.torch.models.attention import attention
from bertdata.torch.models.bert import BertConfig, BertForPreTraining, BertModel
from bertdata.torch.models.dropout import Draws, Dropout, attached, kept, scale
from bertdata.torch.models.electra import ElectraConfig, ElectraForReplacedTokenDetection
from bertdata.torch.models.modernbert import ModernBertConfig, ModernBertForMaskedLM, ModernBertModel
from bertdata.torch.models.objectives.replaced_tokens import sampled

SIZES: dict[str, Any] = {
    "vocab_size": 100,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 40,
    "hidden_dropout_prob": 0.2,
    "attention_probs_dropout_prob": 0.2,
}


MODERNBERT = ModernBertConfig(
    **{name: value for name, value in SIZES.items() if not name.endswith("_prob")},
    pad_token_id=0,
    local_attention=6,
    embedding_dropout=0.2,
    attention_dropout=0.2,
    mlp_dropout=0.2,
)


def rows(count: int, length: int, seed: int = 0) -> Tensor:
    return torch.randint(5, 100, (count, length), generator=torch.Generator().manual_seed(seed))


def drawn(batch: dict[str, Tensor], seed: int = 0, step: int = 1) -> Draws:
    draws = Draws()
    draws.begin(batch, seed, step)
    return draws


def of(batch: dict[str, Tensor], start: int, stop: int) -> dict[str, Tensor]:
    return {name: value[start:stop] for name, value in batch.items()}


@pytest.mark.parametrize("probability", [0.05, 0.1, 0.5])
def test_activations_are_dropped_as_often_as_asked_and_independently(probability: float) -> None:
    ids = rows(64, 64)
    draws = drawn({"input_ids": ids})
    masks = [kept(draws.next(draws.tokens), 65, probability) for _ in range(3)]
    assert masks[0].shape == (64, 64, 65)
    spread = (probability * (1 - probability)) ** 0.5
    one = masks[0].double()
    for axis, number in (((0, 1), 64 * 64), ((0, 2), 64 * 65), ((1, 2), 64 * 65), ((0, 1, 2), 64 * 64 * 65)):
        assert (one.mean(axis) - (1 - probability)).abs().max() < 5 * spread / number**0.5
    flat = torch.stack([mask.flatten().double() for mask in masks])
    assert (torch.corrcoef(flat) - torch.eye(3)).abs().max() < 5 / flat.shape[1] ** 0.5
    centred = (one - one.mean()) / one.std()
    for left, right in (
        (centred[..., 1:], centred[..., :-1]),
        (centred[..., 2:], centred[..., :-2]),
        (centred[:, 1:], centred[:, :-1]),
        (centred[1:], centred[:-1]),
    ):
        assert (left * right).mean().abs() < 5 / left.numel() ** 0.5


def test_what_is_kept_is_scaled_to_the_same_expectation() -> None:
    layer = Dropout(0.3)
    layer.draws = drawn({"input_ids": rows(8, 64)})
    out = layer(torch.ones(8, 64, 128))
    assert sorted(set(out.flatten().tolist())) == [0.0, pytest.approx(1 / 0.7, rel=1e-4)]
    assert out.mean().item() == pytest.approx(1.0, abs=0.01)
    assert scale(0.0) == 1.0
    assert layer.eval()(torch.ones(8, 64, 128)).eq(1).all()


def test_another_seed_step_position_or_row_draws_anew() -> None:
    batch = {"input_ids": rows(4, 16)}
    base = drawn(batch, seed=3, step=7).tokens
    assert len(set(base.flatten().tolist())) == base.numel()
    assert torch.equal(base, drawn(batch, seed=3, step=7).tokens)
    for other in (drawn(batch, seed=4, step=7), drawn(batch, seed=3, step=8)):
        assert not (other.tokens == base).any()
    changed = {"input_ids": batch["input_ids"].clone()}
    changed["input_ids"][1, 3] += 1 if changed["input_ids"][1, 3] < 99 else -1
    tokens = drawn(changed, seed=3, step=7).tokens
    assert not (tokens[1] == base[1]).any()
    assert torch.equal(tokens[[0, 2, 3]], base[[0, 2, 3]])


@pytest.mark.parametrize(
    "kind", [BertForPreTraining, AlbertForPreTraining, ElectraForReplacedTokenDetection, ModernBertForMaskedLM]
)
@pytest.mark.parametrize("label", ["sentence_order_label"])
def test_a_row_is_computed_alike_in_any_batch_padded_or_packed(static_build: Any, kind: Any, label: str) -> None:
    """Hidden states and what ELECTRA fills in, under dropout, of rows alone, with others, and packed."""
    electra = kind is ElectraForReplacedTokenDetection
    pairs = kind in (BertForPreTraining, AlbertForPreTraining)
    config = {AlbertForPreTraining: AlbertConfig, ElectraForReplacedTokenDetection: ElectraConfig}.get(kind, BertConfig)
    shape: Any = MODERNBERT if kind is ModernBertForMaskedLM else config(**SIZES)
    torch.manual_seed(0)
    model = kind(replace(shape, initializer_range=0.2)).train()
    dataset = ShardDataset(static_build)
    examples = [dataset[number] for number in (0, 5, 1, 9)]
    examples.sort(key=lambda one: len(one["input_ids"]))
    draws = attached(model)

    def result(part: Any, **settings: Any) -> Any:
        batch = PretrainingCollator(dataset, **settings)(part)
        if not pairs:
            del batch[label]
        draws.begin(batch, 0, 1)
        return batch, model(**batch)

    _, whole = result(examples)
    parts = [result([example])[1] for example in examples]
    _, packed = result(examples, packing=True)
    logits = [(one.generator if electra else one).prediction_logits for one in (whole, packed, *parts)]
    for other in (torch.cat(logits[2:]), logits[1]):
        assert torch.allclose(other, logits[0], atol=2e-5)
    if electra:
        replaced = [(torch.cat([part.replaced_logits for part in parts]), torch.cat([one.replaced for one in parts]))]
        replaced.append((packed.replaced_logits, packed.replaced))
        for replaced_logits, truth in replaced:
            assert torch.allclose(replaced_logits, whole.replaced_logits, atol=2e-5)
            assert torch.equal(truth, whole.replaced)
        return
    if pairs:
        for other in (torch.cat([part.seq_relationship_logits for part in parts]), packed.seq_relationship_logits):
            assert torch.allclose(other, whole.seq_relationship_logits, atol=2e-5)
    draws.begin(PretrainingCollator(dataset)(examples), 0, 2)
    again = model(**PretrainingCollator(dataset)(examples))
    assert not torch.allclose(again.prediction_logits, whole.prediction_logits, atol=1e-2)


def test_dropout_in_attention_is_that_of_its_probabilities() -> None:
    generator = torch.Generator().manual_seed(0)
    query, key, value = (torch.randn(3, 2, 8, 4, generator=generator) for _ in range(3))
    mask = (torch.arange(8) < torch.tensor([8, 5, 1])[:, None])[:, None, None, :]
    tokens = drawn({"input_ids": rows(3, 8)}).heads(2)
    torch.testing.assert_close(
        attention(query, key, value, mask, 1e-9, tokens), attention(query, key, value, mask, 0.0)
    )
    rounds = [attention(query, key, value, mask, 0.25, tokens + number) for number in range(4000)]
    mean = torch.stack(rounds).mean(0)
    torch.testing.assert_close(mean, attention(query, key, value, mask, 0.0), atol=0.08, rtol=0)
    assert not torch.equal(rounds[0][:, 0] == 0, rounds[0][:, 1] == 0)
    lone = torch.stack(rounds)[:, 2]
    assert (lone == 0).all(-1).float().mean().item() == pytest.approx(0.25, abs=0.01)


def test_on_cuda_attentions_dropout_is_drawn_by_row_only_if_explicit() -> None:
    draws, cuda, cpu = drawn({"input_ids": rows(2, 8)}), torch.device("cuda"), torch.device("cpu")
    assert draws.attention(4, cuda) is None
    assert draws.uses == 0
    by_row = draws.attention(4, cpu)
    draws.explicit, draws.uses = True, 0
    assert by_row is not None
    assert torch.equal(by_row, draws.attention(4, cuda))  # type: ignore[arg-type]
    assert by_row.shape == (2, 4, 8)


@pytest.mark.parametrize("explicit", [False, True])
def test_models_ask_for_attentions_dropout_by_their_device(monkeypatch: pytest.MonkeyPatch, explicit: bool) -> None:
    """With CPU tensors that are taken for those of CUDA."""
    calls: list[bool] = []
    real = Draws.attention

    def on_cuda(self: Draws, count: int, device: torch.device) -> Tensor | None:
        drawn = real(self, count, torch.device("cuda"))
        calls.append(drawn is not None)
        return drawn

    monkeypatch.setattr(Draws, "attention", on_cuda)
    batch = {"input_ids": rows(3, 16)}
    for model in (BertModel(BertConfig(**SIZES)), ModernBertModel(replace(MODERNBERT, num_hidden_layers=2))):
        draws = attached(model.train())
        draws.explicit = explicit
        draws.begin(batch, 0, 1)
        whole = model.encode(batch["input_ids"])
        draws.begin(of(batch, 0, 1), 0, 1)
        alone = model.encode(batch["input_ids"][:1])
        assert torch.allclose(whole[:1], alone, atol=1e-5) == explicit
    assert calls == [explicit] * 8


def test_every_dropout_of_a_model_is_drawn_apart() -> None:
    model = BertModel(BertConfig(**SIZES)).train()
    draws = attached(model)
    batch = {"input_ids": rows(2, 16)}
    draws.begin(batch, 0, 1)
    model(**batch)
    assert draws.uses == 1 + 2 * (4 + 2)
    state = torch.random.get_rng_state()
    draws.begin(batch, 0, 1)
    model(**batch)
    assert torch.equal(torch.random.get_rng_state(), state)
    modern = ModernBertModel(MODERNBERT).train()
    draws = attached(modern)
    draws.begin(batch, 0, 1)
    modern(**batch)
    assert draws.uses == 1 + 2 * (4 + 1 + 1)


def test_without_draws_torchs_generator_draws() -> None:
    layer = Dropout(0.5)
    torch.manual_seed(1)
    first, second = layer(torch.ones(64)), layer(torch.ones(64))
    assert not torch.equal(first, second)
    torch.manual_seed(1)
    assert torch.equal(layer(torch.ones(64)), first)


def test_tokens_are_sampled_by_their_probabilities() -> None:
    logits = torch.log(torch.tensor([0.5, 0.2, 0.3])).expand(1000, 3)
    tokens = sampled(logits, (torch.arange(1000) + 0.5) / 1000)
    assert tokens.bincount().tolist() == [500, 200, 300]
    assert sampled(torch.tensor([[0.0, -torch.inf]]), torch.tensor([1.0])).item() == 1
    uniform = drawn({"input_ids": rows(64, 64)}).uniform()
    assert uniform.shape == (64, 64)
    assert 0 < uniform.min() < 0.01
    assert 0.99 < uniform.max() < 1
    assert uniform.mean().item() == pytest.approx(0.5, abs=0.02)


def is_kept(token: int, activation: int, probability: float) -> bool:
    """Return what `kept` gives for one activation, in plain integers."""
    mask = (1 << 32) - 1
    token %= 1 << 64
    word = ((token ^ token >> 29) * 0xD1B54A32D192ED03 >> 32) + activation // 2 * 0x9E3779B9 & mask
    for shift, factor in ((16, 0x85EBCA6B), (13, 0xC2B2AE35)):
        word = (word ^ word >> shift) * factor & mask
    half = (word ^ word >> 16) >> 16 * (activation % 2) & 0xFFFF
    return (half ^ 0x8000) >= min(round(probability * (1 << 16)), (1 << 16) - 1)


@pytest.mark.parametrize("probability", [1e-6, 0.1, 0.5, 0.999999])
def test_what_is_dropped_is_what_plain_integers_give(probability: float) -> None:
    # A run goes on from its checkpoint to the same losses only where these values stay.
    tokens = [0, 1, -1, 12345678901234567, -(2**63), 2**63 - 1, *range(50, 90)]
    for count in (1, 2, 9):
        expected = [[is_kept(token, place, probability) for place in range(count)] for token in tokens]
        assert kept(torch.tensor(tokens), count, probability).tolist() == expected
