"""Pretraining data for the BERT family: Wikipedia dumps and books in, Arrow shards out, the same bytes anywhere.

Names are loaded when first used, so that importing bertdata imports neither Beam nor torch nor numba.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as that of `typing`, whose import would cost more than all of this module

if TYPE_CHECKING:
    import typing

    from bertdata.errors import (
        BertDataError,
        ConfigError,
        InputError,
        MissingExtraError,
        OutputError,
        VerificationError,
    )
    from bertdata.pipelines.in_python import build
    from bertdata.sentences import SentenceSegmenter
    from bertdata.shards import open_shards
    from bertdata.sources.books.read import clean_book
    from bertdata.sources.wikipedia import clean_wikitext
    from bertdata.tokenizers.loading import load_tokenizer
    from bertdata.tokenizers.wordpiece import WordPieceTokenizer, train_wordpiece

__version__ = "0.1.0"
INTERRUPTED = "interrupted: run the same command again to go on; what is done is kept"
INTERRUPTED_CODE = 130
"""What a command says that is interrupted, and its exit code; `bertdata.__main__` may import nothing else."""

__all__ = [
    "BertDataError",
    "ConfigError",
    "InputError",
    "MissingExtraError",
    "OutputError",
    "SentenceSegmenter",
    "VerificationError",
    "WordPieceTokenizer",
    "build",
    "clean_book",
    "clean_wikitext",
    "load_tokenizer",
    "open_shards",
    "train_wordpiece",
]

_HOMES = {
    "SentenceSegmenter": "bertdata.sentences",
    "WordPieceTokenizer": "bertdata.tokenizers.wordpiece",
    "build": "bertdata.pipelines.in_python",
    "clean_book": "bertdata.sources.books.read",
    "clean_wikitext": "bertdata.sources.wikipedia",
    "load_tokenizer": "bertdata.tokenizers.loading",
    "open_shards": "bertdata.shards",
    "train_wordpiece": "bertdata.tokenizers.wordpiece",
}


def __getattr__(name: str) -> typing.Any:
    if name not in __all__:
        raise AttributeError(f"module 'bertdata' has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_HOMES.get(name, "bertdata.errors")), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
