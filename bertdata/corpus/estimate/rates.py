"""What work costs, as measured: `python benchmarks/rates.py` prints these tables anew.

On one core of an AMD EPYC (Zen 4) at 2.6 GHz, kernels compiled and loaded; a core that is half as fast takes twice the
hours.
"""

from __future__ import annotations

from math import log

READ: dict[str, float] = {
    "wikipedia, bz2": 0.084,
    "wikipedia": 0.011,
    "books": 0.072,
    "json-lines": 0.011,
    "parquet": 0.008,
    "plain-text": 0.005,
    "finished": 0.0,
}
"""Processor seconds for a million stored bytes of a dump, and for a million bytes of the text of other formats."""
READ_SMALL: dict[str, float] = {"wikipedia, bz2": 0.42, "wikipedia": 0.075}
"""The same for dumps with less text than kernels pay for."""
OTHER_FORMAT = 0.02
"""The same for the text of a format that is not in `READ`."""
TEMPLATE_PAGES = 0.7
"""What reading the template pages of a dump takes, as a share of cleaning it."""
COUNT_WORDS: dict[str, float] = {"wordpiece": 0.007, "bpe": 0.01, "unigram": 0.042}
"""Processor seconds for counting the words of a million bytes of text, beside `PART_SECONDS`."""
TRAIN: dict[str, float] = {"wordpiece": 5.5, "bpe": 3.9, "unigram": 60.0}
"""Processor seconds for training a vocabulary of `TRAINED_SIZE` from a million distinct words, in one process."""
TRAINED_SIZE = 30_000
UNIGRAM_SEED = 1_000_000
"""Pieces with which the training of a Unigram vocabulary begins."""
HEAPS: dict[str, float] = {"wordpiece": 0.5, "bpe": 0.5, "unigram": 0.65}
"""The exponents by which distinct words grow with the text (Heaps' law), as measured on articles and books.

The words of Unigram, between spaces, have their punctuation with them.
"""
TOKENIZE: dict[str, float] = {"wordpiece": 0.0105, "bpe": 0.015, "unigram": 0.014, "tokenizers": 0.5}
"""Processor seconds for finding the sentences of a million bytes of text and tokenizing them, beside `PART_SECONDS`;
the last is that of the tokenizers package."""
PART_SECONDS = 0.0095
"""Processor seconds for a part in which words are counted or text is tokenized, however small: its tables and files."""
SIGN: dict[str, float] = {"exact": 0.0044, "near": 0.011}
"""Processor seconds for signing a million bytes of text, to find duplicates."""
SPANS: dict[str, float] = {"paragraphs": 0.012, "sentences": 0.022}
"""Processor seconds for signing the paragraphs or sentences of a million bytes of text, and deciding what repeats."""
REWRITE = 0.016
"""Processor seconds for writing a million bytes of documents anew."""
ROWS: dict[str, float] = {"dynamic": 0.016, "static": 0.021}
"""Processor seconds for a million tokens in rows, by when masks are drawn."""
COMMAND_SECONDS = 1.6
"""Processor seconds of a build beside its parts: imports, planning, and what passes between the pipelines."""
START_SECONDS = 0.4
"""Processor seconds for starting a worker process on this machine; it is kept for all pipelines of a build."""
KERNELS_SECONDS = 0.6
"""Processor seconds in which a process loads compiled kernels; compiling them takes 57 once on a machine."""

PROCESS_BYTES = 440_000_000
"""Memory of a worker before it holds any text."""
DRIVER_BYTES = 235_000_000
"""Memory of the process that was started, before it holds any record."""
RANGE_MEMORY = 4.0
"""Memory in which a range of documents is tokenized, by its text."""
SHARD_MEMORY = 2.0
"""Memory in which a shard is written, by its text.

Builds of 135 MB of text with shards of 17, 67 and 135 MB had workers of 456, 472 and 592 MB, and one of a dump with 34
MB of text 469 MB.
"""
WORD_BYTES = 650
"""Memory of the training of a vocabulary for each distinct word."""
DRIVER_SECONDS_PER_PART = 0.004
"""Processor seconds of the process that was started for planning a part and reading its record."""

REQUEST_SECONDS = 0.002
"""Processor seconds of a request to a store, in the process that asks; how long the store lets it wait is not in it."""
TRANSFER_SECONDS = 0.0033
"""Processor seconds for a million bytes that are read from a store or written to it, over HTTP, without TLS.

Both are fitted to builds of 0.1, 1.5 and 10 GB of XML in an S3 (`benchmarks/build.py`).
"""
REQUESTS = 170
"""Requests to a store for a build, whatever its size."""
REQUESTS_PER_PART = 7
"""For each part: reading what it is made of, writing it, and its record.

Fitted to the requests that an S3 got from builds of 0.1 and 1.5 GB of XML, 2,572 and 4,371, to within 6%.
"""
REQUESTS_PER_REFERENCE = 1
"""For each reference that a part reads: its bytes."""


def train_seconds(model: str, vocab_size: int) -> float:
    """Return the processor seconds for training a vocabulary of so many tokens from a million distinct words.

    Unigram begins with a million pieces and leaves out a quarter in each round, so fewer tokens take longer (those of
    half a million and more are taken to need the same); WordPiece and BPE spend their time on the words.

    >>> round(train_seconds("unigram", 8_000) / train_seconds("unigram", 30_000), 2), train_seconds("bpe", 8_000)
    (1.38, 3.9)
    """
    if model != "unigram":
        return TRAIN[model]
    return TRAIN[model] * log(UNIGRAM_SEED / min(vocab_size, UNIGRAM_SEED // 2)) / log(UNIGRAM_SEED / TRAINED_SIZE)
