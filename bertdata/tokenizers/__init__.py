"""Text in, token ids out: the families of tokenizers, and how vocabularies are trained."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bertdata.registry import Registry, loading

if TYPE_CHECKING:
    from bertdata.tokenizers.base import SpecialTokens, Tokenizer
    from bertdata.tokenizers.loading import load_tokenizer
    from bertdata.tokenizers.pairs import RowTemplate

__all__ = ["TOKENIZERS", "RowTemplate", "SpecialTokens", "Tokenizer", "load_tokenizer"]

TOKENIZERS: Registry[Any] = Registry(
    "tokenizer family",
    {
        "wordpiece": "bertdata.tokenizers.wordpiece.tokenizer:WordPieceTokenizer",
        "extended-wordpiece": "bertdata.tokenizers.wordpiece.extended:ExtendedWordPiece",
        "sentencepiece": "bertdata.tokenizers.spm.tokenizer:SentencePieceTokenizer",
        "vocab-merges": "bertdata.tokenizers.bpe.files:VocabMergesTokenizer",
        "json": "bertdata.tokenizers.json_tokenizer:JsonTokenizer",
        "tekken": "bertdata.tokenizers.bpe.tekken:TekkenTokenizer",
        "esm": "bertdata.tokenizers.esm:EsmTokenizer",
        "tiktoken": "bertdata.tokenizers.bpe.tiktoken:TiktokenTokenizer",
    },
)
"""The families of tokenizers, each a class of `base.Tokenizer`; a folder is of the first that knows its files."""

__getattr__ = loading(
    __name__,
    {
        "RowTemplate": "pairs",
        "SpecialTokens": "base",
        "Tokenizer": "base",
        "load_tokenizer": "loading",
    },
)
