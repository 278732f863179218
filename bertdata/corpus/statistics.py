"""What the token store counts for warnings alone: signs of another language, markup, broken characters, copies.

They are counted text by text, so the figures of a corpus are the same however it is divided into parts.
`corpus_warnings` has the thresholds.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.engine.parts import Counters
from bertdata.tokenizers.base import Tokenizer

SAMPLE = 256
"""Texts of which a record keeps a hash: those with the smallest hashes, so the smallest of all parts are known."""
_FUNCTION_WORDS = frozenset(
    "the of and to in a is that for it as was with be by on not he i this are or his from at which but have an had "  # noqa: SIM905
    "they you were their one all we can her has there been if more when will would who so no".split()
)
_ENDS = frozenset(".!?…。！？।؟۔።:;\"'”’»)]」』")
_BROKEN = ("\ufffd".encode(), "â€".encode(), b"\xc3\x83\xc2")
"""U+FFFD, and UTF-8 that was read as Windows-1252 or Latin-1."""
_START = 512
LOOKED_AT, STRIDE = 1 << 13, 1 << 16
"""Markup and broken characters are counted in the first LOOKED_AT bytes of each STRIDE bytes of a text."""

SignTables = tuple[NDArray[np.bool_], NDArray[np.bool_]]
"""By token id, whether it is an English function word where a word begins, and whether a sentence may end in it (also
[UNK])."""


@lru_cache(maxsize=2)
def sign_tables(tokenizer: Tokenizer) -> SignTables:
    """Return the tables of a vocabulary, made once for a tokenizer."""
    words = {*_FUNCTION_WORDS, *(word.capitalize() for word in _FUNCTION_WORDS)}
    texts = tokenizer.token_texts
    ends = np.array([text[-1:] in _ENDS for text in texts])
    if tokenizer.unk_token_id >= 0:
        ends[tokenizer.unk_token_id] = True
    function_words = np.array([text in words for text in texts])
    return function_words if tokenizer.continuation is None else function_words & ~tokenizer.continuation, ends


def count_signs(
    texts: pa.ChunkedArray,
    tokens: NDArray[np.integer],
    sentence_ends: NDArray[np.integer],
    document_lengths: NDArray[np.integer],
    tables: SignTables,
    counters: Counters,
    word_starts: NDArray[np.bool_] | None = None,
) -> None:
    """Add what only warnings read to `signs`, `sample` and `longest_document` in the details of the counters.

    sentence_ends: where each sentence ends in `tokens`; document_lengths: the tokens of each document; word_starts:
    which tokens begin a word, where their ids do not tell.
    """
    function_words, ends = tables
    signs: Counter[str] = Counter(counters.details.get("signs", {}))
    is_function_word = function_words[tokens]
    signs["english_function_words"] += int(
        np.count_nonzero(is_function_word if word_starts is None else is_function_word & word_starts)
    )
    signs["sentences_without_end"] += len(sentence_ends) - int(np.count_nonzero(ends[tokens[sentence_ends - 1]]))
    sample: list[list[int]] = counters.details.get("sample", [])
    looked_at = closing_tags = broken = 0
    for chunk in texts.chunks:
        offsets = np.frombuffer(chunk.buffers()[1], np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
        data = memoryview(chunk.buffers()[2] or b"")
        for begin, end in pairwise(offsets.tolist()):
            sample.append([zlib.crc32(data[begin : min(end, begin + _START)]), end - begin])
            for start in range(begin, end, STRIDE):
                sampled = bytes(data[start : min(end, start + LOOKED_AT)])
                looked_at += len(sampled)
                if b"<" in sampled:
                    closing_tags += sampled.count(b"</")
                if not sampled.isascii():
                    broken += sum(sampled.count(characters) for characters in _BROKEN)
    counted = {"bytes_looked_at": looked_at, "closing_tags": closing_tags, "broken_characters": broken}
    signs.update(counted if looked_at else {})
    longest = int(document_lengths.max()) if len(document_lengths) else 0
    counters.details |= {
        "signs": dict(signs),
        "sample": sorted(sample)[:SAMPLE],
        "longest_document": max(longest, counters.details.get("longest_document", 0)),
    }


def share_of_copies(samples: Iterable[Sequence[Sequence[int]]]) -> tuple[float, int]:
    """Return the share of documents that begin as another of the same length does, and how many were compared.

    Each sample holds the smallest hashes of the documents of a part. The smallest of them all are those of the corpus.

    >>> share_of_copies([[[1, 9], [2, 9]], [[1, 9], [7, 9]]])
    (0.25, 4)
    """
    sampled = sorted(tuple(row) for sample in samples for row in sample)[:SAMPLE]
    return (1 - len(set(sampled)) / len(sampled) if sampled else 0.0), len(sampled)
