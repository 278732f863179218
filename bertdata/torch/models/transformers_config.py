"""`TransformersConfig`: a `config.json` of transformers among the configs of encoders."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Self

import torch

from bertdata.errors import ConfigError, shortened
from bertdata.io import files
from bertdata.torch.models.config import MOST_LAYERS, UNLIMITED, EncoderConfig, require_read
from bertdata.torch.models.transformers_library import (
    config_of,
    made,
    raising,
    transformers_library,
    values_of,
)

OFFSET_BY_PADDING = (
    "camembert",
    "data2vec-text",
    "esm",
    "ibert",
    "longformer",
    "luke",
    "roberta",
    "roberta-prelayernorm",
    "xlm-roberta",
    "xlm-roberta-xl",
    "xmod",
)
"""Models whose positions begin after that of the padding token (`create_position_ids_from_input_ids`)."""
OFFSET = {"mpnet": 2}
"""Models whose positions begin at a number of their own."""


@dataclass
class TransformersConfig(EncoderConfig):
    """A config of transformers. values: its `config.json`, without the version and where it was."""

    model_type: ClassVar[str] = "transformers"
    family: ClassVar[str] = "Transformers"

    values: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def weights(self) -> int:
        """The number of weights of the encoder."""
        with torch.device("meta"):
            return sum(parameter.numel() for parameter in made(self.peer, "AutoModel").parameters())

    def settings(self) -> dict[str, Any]:
        return self.values

    @property
    def peer(self) -> Any:
        """The config as an object of transformers."""
        return config_of(self.values)

    @classmethod
    def of(cls, peer: Any) -> Self:
        """Return the config of one of transformers."""
        kind = peer.model_type
        values = values_of(peer)
        for name in ("transformers_version", "_name_or_path"):
            values.pop(name, None)
        sizes: dict[str, Any] = {
            name: getattr(peer, name, None) for name in ("vocab_size", "hidden_size", "pad_token_id")
        }
        for name, size in sizes.items():
            if type(size) is not int or size < 0:
                raise ConfigError(
                    f"the {kind} config has {name} {shortened(size)}; expected a whole number, as an encoder of text "
                    "has it, such as deberta-v2"
                )
        layers = getattr(peer, "num_hidden_layers", 1)
        if type(layers) is not int or layers < 1:
            raise ConfigError(f"num_hidden_layers of the {kind} config is {shortened(layers)}; expected 1 or more")
        _require_bounds(kind, values)
        require_read(values)
        values["return_dict"] = True
        length = getattr(peer, "max_position_embeddings", None)
        if isinstance(length, int):
            offset = sizes["pad_token_id"] + 1 if kind in OFFSET_BY_PADDING else OFFSET.get(kind, 0)
            length = max(length - offset, 1) if length > 0 else UNLIMITED
        return cls(
            max_position_embeddings=min(length, UNLIMITED) if isinstance(length, int) else UNLIMITED,
            values=values,
            **sizes,
        )

    @classmethod
    def load(cls, directory: str | os.PathLike[str]) -> Self:
        place = files.path_text(directory)
        with raising(ConfigError, "transformers makes no config of it", place):
            peer = transformers_library().AutoConfig.from_pretrained(place, trust_remote_code=False)
        return cls.of(peer)


def _require_bounds(kind: str, values: Mapping[str, Any]) -> None:
    """Raise ConfigError for a number that no encoder has, of which a model would take days or all memory to be made."""
    for name, value in values.items():
        most = MOST_LAYERS if "layers" in name or "group" in name else UNLIMITED
        if type(value) is int and value > most:
            raise ConfigError(f"{name} of the {kind} config is {shortened(value)}; expected at most {most:,}")
