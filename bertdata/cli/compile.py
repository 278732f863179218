"""`bertdata compile`: compiles the kernels that builds and loaders use, and keeps them on disk, as for an image."""

from __future__ import annotations

import argparse
import bz2
import contextlib
import io
import os
import tempfile
import time
from typing import Any

import numpy as np

from bertdata.counter_rng import argsort, bits
from bertdata.io import compression, files
from bertdata.kernels import warmup
from bertdata.kernels.hash_table import empty_table, rehash
from bertdata.sample import SAMPLE_DUMP

FILTERS = ("gopher-repetition", "gopher-quality", "fineweb-quality", "c4-quality")
BUILDS: tuple[dict[str, Any], ...] = (
    {"dedup": "near", "dedup_spans": "paragraphs", "max_seq_length": [64, 128], "split_chapters": True},
    {"objective": "sop", "mask_unit": "word", "masking": "static", "dedup": "near", "dedup_minhash": "datatrove"},
    {"objective": "full-sentences", "mask_unit": "ngram", "masking": "static", "bin_size": 32},
    {"objective": "doc-sentences", "mask_unit": "span", "masking": "static"},
    {"objective": "single-segment", "filter": FILTERS},
    {"objective": "sentence-pair-nsp"},
    {"objective": "doc-chunks", "vocab": "bertdata-32k-bpe", "pack": True},
    {"objective": "joined-chunks", "vocab": "bertdata-32k-bpe", "masking": "static"},
    {"model": "bpe", "vocab_size": 500},
)
"""Settings of builds of the sample corpus that together use the kernels of all builds."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata compile` to a parser."""
    parser.add_argument(
        "--vocab",
        nargs="+",
        default=[],
        metavar="PATH",
        help="also the kernels of these tokenizers: of a Unigram model, for example, as no shipped one is Unigram",
    )


def run(arguments: argparse.Namespace) -> int:
    """Build the sample corpus with one group of settings after another, and print how many kernels were compiled."""
    compiled = 0

    def count() -> None:
        nonlocal compiled
        compiled += 1

    began = time.monotonic()
    warmup.listeners.append(count)
    try:
        with warmup.compiling_always(), tempfile.TemporaryDirectory() as folder:
            texts = _other_forms(folder)
            for settings in (*BUILDS, *({"vocab": vocab, "objective": "doc-sentences"} for vocab in arguments.vocab)):
                _build(files.join(folder, "corpus"), settings)
            _build(files.join(folder, "texts"), texts)
            argsort(bits(0, np.arange(1 << 12)))
            rehash(empty_table(1), empty_table(4))  # tables of large vocabularies grow
    finally:
        warmup.listeners.remove(count)
    print(f"compiled {compiled} kernels in {time.monotonic() - began:.0f} s; they are kept in {_place()}")
    return 0


def _other_forms(folder: str) -> dict[str, Any]:
    """Write the sample dump as one bz2 stream without an index, texts and test data; return settings to read them."""
    names = ("wiki.xml.bz2", "text.txt", "rows.jsonl", "tests.txt")
    dump, text, rows, tests = (files.join(folder, name) for name in names)
    with compression.open_decompressed(SAMPLE_DUMP) as source:
        files.write_bytes(dump, bz2.compress(source.read(), 1))
    files.write_bytes(text, b"A fox saw grapes.\nThey hung high.\n\nIt left. They are sour, it said.[1] So.\n" * 50)
    files.write_bytes(rows, b'{"text": "A crow was thirsty.\\nIt found a jug."}\n' * 50)
    files.write_bytes(tests, b"Which of the seven lakes that the traveller saw in the valley had no fish at all?\n")
    return {
        "wikipedia": dump,
        "documents": [text, rows],
        "range_bytes": 20_000,
        "attach_citations": True,
        "decontaminate": [tests],
        "vocab": "bertdata-30k-uncased",
    }


def _build(folder: str, settings: dict[str, Any]) -> None:
    """Build the sample corpus, and read a batch of each phase."""
    from bertdata.corpus.in_python import build
    from bertdata.loader.numpy_loader import numpy_batches

    with contextlib.redirect_stderr(io.StringIO()):
        corpus = build(folder, workers=1, **settings)
    for phase in corpus.phases.values() or [corpus]:
        next(iter(numpy_batches(phase.train, 8)))


def _place() -> str:
    """Return the folder in which machine code is kept."""
    from bertdata.kernels.mixer import sort_draws

    kernel: Any = sort_draws
    return str(os.path.dirname(kernel._cache.cache_path))
