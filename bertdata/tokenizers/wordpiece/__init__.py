"""WordPiece: the exact BERT tokenizer, and the trainer of its vocabulary.

Names are loaded when first used: importing this package imports neither tokenizers nor numba.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bertdata.tokenizers.wordpiece.tokenizer import WordPieceTokenizer
    from bertdata.tokenizers.wordpiece.train.counting import count_words, merge_counts
    from bertdata.tokenizers.wordpiece.train.trainer import train_wordpiece
    from bertdata.tokenizers.wordpiece.vocabulary import SPECIAL_TOKENS, read_vocabulary, write_vocabulary

__all__ = [
    "SPECIAL_TOKENS",
    "WordPieceTokenizer",
    "count_words",
    "merge_counts",
    "read_vocabulary",
    "train_wordpiece",
    "write_vocabulary",
]

_HOMES = {
    "SPECIAL_TOKENS": "vocabulary",
    "WordPieceTokenizer": "tokenizer",
    "count_words": "train.counting",
    "merge_counts": "train.counting",
    "read_vocabulary": "vocabulary",
    "train_wordpiece": "train.trainer",
    "write_vocabulary": "vocabulary",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'bertdata.tokenizers.wordpiece' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"bertdata.tokenizers.wordpiece.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
