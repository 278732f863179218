"""Models of shards: which class is pretrained on them, and how one that was saved is loaded, by each library."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.shards.schema import ShardInfo
from bertdata.tokenizers.base import Tokenizer
from bertdata.tokenizers.loading import has_tokenizer, load_tokenizer
from bertdata.torch.models import FAMILIES
from bertdata.torch.models.config import EncoderConfig
from bertdata.torch.models.configs import load_config, presets, resolve_config
from bertdata.torch.models.family import EncoderFamily
from bertdata.torch.models.weights import PreTrainedModel

PAIR_LABEL = "pair_label"
"""The key of config.json with the label that a pair head was trained on."""


def model_class(config: EncoderConfig, info: PretrainingInfo) -> type[PreTrainedModel]:
    """Return the class that is pretrained on shards; raises ConfigError where the config's family has none for them."""
    family: EncoderFamily = FAMILIES[config.model_type]
    return cast("type[PreTrainedModel]", family.pretraining(config, info))


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


def about(info: PretrainingInfo) -> dict[str, Any]:
    """Return the keys of `config.json` about the shards that a model was trained on."""
    return {PAIR_LABEL: info.label} if info.label else {}
