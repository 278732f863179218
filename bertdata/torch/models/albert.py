"""ALBERT (Lan et al. 2020): one block shared by all layers, small embeddings, and sentence order for pairs.

Modules and parameters are named as in transformers. Embeddings and attention are those of `bert`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from torch import Tensor, nn

from bertdata.errors import ConfigError
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.torch.models.attention import Mask
from bertdata.torch.models.bert.config import BertConfig, sizes
from bertdata.torch.models.bert.model import BertSelfAttention, EmbeddingsEncoder, activation_of, transform
from bertdata.torch.models.dropout import Dropout
from bertdata.torch.models.encoder import Blocks, initialize, sequential
from bertdata.torch.models.family import EncoderFamily
from bertdata.torch.models.norm import LayerNorm
from bertdata.torch.models.pretraining import MaskedLanguageModel


@dataclass
class AlbertConfig(BertConfig):
    """The shape of an ALBERT encoder: one block for all layers, small embeddings; the defaults are ALBERT-base v2.

    Sizes are those of the paper's table 1. `attention_probs_dropout_prob` and `hidden_dropout_prob` are 0, as in its
    section 4.8.

    >>> AlbertConfig.tiny(vocab_size=8000).embedding_size
    32
    """

    model_type: ClassVar[str] = "albert"
    family: ClassVar[str] = "Albert"
    fixed: ClassVar[Mapping[str, Any]] = {
        "position_embedding_type": "absolute",
        "num_hidden_groups": 1,
        "inner_group_num": 1,
        "tie_word_embeddings": True,
    }

    vocab_size: int = 30000
    hidden_act: str = "gelu_new"
    hidden_dropout_prob: float = 0.0
    attention_probs_dropout_prob: float = 0.0
    embedding_size: int = 128
    classifier_dropout_prob: float = 0.1

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.classifier_dropout is not None:
            raise ConfigError(f"classifier_dropout is {self.classifier_dropout}; ALBERT has classifier_dropout_prob")

    @property
    def blocks(self) -> int:
        """How many blocks have weights of their own: one, shared by all layers."""
        return 1

    @property
    def head_dropout(self) -> float:
        """The dropout in front of a classifier."""
        return self.classifier_dropout_prob

    @classmethod
    def tiny(cls, **changes: Any) -> Self:
        """Return a small ALBERT: 2 layers of 128, 2 heads, embeddings of 32."""
        return cls(**sizes(2, 128, 2) | {"embedding_size": 32} | changes)


class AlbertAttention(BertSelfAttention):
    """The attention sub-layer."""

    def __init__(self, config: AlbertConfig) -> None:
        super().__init__(config)
        self.dense = nn.Linear(config.hidden_size, config.hidden_size)
        self.LayerNorm = LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = Dropout(config.hidden_dropout_prob)

    def forward(self, hidden: Tensor, mask: Mask) -> Tensor:
        result: Tensor = self.LayerNorm(self.dropout(self.dense(super().forward(hidden, mask))) + hidden)
        return result


class AlbertLayer(nn.Module):
    """The block: attention, then feed-forward."""

    def __init__(self, config: AlbertConfig) -> None:
        super().__init__()
        self.attention = AlbertAttention(config)
        self.ffn = nn.Linear(config.hidden_size, config.intermediate_size)
        self.ffn_output = nn.Linear(config.intermediate_size, config.hidden_size)
        self.full_layer_layer_norm = LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.activation, self.dropout = activation_of(config), Dropout(config.hidden_dropout_prob)

    def forward(self, hidden: Tensor, mask: Mask) -> Tensor:
        attended = self.attention(hidden, mask)
        widened = self.ffn_output(self.activation(self.ffn(attended)))
        result: Tensor = self.full_layer_layer_norm(self.dropout(widened) + attended)
        return result


class AlbertEncoder(Blocks):
    """A projection of the embeddings to the width of the block, then the block, `num_hidden_layers` times."""

    def __init__(self, config: AlbertConfig) -> None:
        super().__init__()
        self.layers = config.num_hidden_layers
        self.embedding_hidden_mapping_in = nn.Linear(config.embedding_size, config.hidden_size)
        group = nn.ModuleDict({"albert_layers": nn.ModuleList([AlbertLayer(config)])})
        self.albert_layer_groups = nn.ModuleList([group])

    def layers_in_order(self) -> Sequence[nn.Module]:
        return [self.albert_layer_groups.get_submodule("0.albert_layers.0")] * self.layers

    def forward(self, embedded: Tensor, mask: Mask) -> Tensor:
        hidden: Tensor = self.embedding_hidden_mapping_in(embedded)
        layer = self.albert_layer_groups.get_submodule("0.albert_layers.0")
        for _ in range(self.layers):
            hidden = layer(hidden, mask)
        return hidden


class AlbertModel(EmbeddingsEncoder):
    """Embeddings, blocks and pooler: ids to hidden states (N, L, hidden_size) and the pooled [CLS] (N, hidden_size)."""

    def __init__(self, config: AlbertConfig, *, pooler: bool = True) -> None:
        super().__init__(config, AlbertEncoder(config))
        if pooler:
            self.pooler = nn.Linear(config.hidden_size, config.hidden_size)


class AlbertForPreTraining(MaskedLanguageModel):
    """ALBERT with its heads for masked tokens and sentence order (section 3.1).

    >>> import torch
    >>> model = AlbertForPreTraining(AlbertConfig.tiny(vocab_size=100))
    >>> model(torch.tensor([[2, 7, 3]])).prediction_logits.shape
    torch.Size([1, 3, 100])
    """

    tied: ClassVar[Mapping[str, str]] = {
        "predictions.decoder.weight": "albert.embeddings.word_embeddings.weight",
        "predictions.decoder.bias": "predictions.bias",
    }
    head_name, pair_head_name = "predictions", "sop_classifier"

    def __init__(self, config: AlbertConfig) -> None:
        super().__init__(config)
        self.albert = AlbertModel(config)
        decoder = nn.Linear(config.embedding_size, config.vocab_size)
        self.predictions = transform(config, config.embedding_size)
        self.predictions.add_module("decoder", decoder)
        self.predictions.bias, decoder.weight = decoder.bias, self.albert.embeddings.word_embeddings.weight
        dropout, classifier = Dropout(config.head_dropout), nn.Linear(config.hidden_size, 2)
        self.sop_classifier = sequential(dropout=dropout, classifier=classifier)
        initialize(self, config)


def model_for(config: AlbertConfig, info: PretrainingInfo) -> type[AlbertForPreTraining]:
    """Return the class that is pretrained on shards; raises ConfigError for those without sentence order."""
    if info.label != "sentence_order_label":
        raise ConfigError(
            f"ALBERT learns the order of sentences, and these shards are for {info.examples.objective}; build with "
            "--objective sop, or take a BERT config"
        )
    config.check_token_types(info)
    return AlbertForPreTraining


FAMILY = EncoderFamily(
    config=AlbertConfig,
    presets={"albert-tiny": AlbertConfig.tiny, "albert-base": AlbertConfig.base, "albert-large": AlbertConfig.large},
    encoder=AlbertModel,
    pretraining=model_for,
    tied=AlbertForPreTraining.tied,
    masked=AlbertForPreTraining,
)
