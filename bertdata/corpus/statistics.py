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

from bertdata.engine.int_rows import IntRows
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

_32, _LOW = np.uint64(32), np.uint64(0xFFFFFFFF)
_AS_ONE = np.array([1 << 32, 1], np.uint64)

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
    *,
    compiled: bool = False,
) -> None:
    """Add what only warnings read to `signs`, `sample` and `longest_document` in the details of the counters.

    sentence_ends: where each sentence ends in `tokens`; document_lengths: the tokens of each document; word_starts:
    which tokens begin a word, where their ids do not tell; compiled: whether a kernel counts.
    """
    function_words, ends = tables
    signs: Counter[str] = Counter(counters.details.get("signs", {}))
    signs["english_function_words"] += _function_words(tokens, function_words, word_starts, compiled)
    signs["sentences_without_end"] += len(sentence_ends) - int(np.count_nonzero(ends[tokens[sentence_ends - 1]]))
    look = _look_compiled if compiled else _look
    looked_at, closing_tags, broken = 0, 0, 0
    sample = [_as_numbers(counters.details.get("sample", []))]
    for chunk in texts.chunks:
        offsets = np.frombuffer(chunk.buffers()[1], np.int32)[chunk.offset : chunk.offset + len(chunk) + 1]
        hashes, numbers = look(chunk.buffers()[2] or pa.py_buffer(b""), offsets)
        sample.append(hashes)
        looked_at, closing_tags, broken = looked_at + numbers[0], closing_tags + numbers[1], broken + numbers[2]
    smallest = np.sort(np.concatenate(sample))[:SAMPLE]
    counted = {"bytes_looked_at": looked_at, "closing_tags": closing_tags, "broken_characters": broken}
    signs.update(counted if looked_at else {})
    longest = int(document_lengths.max()) if len(document_lengths) else 0
    counters.details |= {
        "signs": dict(signs),
        "sample": IntRows(np.column_stack([smallest >> _32, smallest & _LOW]).astype(np.int64)),
        "longest_document": max(longest, counters.details.get("longest_document", 0)),
    }


def _function_words(
    tokens: NDArray[np.integer], table: NDArray[np.bool_], word_starts: NDArray[np.bool_] | None, compiled: bool
) -> int:
    """Return how many tokens are in the table; where `word_starts` are given, those that begin a word."""
    if compiled:
        from bertdata.corpus.statistics_kernel import count_function_words

        asks = word_starts is not None
        return count_function_words(tokens, table, table[:0] if word_starts is None else word_starts, asks)
    return int(np.count_nonzero(table[tokens] if word_starts is None else table[tokens] & word_starts))


def _look(data: pa.Buffer, offsets: NDArray[np.int32]) -> tuple[NDArray[np.uint64], list[int]]:
    """Return the hash and the bytes of each text as one number, and how many bytes were looked at for signs, and these.

    The signs are closing tags and broken characters.
    """
    view, hashes = memoryview(data), []
    looked_at = closing_tags = broken = 0
    for begin, end in pairwise(offsets.tolist()):
        hashes.append((zlib.crc32(view[begin : min(end, begin + _START)]) << 32) + end - begin)
        for start in range(begin, end, STRIDE):
            sampled = bytes(view[start : min(end, start + LOOKED_AT)])
            looked_at += len(sampled)
            closing_tags += sampled.count(b"</")
            broken += sum(sampled.count(characters) for characters in _BROKEN)
    return np.array(hashes, np.uint64), [looked_at, closing_tags, broken]


def _look_compiled(data: pa.Buffer, offsets: NDArray[np.int32]) -> tuple[NDArray[np.uint64], list[int]]:
    """Return what `_look` returns."""
    from bertdata.corpus import statistics_kernel as kernel

    hashes, counts = np.empty(len(offsets) - 1, np.uint64), np.zeros(kernel.COUNTS, np.int64)
    view = np.frombuffer(data, np.uint8)
    kernel.look_at_texts(view, offsets, LOOKED_AT, STRIDE, _START, _crc_table(), hashes, counts)
    return hashes, counts.tolist()


@lru_cache(maxsize=1)
def _crc_table() -> NDArray[np.uint32]:
    """Return what each byte does to a CRC-32, uint32 (256,): its polynomial, 0xEDB88320, divides the byte."""
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, (table >> 1) ^ np.uint32(0xEDB88320), table >> 1)
    return table


def share_of_copies(samples: Iterable[Sequence[Sequence[int]]]) -> tuple[float, int]:
    """Return the share of documents that begin as another of the same length does, and how many were compared.

    Each sample holds the smallest hashes of the documents of a part. The smallest of them all are those of the corpus.

    >>> share_of_copies([[[1, 9], [2, 9]], [[1, 9], [7, 9]]])
    (0.25, 4)
    """
    sampled = np.sort(np.concatenate([_as_numbers(sample) for sample in (*samples, [])]))[:SAMPLE]
    return (1 - len(np.unique(sampled)) / len(sampled) if len(sampled) else 0.0), len(sampled)


def _as_numbers(sample: Sequence[Sequence[int]]) -> NDArray[np.uint64]:
    """Return the hashes of a sample, each with the bytes of its text as one number."""
    return np.array(sample, np.uint64).reshape(-1, 2) @ _AS_ONE
