"""Small hand-made builds on disk, for the tests of the loader and the encoder."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bertdata.corpus.writer import write_shard
from bertdata.io import files
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.blocks import TokenBlock
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import Shards, open_shards
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS, WordPieceTokenizer

WORDS = 95


def tokenizer_of(words: int = WORDS) -> WordPieceTokenizer:
    """Return a tokenizer of the special tokens and `words` words, w0 the first."""
    return WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, *(f"w{i}" for i in range(words))])


def block_of(documents: int, seed: int) -> TokenBlock:
    """Return documents of 8 sentences of 3 to 7 tokens; a few tokens are frequent, so there is something to learn."""
    generator = np.random.default_rng(seed)
    lengths = generator.integers(3, 8, documents * 8)
    tokens = np.minimum(generator.geometric(0.2, int(lengths.sum())), WORDS) + len(SPECIAL_TOKENS) - 1
    sentence_ends = np.cumsum(lengths, dtype=np.int64)
    return TokenBlock(
        tokens=tokens.astype(np.uint16),
        word_start=np.ones(len(tokens), np.bool_),
        sentence_ends=sentence_ends,
        document_ends=sentence_ends[7::8].copy(),
        document_keys=generator.integers(0, 2**63, documents).astype(np.uint64),
    )


def write_build(
    directory: Path,
    config: ExamplesConfig | None = None,
    *,
    documents: int = 24,
    shards: int = 2,
    seed: int = 0,
    masking: MaskingConfig | None = None,
) -> Path:
    """Write a build with one split, train, and return its directory."""
    config = config or ExamplesConfig(max_seq_length=32)
    tokenizer = tokenizer_of()
    info = PretrainingInfo.of(tokenizer, examples=config, masking=masking or MaskingConfig())
    entries = []
    for number in range(shards):
        name = f"train/data-{number:05d}-of-{shards:05d}.arrow"
        path = str(directory / name)
        with files.atomic_write(path) as file:
            write_shard(block_of(documents, seed * 100 + number), info, info.masker(tokenizer), file)
        entries.append({"file": name, "bytes": files.size(path)})
    tokenizer.save_pretrained(directory / "tokenizer")
    files.write_json(
        str(directory / "manifest.json"), {"splits": {"train": {"shards": entries}}, "info": info.values()}
    )
    return directory


def shards_of(directory: Path, config: ExamplesConfig | None = None, *, documents: int = 24, seed: int = 0) -> Shards:
    """Write a build and open it."""
    return open_shards(write_build(directory, config, documents=documents, seed=seed), "train")
