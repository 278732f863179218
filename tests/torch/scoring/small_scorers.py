"""Small masked language models with tokenizers of words in pieces, and sentences of all kinds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from bertdata import load_tokenizer
from bertdata.tokenizers.base import Tokenizer
from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer

SENTENCES = [
    "The cats sleep.",
    "The cats sleeps.",
    "Unbelievably, the lighthouse-keeper's daughter didn't mind 3.14 storms!",
    "She sees herself",
    "rain",
    "Café naïve ☂ 北京 — zzzzqqx",
    "  two   spaces \t here ",
    "The cats sleep.",
]
_LETTERS = "abcdefghijklmnopqrstuvwxyzé0123456789"
PIECES = WordPieceTokenizer.from_tokens(
    [
        *SPECIAL_TOKENS,
        *("the", "cats", "sleep", "she", "light", "##house"),
        *_LETTERS,
        *(f"##{letter}" for letter in _LETTERS),
        *".,-'!☂—",
    ],
    do_lower_case=True,
)
"""A vocabulary that cuts most words into letters."""
SIZES: dict[str, Any] = {
    "hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 48,
    "max_position_embeddings": 64,
}  # fmt: skip


def saved(folder: Path, kind: str, vocabulary: str, **more: Any) -> Path:
    """Save a model of transformers of a type, with random weights that are not near 0, and its tokenizer.

    vocabulary: what `load_tokenizer` takes, "" for `PIECES`.
    """
    transformers = pytest.importorskip("transformers")
    tokenizer: Tokenizer = load_tokenizer(vocabulary) if vocabulary else PIECES
    names = {"pad": "pad", "cls": "cls", "sep": "sep", "bos": "cls", "eos": "sep"}
    ids = {f"{name}_token_id": getattr(tokenizer, f"{role}_token_id") for name, role in names.items()}
    config = transformers.AutoConfig.for_model(kind, **SIZES | ids | {"vocab_size": tokenizer.vocab_size} | more)
    torch.manual_seed(0)
    model = transformers.AutoModelForMaskedLM.from_config(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn(weight.shape) * 0.05)
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
