"""The mask of causal rows for models of transformers: which tokens each token attends to.

Most encoders there take a mask (N, 1, L, L), which is added to scores, in place of that of padding, and those with
local attention one for each type of layer. Which do not, `causal_probe` finds.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from bertdata.torch.models.encoder import row_mask
from bertdata.torch.models.local_attention import near


def causal_masks(config: Any, attention_mask: Tensor | None, causal_rows: Tensor, length: int) -> Any:
    """Return the attention_mask of rows for a model of transformers, (N, 1, L, L), or one for each type of layer.

    It has 0 where a token attends and the least float elsewhere, in the type that autocast computes in. config: of the
    model; attention_mask: int64 (N, L), None where no row has padding; causal_rows: bool (N,).
    """
    seen = row_mask(attention_mask, causal_rows, length)
    assert seen is not None
    if "sliding_attention" not in (getattr(config, "layer_types", None) or ()):
        return _added(seen)
    window = getattr(config, "local_attention", 2 * (getattr(config, "sliding_window", None) or 0)) // 2
    local = near(seen, window, length, seen.device)
    return {"full_attention": _added(seen), "sliding_attention": _added(local)}


def _added(seen: Tensor) -> Tensor:
    device = seen.device.type
    kind = torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else torch.float32
    return torch.zeros_like(seen, dtype=kind).masked_fill_(~seen, torch.finfo(kind).min)
