"""Small encoders of transformers with the tokenizer of the tests, saved as their pretraining leaves them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
import transformers

from bertdata.torch.models.transformers_library import quietly
from tests.torch.build import tokenizer_of

SIZES = {
    "hidden_size": 16,
    "embedding_size": 8,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": 64,
    "vocab_size": 100,
}
IDS = {"pad": 0, "cls": 2, "sep": 3, "bos": 2, "eos": 3, "mask": 4}
KINDS: dict[str, dict[str, Any]] = {
    "bert": {},
    "roberta": {"type_vocab_size": 1},
    "xlm-roberta": {"type_vocab_size": 1},
    "deberta-v2": {"relative_attention": True, "position_biased_input": False, "type_vocab_size": 0},
    "electra": {},
    "albert": {},
    "distilbert": {},
    "modernbert": {"global_attn_every_n_layers": 1},
    "eurobert": {},
    "mpnet": {},
}


def small_config(kind: str, **changes: Any) -> Any:
    """Return a config of a type with small sizes, by the names that its configs have."""
    names = transformers.CONFIG_MAPPING[kind]()
    known = {*names.to_dict(), *names.attribute_map}
    values = {name: value for name, value in SIZES.items() if name in known}
    ids = {f"{name}_token_id": value for name, value in IDS.items() if f"{name}_token_id" in known}
    return transformers.AutoConfig.for_model(kind, **{**values, **ids, **KINDS.get(kind, {}), **changes})


def saved_peer(folder: Path, kind: str, auto: str = "AutoModelForMaskedLM", **changes: Any) -> Path:
    """Save a small model of a type with its tokenizer, always the same weights, and return its folder."""
    with torch.random.fork_rng(), quietly():
        torch.manual_seed(0)
        getattr(transformers, auto).from_config(small_config(kind, **changes)).save_pretrained(folder)
    tokenizer_of().save_pretrained(folder)
    return folder
