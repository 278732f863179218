"""Scaled dot-product attention over padded rows, and over packed rows without padding; of all tokens, or of near ones.

A packed row holds sequences one after another, with their offsets in `cu_seqlens`, as `PretrainingCollator` makes it
with `packing`; a token attends only to its own sequence. torch's kernel for sequences of any length is used where there
is one (CUDA in half precision, without dropout). Elsewhere the sequences are padded for attention, which costs less
than the scores between sequences would.

With a window a token attends only to that many tokens on each side (`local_attention`).
"""

from __future__ import annotations

import importlib
import inspect
from functools import cache, partial
from importlib.util import find_spec
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from bertdata.torch.models.dropout import kept, scale
from bertdata.torch.models.encoder import not_later
from bertdata.torch.models.exporting import is_exported
from bertdata.torch.models.local_attention import NearTokens, local_attention, near, worthwhile
from bertdata.torch.models.places import sequence_of_each


class PackedSequences(NamedTuple):
    """Where the sequences of a packed row are.

    cu_seqlens: int32 (N + 1,), from 0 to T; longest: tokens of the longest; places: int64 (N, longest), where in the
    row the tokens of a sequence are, 0 after its end; taken: bool (N, longest), False after the end; back: int64 (T,),
    where each token of the row is in the (N, longest) grid; window: how many tokens on each side a token attends to,
    None for all; kernel: `varlen_kernel` of it on CUDA, found here since `torch.compile` would break its graph at it;
    causal: bool (N,), the sequences whose tokens attend to no later one, None for none.
    """

    cu_seqlens: Tensor
    longest: int
    places: Tensor
    taken: Tensor
    back: Tensor
    window: int | None = None
    kernel: Any = None
    causal: Tensor | None = None

    def owner(self) -> Tensor:
        """Return the number of each token's sequence, int64 (1, T)."""
        return sequence_of_each(self.cu_seqlens, len(self.back))[None]

    def attended(self) -> Tensor:
        """Return what the tokens of the grid attend to, bool, broadcast to (N, heads, longest, longest)."""
        is_token = self.taken[:, None, None, :]
        seen = is_token if self.window is None else near(is_token, self.window, self.longest, is_token.device)
        return seen if self.causal is None else seen & not_later(self.causal, self.longest)


Mask = Tensor | PackedSequences | NearTokens | None
"""What tokens attend to: bool, broadcast to (N, heads, L, L); near tokens of padded rows; those of a packed row's
sequences; None: the whole row."""


def packed_sequences(
    cu_seqlens: Tensor, total: int | None = None, longest: int | None = None, causal: Tensor | None = None
) -> PackedSequences:
    """Return the sequences whose offsets are `cu_seqlens`, int32 (N + 1,).

    total: tokens of the row; longest: those of the longest sequence, or more. What is not given is asked of the device.
    causal: bool (N,), which sequences are causal; with them no kernel is taken, for it would have all causal, or none.

    >>> packed_sequences(torch.tensor([0, 2, 5], dtype=torch.int32)).places
    tensor([[0, 1, 0],
            [2, 3, 4]])
    """
    starts, lengths = cu_seqlens[:-1].long(), cu_seqlens.diff().long()
    total, longest = int(cu_seqlens[-1]) if total is None else total, int(lengths.max()) if longest is None else longest
    grid = torch.arange(longest, device=cu_seqlens.device)
    taken = grid < lengths[:, None]
    places = torch.where(taken, starts[:, None] + grid, 0)
    owner = sequence_of_each(cu_seqlens, total)
    back = owner * longest + torch.arange(total, device=cu_seqlens.device) - starts[owner]
    kernel = varlen_kernel(None) if cu_seqlens.is_cuda and causal is None else None
    return PackedSequences(cu_seqlens, longest, places, taken, back, kernel=kernel, causal=causal)


def windowed(mask: Tensor | PackedSequences | None, window: int, length: int, device: torch.device) -> Mask:
    """Return a mask with which tokens attend to `window` others on each side; the same where no row is longer.

    length: tokens of a padded row.
    """
    if isinstance(mask, PackedSequences):
        if mask.longest <= window + 1:
            return mask
        return mask._replace(window=window, kernel=mask.kernel and varlen_kernel(window))
    if is_exported():
        return near(mask, window, length, device)
    if length <= window + 1:
        return mask
    if not worthwhile(length, window) or (mask is not None and mask.shape[-2] > 1):
        return near(mask, window, length, device)
    owner = torch.zeros(1, length, device=device) if mask is None else mask[:, 0, 0]
    return NearTokens(owner.long(), window)


def attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Mask, dropout: float, drawn: Tensor | None = None
) -> Tensor:
    """Return softmax(query key / sqrt(d)) value, each (N, heads, L, d) (Vaswani et al. 2017, section 3.2.1).

    dropout: of the probabilities; drawn: int64 (N, heads, L), the random numbers of each query for it (`dropout`);
    None: torch's own.
    """
    if isinstance(mask, NearTokens):
        if drawn is None:
            return local_attention(query, key, value, mask, dropout)
        mask = mask.attended()
    if not isinstance(mask, PackedSequences):
        if drawn is not None:
            return _attention_dropped(query, key, value, mask, dropout, drawn)
        return functional.scaled_dot_product_attention(query, key, value, attn_mask=mask, dropout_p=dropout)
    flat = tuple(states[0].transpose(0, 1) for states in (query, key, value))
    if mask.kernel is not None and query.dtype in (torch.float16, torch.bfloat16) and not dropout:
        ends, longest = mask.cu_seqlens, mask.longest
        mixed: Tensor = mask.kernel(*map(_rows_in_one_piece, flat), ends, ends, longest, longest)
    elif mask.window is not None and worthwhile(mask.longest, mask.window) and drawn is None and mask.causal is None:
        return local_attention(query, key, value, NearTokens(mask.owner(), mask.window), dropout)
    else:
        query, key, value = (states[mask.places].transpose(1, 2) for states in flat)
        drawn = None if drawn is None else drawn[0][:, mask.places].transpose(0, 1)
        side_by_side = attention(query, key, value, mask.attended(), dropout, drawn)
        mixed = side_by_side.transpose(1, 2).flatten(0, 1)[mask.back]
    return mixed.transpose(0, 1)[None]


def _rows_in_one_piece(states: Tensor) -> Tensor:
    """Return states (T, heads, d) whose last dimension is in one piece, as flash attention asks."""
    return states if states.stride(-1) == 1 else states.contiguous()


class AttentionFunction(nn.Module):
    """`attention` as a module without parameters, so that hooks can read queries, keys and values."""

    def forward(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Mask, dropout: float, drawn: Tensor | None = None
    ) -> Tensor:
        return attention(query, key, value, mask, dropout, drawn)


def _attention_dropped(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout: float, drawn: Tensor
) -> Tensor:
    """Return what `scaled_dot_product_attention` does, with dropout drawn by `drawn`."""
    scores = query * query.shape[-1] ** -0.5 @ key.transpose(-1, -2)
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    weights = scores.softmax(-1)
    return torch.where(kept(drawn, key.shape[-2], dropout), weights, 0.0).to(value.dtype) @ (value * scale(dropout))


def activate_newest_flash(device: torch.device) -> str:
    """Have torch take the newest flash attention there is for a device, and return its name, "" for torch's own.

    That is FA3 of the package flash_attn_interface on Hopper (compute capability 9.0), which torch 2.13 knows.
    """
    if device.type != "cuda" or torch.cuda.get_device_capability(device) != (9, 0):
        return ""
    if not hasattr(torch.nn.attention, "activate_flash_attention_impl") or not find_spec("flash_attn_interface"):
        return ""
    torch.nn.attention.activate_flash_attention_impl("FA3")
    return "FA3"


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
