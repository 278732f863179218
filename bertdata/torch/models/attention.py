"""Scaled dot-product attention over padded rows, and over packed rows without padding; of all tokens, or of near ones.

A packed row holds sequences one after another, with their offsets in `cu_seqlens`, as `PretrainingCollator` makes it
with `packing`; a token attends only to its own sequence. torch's kernel for sequences of any length is used where there
is one (CUDA in half precision, without dropout). Elsewhere the sequences are padded for attention, which costs less
than the scores between sequences would.

With a window a token attends only to that many tokens on each side (Beltagy et al. 2020, section 3.1).
"""

from __future__ import annotations

import importlib
import inspect
from functools import cache, partial
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from bertdata.torch.models.dropout import kept, scale


class PackedSequences(NamedTuple):
    """Where the sequences of a packed row are.

    cu_seqlens: int32 (N + 1,), from 0 to T; longest: tokens of the longest; places: int64 (N, longest), where in the
    row the tokens of a sequence are, 0 after its end; taken: bool (N, longest), False after the end; back: int64 (T,),
    where each token of the row is in the (N, longest) grid; window: how many tokens on each side a token attends to,
    None for all.
    """

    cu_seqlens: Tensor
    longest: int
    places: Tensor
    taken: Tensor
    back: Tensor
    window: int | None = None

    def attended(self) -> Tensor:
        """Return what the tokens of the grid attend to, bool, broadcast to (N, heads, longest, longest)."""
        own = self.taken[:, None, None, :]
        return own if self.window is None else near(own, self.window, self.longest, own.device)


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


def near(mask: Tensor | None, window: int, length: int, device: torch.device) -> Tensor:
    """Return a mask, bool, with which a token attends to those of `mask` that are up to `window` places from it.

    It also attends to itself, so that of the scores of padding not all are masked. length: tokens of a row.

    >>> near(None, 1, 3, torch.device("cpu")).int()
    tensor([[1, 1, 0],
            [1, 1, 1],
            [0, 1, 1]], dtype=torch.int32)
    """
    place = torch.arange(length, device=device)
    distance = (place[:, None] - place).abs()
    return distance <= window if mask is None else (distance <= window) & mask | (distance == 0)


def windowed(mask: Mask, window: int, length: int, device: torch.device) -> Mask:
    """Return a mask with which tokens attend to `window` others on each side; the same where all rows are as short.

    length: tokens of a padded row.
    """
    longest = mask.longest if isinstance(mask, PackedSequences) else length
    if longest <= window + 1:
        return mask
    return mask._replace(window=window) if isinstance(mask, PackedSequences) else near(mask, window, length, device)


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
    if _fused(query, dropout) and (kernel := varlen_kernel(mask.window)):
        ends, longest = mask.cu_seqlens, mask.longest
        mixed: Tensor = kernel(*(states.contiguous() for states in flat), ends, ends, longest, longest)
    else:
        query, key, value = (states[mask.places].transpose(1, 2) for states in flat)
        drawn = None if drawn is None else drawn[0][:, mask.places].transpose(0, 1)
        side_by_side = attention(query, key, value, mask.attended(), dropout, drawn)
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


def _fused(query: Tensor, dropout: float) -> bool:
    """Return whether torch's kernel for sequences of any length takes such queries."""
    return query.is_cuda and query.dtype in (torch.float16, torch.bfloat16) and not dropout


@cache
def varlen_kernel(window: int | None) -> Any:
    """Return torch's attention for sequences of any length with a window, None where this torch has none."""
    try:
        kernel = importlib.import_module("torch.nn.attention.varlen").varlen_attn
    except (ImportError, AttributeError):
        return None
    if window is None:
        return kernel
    takes_windows = "window_size" in inspect.signature(kernel).parameters
    return partial(kernel, window_size=(window, window)) if takes_windows else None
