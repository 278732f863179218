"""`BertConfig`: sizes of Devlin et al. 2019, section 3, and of Turc et al. 2019 for the small ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

from bertdata.errors import ConfigError, shortened
from bertdata.io.console import counted
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.torch.models.config import Counts, EncoderConfig

ACTIVATIONS: Mapping[str, Literal["none", "tanh"]] = {
    "gelu": "none",
    "gelu_python": "none",
    "gelu_new": "tanh",
    "gelu_fast": "tanh",
    "gelu_accurate": "tanh",
    "gelu_pytorch_tanh": "tanh",
}
"""GELU, and its approximation by tanh, under the names of transformers: torch's name of each approximation."""


@dataclass
class BertConfig(EncoderConfig):
    """The config of a BERT encoder, named as in transformers; the defaults are BERT-base uncased.

    Raises ConfigError for sizes that do not fit together.

    >>> BertConfig.large().num_hidden_layers, BertConfig.tiny(vocab_size=8000).hidden_size
    (24, 128)
    """

    model_type: ClassVar[str] = "bert"
    family: ClassVar[str] = "Bert"
    fixed: ClassVar[Mapping[str, Any]] = {
        "position_embedding_type": "absolute",
        "is_decoder": False,
        "add_cross_attention": False,
        "tie_word_embeddings": True,
    }

    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    type_vocab_size: int = 2
    hidden_act: str = "gelu"
    hidden_dropout_prob: float = 0.1
    attention_probs_dropout_prob: float = 0.1
    layer_norm_eps: float = 1e-12
    classifier_dropout: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hidden_act not in [*ACTIVATIONS]:
            raise ConfigError(f"hidden_act is {shortened(self.hidden_act)}; this encoder has {', '.join(ACTIVATIONS)}")
        if self.hidden_size % self.num_attention_heads:
            raise ConfigError(
                f"hidden_size {self.hidden_size} is not a multiple of num_attention_heads {self.num_attention_heads}"
            )

    @property
    def blocks(self) -> int:
        """How many blocks have weights of their own."""
        return self.num_hidden_layers

    @property
    def weights(self) -> int:
        """The number of weights in the encoder's matrices and embeddings, without biases and norms (under 1%)."""
        block = 4 * self.hidden_size**2 + 2 * self.hidden_size * self.intermediate_size
        rows = self.vocab_size + self.max_position_embeddings + self.type_vocab_size
        return rows * self.embedding_size + self.blocks * block

    @property
    def embedding_size(self) -> int:
        """The size of an embedding; in BERT that of a hidden state."""
        return self.hidden_size

    @property
    def head_dropout(self) -> float:
        """The dropout in front of a classifier: `hidden_dropout_prob` where the config names no other."""
        return self.hidden_dropout_prob if self.classifier_dropout is None else self.classifier_dropout

    def training_flops(self, counts: Counts) -> float:
        """Return the operations of forward and backward passes, with the head over the vocabulary.

        Counted as in Chowdhery et al. 2022, appendix B: two operations for each token and weight of a matrix product,
        the two products of attention, and twice as much for the backward pass; not padding and embedding look-ups.

        >>> round(BertConfig.base().training_flops(Counts(tokens=128, squares=128 * 128, labelled=19)) / 1e9)
        70
        """
        hidden, embedding = self.hidden_size, self.embedding_size
        block = 4 * hidden * hidden + 2 * hidden * self.intermediate_size
        projection = embedding * hidden if embedding != hidden else 0
        products = 2.0 * (self.num_hidden_layers * block + projection) * counts.tokens
        attention = 4.0 * self.num_hidden_layers * hidden * counts.squares
        head = 2.0 * (hidden * embedding + embedding * self.vocab_size) * counts.labelled
        return 3 * (products + attention + head)

    def check_token_types(self, info: PretrainingInfo) -> None:
        """Raise ConfigError where shards have more token types than this encoder."""
        if self.type_vocab_size < info.token_types:
            raise ConfigError(
                f"the model knows {counted(self.type_vocab_size, 'token type')}, and rows of {info.examples.objective} "
                f"have {info.token_types}; take a config with type_vocab_size {info.token_types}"
                + (", or build with --objective full-sentences" if info.objective.token_types > 1 else "")
            )

    @classmethod
    def base(cls, **changes: Any) -> Self:
        """Return BERT-base: 12 layers of 768, 12 heads; 109,482,240 parameters with the uncased vocabulary."""
        return cls(**changes)

    @classmethod
    def large(cls, **changes: Any) -> Self:
        """Return BERT-large: 24 layers of 1024, 16 heads; 335,141,888 parameters with the uncased vocabulary."""
        return cls(**sizes(24, 1024, 16) | changes)

    @classmethod
    def mini(cls, **changes: Any) -> Self:
        """Return BERT-mini: 4 layers of 256, 4 heads."""
        return cls(**sizes(4, 256, 4) | changes)

    @classmethod
    def tiny(cls, **changes: Any) -> Self:
        """Return BERT-tiny: 2 layers of 128, 2 heads; it trains on a CPU."""
        return cls(**sizes(2, 128, 2) | changes)

    @classmethod
    def roberta(cls, **changes: Any) -> Self:
        """Return the shape of RoBERTa-base (Liu et al. 2019): BERT-base without token types.

        The recipe also needs shards of full-sentences with dynamic masks, and larger batches, a longer warm-up and
        --adam-beta2 0.98 in `pretrain`.
        """
        return cls(**{"type_vocab_size": 1, "layer_norm_eps": 1e-5} | changes)


def sizes(layers: int, hidden: int, heads: int) -> dict[str, Any]:
    """Return the sizes of an encoder whose feed-forward layers are four times as wide as its hidden states."""
    return {
        "num_hidden_layers": layers,
        "hidden_size": hidden,
        "num_attention_heads": heads,
        "intermediate_size": 4 * hidden,
    }
