"""Scaled dot-product attention over padded rows, and over packed rows without padding.

A packed row holds sequences one after another, with their offsets in `cu_seqlens`, as `PretrainingCollator` makes it
with `packing`; a token attends only to its own sequence. torch's kernel for sequences of any length is used where there
is one (CUDA in half precision, without dropout). Elsewhere the sequences are padded for attention, which costs less
than the scores between sequences would.
"""

from __future__ import annotations

import importlib
from functools import cache
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from bertdata.torch.models.dropout import kept, scale


class PackedSequences(NamedTuple):
    """Where the sequences of a packed row are.

    cu_seqlens: int32 (N + 1,), from 0 to T; longest: tokens of the longest; places: int64 (N, longest), where in the
    row the tokens of a sequence are, 0 after its end; taken: bool (N, longest), False after the end; back: int64 (T,),
    where each token of the row is in the (N, longest) grid.
    """

    cu_seqlens: Tensor
    longest: int
    places: Tensor
    taken: Tensor
    back: Tensor


Mask = Tensor | PackedSequences | None
"""What tokens attend to: bool, broadcast to (N, heads, L, L); the sequences of a packed row; None: the whole row."""


def packed_sequences(cu_seqlens: Tensor) -> PackedSequences:
    """Return the sequences whose offsets are `cu_seqlens`, int32 (N + 1,).

    >>> packed_sequences(torch.tensor([0, 2, 5], dtype=torch.int32)).places
    tensor([[0, 1, 0],
            [2, 3, 4]])
    """
    starts, lengths = cu_seqlens[:-1].long(), cu_seqlens.diff().long()
    longest = int(lengths.max())
    grid = torch.arange(longest, device=cu_seqlens.device)
    taken = grid < lengths[:, None]
    places = torch.where(taken, starts[:, None] + grid, 0)
    return PackedSequences(cu_seqlens, longest, places, taken, taken.flatten().nonzero()[:, 0])


def attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Mask, dropout: float, drawn: Tensor | None = None
) -> Tensor:
    """Return softmax(query key / sqrt(d)) value, each (N, heads, L, d) (Vaswani et al. 2017, section 3.2.1).

    drawn: int64 (N, heads, L), the random numbers of the dropout of each query (`dropout`); None: torch's own.
    """
    if not isinstance(mask, PackedSequences):
        if dropout and drawn is not None:
            return _attention_dropped(query, key, value, mask, dropout, drawn)
        return functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropout)
    flat = tuple(states[0].transpose(0, 1) for states in (query, key, value))
    if (kernel := _varlen()) and query.is_cuda and query.dtype in (torch.float16, torch.bfloat16) and not dropout:
        ends, longest = mask.cu_seqlens, mask.longest
        mixed: Tensor = kernel(*(states.contiguous() for states in flat), ends, ends, longest, longest)
    else:
        query, key, value = (states[mask.places].transpose(1, 2) for states in flat)
        drawn = None if drawn is None else drawn[0][:, mask.places].transpose(0, 1)
        side_by_side = attention(query, key, value, mask.taken[:, None, None, :], dropout, drawn)
        mixed = side_by_side.transpose(1, 2).flatten(0, 1)[mask.back]
    return mixed.transpose(0, 1)[None]


def _attention_dropped(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout: float, drawn: Tensor
) -> Tensor:
    """Return what `scaled_dot_product_attention` does, with dropout drawn by `drawn`."""
    scores = query * query.shape[-1] ** -0.5 @ key.transpose(-1, -2)
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = scores.softmax(-1)
    return torch.where(kept(drawn, key.shape[-2], dropout), weights, 0.0).to(value.dtype) @ (value * scale(dropout))


@cache
def _varlen() -> Any:
    try:
        return importlib.import_module("torch.nn.attention.varlen").varlen_attn
    except (ImportError, AttributeError):
        return None
