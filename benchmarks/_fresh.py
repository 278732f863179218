"""Models that have learned nothing: what a pretrained one is compared with."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from bertdata.shards import open_shards
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.torch.models.configs import resolve_config
from bertdata.torch.models.model_loading import model_class


def write_fresh(build: Path, config: str, output: Path, seed: int, overrides: Mapping[str, Any] | None = None) -> Path:
    """Write a model with random weights for the shards of a build, with its tokenizer, and return where.

    `config` is a preset or the directory of a model, of which only the config is taken; weights are a function of the
    seed. Raises ConfigError where the config does not fit the shards.
    """
    shards = open_shards(build, "train")
    info = shards.info
    if not isinstance(info, PretrainingInfo):
        raise TypeError(f"{build} has fine-tuning shards; expected those of a build")
    shape = resolve_config(config, info, overrides)
    torch.manual_seed(seed)
    model_class(shape, info)(shape).save_pretrained(output)
    shards.tokenizer().save_pretrained(output)
    return output
