"""The encoder families, and which model of a family is pretrained on which shards.

A family is one file or folder that ends in an `EncoderFamily`, and one line here. A package outside bertdata adds its
own by `FAMILIES.add(config.model_type, family)` in a module that `bertdata.registry` finds.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from torch import nn

from bertdata.errors import ConfigError, did_you_mean, shortened
from bertdata.io import files
from bertdata.loader.padding import padded_length
from bertdata.registry import Registry
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.schema import ShardInfo
from bertdata.tokenizers.base import Tokenizer
from bertdata.tokenizers.loading import has_tokenizer, load_tokenizer
from bertdata.torch.models.config import EncoderConfig, overridden, read_config
from bertdata.torch.models.encoder import Encoder, initialize

if TYPE_CHECKING:
    from bertdata.torch.models.pretraining import MaskedLanguageModel
    from bertdata.torch.models.weights import PreTrainedModel

PAIR_LABEL = "pair_label"
"""The key of config.json with the label that a pair head was trained on."""
_IDS = ("cls_token_id", "sep_token_id")
"""Fields of some configs that presets have from the shards, as pad_token_id of all."""


def linear_classifier(config: EncoderConfig, labels: int) -> nn.Module:
    """Return a linear layer from hidden states to classes."""
    return nn.Linear(config.hidden_size, labels)


@dataclass(frozen=True)
class EncoderFamily:
    """What training, saving and fine-tuning need of a family.

    config: its class of configs; presets: configs by their name in `--config`, each a function of changed fields;
    encoder: makes the encoder of (config, pooler=bool); pretraining: returns the class of model for (config, info),
    whose output has `terms` (`models/pretraining.py`), or raises ConfigError where there is none for such shards;
    classifier: makes the head on the pooled state for (config, number of classes); head: makes the layers that all
    tasks have in front of their last one, which is then `classifier` in every task; initialize: draws the weights of a
    model.

    A parameter is saved under its name in the model, the encoder's below `config.base_model_prefix`. old_names: parts
    of the names of weights in older files, such as the released checkpoints, and their names today. tied: names of
    weights of heads, and those of the encoder that they are the same as, so that an encoder is found by either. masked:
    the class whose head predicts masked tokens, which sentences are scored by; None: there is none.
    """

    config: type[EncoderConfig]
    presets: Mapping[str, Callable[..., EncoderConfig]]
    encoder: Callable[..., Encoder]
    pretraining: Callable[[Any, PretrainingInfo], type[PreTrainedModel]]
    classifier: Callable[[Any, int], nn.Module] = linear_classifier
    head: Callable[[Any], nn.Module] | None = None
    initialize: Callable[[nn.Module, Any], None] = initialize
    old_names: Mapping[str, str] = field(
        default_factory=lambda: {"LayerNorm.gamma": "LayerNorm.weight", "LayerNorm.beta": "LayerNorm.bias"}
    )
    tied: Mapping[str, str] = field(default_factory=dict)
    masked: type[MaskedLanguageModel] | None = None


FAMILIES: Registry[EncoderFamily] = Registry(
    "encoder family",
    {
        "bert": "bertdata.torch.models.bert:FAMILY",
        "albert": "bertdata.torch.models.albert:FAMILY",
        "electra": "bertdata.torch.models.electra:FAMILY",
        "modernbert": "bertdata.torch.models.modernbert:FAMILY",
    },
)


def presets() -> dict[str, Callable[..., EncoderConfig]]:
    """Return the configs of all families, by their names in `--config`."""
    return {name: make for family in FAMILIES for name, make in FAMILIES[family].presets.items()}


def load_config(directory: str | os.PathLike[str], otherwise: str = "") -> EncoderConfig:
    """Read the `config.json` of a directory as that of its family.

    Raises ConfigError where there is no such family; otherwise: what else could be done then, for its message.
    """
    path, values = read_config(directory)
    kind = values.get("model_type", "bert")
    if isinstance(kind, str) and ":" in kind:
        FAMILIES.named_in(path, kind)
    if not isinstance(kind, str) or kind not in FAMILIES:
        raise ConfigError(
            f"model_type is {shortened(kind)}; expected one of {', '.join(FAMILIES)}{otherwise}",
            path=path,
        )
    return FAMILIES[kind].config.load(directory)


def is_type_of_transformers(name: str) -> bool:
    """Tell whether transformers, if it is installed, has a model type of this name, such as distilbert."""
    try:
        from transformers import CONFIG_MAPPING
    except ImportError:
        return False
    return name in CONFIG_MAPPING


def resolve_config(
    config: str | EncoderConfig, info: PretrainingInfo, overrides: Mapping[str, Any] | None = None
) -> EncoderConfig:
    """Return the config for shards, given a preset's name, the directory of a model, or a config.

    overrides: other values of some of its fields. Raises ConfigError for an unknown name, and for a config that does
    not fit the shards.
    """
    length = info.examples.max_seq_length
    if isinstance(config, EncoderConfig):
        loaded = config
    elif make := presets().get(config):
        loaded = make(vocab_size=info.vocab_size, pad_token_id=info.pad_token_id)
        ids = {setting.name: getattr(info, setting.name) for setting in fields(loaded) if setting.name in _IDS}
        loaded = replace(
            loaded, max_position_embeddings=max(loaded.max_position_embeddings, padded_length(length)), **ids
        )
    else:
        if not files.exists(files.join(config, "config.json")):
            hint = did_you_mean(config, presets())
            if is_type_of_transformers(config):
                hint = f"; {config} is a model type of transformers: add --library transformers"
            raise ConfigError(
                f"--config is {config!r}; expected {', '.join(presets())}, or a directory with a saved model{hint}"
            )
        loaded = load_config(config, ", or --library transformers")
    if overrides:
        loaded = overridden(loaded, overrides)
    if loaded.vocab_size < info.vocab_size or loaded.pad_token_id != info.pad_token_id:
        raise ConfigError(
            f"the model is for {loaded.vocab_size} tokens with [PAD] at {loaded.pad_token_id}, the shards have "
            f"{info.vocab_size} with [PAD] at {info.pad_token_id}; use shards and a model of one vocabulary, which may "
            "have more rows in the model, as by --pad-vocab-to 64"
        )
    if padded_length(length) > loaded.max_position_embeddings:
        raise ConfigError(
            f"the rows have up to {length} tokens, padded to a multiple of 8, and the model "
            f"{loaded.max_position_embeddings} positions; build shorter rows, or raise max_position_embeddings"
        )
    return loaded


def model_class(config: EncoderConfig, info: PretrainingInfo) -> type[PreTrainedModel]:
    """Return the class that is pretrained on shards; raises ConfigError where the config's family has none for them."""
    return FAMILIES[config.model_type].pretraining(config, info)


def from_pretrained(
    directory: str,
    info: PretrainingInfo,
    tokenizer: Tokenizer,
    config: EncoderConfig | None = None,
    kind: type[PreTrainedModel] | None = None,
) -> PreTrainedModel:
    """Load the model of a directory to continue its pretraining on shards.

    config: another one than the directory's; kind: another class than that of `model_class`.

    Raises ConfigError where its pair head has learned other pairs, or the tokenizer beside it is not the shards' own,
    and InputError where a head that the shards need has no weights.
    """
    learned = files.read_json_object(files.join(directory, "config.json")).get(PAIR_LABEL)
    if learned and info.label and learned != info.label:
        raise ConfigError(
            f"the pair head of this model has learned {learned}, and these shards have {info.label}; take shards of "
            "that objective, or begin with a fresh model",
            path=directory,
        )
    check_tokenizer(directory, info.tokenizer, tokenizer.vocab_size)
    config = config or load_config(directory)
    return (kind or model_class(config, info)).from_pretrained(directory, config=config)


def check_tokenizer(directory: str | os.PathLike[str], fingerprint: str, size: int) -> None:
    """Raise ConfigError where the tokenizer in a model's directory is not the one that shards were made with."""
    place = files.path_text(directory)
    if not has_tokenizer(place):
        return
    tokenizer = load_tokenizer(place)
    if tokenizer.fingerprint != fingerprint:
        raise ConfigError(
            f"the model's tokenizer is not the one the shards were made with ({tokenizer.fingerprint[:12]} with "
            f"{tokenizer.vocab_size} tokens here, {fingerprint[:12]} with {size} there); make the shards with this "
            "tokenizer (--vocab), or take a model that was trained with theirs",
            path=place,
        )


@dataclass(frozen=True)
class Library:
    """What makes models of configs: the functions of this module, or others of their kind.

    own: whether the models pack rows and have layers to be compiled. load_config: returns the config of a folder that
    is fine-tuned on shards, or raises ConfigError; None: none is.
    """

    presets: Callable[[], Mapping[str, Any]]
    resolve_config: Callable[[Any, PretrainingInfo, Mapping[str, Any] | None], EncoderConfig]
    model_class: Callable[[Any, PretrainingInfo], type[PreTrainedModel]]
    from_pretrained: Callable[[str, PretrainingInfo, Tokenizer, Any, Any], PreTrainedModel]
    own: bool = False
    load_config: Callable[[str, ShardInfo], EncoderConfig] | None = None


OWN = Library(
    presets,
    resolve_config,
    model_class,
    from_pretrained,
    own=True,
    load_config=lambda directory, info: load_config(directory, ", or --library transformers"),
)
LIBRARIES: Registry[Library] = Registry(
    "library",
    {
        "bertdata": "bertdata.torch.models.families:OWN",
        "transformers": "bertdata.torch.models.from_transformers:TRANSFORMERS",
    },
)


def about(info: PretrainingInfo) -> dict[str, Any]:
    """Return the keys of `config.json` about the shards that a model was trained on."""
    return {PAIR_LABEL: info.label} if info.label else {}
