"""`BertConfig` and its kin: the shape of an encoder, and the `config.json` that transformers reads and writes.

Sizes are those of Devlin et al. 2019, section 3, of Turc et al. 2019 for the small ones, of Lan et al. 2020, table 1
(ALBERT), and of Clark et al. 2020, appendix A (ELECTRA). What this module does not do: training settings (see
`pretrain` and `finetune`).
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, ClassVar, Self

from bertdata.errors import ConfigError
from bertdata.io import files

ACTIVATIONS = ("gelu", "gelu_new")
"""GELU, and its approximation by tanh, under the names of transformers."""
_MOST = {"num_hidden_layers": 1000}
_MOST_OF_ANY = 1 << 24
"""Far above any published encoder: what is more is a mistake, and would take all memory or run for ever."""


@dataclass(frozen=True)
class BertConfig:
    """The shape of a BERT encoder, in the names of transformers; the defaults are BERT-base uncased.

    Raises ConfigError for sizes that do not go together.

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

    vocab_size: int = 30522
    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    hidden_act: str = "gelu"
    hidden_dropout_prob: float = 0.1
    attention_probs_dropout_prob: float = 0.1
    initializer_range: float = 0.02
    layer_norm_eps: float = 1e-12
    pad_token_id: int = 0

    def __post_init__(self) -> None:
        for one in fields(self):
            _check(one.name, str(one.type), getattr(self, one.name))
        if self.hidden_act not in ACTIVATIONS:
            raise ConfigError(f"hidden_act is {shortened(self.hidden_act)}; this encoder has {', '.join(ACTIVATIONS)}")
        if self.hidden_size % self.num_attention_heads:
            raise ConfigError(
                f"hidden_size {self.hidden_size} is not a multiple of num_attention_heads {self.num_attention_heads}"
            )
        if self.pad_token_id >= self.vocab_size:
            raise ConfigError(f"pad_token_id {self.pad_token_id} is outside the vocabulary of {self.vocab_size}")

    @property
    def blocks(self) -> int:
        """How many blocks have weights of their own."""
        return self.num_hidden_layers

    @property
    def weights(self) -> int:
        """The weights of matrices and embeddings of the encoder; biases and norms, under 1%, do not count."""
        block = 4 * self.hidden_size**2 + 2 * self.hidden_size * self.intermediate_size
        rows = self.vocab_size + self.max_position_embeddings + self.type_vocab_size
        return rows * self.embedding_size + self.blocks * block

    @property
    def embedding_size(self) -> int:
        """The size of an embedding; in BERT that of a hidden state."""
        return self.hidden_size

    @property
    def classifier_dropout(self) -> float:
        """The dropout in front of a classifier."""
        return self.hidden_dropout_prob

    @classmethod
    def base(cls, **changes: Any) -> Self:
        """Return BERT-base: 12 layers of 768, 12 heads; 109,482,240 parameters with the uncased vocabulary."""
        return cls(**changes)

    @classmethod
    def large(cls, **changes: Any) -> Self:
        """Return BERT-large: 24 layers of 1024, 16 heads; 335,141,888 parameters with the uncased vocabulary."""
        return cls(**_sizes(24, 1024, 16) | changes)

    @classmethod
    def mini(cls, **changes: Any) -> Self:
        """Return BERT-mini: 4 layers of 256, 4 heads."""
        return cls(**_sizes(4, 256, 4) | changes)

    @classmethod
    def tiny(cls, **changes: Any) -> Self:
        """Return BERT-tiny: 2 layers of 128, 2 heads; it trains on a CPU."""
        return cls(**_sizes(2, 128, 2) | changes)

    @classmethod
    def roberta(cls, **changes: Any) -> Self:
        """Return the shape of RoBERTa-base (Liu et al. 2019): BERT-base without token types.

        The rest of the recipe lies in the shards (full-sentences, dynamic masks, no pair label) and in the settings of
        `pretrain` (more rows in a batch, a longer warm-up, --adam-beta2 0.98).
        """
        return cls(**{"type_vocab_size": 1, "layer_norm_eps": 1e-5} | changes)

    def to_dict(self, architecture: str) -> dict[str, Any]:
        """Return what `config.json` holds for a model class of this name."""
        return {"architectures": [architecture], "model_type": self.model_type, **self.fixed, **asdict(self)}

    @classmethod
    def load(cls, directory: str | os.PathLike[str]) -> Self:
        """Read the `config.json` of a directory; raises InputError or ConfigError where it is missing or another's."""
        path, values = _read(directory)
        for name, expected in {"model_type": cls.model_type, **cls.fixed}.items():
            if values.get(name, expected) != expected:
                raise ConfigError(f"{name} is {shortened(values[name])}; this encoder has only {expected!r}", path=path)
        names = {one.name for one in fields(cls)}
        try:
            return cls(**{name: value for name, value in values.items() if name in names and value is not None})
        except ConfigError as error:
            raise ConfigError(str(error), path=path) from error


@dataclass(frozen=True)
class AlbertConfig(BertConfig):
    """The shape of an ALBERT encoder: one block for all layers, small embeddings; the defaults are ALBERT-base v2.

    `attention_probs_dropout_prob` and `hidden_dropout_prob` are 0, as in the paper's section 4.8.

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

    @property
    def blocks(self) -> int:
        """How many blocks have weights of their own: one, which all layers share."""
        return 1

    @property
    def classifier_dropout(self) -> float:
        """The dropout in front of a classifier."""
        return self.classifier_dropout_prob

    @classmethod
    def large(cls, **changes: Any) -> Self:
        """Return ALBERT-large: 24 layers of 1024, 16 heads."""
        return cls(**_sizes(24, 1024, 16) | changes)

    @classmethod
    def tiny(cls, **changes: Any) -> Self:
        """Return a small ALBERT: 2 layers of 128, 2 heads, embeddings of 32."""
        return cls(**_sizes(2, 128, 2) | {"embedding_size": 32} | changes)


@dataclass(frozen=True)
class ElectraConfig(BertConfig):
    """The shape of an ELECTRA discriminator; the defaults are ELECTRA-small.

    >>> ElectraConfig.base().hidden_size, ElectraConfig().generator().hidden_size
    (768, 64)
    """

    model_type: ClassVar[str] = "electra"
    family: ClassVar[str] = "Electra"

    hidden_size: int = 256
    num_attention_heads: int = 4
    intermediate_size: int = 1024
    embedding_size: int = 128

    @classmethod
    def base(cls, **changes: Any) -> Self:
        """Return ELECTRA-base: 12 layers of 768, 12 heads, embeddings of 768."""
        return cls(**_sizes(12, 768, 12) | {"embedding_size": 768} | changes)

    @classmethod
    def small(cls, **changes: Any) -> Self:
        """Return ELECTRA-small: 12 layers of 256, 4 heads, embeddings of 128."""
        return cls(**changes)

    @classmethod
    def tiny(cls, **changes: Any) -> Self:
        """Return a small ELECTRA: 2 layers of 128, 2 heads, embeddings of 64."""
        return cls(**_sizes(2, 128, 2) | {"embedding_size": 64} | changes)

    def generator(self, share: int = 4) -> Self:
        """Return the generator's shape: the same depth and embeddings, a `share`-th of the width (section 3.2).

        It has at least one head, and as many as its width allows.
        """
        hidden = self.hidden_size // share
        heads = max(1, self.num_attention_heads // share)
        return replace(
            self,
            hidden_size=hidden // heads * heads,
            num_attention_heads=heads,
            intermediate_size=self.intermediate_size // share,
        )


_FAMILIES: tuple[type[BertConfig], ...] = (BertConfig, AlbertConfig, ElectraConfig)


def load_config(directory: str | os.PathLike[str]) -> BertConfig:
    """Read the `config.json` of a directory as that of its family: BERT, ALBERT or ELECTRA; raises ConfigError."""
    path, values = _read(directory)
    kind = values.get("model_type", BertConfig.model_type)
    for family in _FAMILIES:
        if family.model_type == kind:
            return family.load(directory)
    known = ", ".join(family.model_type for family in _FAMILIES)
    raise ConfigError(f"model_type is {shortened(kind)}; expected one of {known}", path=path)


def _read(directory: str | os.PathLike[str]) -> tuple[str, Mapping[str, Any]]:
    path = files.join(os.fspath(directory), "config.json")
    values = files.read_json(path)
    if not isinstance(values, Mapping):
        raise ConfigError(f"holds {type(values).__name__}; expected the settings of a model", path=path)
    return path, values


def _check(name: str, kind: str, value: Any) -> None:
    """Raise ConfigError for a setting that is not of its kind or out of its bounds."""
    if kind == "int":
        least, most = int(name != "pad_token_id"), _MOST.get(name, _MOST_OF_ANY)
        if type(value) is not int or not least <= value <= most:
            raise ConfigError(f"{name} is {shortened(value)}; expected a whole number from {least} to {most:,}")
    elif kind == "float":
        share = name.endswith("_prob")
        number = type(value) in (int, float) and math.isfinite(value)
        if not number or value < 0 or (share and value >= 1) or (name == "layer_norm_eps" and not value):
            expected = "of 0 or more, and less than 1" if share else "more than 0, as 1e-12"
            expected = "of 0 or more, as 0.02" if name == "initializer_range" else expected
            raise ConfigError(f"{name} is {shortened(value)}; expected a number {expected}")


def shortened(value: Any) -> str:
    """Return the repr of a value, cut where it is long.

    >>> shortened("12"), len(shortened("1" * 1000))
    ("'12'", 63)
    """
    text = f"a whole number of {value.bit_length()} bits" if type(value) is int and abs(value) >> 200 else repr(value)
    return text if len(text) <= 60 else f"{text[:60]}..."


def _sizes(layers: int, hidden: int, heads: int) -> dict[str, Any]:
    return {
        "num_hidden_layers": layers,
        "hidden_size": hidden,
        "num_attention_heads": heads,
        "intermediate_size": 4 * hidden,
    }


PRESETS: dict[str, Callable[..., BertConfig]] = {
    "tiny": BertConfig.tiny,
    "mini": BertConfig.mini,
    "base": BertConfig.base,
    "large": BertConfig.large,
    "roberta": BertConfig.roberta,
    "albert-tiny": AlbertConfig.tiny,
    "albert-base": AlbertConfig.base,
    "albert-large": AlbertConfig.large,
    "electra-tiny": ElectraConfig.tiny,
    "electra-small": ElectraConfig.small,
    "electra-base": ElectraConfig.base,
}
"""The shapes that `--config` knows by name."""
