"""What keeps the examples of packed rows apart: a token attends to the tokens of its own example alone.

Attention that takes a mask, as `torch.nn.functional.scaled_dot_product_attention`, needs that of blocks; kernels for
variable lengths take `cu_seqlens`, which transformers hands to flash attention under names of its own.
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


def varlen_keys(cu_seqlens: NDArray[np.int32]) -> dict[str, Any]:
    """Return the arguments by which models of transformers hand a packed row to flash attention.

    They are those of `transformers.modeling_flash_attention_utils.FlashAttentionKwargs`: `cu_seq_lens_q` and
    `cu_seq_lens_k`, int32 (N + 1,), the offsets of the examples, and `max_length_q` and `max_length_k`, the tokens of
    the longest, as Python's ints: from tensors, flash attention would have to fetch them, which breaks compiled graphs.
    transformers heeds them only where all four are there.

    >>> varlen_keys(np.array([0, 2, 5], np.int32))["max_length_q"]
    3
    """
    longest = int(np.diff(cu_seqlens).max())
    return {
        "cu_seq_lens_q": cu_seqlens,
        "cu_seq_lens_k": cu_seqlens.copy(),
        "max_length_q": longest,
        "max_length_k": longest,
    }


def check_varlen(attention_mask: str | None, model_config: Any) -> None:
    """Raise ConfigError unless the attention of a model of transformers reads `varlen_keys`, where they are wanted.

    sdpa, eager and flex_attention take no notice of them, and would mix the examples of a row in silence; that a name
    has "flash" in it is how transformers itself tells flash attention from these.
    """
    if attention_mask != "varlen":
        if model_config is not None:
            raise ConfigError("model_config is for attention_mask='varlen'; leave it out")
        return
    if model_config is None:
        raise ConfigError(
            "attention_mask='varlen' needs model_config=model.config: it is for models of transformers whose attention "
            "is flash_attention_2 or another of its kind, and others would mix the examples of a row in silence"
        )
    attention = getattr(model_config, "_attn_implementation", None)
    if "flash" not in (attention or ""):
        raise ConfigError(
            f"attention_mask='varlen' is for flash attention, and that of the model is {attention!r}, in which the "
            "examples of a packed row would see each other; load the model with "
            "attn_implementation='flash_attention_2', or take attention_mask='blocks'"
        )


def check_packing(
    packing: bool, position_offset: int, attention_mask: str | None, window: int | None, *, causal: bool
) -> None:
    """Raise ConfigError where settings of packed batches do not fit."""
    if attention_mask not in (None, "blocks", "varlen"):
        raise ConfigError(
            f"attention_mask is {attention_mask!r}; expected 'blocks', 'varlen', or None for cu_seqlens alone"
        )
    if position_offset < 0:
        raise ConfigError(f"position_offset is {position_offset}; expected 0, or padding_idx + 1 as RoBERTa counts")
    if not packing and (position_offset or attention_mask):
        raise ConfigError(
            "position_offset and attention_mask are for packing=True; leave them out: a padded batch has its "
            "attention_mask, and models count its positions themselves"
        )
    if window is not None and (window < 1 or attention_mask != "blocks"):
        raise ConfigError(
            f"sliding_window is {window}, with attention_mask={attention_mask!r}; expected at least 1, "
            "config.local_attention // 2 for ModernBERT, with attention_mask='blocks' (flash attention has the "
            "window from the model)"
        )
    if causal and attention_mask:
        raise ConfigError(
            f"attention_mask={attention_mask!r} lets tokens attend to later ones of their example, and causal rows may "
            "not; leave one of them out: kernels for cu_seqlens take `is_causal`"
        )
