"""`BertConfig`: the shape of an encoder, and the `config.json` that transformers reads and writes.

Sizes are those of Devlin et al. 2019, section 3, and of Turc et al. 2019 for the tiny one. What this module does not
do: training settings (see `pretrain` and `finetune`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from bertdata import files
from bertdata.errors import ConfigError

_FIXED = {
    "model_type": "bert",
    "hidden_act": "gelu",
    "position_embedding_type": "absolute",
    "is_decoder": False,
    "add_cross_attention": False,
    "tie_word_embeddings": True,
}


@dataclass(frozen=True)
class BertConfig:
    """The shape of a BERT encoder, in the names of transformers; the defaults are BERT-base uncased.

    Raises ConfigError for sizes that do not go together.

    >>> BertConfig.large().num_hidden_layers, BertConfig.tiny(vocab_size=8000).hidden_size
    (24, 128)
    """

    vocab_size: int = 30522
    hidden_size: int = 768
    num_hidden_layers: int = 12
    num_attention_heads: int = 12
    intermediate_size: int = 3072
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    hidden_dropout_prob: float = 0.1
    attention_probs_dropout_prob: float = 0.1
    initializer_range: float = 0.02
    layer_norm_eps: float = 1e-12
    pad_token_id: int = 0

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            if one.type == "int" and value < (one.name != "pad_token_id"):
                raise ConfigError(f"{one.name} is {value}; expected at least {int(one.name != 'pad_token_id')}")
            if one.name.endswith("_prob") and not 0 <= value < 1:
                raise ConfigError(f"{one.name} is {value}; expected 0 or more, and less than 1")
        if self.hidden_size % self.num_attention_heads:
            raise ConfigError(
                f"hidden_size {self.hidden_size} is not a multiple of num_attention_heads {self.num_attention_heads}"
            )
        if self.pad_token_id >= self.vocab_size:
            raise ConfigError(f"pad_token_id {self.pad_token_id} is outside the vocabulary of {self.vocab_size}")

    @classmethod
    def base(cls, **changes: Any) -> BertConfig:
        """Return BERT-base: 12 layers of 768, 12 heads; 109,482,240 parameters with the uncased vocabulary."""
        return cls(**changes)

    @classmethod
    def large(cls, **changes: Any) -> BertConfig:
        """Return BERT-large: 24 layers of 1024, 16 heads; 335,141,888 parameters with the uncased vocabulary."""
        return cls(**_sizes(24, 1024, 16) | changes)

    @classmethod
    def tiny(cls, **changes: Any) -> BertConfig:
        """Return BERT-tiny: 2 layers of 128, 2 heads; it trains on a CPU."""
        return cls(**_sizes(2, 128, 2) | changes)

    def to_dict(self, architecture: str) -> dict[str, Any]:
        """Return what `config.json` holds for a model class of this name."""
        return {"architectures": [architecture], **_FIXED, **asdict(self)}

    @classmethod
    def load(cls, directory: str | os.PathLike[str]) -> BertConfig:
        """Read the `config.json` of a directory; raises InputError or ConfigError where it is missing or no BERT."""
        path = files.join(os.fspath(directory), "config.json")
        values = files.read_json(path)
        if not isinstance(values, Mapping):
            raise ConfigError(f"holds {type(values).__name__}; expected the settings of a model", path=path)
        for name, expected in _FIXED.items():
            if values.get(name, expected) != expected:
                raise ConfigError(f"{name} is {values[name]!r}; this encoder has only {expected!r}", path=path)
        names = {one.name for one in fields(cls)}
        return cls(**{name: value for name, value in values.items() if name in names and value is not None})


def _sizes(layers: int, hidden: int, heads: int) -> dict[str, Any]:
    return {
        "num_hidden_layers": layers,
        "hidden_size": hidden,
        "num_attention_heads": heads,
        "intermediate_size": 4 * hidden,
    }


PRESETS = {"tiny": BertConfig.tiny, "base": BertConfig.base, "large": BertConfig.large}
