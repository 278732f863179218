"""ModernBERT (Warner et al. 2024, section 2.1): rotary positions, GeGLU, local and global attention, no biases.

Modules and parameters are named as in transformers, so a state dict loads both ways. Each sub-layer has its norm in
front of it, and the first none, for the embeddings have one. There are no token types and no pooler: texts are told
apart by [SEP] alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn import functional

from bertdata.errors import ConfigError
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.torch.models.attention import AttentionFunction, Mask, PackedSequences, packed_sequences, windowed
from bertdata.torch.models.dropout import Draws, Dropout
from bertdata.torch.models.encoder import Blocks, Encoder, attended, first_states, row_mask, sequential
from bertdata.torch.models.modernbert.config import GLOBAL, LOCAL, ModernBertConfig
from bertdata.torch.models.norm import LayerNorm
from bertdata.torch.models.pretraining import MaskedLanguageModel
from bertdata.torch.models.rotary import Rotation, rotation


class Reach(NamedTuple):
    """What the layers of a kind see: the mask of their attention, and the rotation of its queries and keys."""

    mask: Mask
    turn: Rotation


def norm(config: ModernBertConfig) -> LayerNorm:
    """Return a layer norm without a bias."""
    return LayerNorm(config.hidden_size, eps=config.norm_eps, bias=False)


class ModernBertEmbeddings(nn.Module):
    """The word embeddings, normalised: (N, L) int64 to (N, L, hidden_size)."""

    def __init__(self, config: ModernBertConfig) -> None:
        super().__init__()
        self.tok_embeddings = nn.Embedding(config.vocab_size, config.hidden_size, padding_idx=config.pad_token_id)
        self.norm, self.drop = norm(config), Dropout(config.embedding_dropout)

    def forward(self, input_ids: Tensor) -> Tensor:
        result: Tensor = self.drop(self.norm(self.tok_embeddings(input_ids)))
        return result


class ModernBertAttention(nn.Module):
    """Attention of all heads, and a projection: (N, L, hidden_size) to the same.

    On CUDA the dropout of its probabilities is torch's own, in the fused kernel.
    """

    draws: Draws | None = None

    def __init__(self, config: ModernBertConfig) -> None:
        super().__init__()
        self.heads, self.dropout_prob = config.num_attention_heads, config.attention_dropout
        self.Wqkv = nn.Linear(config.hidden_size, 3 * config.hidden_size, bias=False)
        self.Wo = nn.Linear(config.hidden_size, config.hidden_size, bias=False)
        self.out_drop = Dropout(config.attention_dropout)
        self.attend = AttentionFunction()

    def forward(self, hidden: Tensor, reach: Reach) -> Tensor:
        query, key, value = self.Wqkv(hidden).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        dropout = self.dropout_prob if self.training else 0.0
        drawn = self.draws.attention(self.heads, query.device) if dropout and self.draws else None
        query, key = reach.turn.turned(query), reach.turn.turned(key)
        mixed = self.attend(query, key, value, reach.mask, dropout, drawn).transpose(1, 2).flatten(2)
        result: Tensor = self.out_drop(self.Wo(mixed))
        return result


class ModernBertMLP(nn.Module):
    """A gated feed-forward layer, GeGLU: GELU of half a projection, times the other half (Shazeer 2020, section 2)."""

    def __init__(self, config: ModernBertConfig) -> None:
        super().__init__()
        self.Wi = nn.Linear(config.hidden_size, 2 * config.intermediate_size, bias=False)
        self.drop = Dropout(config.mlp_dropout)
        self.Wo = nn.Linear(config.intermediate_size, config.hidden_size, bias=False)

    def forward(self, hidden: Tensor) -> Tensor:
        wide, gate = self.Wi(hidden).chunk(2, dim=-1)
        result: Tensor = self.Wo(self.drop(functional.gelu(wide) * gate))
        return result


class ModernBertLayer(nn.Module):
    """One block: attention, then feed-forward, each added to its input."""

    def __init__(self, config: ModernBertConfig, number: int) -> None:
        super().__init__()
        self.attn_norm = norm(config) if number else nn.Identity()
        self.attn, self.mlp_norm, self.mlp = ModernBertAttention(config), norm(config), ModernBertMLP(config)

    def forward(self, hidden: Tensor, reach: Reach) -> Tensor:
        hidden = hidden + self.attn(self.attn_norm(hidden), reach)
        result: Tensor = hidden + self.mlp(self.mlp_norm(hidden))
        return result


class ModernBertLayers(Blocks, nn.ModuleList):
    """The blocks, one after another, each with what its kind of layer sees."""

    def __init__(self, config: ModernBertConfig) -> None:
        super().__init__(ModernBertLayer(config, number) for number in range(config.num_hidden_layers))
        self.types = config.layer_types

    def layers_in_order(self) -> Sequence[nn.Module]:
        return list(self)

    def forward(self, hidden: Tensor, reaches: Mapping[str, Reach]) -> Tensor:
        for layer, kind in zip(self, self.types, strict=True):
            hidden = layer(hidden, reaches[kind])
        return hidden


class ModernBertModel(Encoder):
    """Embeddings and blocks: ids to hidden states (N, L, hidden_size), over padded or packed rows.

    The pooled state is that of [CLS], or the mean over the tokens of a row, as `classifier_pooling` says; `pooler` is
    ignored, there is none.

    >>> model = ModernBertModel(ModernBertConfig.tiny(vocab_size=100))
    >>> model.encode(torch.tensor([[2, 7, 3]])).shape
    torch.Size([1, 3, 128])
    """

    config: ModernBertConfig

    def __init__(self, config: ModernBertConfig, *, pooler: bool = False) -> None:
        super().__init__(config)
        self.embeddings, self.layers = ModernBertEmbeddings(config), ModernBertLayers(config)
        self.final_norm = norm(config)

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
        """Return the hidden states of ids; token types, such as those of pairs in fine-tuning, are ignored."""
        config, length, device = self.config, input_ids.shape[1], input_ids.device
        positions = torch.arange(length, device=device)[None] if position_ids is None else position_ids
        mask: Tensor | PackedSequences | None = row_mask(attention_mask, causal_rows, input_ids.shape[1])
        if cu_seqlens is not None:
            mask = packed_sequences(cu_seqlens, input_ids.shape[1], longest, causal_rows)
        size = config.hidden_size // config.num_attention_heads
        reaches = {
            GLOBAL: Reach(mask, rotation(positions, size, config.global_rope_theta)),
            LOCAL: Reach(
                windowed(mask, config.window, length, device), rotation(positions, size, config.local_rope_theta)
            ),
        }
        hidden: Tensor = self.final_norm(self.layers(self.embeddings(input_ids), reaches))
        return hidden

    def pooled(self, hidden: Tensor, cu_seqlens: Tensor | None = None, attention_mask: Tensor | None = None) -> Tensor:
        if self.config.classifier_pooling == "cls":
            return first_states(hidden, cu_seqlens)
        if cu_seqlens is not None:
            sequences = torch.split(hidden[0], cu_seqlens.diff().tolist())
            return torch.stack([states.mean(0) for states in sequences])
        if attention_mask is None:
            return hidden.mean(1)
        taken = attended(attention_mask)[:, 0].any(1)[..., None]
        return (hidden * taken).sum(1) / taken.sum(1)


def head(config: ModernBertConfig) -> nn.Sequential:
    """Return dense, GELU and norm, which are in front of the last layer of every task."""
    dense = nn.Linear(config.hidden_size, config.hidden_size, bias=False)
    return sequential(dense=dense, act=nn.GELU(), norm=norm(config))


class ModernBertForMaskedLM(MaskedLanguageModel):
    """ModernBERT with its head for masked tokens, whose decoder's weight is the word embedding.

    >>> model = ModernBertForMaskedLM(ModernBertConfig.tiny(vocab_size=100))
    >>> model(torch.tensor([[2, 7, 3]])).prediction_logits.shape
    torch.Size([1, 3, 100])
    """

    tied: ClassVar[Mapping[str, str]] = {"decoder.weight": "model.embeddings.tok_embeddings.weight"}

    def __init__(self, config: ModernBertConfig) -> None:
        super().__init__(config)
        self.model, self.head = ModernBertModel(config), head(config)
        self.decoder = nn.Linear(config.hidden_size, config.vocab_size)
        self.decoder.weight = self.model.embeddings.tok_embeddings.weight
        initialize(self, config)

    def predict(self, hidden: Tensor) -> Tensor:
        logits: Tensor = self.decoder(self.head(hidden))
        return logits

    def decoded(self, hidden: Tensor) -> tuple[Tensor, nn.Linear]:
        return self.head(hidden), self.decoder


def initialize(model: nn.Module, config: ModernBertConfig) -> None:
    """Draw weights as Megatron does (section 2.2.2), from normal distributions cut off on both sides, as transformers.

    The standard deviation is `initializer_range`; for projections back into the residual stream, and the head's dense
    layer, that over the root of twice the number of layers; for a classifier 1 over the root of the width. All are cut
    off at `initializer_cutoff_factor` standard deviations. Biases and the embedding of [PAD] become 0.
    """
    narrow = config.initializer_range / (2 * config.num_hidden_layers) ** 0.5
    deviations = {"Wo": narrow, "dense": narrow, "classifier": config.hidden_size**-0.5}
    for name, module in model.named_modules():
        if isinstance(module, nn.Linear | nn.Embedding) and name != "decoder":
            deviation = deviations.get(name.rpartition(".")[2], config.initializer_range)
            cut = config.initializer_cutoff_factor * deviation
            nn.init.trunc_normal_(module.weight, std=deviation, a=-cut, b=cut)
        if isinstance(module, nn.Linear) and module.bias is not None:
            nn.init.zeros_(module.bias)
        if isinstance(module, nn.Embedding) and module.padding_idx is not None:
            with torch.no_grad():
                module.weight[module.padding_idx].zero_()


def model_for(config: Any, info: PretrainingInfo) -> type[ModernBertForMaskedLM]:
    """Return the class that is pretrained on shards; raises ConfigError for those of pairs or with token types."""
    has = f"have a {info.label}" if info.label else f"have {info.token_types} token types"
    if info.label or info.token_types > 1:
        raise ConfigError(
            f"ModernBERT has neither a head for pairs nor token types, and these shards, for "
            f"{info.examples.objective}, {has}; build with --objective doc-chunks or full-sentences, or take a BERT "
            "config"
        )
    return ModernBertForMaskedLM
