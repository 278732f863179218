from __future__ import annotations

import importlib
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from bertdata.torch.data.dataset import PretrainingCollator, ShardDataset
from bertdata.torch.models import attention as kernels
from bertdata.torch.models.albert import AlbertConfig, AlbertForPreTraining
from bertdata.torch.models.attention import PackedSequences, attention, packed_sequences, varlen_kernel, windowed
from bertdata.torch.models.bert import BertConfig, BertForMaskedLM, BertForPreTraining
from bertdata.torch.models.electra import ElectraConfig, ElectraForPreTraining
from bertdata.torch.models.modernbert import ModernBertConfig, ModernBertForMaskedLM
from bertdata.torch.models.modernbert import model as modernbert

SIZES: dict[str, Any] = {
    "vocab_size": 100,
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "max_position_embeddings": 32,
}


def attention_by_block_mask(
    query: Tensor, key: Tensor, value: Tensor, packed: PackedSequences, window: int = 1000
) -> Tensor:
    """Return what `attention` does for packed rows, slowly: all scores of the row, those between sequences masked."""
    owner = torch.arange(len(packed.taken)).repeat_interleave(packed.cu_seqlens.diff().long())
    place = torch.arange(len(owner))
    seen = (owner[:, None] == owner) & ((place[:, None] - place).abs() <= window)
    return functional.scaled_dot_product_attention(query, key, value, attn_mask=seen)


def drawn(rows: int, length: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return queries, keys and values of two heads of 4."""
    generator = torch.Generator().manual_seed(length)
    query, key, value = torch.randn(3, rows, 2, length, 4, generator=generator)
    return query, key, value


def ends(lengths: Sequence[int]) -> Tensor:
    return torch.tensor([0, *torch.tensor(lengths).cumsum(0).tolist()], dtype=torch.int32)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.integers(0, 9))
def test_packed_attention_is_that_of_a_block_mask(lengths: list[int], window: int) -> None:
    query, key, value = drawn(1, sum(lengths))
    borders = packed_sequences(ends(lengths))
    attended = attention(query, key, value, borders, 0.0)
    assert torch.allclose(attended, attention_by_block_mask(query, key, value, borders), atol=1e-6)
    mask = windowed(borders, window, sum(lengths), query.device)
    attended = attention(query, key, value, mask, 0.0)
    assert torch.allclose(attended, attention_by_block_mask(query, key, value, borders, window), atol=1e-6)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.integers(0, 9))
def test_a_window_over_padded_rows_is_that_over_each_row_alone(lengths: list[int], window: int) -> None:
    longest = max(lengths) + 2
    states = drawn(len(lengths), longest)
    taken = (torch.arange(longest) < torch.tensor(lengths)[:, None])[:, None, None, :]
    padded = attention(*states, windowed(taken, window, longest, states[0].device), 0.0)
    assert torch.isfinite(padded).all()
    for row, length in enumerate(lengths):
        query, key, value = (state[row : row + 1, :, :length] for state in states)
        attended = attention(query, key, value, windowed(None, window, length, query.device), 0.0)
        expected = attention_by_block_mask(query, key, value, packed_sequences(ends([length])), window)
        assert torch.allclose(attended, expected, atol=1e-6)
        assert torch.allclose(padded[row : row + 1, :, :length], expected, atol=1e-6)


def stand_in(
    query: Tensor, key: Tensor, value: Tensor, *given: Any, window_size: tuple[int, int] = (1000, 1000)
) -> Tensor:
    """Return, for sequences of 5 and 7 tokens, what torch's kernel for any length does on CUDA, in plain torch."""
    (queries, keys, longest, most), (left, right) = given, window_size
    assert longest == most == 7
    assert left == right
    assert queries is keys
    query, key, value = (states.transpose(0, 1)[None] for states in (query, key, value))
    owner = torch.searchsorted(queries[1:].contiguous(), torch.arange(query.shape[2]), right=True)
    place = torch.arange(len(owner))
    seen = (owner[:, None] == owner) & ((place[:, None] - place).abs() <= left)
    return functional.scaled_dot_product_attention(query, key, value, attn_mask=seen)[0].transpose(0, 1)


def on_cuda(monkeypatch: pytest.MonkeyPatch, cu_seqlens: Tensor, *known: Any) -> PackedSequences:
    """Return `packed_sequences` with the kernel that is there on CUDA, or its stand-in."""
    monkeypatch.setattr(
        kernels, "varlen_kernel", lambda window: window and partial(stand_in, window_size=(window, window))
    )
    return packed_sequences(cu_seqlens, *known)._replace(kernel=stand_in)


@pytest.mark.parametrize("window", [2, 6])
def test_the_kernel_for_sequences_of_any_length_gets_the_window(monkeypatch: pytest.MonkeyPatch, window: int) -> None:
    query, key, value = (states.bfloat16() for states in drawn(1, 12))
    expected = attention(query, key, value, windowed(packed_sequences(ends([5, 7])), window, 12, query.device), 0.0)
    mask = windowed(on_cuda(monkeypatch, ends([5, 7])), window, 12, query.device)
    assert torch.allclose(attention(query, key, value, mask, 0.0), expected, atol=1e-2)
    called: list[int] = []

    def kernel(*given: Any, **named: Any) -> Tensor:
        called.append(len(given))
        return stand_in(*given, **named)

    assert isinstance(mask, PackedSequences)
    mask = mask._replace(kernel=kernel)
    for half, dropout, calls in ((True, 0.0, 1), (True, 0.5, 1), (False, 0.0, 1)):
        states = [tensor if half else tensor.float() for tensor in (query, key, value)]
        attention(states[0], states[1], states[2], mask, dropout)
        assert len(called) == calls, "the kernel is for half precision without dropout"


def test_where_torchs_kernel_has_no_windows_packed_rows_go_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    packed = on_cuda(monkeypatch, ends([5, 7]))
    monkeypatch.setattr(kernels, "varlen_kernel", lambda window: None)
    query, key, value = (states.bfloat16() for states in drawn(1, 12))
    mask = windowed(packed, 2, 12, query.device)
    assert mask == windowed(packed._replace(kernel=None), 2, 12, query.device)
    assert attention(query, key, value, mask, 0.0).shape == query.shape


@pytest.mark.costly
def test_compiled_blocks_over_packed_rows_are_one_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    """With `fullgraph` torch raises an error where it cannot compile all of the blocks at once."""
    model = ModernBertForMaskedLM(ModernBertConfig(**SIZES, pad_token_id=0, local_attention=6)).eval()
    monkeypatch.setattr(modernbert, "packed_sequences", partial(on_cuda, monkeypatch))
    inputs = {
        "input_ids": torch.arange(5, 17)[None],
        "position_ids": torch.tensor([[*range(5), *range(7)]]),
        "cu_seqlens": ends([5, 7]),
    }
    with torch.no_grad(), torch.autocast("cpu", torch.bfloat16):
        expected = model(**inputs).prediction_logits
        model.model.layers.compile(fullgraph=True, backend="eager")
        assert torch.equal(model(**inputs).prediction_logits, expected)


def test_torchs_kernel_is_taken_with_a_window_where_it_has_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def without(query: Tensor) -> None: ...
    def with_windows(query: Tensor, window_size: tuple[int, int]) -> None: ...

    for kernel, takes in ((without, False), (with_windows, True)):
        varlen_kernel.cache_clear()
        monkeypatch.setattr(importlib, "import_module", lambda name, kernel=kernel: Namespace(varlen_attn=kernel))
        assert varlen_kernel(None) is kernel
        chosen = varlen_kernel(64)
        assert (chosen is not None) == takes
        assert not takes or chosen.keywords == {"window_size": (64, 64)}
    varlen_kernel.cache_clear()
    monkeypatch.setattr(importlib, "import_module", lambda name: Namespace())
    assert varlen_kernel(None) is None
    varlen_kernel.cache_clear()


def test_a_token_of_one_sequence_changes_no_other() -> None:
    query, key, value = drawn(1, 9)
    borders = packed_sequences(ends([4, 5]))
    before = attention(query, key, value, borders, 0.0)
    key[:, :, 2], value[:, :, 2] = 7.0, 7.0
    after = attention(query, key, value, borders, 0.0)
    assert torch.equal(before[:, :, 4:], after[:, :, 4:])
    assert not torch.allclose(before[:, :, :4], after[:, :, :4])


@pytest.mark.parametrize(
    "kind",
    [BertForPreTraining, BertForMaskedLM, AlbertForPreTraining, ElectraForPreTraining, ModernBertForMaskedLM],
)
def test_a_packed_batch_gives_what_the_padded_one_gives(static_build: Any, kind: type[Any]) -> None:
    configs = {AlbertForPreTraining: AlbertConfig, ElectraForPreTraining: ElectraConfig}
    config = configs.get(kind, BertConfig)(**SIZES)
    if kind is ModernBertForMaskedLM:
        config = ModernBertConfig(**SIZES, pad_token_id=0, local_attention=6)
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
        if kind in (BertForMaskedLM, ModernBertForMaskedLM):
            for batch in (padded, packed):
                del batch["sentence_order_label"]
        expected, output = model(**padded), model(**packed)
    assert abs(expected.loss.item() - output.loss.item()) < 1e-5
    assert torch.allclose(output.prediction_logits, expected.prediction_logits, atol=1e-5)
    if kind not in (BertForMaskedLM, ModernBertForMaskedLM):
        assert output.seq_relationship_logits.shape == (4, 2)
        assert torch.allclose(output.seq_relationship_logits, expected.seq_relationship_logits, atol=1e-5)


@pytest.mark.parametrize("kind", [BertForPreTraining, ModernBertForMaskedLM])
def test_packed_rows_learn_the_same(static_build: Any, kind: type[Any]) -> None:
    if kind is BertForPreTraining:
        model = kind(BertConfig(**SIZES, hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0))
    else:
        model = kind(ModernBertConfig(**SIZES, pad_token_id=0, local_attention=6))
    dataset = ShardDataset(static_build)
    examples = [dataset[number] for number in range(6)]
    gradients = []
    for packing in (False, True):
        model.zero_grad()
        model(**PretrainingCollator(dataset, packing=packing)(examples)).loss.backward()
        gradients.append([parameter.grad.clone() for parameter in model.parameters() if parameter.grad is not None])
    assert all(torch.allclose(left, right, atol=1e-5) for left, right in zip(*gradients, strict=True))


def test_the_newest_flash_attention_is_taken_on_hopper_where_it_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    device, installed = torch.device("cuda"), [True]
    activated: list[str] = []
    monkeypatch.setattr(kernels, "find_spec", lambda name: installed[0])
    monkeypatch.setattr(torch.nn.attention, "activate_flash_attention_impl", activated.append, raising=False)
    for capability, there, expected in (((9, 0), True, "FA3"), ((9, 0), False, ""), ((8, 0), True, "")):
        installed[0] = there
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device, version=capability: version)
        assert kernels.activate_newest_flash(device) == expected
    assert activated == ["FA3"]
    assert kernels.activate_newest_flash(torch.device("cpu")) == ""


@pytest.mark.skipif(not hasattr(torch.nn.attention, "list_flash_attention_impls"), reason="this torch knows no others")
def test_torch_knows_the_flash_attention_that_is_asked_for() -> None:
    assert "FA3" in torch.nn.attention.list_flash_attention_impls()
