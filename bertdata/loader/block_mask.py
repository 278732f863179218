"""Attention masks of packed rows: a token attends to the tokens of its own example alone.

They are for attention that takes a mask, as `torch.nn.functional.scaled_dot_product_attention`; kernels for variable
lengths take `cu_seqlens`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.errors import ConfigError


def block_mask(cu_seqlens: NDArray[np.integer], window: int | None = None) -> NDArray[np.float32]:
    """Return the block-diagonal mask of a packed row, float32 (1, 1, T, T), which is added to the attention scores.

    It is 0 where a token (third dimension) attends to another (fourth), minus infinity elsewhere. cu_seqlens: the
    offsets of the examples, from 0 to T; window: the tokens on each side that a token attends to, None for all of its
    example.

    >>> np.exp(block_mask(np.array([0, 2, 3])))[0, 0].tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    lengths = np.diff(cu_seqlens)
    example, place = np.repeat(np.arange(len(lengths)), lengths), np.arange(cu_seqlens[-1])
    attended = example[:, None] == example
    if window is not None:
        attended &= np.abs(place[:, None] - place) <= window
    return np.where(attended, np.float32(0), np.float32(-np.inf))[None, None]


def attention_masks(cu_seqlens: NDArray[np.integer], window: int | None) -> Any:
    """Return the `attention_mask` of a packed row for models of transformers.

    That is `block_mask`; with a window, as ModernBERT has it in some layers, a dictionary with the mask of
    `full_attention` layers and that of `sliding_attention` layers.
    """
    whole = block_mask(cu_seqlens)
    return whole if window is None else {"full_attention": whole, "sliding_attention": block_mask(cu_seqlens, window)}


def check_packing(
    packing: bool, position_offset: int, attention_mask: str | None, window: int | None, *, causal: bool
) -> None:
    """Raise ConfigError where settings of packed batches do not fit."""
    if attention_mask not in (None, "blocks"):
        raise ConfigError(f"attention_mask is {attention_mask!r}; expected 'blocks', or None for cu_seqlens alone")
    if position_offset < 0:
        raise ConfigError(f"position_offset is {position_offset}; expected 0, or padding_idx + 1 as RoBERTa counts")
    if not packing and (position_offset or attention_mask):
        raise ConfigError(
            "position_offset and attention_mask are for packing=True; leave them out: a padded batch has its "
            "attention_mask, and models count its positions themselves"
        )
    if window is not None and (window < 1 or attention_mask is None):
        raise ConfigError(
            f"sliding_window is {window}, with attention_mask={attention_mask!r}; expected at least 1, "
            "config.local_attention // 2 for ModernBERT, with attention_mask='blocks'"
        )
    if causal and attention_mask:
        raise ConfigError(
            "attention_mask='blocks' lets tokens attend to later ones of their example, and causal rows may not; "
            "leave one of them out: kernels for cu_seqlens take `is_causal`"
        )
