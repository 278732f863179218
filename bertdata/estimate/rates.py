"""What work costs, as measured: `python benchmarks/rates.py` prints these tables anew.

On one core of an AMD EPYC (Zen 4) at 2.6 GHz, kernels compiled and loaded; a core that is half as fast takes twice the
hours.
"""

from __future__ import annotations

READ: dict[str, float] = {
    "wikipedia, bz2": 0.08,
    "wikipedia": 0.012,
    "books": 0.065,
    "json-lines": 0.011,
    "parquet": 0.009,
    "plain-text": 0.008,
    "finished": 0.0,
}
"""Processor seconds for a million stored bytes of a dump, and for a million bytes of the text of other formats."""
OTHER_FORMAT = 0.02
"""The same for the text of a format that is not in `READ`."""
TEMPLATE_PAGES = 0.7
"""What reading the template pages of a dump takes, as a share of cleaning it."""
COUNT_WORDS: dict[str, float] = {"wordpiece": 0.019, "bpe": 0.02, "unigram": 0.08}
"""Processor seconds for counting the words of a million bytes of text."""
TRAIN: dict[str, float] = {"wordpiece": 5.6, "bpe": 6.1, "unigram": 63.0}
"""Processor seconds for training a vocabulary from a million distinct words, in one process."""
TOKENIZE: dict[str, float] = {"wordpiece": 0.037, "bpe": 0.1, "unigram": 0.075, "tokenizers": 0.5}
"""Processor seconds for finding the sentences of a million bytes of text and tokenizing them; the last is that of the
tokenizers package."""
SIGN: dict[str, float] = {"exact": 0.011, "near": 0.02}
"""Processor seconds for signing a million bytes of text, to find duplicates."""
SPANS: dict[str, float] = {"paragraphs": 0.026, "sentences": 0.048}
"""Processor seconds for signing the paragraphs or sentences of a million bytes of text, and deciding what repeats."""
REWRITE = 0.016
"""Processor seconds for writing a million bytes of documents anew."""
ROWS: dict[str, float] = {"dynamic": 0.016, "static": 0.02}
"""Processor seconds for a million tokens in rows, by when masks are drawn."""
START_SECONDS = 2.3
"""Processor seconds for starting a worker process on this machine; it is kept for all pipelines of a build."""
KERNELS_SECONDS = 4.0
"""Processor seconds in which a process loads compiled kernels; compiling them takes 68 once on a machine."""

PROCESS_BYTES = 380_000_000
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

REQUESTS = 170
"""Requests to a store for a build, whatever its size."""
REQUESTS_PER_PART = 9
"""For each part: reading what it is made of, writing it, and its record.

Fitted to builds of the sample corpus with 25 to 72 parts in the store of `tests/store.py`, to within 9%.
"""
REQUESTS_PER_REFERENCE = 2
"""For each reference that a part reads: opening the file, and its bytes."""
