"""Documents for the benchmarks of examples: Wikipedia articles of `BERTDATA_DATA`, else the sample books."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path

from bertdata.io import compression
from bertdata.io.patterns import expand
from bertdata.sample import SAMPLE_BOOKS
from bertdata.tokenizers.wordpiece import WordPieceTokenizer, train_wordpiece

DATA = Path(os.environ.get("BERTDATA_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data")


def tokenizer_of(texts: Sequence[str]) -> WordPieceTokenizer:
    """Return BERT's uncased vocabulary, or one trained on the texts where that is not at hand."""
    published = DATA / "vocab" / "bert-base-uncased.txt"
    if published.exists():
        return WordPieceTokenizer.from_pretrained(str(published))
    words: dict[str, int] = {}
    for word in " ".join(texts).lower().split():
        words[word] = words.get(word, 0) + 1
    return WordPieceTokenizer.from_tokens(train_wordpiece(words, vocab_size=8000))


def texts(size: float) -> tuple[list[str], str]:
    """Return documents of about so many bytes, and what they are."""
    path = DATA / "wikipedia-plain" / "good-2019.jsonl.zst"
    texts_read: list[str] = []
    if path.exists():
        with compression.open_decompressed(str(path)) as stream:
            for line in stream:
                texts_read.append(json.loads(line)["text"])
                size -= len(texts_read[-1].encode())
                if size <= 0:
                    break
        return texts_read, f"{len(texts_read)} articles"
    return [Path(path).read_text("utf-8") for path in expand([SAMPLE_BOOKS], [".txt"])], "the sample books"
