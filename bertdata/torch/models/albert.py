"""ALBERT (Lan et al. 2020): one block shared by all layers, small embeddings, and sentence order for pairs.

Named as in transformers. The parts are those of `bert`; what differs is their names, and that the block runs as often
as there are layers. What this module does not do: several groups of blocks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import torch
from torch import Tensor, nn

from bertdata.torch.models.attention import Mask
from bertdata.torch.models.bert import BertSelfAttention, Encoder, activation_of, first_states, initialize
from bertdata.torch.models.bert_pretraining import PretrainingOutput, pretraining_output
from bertdata.torch.models.config import AlbertConfig, BertConfig
from bertdata.torch.models.dropout import Dropout
from bertdata.torch.models.weights import PreTrainedModel


class AlbertAttention(BertSelfAttention):
    """The attention sub-layer."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = Dropout(config.hidden_dropout_prob)

    def forward(self, hidden: Tensor, mask: Mask) -> Tensor:
        result: Tensor = self.LayerNorm(self.dropout(self.dense(super().forward(hidden, mask))) + hidden)
        return result


class AlbertLayer(nn.Module):
    """The block: attention, then feed-forward."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.attention = AlbertAttention(config)
        self.ffn = nn.Linear(config.hidden_size, config.intermediate_size)
        self.ffn_output = nn.Linear(config.intermediate_size, config.hidden_size)
        self.full_layer_layer_norm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.activation, self.dropout = activation_of(config), Dropout(config.hidden_dropout_prob)

    def forward(self, hidden: Tensor, mask: Mask) -> Tensor:
        attended = self.attention(hidden, mask)
        widened = self.ffn_output(self.activation(self.ffn(attended)))
        result: Tensor = self.full_layer_layer_norm(self.dropout(widened) + attended)
        return result


class AlbertGroup(nn.Module):
    """The one group of blocks, of one block."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.albert_layers = nn.ModuleList([AlbertLayer(config)])


class AlbertEncoder(nn.Module):
    """Embeddings to the width of the blocks, then the one block again and again."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.layers = config.num_hidden_layers
        self.embedding_hidden_mapping_in = nn.Linear(config.embedding_size, config.hidden_size)
        self.albert_layer_groups = nn.ModuleList([AlbertGroup(config)])

    def forward(self, embedded: Tensor, mask: Mask) -> Tensor:
        hidden: Tensor = self.embedding_hidden_mapping_in(embedded)
        layer = self.albert_layer_groups.get_submodule("0.albert_layers.0")
        for _ in range(self.layers):
            hidden = layer(hidden, mask)
        return hidden


class AlbertModel(Encoder):
    """Embeddings, blocks and pooler: ids to hidden states (N, L, hidden_size) and the pooled [CLS] (N, hidden_size)."""

    def __init__(self, config: BertConfig, *, pooler: bool = True) -> None:
        super().__init__(config, AlbertEncoder(config))
        if pooler:
            self.pooler = nn.Linear(config.hidden_size, config.hidden_size)

    def forward(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        position_ids: Tensor | None = None,
        cu_seqlens: Tensor | None = None,
    ) -> tuple[Tensor, Tensor]:
        """Take what `encode` takes."""
        hidden = self.encode(input_ids, token_type_ids, attention_mask, position_ids, cu_seqlens)
        return hidden, torch.tanh(self.pooler(first_states(hidden, cu_seqlens)))


class AlbertPredictions(nn.Module):
    """The masked language model's head: down to the embeddings' width, then logits; the model ties its decoder."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.LayerNorm = nn.LayerNorm(config.embedding_size, eps=config.layer_norm_eps)
        self.dense = nn.Linear(config.hidden_size, config.embedding_size)
        self.decoder = nn.Linear(config.embedding_size, config.vocab_size)
        self.bias, self.activation = self.decoder.bias, activation_of(config)

    def forward(self, hidden: Tensor) -> Tensor:
        result: Tensor = self.decoder(self.LayerNorm(self.activation(self.dense(hidden))))
        return result


class AlbertOrderHead(nn.Module):
    """Whether two segments are in order."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.dropout = Dropout(config.classifier_dropout)
        self.classifier = nn.Linear(config.hidden_size, 2)

    def forward(self, pooled: Tensor) -> Tensor:
        result: Tensor = self.classifier(self.dropout(pooled))
        return result


class AlbertForPreTraining(PreTrainedModel):
    """ALBERT with its masked language model and sentence order (section 3.1).

    >>> model = AlbertForPreTraining(AlbertConfig.tiny(vocab_size=100))
    >>> model(torch.tensor([[2, 7, 3]])).prediction_logits.shape
    torch.Size([1, 3, 100])
    """

    tied: ClassVar[Mapping[str, str]] = {
        "predictions.decoder.weight": "albert.embeddings.word_embeddings.weight",
        "predictions.decoder.bias": "predictions.bias",
    }

    def __init__(self, config: BertConfig) -> None:
        super().__init__(config)
        self.albert = AlbertModel(config)
        self.predictions = AlbertPredictions(config)
        self.sop_classifier = AlbertOrderHead(config)
        self.predictions.decoder.weight = self.albert.embeddings.word_embeddings.weight
        initialize(self, config)

    def forward(
        self,
        input_ids: Tensor,
        token_type_ids: Tensor | None = None,
        attention_mask: Tensor | None = None,
        labels: Tensor | None = None,
        sentence_order_label: Tensor | None = None,
        position_ids: Tensor | None = None,
        cu_seqlens: Tensor | None = None,
    ) -> PretrainingOutput:
        """Take the tensors of a `PretrainingCollator` batch of `sop` shards, padded or packed."""
        hidden, pooled = self.albert(input_ids, token_type_ids, attention_mask, position_ids, cu_seqlens)
        pairs = self.sop_classifier(pooled)
        return pretraining_output(hidden, self.predictions, pairs, labels, sentence_order_label)


__all__ = ["AlbertConfig", "AlbertForPreTraining", "AlbertModel"]
