"""BERT (Devlin et al. 2019, section 3; Vaswani et al. 2017, section 3): embeddings, blocks and pooler.

Modules and parameters are named as in transformers, so a state dict loads both ways. ALBERT and ELECTRA use the same
parts.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor, nn

from bertdata.errors import ConfigError
from bertdata.io.console import counted
from bertdata.torch.models.attention import AttentionFunction, Mask, packed_sequences
from bertdata.torch.models.bert.config import ACTIVATIONS, BertConfig
from bertdata.torch.models.dropout import Draws, Dropout
from bertdata.torch.models.encoder import Blocks, Encoder, first_states, row_mask, sequential
from bertdata.torch.models.linear import side_by_side
from bertdata.torch.models.norm import LayerNorm


def activation_of(config: BertConfig) -> nn.GELU:
    """Return the activation that `hidden_act` names."""
    return nn.GELU(ACTIVATIONS[config.hidden_act])


def transform(config: BertConfig, size: int) -> nn.Sequential:
    """Return dense, activation and norm in front of a decoder: (..., hidden_size) to (..., size)."""
    dense, norm = nn.Linear(config.hidden_size, size), LayerNorm(size, eps=config.layer_norm_eps)
    return sequential(dense=dense, activation=activation_of(config), LayerNorm=norm)


class BertEmbeddings(nn.Module):
    """The sum of word, position and token type embeddings, normalised: (N, L) int64 to (N, L, embedding_size)."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(config.vocab_size, config.embedding_size, padding_idx=config.pad_token_id)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, config.embedding_size)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, config.embedding_size)
        self.LayerNorm = LayerNorm(config.embedding_size, eps=config.layer_norm_eps)
        self.dropout = Dropout(config.hidden_dropout_prob)

    def forward(self, input_ids: Tensor, token_type_ids: Tensor, position_ids: Tensor | None = None) -> Tensor:
        positions = torch.arange(input_ids.shape[1], device=input_ids.device) if position_ids is None else position_ids
        summed = (
            self.word_embeddings(input_ids)
            + self.token_type_embeddings(token_type_ids)
            + self.position_embeddings(positions)
        )
        result: Tensor = self.dropout(self.LayerNorm(summed))
        return result


class BertSelfAttention(nn.Module):
    """Scaled dot-product attention of all heads: (N, L, hidden_size) to the same.

    On CUDA its dropout is torch's own, in the fused kernel.
    """

    draws: Draws | None = None

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.heads, self.dropout_prob = config.num_attention_heads, config.attention_probs_dropout_prob
        self.query = nn.Linear(config.hidden_size, config.hidden_size)
        self.key = nn.Linear(config.hidden_size, config.hidden_size)
        self.value = nn.Linear(config.hidden_size, config.hidden_size)
        self.attend = AttentionFunction()

    def forward(self, hidden: Tensor, mask: Mask) -> Tensor:
        query, key, value = (
            projected.unflatten(-1, (self.heads, -1)).transpose(1, 2)  # type: ignore[no-untyped-call]
            for projected in side_by_side(hidden, (self.query, self.key, self.value))
        )
        dropout = self.dropout_prob if self.training else 0.0
        drawn = self.draws.attention(self.heads, query.device) if dropout and self.draws else None
        mixed: Tensor = self.attend(query, key, value, mask, dropout, drawn)
        return mixed.transpose(1, 2).flatten(2)


class BertResidual(nn.Module):
    """The end of a sub-layer: a projection, dropout, and the norm of its sum with the input of the sub-layer."""

    def __init__(self, size: int, config: BertConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(size, config.hidden_size)
        self.LayerNorm = LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = Dropout(config.hidden_dropout_prob)

    def forward(self, inner: Tensor, residual: Tensor) -> Tensor:
        result: Tensor = self.LayerNorm(self.dropout(self.dense(inner)) + residual)
        return result


class BertLayer(nn.Module):
    """One block: attention, then feed-forward."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        attention, projection = BertSelfAttention(config), BertResidual(config.hidden_size, config)
        self.attention = nn.ModuleDict({"self": attention, "output": projection})
        widening = nn.Linear(config.hidden_size, config.intermediate_size)
        self.intermediate = sequential(dense=widening, activation=activation_of(config))
        self.output = BertResidual(config.intermediate_size, config)

    def forward(self, hidden: Tensor, mask: Mask) -> Tensor:
        attended = self.attention["output"](self.attention["self"](hidden, mask), hidden)
        result: Tensor = self.output(self.intermediate(attended), attended)
        return result


class BertEncoder(Blocks):
    """The blocks, one after another."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.layer = nn.ModuleList(BertLayer(config) for _ in range(config.num_hidden_layers))

    def layers_in_order(self) -> Sequence[nn.Module]:
        return list(self.layer)

    def forward(self, hidden: Tensor, mask: Mask) -> Tensor:
        for layer in self.layer:
            hidden = layer(hidden, mask)
        return hidden


class EmbeddingsEncoder(Encoder):
    """An encoder of BERT's embeddings and some blocks, over padded or packed rows.

    `pooler`, where a family sets it, is the dense layer that the state of [CLS] goes through, before tanh.
    """

    pooler: nn.Module

    def __init__(self, config: BertConfig, blocks: nn.Module) -> None:
        super().__init__(config)
        self.embeddings = BertEmbeddings(config)
        self.encoder = blocks

    def encode(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        cu_seqlens: Tensor | None = None,
        longest: int | None = None,
        causal_rows: Tensor | None = None,
    ) -> Tensor:
        types = torch.zeros_like(input_ids) if token_type_ids is None else token_type_ids
        mask: Mask = row_mask(attention_mask, causal_rows, input_ids.shape[1])
        if cu_seqlens is not None:
            mask = packed_sequences(cu_seqlens, input_ids.shape[1], longest, causal_rows)
        hidden: Tensor = self.encoder(self.project(self._embedded(input_ids, types, position_ids)), mask)
        return hidden

    def _embedded(self, input_ids: Tensor, types: Tensor, position_ids: Tensor | None) -> Tensor:
        """Embed tokens; raise ConfigError for token types that the model does not know, where the look-up fails.

        On a GPU torch asserts by itself. Nothing is asked of the numbers before, as a step would wait for the answer.
        """
        if torch.compiler.is_compiling():
            return self.embeddings(input_ids, types, position_ids)  # type: ignore[no-any-return]
        try:
            return self.embeddings(input_ids, types, position_ids)  # type: ignore[no-any-return]
        except IndexError as error:
            number = self.config.type_vocab_size
            if not (types >= number).any():
                raise
            raise ConfigError(
                f"token_type_ids has type {int(types.max())}, and the model knows {counted(number, 'token type')}, "
                "from 0 on; leave token_type_ids out, or take a model with a larger type_vocab_size"
            ) from error

    def project(self, embedded: Tensor) -> Tensor:
        """Project embeddings to the width of the blocks, where it is another one."""
        return embedded

    def pooled(self, hidden: Tensor, cu_seqlens: Tensor | None = None, attention_mask: Tensor | None = None) -> Tensor:
        first = first_states(hidden, cu_seqlens)
        return torch.tanh(self.pooler(first)) if hasattr(self, "pooler") else first


class BertModel(EmbeddingsEncoder):
    """Embeddings, blocks and pooler: ids to hidden states (N, L, hidden_size) and the pooled [CLS] (N, hidden_size).

    Models without a head on [CLS] have no pooler.
    """

    def __init__(self, config: BertConfig, *, pooler: bool = True) -> None:
        super().__init__(config, BertEncoder(config))
        if pooler:
            self.pooler = sequential(dense=nn.Linear(config.hidden_size, config.hidden_size))
