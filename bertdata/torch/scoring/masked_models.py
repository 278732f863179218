"""Masked language models as scorers: the logits over the vocabulary at one place of each row, of any library.

Only what is asked for is computed: bertdata's own heads take the hidden states of these places, and in front of the
last layer of a model of transformers the others are left out.
"""

from __future__ import annotations

import os
from typing import Any, Protocol, cast

import torch
from torch import Tensor, nn

from bertdata.errors import ConfigError, InputError, expected_one_of
from bertdata.io import files
from bertdata.tokenizers.base import Tokenizer
from bertdata.torch.models import FAMILIES, LIBRARIES
from bertdata.torch.models.config import EncoderConfig, read_config
from bertdata.torch.models.family import EncoderFamily
from bertdata.torch.models.pretraining import MaskedLanguageModel
from bertdata.torch.models.weight_files import weight_files
from bertdata.torch.models.weights import load

GENERATOR = "generator"
"""The folder of the generator beside a detector of replaced tokens."""


class MaskedModel(Protocol):
    """A model in evaluation mode: the longest row that it takes, its padding, and logits."""

    longest: int
    pad_token_id: int

    def logits(self, input_ids: Tensor, attention_mask: Tensor | None, places: Tensor) -> Tensor:
        """Return the logits (N, vocab_size) at the places, int64 (N,), of rows of ids, int64 (N, L)."""


class OwnModel:
    """A masked language model of bertdata."""

    def __init__(self, model: MaskedLanguageModel) -> None:
        self.model = model.eval()
        self.longest, self.pad_token_id = model.config.max_position_embeddings, model.config.pad_token_id

    def logits(self, input_ids: Tensor, attention_mask: Tensor | None, places: Tensor) -> Tensor:
        """Return the logits at the places of rows."""
        hidden = self.model.encoder.encode(input_ids, attention_mask=attention_mask)
        return self.model.predict(hidden[torch.arange(len(places), device=places.device), places])


class ModelOfTransformers:
    """A masked language model of transformers."""

    def __init__(self, model: Any) -> None:
        self.model = model.eval()
        self.longest, self.pad_token_id = model.config.max_position_embeddings, model.config.pad_token_id
        self._asked: list[Tensor] = []
        last = model.model.get_output_embeddings()
        if isinstance(last, nn.Linear):
            last.register_forward_pre_hook(self._left_out)

    def _left_out(self, module: nn.Module, inputs: tuple[Any, ...]) -> tuple[Any, ...] | None:
        """Leave out the states at all places that were not asked for, in front of the last layer."""
        if not self._asked or inputs[0].ndim != 3 or len(inputs[0]) != len(self._asked[0]):
            return None
        places = self._asked.pop()
        return (inputs[0][torch.arange(len(places), device=places.device), places][:, None], *inputs[1:])

    def logits(self, input_ids: Tensor, attention_mask: Tensor | None, places: Tensor) -> Tensor:
        """Return the logits at the places of rows."""
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        self._asked = [places]
        logits = cast("Tensor", self.model.outputs({"input_ids": input_ids, "attention_mask": mask}).logits)
        if not self._asked:
            return logits[:, 0]
        # The last layer was not called as a module, so the logits are those of all places.
        return logits[torch.arange(len(places), device=places.device), places]


def open_masked_model(directory: str, tokenizer: Tokenizer, library: str, device: torch.device) -> MaskedModel:
    """Open a model on a device; library: whose classes, "" for bertdata's where it has the type, else transformers'.

    Raises ConfigError where it predicts no tokens or does not fit the tokenizer, and InputError for weights that are
    missing.
    """
    path, values = read_config(directory)
    kind = values.get("model_type", "bert")
    if files.exists(files.join(directory, GENERATOR, "config.json")):
        raise ConfigError(
            "this model detects replaced tokens and predicts none; its generator does, in the folder generator/ of it",
            path=directory,
        )
    if library and library not in LIBRARIES:
        raise ConfigError(f"there is no library {library!r}{expected_one_of(library, LIBRARIES)}")
    chosen = library or ("bertdata" if kind in FAMILIES else "transformers")
    weight_files(directory)  # raises InputError where there are none
    model = _own(directory, str(kind), path) if chosen == "bertdata" else _of_transformers(directory, tokenizer)
    config: EncoderConfig = model.config
    if tokenizer.vocab_size > config.vocab_size:
        raise ConfigError(
            f"the model is for {config.vocab_size:,} tokens, and the tokenizer beside it has {tokenizer.vocab_size:,}; "
            "take the tokenizer that it was trained with",
            path=directory,
        )
    model.to(device)
    return OwnModel(model) if isinstance(model, MaskedLanguageModel) else ModelOfTransformers(model)


def _own(directory: str, kind: str, path: str) -> MaskedLanguageModel:
    if kind not in FAMILIES:
        raise ConfigError(
            f"model_type is {kind!r}; expected one of {', '.join(FAMILIES)}, or --library transformers", path=path
        )
    family: EncoderFamily = FAMILIES[kind]
    if family.masked is None:
        raise ConfigError(
            f"the family {kind} names no model with a head for masked tokens alone (EncoderFamily.masked); expected "
            "one that does, such as bert",
            path=path,
        )
    config = family.config.load(directory)
    model = cast("MaskedLanguageModel", family.masked(config))
    unused = (f"{model.pair_head_name}.",) if model.pair_head_name else ()
    load(model, directory, optional=(*unused, f"{config.base_model_prefix}.pooler."))
    return model


def _of_transformers(directory: str | os.PathLike[str], tokenizer: Tokenizer) -> Any:
    from bertdata.torch.models.from_transformers import TransformersModel
    from bertdata.torch.models.transformers_config import TransformersConfig
    from bertdata.torch.models.transformers_library import peer_config_of, transformers_library

    place = files.path_text(directory)
    peer = peer_config_of(place)
    if type(peer) not in transformers_library().MODEL_FOR_MASKED_LM_MAPPING:
        raise ConfigError(
            f"transformers has no {peer.model_type} model for masked tokens; expected an encoder, such as roberta",
            path=place,
        )
    if getattr(peer, "pad_token_id", None) is None:
        peer.pad_token_id = tokenizer.pad_token_id
    model = TransformersModel.from_pretrained(place, config=TransformersConfig.of(peer))
    missing = [name for name in model.missing if "pooler" not in name]
    if missing:
        raise InputError(
            f"has no weights for {', '.join(missing)} of {model.architecture}, so what it predicts would be random; "
            "expected a model that was trained on masked tokens",
            path=place,
        )
    return model
