"""What the encoders of all families have in common: ids in, hidden states out, over padded or packed rows."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from bertdata.torch.models.config import EncoderConfig


class Blocks(nn.Module):
    """The layers of an encoder, above its embeddings: what `torch.compile` compiles."""


class Encoder(nn.Module):
    """An encoder. A family's own defines `encode`, and `pooled` where it does more than take the first token."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config

    def encode(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        cu_seqlens: Tensor | None = None,
    ) -> Tensor:
        """Return the hidden states (N, L, hidden_size) of int64 (N, L) ids.

        attention_mask is 1 at tokens and 0 at padding, None where there is no padding. Packed rows are (1, T), with
        position_ids that begin at 0 in each sequence, and cu_seqlens int32 (N + 1,), the offsets of the sequences.
        """
        raise NotImplementedError

    def pooled(self, hidden: Tensor, cu_seqlens: Tensor | None = None) -> Tensor:
        """Return what stands for a whole sequence, (N, hidden_size): here the hidden state of its first token."""
        return first_states(hidden, cu_seqlens)

    def forward(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        cu_seqlens: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Return the hidden states and the pooled ones of what `encode` takes."""
        hidden = self.encode(input_ids, token_type_ids, attention_mask, position_ids, cu_seqlens)
        return hidden, self.pooled(hidden, cu_seqlens)


def first_states(hidden: Tensor, cu_seqlens: Tensor | None) -> Tensor:
    """Return the hidden state of the first token of each row, or of each packed sequence: (N, hidden_size)."""
    return hidden[:, 0] if cu_seqlens is None else hidden[0, cu_seqlens[:-1].long()]


def initialize(model: nn.Module, config: EncoderConfig) -> None:
    """Draw the weights of linear layers and embeddings anew; biases and the embedding of [PAD] become 0."""
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=config.initializer_range)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
        if isinstance(module, nn.Embedding) and module.padding_idx is not None:
            with torch.no_grad():
                module.weight[module.padding_idx].zero_()
