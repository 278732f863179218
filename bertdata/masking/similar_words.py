"""Similar words in place of [MASK] (MacBERT, Cui et al. 2020, section 3): a table of words as arrays of ids.

A table is a text file in UTF-8. A line is a word and its similar words, in any order, separated by tabs:

    river<TAB>stream<TAB>brook

The ids of a word are looked up in it, and replaced by those of one of its similar words, which is drawn. A similar word
must have as many tokens as the word, so that no other token moves. Where the masks of words are replaced, MacBERT's
shares are those of words: 80% become a similar word, or random tokens where the table has none, 10% random tokens, and
10% stay.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.arrays import Ints
from bertdata.counter_rng import randint
from bertdata.errors import ConfigError, InputError
from bertdata.io import compression
from bertdata.io.decoding import decode_utf8
from bertdata.masking.masking_kernel import IGNORED, REPLACEMENT
from bertdata.masking.units import token_draws
from bertdata.tokenizers.base import Tokenizer

Word = tuple[int, ...]

TO_SIMILAR, TO_RANDOM = -1, -2
"""The ids that the kernel writes for the words that become similar ones, and those that become random tokens."""
_SIMILAR = 6
"""The place of the key of the draw of a similar word, after those of `masking_kernel`."""


class MaskedRows(Protocol):
    """What is read of the rows of a flat batch: as in `masking_kernel.mask_units`, which masked them."""

    @property
    def offsets(self) -> Ints: ...

    @property
    def special(self) -> NDArray[np.bool_]: ...

    @property
    def example_ids(self) -> Ints: ...

    @property
    def epochs(self) -> Ints: ...

    @property
    def keys(self) -> NDArray[np.uint64]: ...


@dataclass(frozen=True, eq=False)
class SimilarWords:
    """Words of a vocabulary and the similar words of each, flat arrays of int64, in the order of the words' ids.

    sizes: the tokens of each word (W,); words: the ids of all words; counts: the similar words of each word (W,);
    similar: the ids of all similar words, those of one word after another, each as long as the word.

    >>> table = SimilarWords.of({(7,): [(8,), (9,)], (5, 6): [(1, 2)]})
    >>> table.sizes.tolist(), table.words.tolist(), table.counts.tolist(), table.similar.tolist()
    ([2, 1], [5, 6, 7], [1, 2], [1, 2, 8, 9])
    """

    sizes: Ints
    words: Ints
    counts: Ints
    similar: Ints

    @classmethod
    def of(cls, entries: Mapping[Word, Sequence[Word]]) -> SimilarWords:
        """Return the table of some words; a similar word has as many ids as its word."""
        words = sorted(entries)
        return cls(
            np.array([len(word) for word in words], np.int64),
            np.array([token for word in words for token in word], np.int64),
            np.array([len(entries[word]) for word in words], np.int64),
            np.array([token for word in words for other in entries[word] for token in other], np.int64),
        )

    @classmethod
    def from_arrow(cls, table: pa.Table) -> SimilarWords:
        """Return the table that `to_arrow` wrote; raises ValueError for what is not one."""
        lists = [table[name].combine_chunks() for name in ("word", "similar")]
        (sizes, words), (lengths, similar) = (
            (np.diff(column.offsets.to_numpy()).astype(np.int64), column.flatten().to_numpy().astype(np.int64))
            for column in lists
        )
        if (sizes < 1).any() or (lengths < 1).any() or (lengths % np.maximum(sizes, 1)).any():
            raise ValueError("the similar words of a word have another number of tokens")
        return cls(sizes, words, lengths // sizes, similar)

    def to_arrow(self) -> pa.Table:
        """Return it as columns `word` and `similar`: lists of the ids of a word, and of its similar words."""
        lists = []
        for lengths, values in ((self.sizes, self.words), (self.sizes * self.counts, self.similar)):
            offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]), pa.int32())
            lists.append(pa.ListArray.from_arrays(offsets, pa.array(values, pa.uint32())))
        return pa.table(lists, ["word", "similar"])

    @cached_property
    def fingerprint(self) -> str:
        """A digest of all words and similar words, 64 hexadecimal digits."""
        arrays = (self.sizes, self.words, self.counts, self.similar)
        return hashlib.sha256(b"".join(array.astype("<i8").tobytes() for array in arrays)).hexdigest()

    @cached_property
    def _trie(self) -> tuple[Ints, Ints]:
        """The trie of the words, int64: its sorted edges, node * 2**32 + id, and for each node its word, -1 for none.

        The root is node 0, edge i leads to node i + 1. Nodes are numbered by depth, so the edges of a depth are above
        those of the depths before it.
        """
        begins = np.cumsum(self.sizes) - self.sizes
        node = np.zeros(len(self.sizes), np.int64)
        edges: list[Ints] = []
        number = 0
        for depth in range(int(self.sizes.max(initial=0))):
            longer = np.flatnonzero(self.sizes > depth)
            keys, place = np.unique((node[longer] << 32) | self.words[begins[longer] + depth], return_inverse=True)
            node[longer] = number + 1 + place
            number += len(keys)
            edges.append(keys)
        words = np.full(number + 1, -1)
        words[node] = np.arange(len(node))
        return np.concatenate([np.zeros(0, np.int64), *edges]), words

    def find(self, ids: NDArray[np.integer], starts: Ints, sizes: Ints) -> Ints:
        """Return the number of each word, -1 where it is not in the table; word i is ids[starts[i]:][:sizes[i]].

        >>> table = SimilarWords.of({(7,): [(8,), (9,)], (5, 6): [(1, 2)]})
        >>> table.find(np.array([7, 5, 6, 7]), np.array([0, 1, 1]), np.array([1, 2, 3])).tolist()
        [1, 0, -1]
        """
        edges, words = self._trie
        node = np.where(sizes <= self.sizes.max(initial=0), 0, -1)
        for depth in range(int(sizes[node == 0].max(initial=0))):
            going = np.flatnonzero((sizes > depth) & (node >= 0))
            keys = (node[going] << 32) | ids[starts[going] + depth].astype(np.int64)
            at = np.searchsorted(edges, keys)
            matched = np.append(edges, -1)[at] == keys
            node[going] = np.where(matched, at + 1, -1)
        return np.where(node >= 0, words[node], -1)

    def replace(
        self,
        masked: Ints,
        labels: Ints,
        begins: NDArray[np.bool_],
        rows: MaskedRows,
        choices: Ints,
    ) -> None:
        """Write what replaces the predicted words of a batch in place of `TO_SIMILAR` and `TO_RANDOM`, int64 (T,).

        A word has the fate of its first token. labels: the original ids of predicted tokens, -100 elsewhere, int64
        (T,); begins: where words begin, bool (T,); choices: what random tokens are drawn from. Words that are not in
        the table, or not predicted whole, get random tokens.
        """
        predicted = np.flatnonzero(labels != IGNORED)
        firsts, numbers = np.flatnonzero(begins), np.cumsum(begins) - 1
        sizes = np.bincount(numbers[~rows.special & (numbers >= 0)], minlength=len(firsts))
        chosen, at, taken = np.unique(numbers[predicted], return_inverse=True, return_counts=True)
        starts, lengths = firsts[chosen], sizes[chosen]
        fate = masked[starts]
        originals = np.where(labels == IGNORED, masked, labels)
        whole = (fate == TO_SIMILAR) & (taken == lengths)
        word_numbers = np.full(len(chosen), -1)
        word_numbers[whole] = self.find(originals, starts[whole], lengths[whole])

        def draws(purpose: int, positions: Ints) -> NDArray[np.uint64]:
            return token_draws(rows.keys[purpose], rows, positions)

        masked[predicted] = labels[predicted]
        at_random = predicted[((fate < 0) & (word_numbers < 0))[at]]
        masked[at_random] = choices[randint(draws(REPLACEMENT, at_random), len(choices))]
        similar = np.flatnonzero(word_numbers >= 0)
        word, size = word_numbers[similar], lengths[similar]
        spans = self.sizes * self.counts
        drawn = randint(draws(_SIMILAR, starts[similar]), self.counts[word])
        source = (np.cumsum(spans) - spans)[word] + drawn * size
        for depth in range(int(size.max(initial=0))):
            longer = size > depth
            masked[starts[similar][longer] + depth] = self.similar[source[longer] + depth]


def read_table(path: str) -> dict[str, list[str]]:
    """Return the words of a table and their similar words; several lines of a word are one.

    Raises InputError where the file is missing or a line has no similar word.
    """
    with compression.open_decompressed(path) as file:
        lines = decode_utf8(file.read(), path, encoding="utf-8-sig").splitlines()
    words: dict[str, list[str]] = {}
    for number, line in enumerate(lines, 1):
        word, *similar = (cell.strip() for cell in line.split("\t"))
        if not line.strip():
            continue
        if not word or not any(similar):
            raise InputError(
                f"line {number} has {'no word before' if not word else 'a word without'} similar words; expected a "
                "word and its similar words, separated by tabs",
                path=path,
            )
        words.setdefault(word, []).extend(filter(None, similar))
    return words


def compile_table(words: Mapping[str, Sequence[str]], tokenizer: Tokenizer) -> tuple[SimilarWords, dict[str, int]]:
    """Return the table for a tokenizer, and counts of what is in it and what was left out, by reason.

    Words are encoded as they are after a space, and, if that is different, as they are at the start of a text. What is
    left out: what the tokenizer does not take as one word, or without unknown and special tokens; similar words of
    another number of tokens, and those that are the word itself. Raises ConfigError where nothing is left.
    """
    texts = list(dict.fromkeys(text for word, similar in words.items() for text in (word, *similar)))
    ordinary = np.zeros(tokenizer.vocab_size, np.bool_)
    ordinary[tokenizer.replacement_ids] = True
    similar_by_word: dict[Word, dict[Word, None]] = {}
    left_out: dict[tuple[str, str], str] = {}
    used: set[tuple[str, str]] = set()
    for before in (" ", ""):
        encoded = tokenizer.encode_batch_with_words([before + text for text in texts])
        ids = dict(zip(texts, map(tuple, encoded["input_ids"].to_pylist()), strict=True))
        starts = dict(zip(texts, encoded["word_starts"].to_pylist(), strict=True))
        for word, similar in words.items():
            for other in similar:
                reason = _reason(ids[word], ids[other], (starts[word], starts[other]), ordinary)
                if reason:
                    left_out[word, other] = reason
                else:
                    similar_by_word.setdefault(ids[word], {})[ids[other]] = None
                    used.add((word, other))
    counts = Counter(reason for pair, reason in left_out.items() if pair not in used)
    counted = {"words": len({word for word, _ in used}), "similar_words": len(used), **dict(sorted(counts.items()))}
    if not similar_by_word:
        reasons = ", ".join(f"{name.removeprefix('dropped_').replace('_', ' ')}: {counts[name]:,}" for name in counts)
        raise ConfigError(
            f"of the table of similar words nothing is left for this vocabulary ({reasons or 'it is empty'}); expected "
            "words that the tokenizer takes as one word each, with similar words of the same number of tokens"
        )
    return SimilarWords.of({word: list(similar) for word, similar in similar_by_word.items()}), counted


def _reason(word: Word, other: Word, starts: tuple[Sequence[bool], ...], ordinary: NDArray[np.bool_]) -> str:
    """Return why a similar word is left out, "" if it is not."""
    if any(list(start) != [True] + [False] * (len(start) - 1) for start in starts):
        return "dropped_not_one_word"
    if not ordinary[[*word, *other]].all():
        return "dropped_unknown"
    if len(word) != len(other):
        return "dropped_other_number_of_tokens"
    return "dropped_same" if word == other else ""


def table_for(path: str, tokenizer: Tokenizer) -> tuple[SimilarWords, dict[str, int]]:
    """Return what `compile_table` makes of the table at a path; an error names the path."""
    words = read_table(path)
    try:
        return compile_table(words, tokenizer)
    except ConfigError as error:
        raise ConfigError(str(error), path=path) from error
