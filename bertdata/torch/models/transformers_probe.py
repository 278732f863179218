"""Tries what a model of transformers does with packed rows and causal masks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from bertdata.errors import ConfigError
from bertdata.loader.padding import padded_length
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.torch.models.transformers_library import (
    in_one_line,
)
from bertdata.torch.models.weights import PreTrainedModel

PROBED = 512
"""Tokens of the row that is put through a model before the first step."""


def probe_model(model: PreTrainedModel, info: PretrainingInfo) -> None:
    """Raise ConfigError where a row of the shards, of 512 tokens at most, cannot go through a model.

    Nor may rows have two token types where it knows one, as RoBERTa's: it would be taken for all tokens.
    """
    if info.token_types > 1 and getattr(getattr(model.config, "peer", None), "type_vocab_size", 0) == 1:
        raise ConfigError(
            f"the model knows 1 token type, and rows of {info.examples.objective} have {info.token_types}; take a "
            f"config with type_vocab_size {info.token_types}, or build with --objective full-sentences"
        )
    length = min(padded_length(info.max_seq_length), PROBED)
    labels = torch.full((1, length), IGNORE_INDEX)
    labels[0, length // 2] = info.sep_token_id
    probe(model, length, info.sep_token_id, info.token_types, labels=labels)


def probe(
    model: PreTrainedModel,
    length: int,
    token_id: int,
    number: int,
    call: Callable[..., Any] | None = None,
    **labels: Tensor,
) -> None:
    """Raise ConfigError where a row of a token, of a number of token types, and its labels cannot go through a model.

    call: what of the model takes the row, all of it by default.
    """
    ids = torch.full((1, length), token_id)
    types = torch.zeros_like(ids)
    types[0, length // 2 :] = number - 1
    was_training = model.training
    model.eval()
    try:
        with torch.no_grad():
            (call or model)(input_ids=ids, attention_mask=torch.ones_like(ids), token_type_ids=types, **labels)
    except Exception as error:
        raise ConfigError(
            f"{model.architecture} cannot take a row of {length} tokens with {number} token types "
            f"({type(error).__name__}: {in_one_line(error)}); change the config"
        ) from error
    finally:
        model.train(was_training)
