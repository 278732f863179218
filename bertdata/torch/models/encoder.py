"""What the models of all families have in common: encoders (ids in, hidden states out), initial weights, the loss."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, TypedDict, Unpack

import torch
from torch import Tensor, nn
from torch.nn import functional

from bertdata.masking.masking import IGNORE_INDEX
from bertdata.torch.models.config import EncoderConfig


class EncoderInputs(TypedDict, total=False):
    """What an encoder takes beside the ids, int64 (N, L); a batch of `PretrainingCollator` has those that it needs.

    attention_mask is 1 at tokens and 0 at padding, None where there is no padding; or it says for each token which it
    attends to, float (N, 1, L, L), 0 at these, as causal batches have it. Packed rows are (1, T), with
    position_ids that begin at 0 in each sequence, and cu_seqlens int32 (N + 1,), the offsets of the sequences; longest:
    the tokens of the longest one, which is asked of the device where it is not given. causal_rows, bool (N,): the rows,
    or sequences, whose tokens attend to no later one; None: none.
    """

    token_type_ids: Tensor | None
    attention_mask: Tensor | None
    position_ids: Tensor | None
    cu_seqlens: Tensor | None
    longest: int | None
    causal_rows: Tensor | None


def without_unknown_types(inputs: EncoderInputs, config: Any) -> EncoderInputs:
    """Return what a head gives an encoder: without token types where it knows one, so that all tokens are of it."""
    if getattr(config, "type_vocab_size", 2) == 1:
        return EncoderInputs({**inputs, "token_type_ids": None})
    return inputs


class Blocks(nn.Module):
    """The layers of an encoder without its embeddings: what `torch.compile` compiles."""

    def layers_in_order(self) -> Sequence[nn.Module]:
        """Return the layers in the order in which they work; one that works several times is there as often."""
        raise NotImplementedError


class Encoder(nn.Module):
    """An encoder. A family's subclass defines `encode`, and `pooled` where it does more than take the first token."""

    def __init__(self, config: Any) -> None:
        super().__init__()
        self.config = config

    def encode(self, input_ids: Tensor, **inputs: Unpack[EncoderInputs]) -> Tensor:
        """Return the hidden states (N, L, hidden_size) of int64 (N, L) ids."""
        raise NotImplementedError

    def pooled(self, hidden: Tensor, cu_seqlens: Tensor | None = None, attention_mask: Tensor | None = None) -> Tensor:
        """Return the representation of each sequence, (N, hidden_size): here the hidden state of its first token."""
        return first_states(hidden, cu_seqlens)

    def forward(self, input_ids: Tensor, **inputs: Unpack[EncoderInputs]) -> tuple[Tensor, Tensor]:
        """Return the hidden states and the pooled ones of what `encode` takes."""
        hidden = self.encode(input_ids, **inputs)
        return hidden, self.pooled(hidden, inputs.get("cu_seqlens"), inputs.get("attention_mask"))


def attended(attention_mask: Tensor) -> Tensor:
    """Return what tokens attend to, bool, broadcast to (N, heads, L, L), of either kind of attention_mask.

    >>> attended(torch.tensor([[1, 0]]))
    tensor([[[[ True, False]]]])
    """
    return attention_mask == 0 if attention_mask.ndim == 4 else attention_mask[:, None, None, :].bool()


def row_mask(attention_mask: Tensor | None, causal_rows: Tensor | None, length: int) -> Tensor | None:
    """Return what the tokens of padded rows attend to, bool, broadcast to (N, heads, L, L); None: to the whole row.

    attention_mask: of either kind; causal_rows: bool (N,), the rows whose tokens attend to no later one; length: L.

    >>> row_mask(None, torch.tensor([True]), 2).int()
    tensor([[[[1, 0],
              [1, 1]]]], dtype=torch.int32)
    """
    mask = None if attention_mask is None else attended(attention_mask)
    if causal_rows is None:
        return mask
    seen = not_later(causal_rows, length)
    return seen if mask is None else seen & mask


def not_later(causal_rows: Tensor, length: int) -> Tensor:
    """Return False where a token of a causal row would attend to a later one, bool (N, 1, L, L)."""
    earlier = torch.ones(length, length, dtype=torch.bool, device=causal_rows.device).tril()
    return earlier | ~causal_rows[:, None, None, None]


def first_states(hidden: Tensor, cu_seqlens: Tensor | None) -> Tensor:
    """Return the hidden state of the first token of each row, or of each packed sequence: (N, hidden_size)."""
    return hidden[:, 0] if cu_seqlens is None else hidden[0, cu_seqlens[:-1].long()]


def sequential(**layers: nn.Module) -> nn.Sequential:
    """Return layers that work one after another, under the names that transformers saves them by."""
    return nn.Sequential(OrderedDict(layers))


def mean_cross_entropy(logits: Tensor, labels: Tensor) -> Tensor:
    """Return the mean cross-entropy of logits (..., C) at the labels (...) that are not -100; 0 where all are.

    >>> mean_cross_entropy(torch.zeros(1, 2, 4), torch.tensor([[3, -100]]))
    tensor(1.3863)
    """
    total = functional.cross_entropy(logits.float().flatten(0, -2), labels.flatten(), reduction="sum")
    return total / (labels != IGNORE_INDEX).sum().clamp(min=1)


def initialize(model: nn.Module, config: EncoderConfig) -> None:
    """Draw linear layers and embeddings from a normal distribution; biases and the embedding of [PAD] become 0."""
    for module in model.modules():
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=config.initializer_range)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
        if isinstance(module, nn.Embedding) and module.padding_idx is not None:
            with torch.no_grad():
                module.weight[module.padding_idx].zero_()
