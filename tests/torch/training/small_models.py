"""Small encoders of every family with a tokenizer, saved, for the tests of fine-tuning."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from bertdata.torch import (
    AlbertConfig,
    AlbertForPreTraining,
    BertConfig,
    BertForPreTraining,
    ElectraConfig,
    ElectraForPreTraining,
    ModernBertConfig,
    ModernBertForMaskedLM,
)
from tests.torch.build import tokenizer_of

_SIZES = {"vocab_size": 100, "num_hidden_layers": 1, "hidden_size": 32, "intermediate_size": 64}
FAMILIES: dict[str, Callable[[], Any]] = {
    "bert": lambda: BertForPreTraining(BertConfig.tiny(**_SIZES, max_position_embeddings=40)),
    "albert": lambda: AlbertForPreTraining(AlbertConfig.tiny(**_SIZES, max_position_embeddings=40)),
    "electra": lambda: ElectraForPreTraining(ElectraConfig.tiny(**_SIZES, max_position_embeddings=40)),
    "modernbert": lambda: ModernBertForMaskedLM(ModernBertConfig.tiny(**_SIZES, local_attention=8)),
}


def saved(folder: Path, family: str) -> Path:
    """Save a small model of a family with its tokenizer, always the same weights, and return its folder."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        FAMILIES[family]().save_pretrained(folder)
    tokenizer_of().save_pretrained(folder)
    return folder
