"""WordPiece: the exact BERT tokenizer, and the trainer of its vocabulary.

Names are loaded when first used: importing this package imports neither tokenizers nor numba.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bertdata.tokenizers.training.counts import merge_counts
    from bertdata.tokenizers.wordpiece.tokenizer import WordPieceTokenizer
    from bertdata.tokenizers.wordpiece.train.counting import count_words
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
    "SPECIAL_TOKENS": "wordpiece.vocabulary",
    "WordPieceTokenizer": "wordpiece.tokenizer",
    "count_words": "wordpiece.train.counting",
    "merge_counts": "training.counts",
    "read_vocabulary": "wordpiece.vocabulary",
    "train_wordpiece": "wordpiece.train.trainer",
    "write_vocabulary": "wordpiece.vocabulary",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'bertdata.tokenizers.wordpiece' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"bertdata.tokenizers.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
