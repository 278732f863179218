"""Masking of one batch as a function of everything it depends on."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.masking.masking import Masked, Masker
from bertdata.masking.settings import MaskingConfig


def masker_of(
    config: MaskingConfig,
    seed: int = 0,
    mask_token_id: int = 4,
    replacement_ids: NDArray[np.integer] | None = None,
    continuation: NDArray[np.bool_] | None = None,
) -> Masker:
    """Return a masker of a vocabulary in which [CLS] is 2 and [SEP] 3."""
    choices = np.arange(5, 10) if replacement_ids is None else replacement_ids
    return Masker(config, seed, 2, 3, mask_token_id, choices, continuation)


def mask_tokens(
    input_ids: NDArray[np.integer],
    offsets: NDArray[np.int64],
    special: NDArray[np.bool_],
    example_ids: NDArray[np.int64],
    *,
    epoch: int,
    narrow: bool = False,
    **vocabulary: Any,
) -> Masked:
    """Mask a flat batch; the other arguments are those of `masker_of`."""
    masker = masker_of(**vocabulary)
    return masker.mask(input_ids, offsets, example_ids, epoch, special=special, narrow=narrow)
