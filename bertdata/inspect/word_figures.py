"""How a vocabulary fits words: tokens per word, words that are cut into many, rare tokens, unknown characters."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.io.console import counted
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.shards import Shards
from bertdata.tokenizers.base import Tokenizer

_SHOWN = 30


@dataclass(frozen=True)
class WordFigures:
    """How a vocabulary fits texts: their words, their tokens, and the characters that it does not know.

    of: whose words, as "of 400 documents".
    """

    of: str
    words: int
    tokens: int
    single_token_words: int
    unknown_tokens: int
    unknown_characters: tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class CountedFigures:
    """How a vocabulary fits words with their counts.

    token_counts: how often each id is in them, int64 (vocab_size,); lengths[n]: the words of n tokens; costliest: words
    by the tokens that they take over one each, the most first: (word, how often, its tokens).
    """

    words: WordFigures
    token_counts: NDArray[np.int64]
    lengths: tuple[int, ...]
    costliest: tuple[tuple[str, int, tuple[str, ...]], ...]


def measure_words(tokenizer: Tokenizer, texts: Sequence[str], most: int = 30) -> WordFigures:
    """Measure the words of texts, and the `most` frequent characters that alone become [UNK]."""
    encoded, starts = tokenizer.encode_batch_with_words(pa.array(texts, pa.string())).columns
    ids = encoded.flatten().to_numpy()
    begins = starts.flatten().to_numpy(zero_copy_only=False)
    unknown = ids == tokenizer.unk_token_id
    last = np.append(begins[1:], True) if len(begins) else begins
    characters = Counter(char for text in texts for char in text if unicodedata.category(char)[0] not in "ZC")
    return WordFigures(
        of=f"of {counted(len(texts), 'document')}",
        words=int(begins.sum()),
        tokens=len(ids),
        single_token_words=int((begins & last & ~unknown).sum()),
        unknown_tokens=int(unknown.sum()),
        unknown_characters=tuple(unknown_characters(tokenizer, characters)[:most]),
    )


def unknown_characters(tokenizer: Tokenizer, counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return the characters that a tokenizer makes [UNK] of and no token has, the most frequent first, with counts.

    >>> from bertdata import WordPieceTokenizer
    >>> known = WordPieceTokenizer.from_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a"])
    >>> unknown_characters(known, {"a": 7, "ɡ": 2, "塩": 3})
    [('塩', 3), ('ɡ', 2)]
    """
    if tokenizer.unk_token_id < 0 or not counts:
        return []
    names = sorted(counts)
    encoded = tokenizer.encode_batch(names).to_pylist()
    parts = {char for token in tokenizer.token_texts for char in token}  # "t" may be known only inside of words
    alone = [name for name, ids in zip(names, encoded, strict=True) if tokenizer.unk_token_id in ids]
    unknown = [name for name in alone if not parts & {name, *name.lower()}]
    return [(name, counts[name]) for name in sorted(unknown, key=lambda name: (-counts[name], name))]


def measure_counted(tokenizer: Tokenizer, tables: Iterable[pa.Table], most: int = _SHOWN) -> CountedFigures:
    """Measure words with their counts: tables with the columns word and count, one after another."""
    token_counts, lengths = np.zeros(tokenizer.vocab_size, np.int64), np.zeros(1, np.int64)
    characters: Counter[str] = Counter()
    costliest: list[tuple[str, int, list[int]]] = []
    words = distinct = tokens = single = unknown = 0
    for table in tables:
        texts, times = table["word"].combine_chunks(), table["count"].to_numpy()
        encoded = tokenizer.encode_batch(texts)
        ids, sizes = encoded.flatten().to_numpy(), np.diff(encoded.offsets.to_numpy())
        weights, is_unknown = np.repeat(times, sizes), ids == tokenizer.unk_token_id
        np.add.at(token_counts, ids, weights)
        lengths = _sum(lengths, np.bincount(sizes, times).astype(np.int64))
        distinct += len(times)
        words += int(times.sum())
        tokens += int(weights.sum())
        unknown += int(weights[is_unknown].sum())
        with_unknown = np.unique(np.repeat(np.arange(len(sizes)), sizes)[is_unknown])
        is_known = np.ones(len(sizes), np.bool_)
        is_known[with_unknown] = False
        single += int(times[(sizes == 1) & is_known].sum())
        for text, number in zip(texts.take(with_unknown).to_pylist(), times[with_unknown].tolist(), strict=True):
            for char in text:
                characters[char] += number
        costs = np.where(is_known, times * np.maximum(sizes - 1, 0), 0)
        chosen = [place for place in np.argsort(-costs, kind="stable")[:most].tolist() if costs[place]]
        costliest += [(texts[place].as_py(), int(times[place]), encoded[place].as_py()) for place in chosen]
    costliest.sort(key=lambda word: (-word[1] * (len(word[2]) - 1), word[0]))
    named = [(word, times, tuple(tokenizer.tokens[i] for i in ids)) for word, times, ids in costliest[:most]]
    seen = {char: number for char, number in characters.items() if unicodedata.category(char)[0] not in "ZC"}
    figures = WordFigures(
        of=f"({distinct:,} distinct)",
        words=words,
        tokens=tokens,
        single_token_words=single,
        unknown_tokens=unknown,
        unknown_characters=tuple(unknown_characters(tokenizer, seen)[:most]),
    )
    return CountedFigures(figures, token_counts, tuple(lengths.tolist()), tuple(named))


def _sum(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sum of two arrays, the shorter one with zeros at its end."""
    result = np.zeros(max(len(first), len(second)), np.int64)
    result[: len(first)] += first
    result[: len(second)] += second
    return result


def count_ids(shards: Shards) -> NDArray[np.int64]:
    """Return how often each id is in the rows of a split, before masking: int64 (vocab_size,)."""
    counts = np.zeros(shards.info.vocab_size, np.int64)
    for rows in shards.table.to_batches():
        ids = rows["input_ids"].flatten().to_numpy()
        if "labels" in rows.schema.names:
            labels = rows["labels"].flatten().to_numpy()
            ids = np.where(labels == IGNORE_INDEX, ids.astype(np.int64), labels)
        counts += np.bincount(ids, minlength=len(counts))
    return counts
