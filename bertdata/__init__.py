"""Pretraining data for the BERT family: Wikipedia dumps and books in, Arrow shards out, the same bytes anywhere.

    build               dumps, books, files or rows to shards, as `bertdata build` does; returns a `BuiltCorpus`
    open_shards         a split of a build as an Arrow table and as rows
    load_tokenizer      a tokenizer by name, folder or file: WordPiece, BPE, Unigram, SentencePiece
    WordPieceTokenizer  texts to the ids of BERT, whole batches as Arrow arrays
    train_wordpiece     texts to a WordPiece vocabulary
    SentenceSegmenter   a text to its sentences (Punkt)
    clean_wikitext      the wikitext of a page to prose
    clean_book          the text of a book to prose
    BertDataError       the base of ConfigError, InputError, OutputError, VerificationError and MissingExtraError

Modules with public names of their own:

    bertdata.loader     ShardExamples, EpochBatchSampler, BatchCollator, numpy_batches: batches of NumPy arrays
    bertdata.torch      ShardDataset, ResumableLoader, PretrainingCollator: batches of tensors; encoders and heads
    bertdata.finetune   labelled examples to shards: encode_task in bertdata.finetune.task_shards
    bertdata.formats    export and import_shards: other formats from and to shards
    bertdata.inspect    report.report_html, stats.measure, show.read_examples, diff.diff: a build for its reader
    bertdata.errors     the errors, with what they mean

    corpus = bertdata.build("corpus", documents="texts/*.jsonl", objective="sop")
    corpus.train[0]["input_ids"]

The command is `bertdata`, also as `python -m bertdata`; `bertdata help` lists what it does.

Names are loaded when first used, so that importing bertdata imports neither Beam nor torch nor numba.
"""

from __future__ import annotations

TYPE_CHECKING = False  # as that of `typing`, whose import would cost more than all of this module

if TYPE_CHECKING:
    import typing

    from bertdata.corpus.in_python import build
    from bertdata.errors import (
        BertDataError,
        ConfigError,
        InputError,
        MissingExtraError,
        OutputError,
        VerificationError,
    )
    from bertdata.sentences import SentenceSegmenter
    from bertdata.shards import open_shards
    from bertdata.sources.books.read import clean_book
    from bertdata.tokenizers.loading import load_tokenizer
    from bertdata.tokenizers.wordpiece import WordPieceTokenizer, train_wordpiece
    from bertdata.wikitext.clean import clean_wikitext

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
    "build": "bertdata.corpus.in_python",
    "clean_book": "bertdata.sources.books.read",
    "clean_wikitext": "bertdata.wikitext.clean",
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
