"""The configs of all families: by the name of a preset, from a folder, for shards."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from typing import Any

from bertdata.errors import ConfigError, did_you_mean, shortened
from bertdata.io import files
from bertdata.loader.padding import padded_length
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.torch.models import FAMILIES
from bertdata.torch.models.config import EncoderConfig, overridden, read_config
from bertdata.torch.models.family import EncoderFamily

_IDS = ("cls_token_id", "sep_token_id")
"""Fields of some configs that presets have from the shards, as pad_token_id of all."""


def presets() -> dict[str, Callable[..., EncoderConfig]]:
    """Return the configs of all families, by their names in `--config`."""
    return {name: make for family in FAMILIES for name, make in FAMILIES[family].presets.items()}


def load_config(directory: str | os.PathLike[str], otherwise: str = "") -> EncoderConfig:
    """Read the `config.json` of a directory as that of its family.

    otherwise: added to the message of a family that is not there, as what to do instead. Raises ConfigError for such a
    family.
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
    family: EncoderFamily = FAMILIES[kind]
    return family.config.load(directory)


def is_type_of_transformers(name: str) -> bool:
    """Tell whether transformers, if it is installed, has a model type of this name, such as distilbert."""
    try:
        from transformers import CONFIG_MAPPING
    except ImportError:
        return False
    return name in CONFIG_MAPPING


def refuse_two_meanings(config: str | EncoderConfig, output: str, library: str) -> None:
    """Raise ConfigError where the name of a preset, or of a type of transformers, is that of a model's folder, too.

    The output of the run itself, which may be called as its config, is none.
    """
    if not isinstance(config, str) or not files.exists(files.join(config, "config.json")):
        return
    named = is_type_of_transformers(config) if library == "transformers" else config in presets()
    if named and os.path.abspath(config) != os.path.abspath(output):
        raise ConfigError(
            f"--config {config} is the name of a config for a new model, and here of a folder with a model; write "
            f"./{config} to begin with the model in the folder, or rename the folder to begin with a new one"
        )


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
