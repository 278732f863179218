from __future__ import annotations

import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional

from bertdata.torch.models.attention import attention, packed_sequences, windowed
from bertdata.torch.models.local_attention import NearTokens, local_attention, worthwhile

LENGTHS = st.lists(st.integers(1, 120), min_size=1, max_size=4)
WINDOWS = st.integers(0, 70)


def states(rows: int, length: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return queries, keys and values of two heads of 4."""
    generator = torch.Generator().manual_seed(length)
    query, key, value = (torch.randn(rows, 2, length, 4, generator=generator) for _ in range(3))
    return query, key, value


@settings(max_examples=30, deadline=None)
@given(LENGTHS, WINDOWS)
def test_blocks_give_what_all_scores_with_a_mask_give(lengths: list[int], window: int) -> None:
    """Of padded rows, and of sequences in one row."""
    padded = torch.zeros(len(lengths), max(lengths), dtype=torch.int64)
    for row, length in enumerate(lengths):
        padded[row, :length] = 1
    in_one = torch.arange(len(lengths)).repeat_interleave(torch.tensor(lengths))[None]
    for owner in (padded, in_one):
        query, key, value = states(len(owner), owner.shape[1])
        mask = NearTokens(owner, window)
        expected = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask.attended())
        attended = local_attention(query, key, value, mask)
        assert attended.shape == expected.shape
        assert torch.allclose(attended, expected, atol=1e-6)


def test_gradients_are_those_of_all_scores_and_stay_near() -> None:
    mask = NearTokens(torch.zeros(1, 150, dtype=torch.int64), 9)

    def gradients(in_blocks: bool) -> list[Tensor]:
        query, key, value = leaves = [state.requires_grad_() for state in states(1, 150)]
        if in_blocks:
            attended = local_attention(query, key, value, mask)
        else:
            attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask.attended())
        attended[:, :, 70].square().sum().backward()  # type: ignore[no-untyped-call]
        return [leaf.grad for leaf in leaves if leaf.grad is not None]

    attended, expected = gradients(in_blocks=True), gradients(in_blocks=False)
    assert all(torch.allclose(left, right, atol=1e-6) for left, right in zip(attended, expected, strict=True))
    touched = attended[1].abs().sum((0, 1, 3)).nonzero()[:, 0]
    assert (int(touched.min()), int(touched.max()), len(touched)) == (61, 79, 19)


def test_long_rows_are_computed_in_blocks_and_short_ones_and_causal_ones_with_a_mask() -> None:
    cpu, taken = torch.device("cpu"), torch.ones(2, 1, 1, 161, dtype=torch.bool)
    assert worthwhile(161, 8)
    assert isinstance(windowed(None, 8, 161, cpu), NearTokens)
    assert isinstance(windowed(taken, 8, 161, cpu), NearTokens)
    assert isinstance(windowed(None, 8, 160, cpu), Tensor)
    causal = torch.ones(161, 161, dtype=torch.bool).tril()[None, None]
    window = windowed(causal, 8, 161, cpu)
    assert isinstance(window, Tensor)
    assert window[0, 0, 100].nonzero()[:, 0].tolist() == list(range(92, 101))
    assert windowed(taken, 160, 161, cpu) is taken
    assert windowed(None, 160, 161, cpu) is None
    sequences = packed_sequences(torch.tensor([0, 9, 11], dtype=torch.int32))
    assert windowed(sequences, 8, 11, cpu) is sequences
    assert windowed(sequences, 7, 11, cpu) == sequences._replace(window=7)


def test_dropout_of_near_tokens_keeps_the_expectation() -> None:
    query, key, _ = states(8, 320)
    mask = NearTokens(torch.zeros(1, 320, dtype=torch.int64), 20)
    ones = torch.ones_like(query)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        attended = attention(query, key, ones, mask, 0.3)
    assert attended.std() > 0.05
    assert abs(attended.mean().item() - 1) < 0.01
    assert torch.allclose(attention(query, key, ones, mask, 0.0), ones, atol=1e-5)
