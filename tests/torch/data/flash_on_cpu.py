"""transformers' flash attention on a CPU: its own code to the call of the kernel, and a loop in the kernel's place."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
import torch
from torch import Tensor
from transformers import modeling_flash_attention_utils


def loop_over_examples(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    cu_seqlens_q: Tensor,
    cu_seqlens_k: Tensor,
    max_seqlen_q: int,
    max_seqlen_k: int,
    dropout_p: float = 0.0,
    softmax_scale: float | None = None,
    causal: bool = False,
    window_size: tuple[int, int] = (-1, -1),
) -> Tensor:
    """Return what flash-attn's `flash_attn_varlen_func` does: the attention of each example alone, (T, heads, size)."""
    offsets = cu_seqlens_q.tolist()
    assert cu_seqlens_q.dtype == cu_seqlens_k.dtype == torch.int32
    assert cu_seqlens_k.tolist() == offsets
    assert (offsets[0], offsets[-1]) == (0, len(q))
    assert type(max_seqlen_q) is type(max_seqlen_k) is int
    assert max_seqlen_q == max_seqlen_k == int(cu_seqlens_q.diff().max())
    assert (causal, dropout_p) == (False, 0.0)
    parts = []
    for begin, end in pairwise(offsets):
        place = torch.arange(end - begin)
        apart = place[None] - place[:, None]
        seen = torch.ones_like(apart, dtype=torch.bool)
        if window_size != (-1, -1):
            seen = (apart >= -window_size[0]) & (apart <= window_size[1])
        query, key, value = (heads[begin:end].transpose(0, 1)[None] for heads in (q, k, v))
        attended = torch.nn.functional.scaled_dot_product_attention(
            query, key, value, attn_mask=seen, scale=softmax_scale, enable_gqa=True
        )
        parts.append(attended[0].transpose(0, 1))
    return torch.cat(parts)


@pytest.fixture
def flash_on_cpu(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """Put the loop in the place of flash-attn's kernel; yield a list of the examples of each call."""
    calls: list[int] = []

    def kernel(*args: Any, **named: Any) -> Tensor:
        calls.append(len(named["cu_seqlens_q"]) - 1)
        return loop_over_examples(*args, **named)

    kernel.__signature__ = inspect.signature(loop_over_examples)  # type: ignore[attr-defined]

    def whole_rows(*args: Any, **named: Any) -> Tensor:
        raise AssertionError("the row was attended to as a whole")

    functions = (whole_rows, kernel, None, None, None)
    monkeypatch.setattr(modeling_flash_attention_utils, "_lazy_imports", lambda *args, **named: functions)
    monkeypatch.setattr(modeling_flash_attention_utils, "_loaded_implementation", None)
    yield calls
    modeling_flash_attention_utils._loaded_implementation = None
