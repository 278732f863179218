"""`ModernBertConfig`: sizes of Warner et al. 2024 (arXiv 2412.13663), of Weller et al. 2025 for the small ones.

transformers 5 reads which layers are global from `layer_types`, and the bases of the rotary positions from
`rope_parameters`; before, `global_attn_every_n_layers`, `global_rope_theta` and `local_rope_theta` said so. Both are
written, both are read, and where they differ the newer keys count, as in transformers 5.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from bertdata.errors import ConfigError, shortened
from bertdata.torch.models.bert.config import sizes
from bertdata.torch.models.config import Counts, EncoderConfig

GLOBAL, LOCAL = "full_attention", "sliding_attention"
"""The two kinds of layers, as `layer_types` names them."""
POOLINGS = ("cls", "mean")
"""What a classifier of texts gets: the state of [CLS], or the mean of all tokens."""
_LAYERS = ("num_hidden_layers", "global_attn_every_n_layers")
_THETAS = {GLOBAL: "global_rope_theta", LOCAL: "local_rope_theta"}


@dataclass
class ModernBertConfig(EncoderConfig):
    """The config of a ModernBERT encoder, named as in transformers; the defaults are ModernBERT-base.

    Layers 0, `global_attn_every_n_layers`, and so on attend to the whole row; in the others a token attends to
    `local_attention` // 2 tokens on each side. The two kinds have rotary positions of their own bases. Pretraining with
    short rows begins with a `global_rope_theta` of 10,000, and continues with long ones and 160,000 (section 2.2.2).

    Raises ConfigError for sizes that do not fit together.

    >>> ModernBertConfig.large().num_hidden_layers, ModernBertConfig.tiny(vocab_size=8000).layer_types[:4]
    (28, ['full_attention', 'sliding_attention', 'sliding_attention', 'full_attention'])
    """

    model_type: ClassVar[str] = "modernbert"
    family: ClassVar[str] = "ModernBert"
    fixed: ClassVar[Mapping[str, Any]] = {
        "norm_bias": False,
        "attention_bias": False,
        "mlp_bias": False,
        "classifier_bias": False,
        "decoder_bias": True,
        "hidden_activation": "gelu",
        "classifier_activation": "gelu",
        "tie_word_embeddings": True,
    }
    rope_field: ClassVar[str] = "global_rope_theta"

    vocab_size: int = 50368
    max_position_embeddings: int = 8192
    pad_token_id: int = 50283
    cls_token_id: int = 50281
    sep_token_id: int = 50282
    num_hidden_layers: int = 22
    num_attention_heads: int = 12
    intermediate_size: int = 1152
    global_attn_every_n_layers: int = 3
    local_attention: int = 128
    global_rope_theta: float = 160_000.0
    local_rope_theta: float = 10_000.0
    embedding_dropout: float = 0.0
    attention_dropout: float = 0.0
    mlp_dropout: float = 0.0
    classifier_dropout: float = 0.0
    classifier_pooling: str = "cls"
    initializer_cutoff_factor: float = 2.0
    norm_eps: float = 1e-5

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.hidden_size % (2 * self.num_attention_heads):
            raise ConfigError(
                f"hidden_size {self.hidden_size} makes no heads of an even size, as rotary positions turn pairs; "
                f"expected a multiple of 2 x num_attention_heads, {2 * self.num_attention_heads}"
            )
        if self.classifier_pooling not in POOLINGS:
            raise ConfigError(
                f"classifier_pooling is {shortened(self.classifier_pooling)}; this encoder has {', '.join(POOLINGS)}"
            )

    @property
    def head_dropout(self) -> float:
        """The dropout in front of a classifier."""
        return self.classifier_dropout

    @property
    def base_model_prefix(self) -> str:
        """What the names of the encoder's weights begin with, and the attribute of a model that is its encoder."""
        return "model"

    @property
    def layer_types(self) -> list[str]:
        """The kind of each layer: `full_attention` or `sliding_attention`."""
        return _kinds(self.num_hidden_layers, self.global_attn_every_n_layers)

    @property
    def window(self) -> int:
        """How many tokens on each side a token attends to in a local layer."""
        return self.local_attention // 2

    @property
    def weights(self) -> int:
        """The number of weights in the encoder's matrices and embeddings, without norms (under 1%)."""
        return self.vocab_size * self.hidden_size + self.num_hidden_layers * self._block

    @property
    def _block(self) -> int:
        return 4 * self.hidden_size**2 + 3 * self.hidden_size * self.intermediate_size

    def training_flops(self, counts: Counts) -> float:
        """Return the operations of forward and backward passes, with the head, counted as for BERT.

        A token of a local layer attends to `local_attention` + 1 tokens, or to as many as rows have on average.

        >>> short = ModernBertConfig.base().training_flops(Counts(tokens=64, squares=64 * 64, labelled=19))
        >>> long = ModernBertConfig.base().training_flops(Counts(tokens=8192, squares=8192 * 8192, labelled=19 * 128))
        >>> round(short / 1e9), round(long / short)
        (48, 232)
        """
        hidden, types = self.hidden_size, self.layer_types
        products = 2.0 * len(types) * self._block * counts.tokens
        near = min(counts.squares, counts.tokens * (self.local_attention + 1))
        attention = 4.0 * hidden * (types.count(GLOBAL) * counts.squares + types.count(LOCAL) * near)
        head = 2.0 * (hidden * hidden + hidden * self.vocab_size) * counts.labelled
        return 3 * (products + attention + head)

    def to_dict(self, architecture: str) -> dict[str, Any]:
        ends = {"bos_token_id": self.cls_token_id, "eos_token_id": self.sep_token_id}
        bases = {kind: {"rope_theta": getattr(self, name), "rope_type": "default"} for kind, name in _THETAS.items()}
        return super().to_dict(architecture) | ends | {"layer_types": self.layer_types, "rope_parameters": bases}

    @classmethod
    def translated(cls, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the fields that `layer_types` and `rope_parameters` stand for, and the others as they are."""
        values_here = dict(values)
        if (types := values.get("layer_types")) is not None:
            layers, named = (values.get(name, getattr(cls, name)) for name in _LAYERS)
            values_here[_LAYERS[1]] = _every(types, layers, named)
        if values.get("rope_scaling") is not None:
            raise ConfigError(f"rope_scaling is {shortened(values['rope_scaling'])}; this encoder does not scale")
        if values.get(_THETAS[LOCAL], 0) is None:  # as in transformers 4; transformers 5 opens no such config
            values_here[_THETAS[LOCAL]] = values.get(_THETAS[GLOBAL])
        bases = values.get("rope_parameters")
        if bases is not None:
            if not isinstance(bases, Mapping) or not all(
                isinstance(base_values or {}, Mapping) for base_values in bases.values()
            ):
                raise ConfigError(f"rope_parameters is {shortened(bases)}; expected those of {GLOBAL} and {LOCAL}")
            for kind, name in _THETAS.items():
                base = bases.get(kind) or {}
                if base.get("rope_type", "default") != "default":
                    raise ConfigError(f"rope_type of {kind} is {shortened(base['rope_type'])}; expected 'default'")
                values_here[name] = base.get("rope_theta", values_here.get(name))
        return values_here

    @classmethod
    def base(cls, **changes: Any) -> Self:
        """Return ModernBERT-base: 22 layers of 768, 12 heads; 149,014,272 parameters with its own vocabulary."""
        return cls(**{"classifier_pooling": "mean"} | changes)

    @classmethod
    def large(cls, **changes: Any) -> Self:
        """Return ModernBERT-large: 28 layers of 1024, 16 heads; 394,781,696 parameters with its own vocabulary."""
        return cls.base(**_gated(28, 1024, 16, 2624) | changes)

    @classmethod
    def small(cls, **changes: Any) -> Self:
        """Return the sizes of Ettin-32m: 10 layers of 384, 6 heads."""
        return cls.base(**_gated(10, 384, 6, 576) | changes)

    @classmethod
    def mini(cls, **changes: Any) -> Self:
        """Return the sizes of Ettin-17m: 7 layers of 256, 4 heads."""
        return cls.base(**_gated(7, 256, 4, 384) | changes)

    @classmethod
    def tiny(cls, **changes: Any) -> Self:
        """Return a small ModernBERT: 4 layers of 128, of which the first and the last are global, 2 heads.

        It trains on a CPU. Its special tokens are those of bertdata's WordPiece vocabularies.
        """
        ids = {"vocab_size": 30522, "pad_token_id": 0, "cls_token_id": 2, "sep_token_id": 3}
        return cls.base(**_gated(4, 128, 2, 192) | ids | changes)


def _gated(layers: int, hidden: int, heads: int, intermediate: int) -> dict[str, Any]:
    return sizes(layers, hidden, heads) | {"intermediate_size": intermediate}


def _kinds(layers: int, every: int) -> list[str]:
    return [LOCAL if number % every else GLOBAL for number in range(layers)]


def _every(types: Any, layers: Any, named: Any) -> int:
    """Return every how many layers one is global: `named` where that fits the types; raises ConfigError for others."""
    if isinstance(types, list) and type(layers) is int and 0 < len(types) == layers:
        after_first = types[1:].index(GLOBAL) + 1 if GLOBAL in types[1:] else layers
        for every in (named, after_first):
            if type(every) is int and every > 0 and types == _kinds(layers, every):
                return every
    raise ConfigError(
        f"layer_types is {shortened(types)}; expected {GLOBAL} or {LOCAL} for each of {layers} layers, the first "
        f"{GLOBAL}, and from there every so many"
    )
