"""The rows that a sentence is scored by: one for each of its tokens, in which that token is hidden.

The pseudo-log-likelihood of a sentence is the sum of log p(token | the others) over its tokens (Salazar et al. 2020,
arXiv 1910.14659, section 2.2). Where words are cut into several tokens that is too high, for the rest of a rare word
gives a token away; so the tokens of the same word to the right can be hidden as well (Kauf and Ivanova 2023,
arXiv 2305.10588, section 3).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Metric:
    """A way to hide tokens.

    help: what is hidden, for --help. hidden: returns for the words of T tokens, int64 (T,), which tokens are hidden
    while each is scored, bool (T, T), itself among them. by_word: whether it needs the words, else they are all 0.
    """

    help: str
    hidden: Callable[[Ints], NDArray[np.bool_]]
    by_word: bool = False


def the_token(words: Ints) -> NDArray[np.bool_]:
    """Return that each token alone is hidden while it is scored.

    >>> the_token(np.array([0, 0])).tolist()
    [[True, False], [False, True]]
    """
    return np.eye(len(words), dtype=np.bool_)


def rest_of_word(words: Ints) -> NDArray[np.bool_]:
    """Return that each token is hidden while it is scored, and those of its word to the right.

    >>> rest_of_word(np.array([0, 1, 1])).tolist()
    [[True, False, False], [False, True, True], [False, False, True]]
    """
    return np.triu(words[:, None] == words[None, :])


ORIGINAL = Metric("the token alone (Salazar et al. 2020)", the_token)
WITHIN_WORD_L2R = Metric(
    "the token and the later tokens of its word (Kauf and Ivanova 2023)", rest_of_word, by_word=True
)


@dataclass(frozen=True)
class Sentence:
    """A row of ids with its special tokens, int64 (L,), the places of its T tokens and their words, int64 (T,)."""

    ids: Ints
    places: Ints
    words: Ints


@dataclass(frozen=True)
class MaskedRow:
    """A row with tokens hidden, int64 (L,), and a place of it; scores: (where in the flat scores, the token there)."""

    ids: Ints
    place: int
    scores: list[tuple[int, int]]


def masked_rows(sentences: Sequence[Sentence], metric: Metric, mask_token_id: int) -> list[MaskedRow]:
    """Return the rows of sentences, the longest first, each once: sentences that differ in a token have some in common.

    The flat scores are those of the tokens of all sentences, one sentence after another.

    >>> pair = [Sentence(np.array([2, 7, last, 3]), np.array([1, 2]), np.array([0, 1])) for last in (8, 9)]
    >>> for row in masked_rows(pair, ORIGINAL, 4): print(row.ids.tolist(), row.place, row.scores)
    [2, 4, 8, 3] 1 [(0, 7)]
    [2, 7, 4, 3] 2 [(1, 8), (3, 9)]
    [2, 4, 9, 3] 1 [(2, 7)]
    """
    rows: dict[tuple[bytes, int], MaskedRow] = {}
    number = 0
    for sentence in sentences:
        for place, hidden in zip(sentence.places.tolist(), metric.hidden(sentence.words), strict=True):
            ids = sentence.ids.copy()
            ids[sentence.places[hidden]] = mask_token_id
            row = rows.setdefault((ids.tobytes(), place), MaskedRow(ids, place, []))
            row.scores.append((number, int(sentence.ids[place])))
            number += 1
    return sorted(rows.values(), key=lambda row: -len(row.ids))


def batches(rows: Sequence[MaskedRow], most_tokens: int) -> Iterator[Sequence[MaskedRow]]:
    """Yield rows, the longest first, in batches of at most so many tokens with padding; a longer row is alone.

    >>> rows = [MaskedRow(np.zeros(length, np.int64), 0, []) for length in (4, 3, 3, 2)]
    >>> [[len(row.ids) for row in batch] for batch in batches(rows, 8)]
    [[4, 3], [3, 2]]
    """
    start = 0
    while start < len(rows):
        end = start + max(1, most_tokens // len(rows[start].ids))
        yield rows[start:end]
        start = end


def padded(batch: Sequence[MaskedRow], pad_token_id: int) -> tuple[Ints, Ints, Ints]:
    """Return the ids of a batch, padded, where its tokens are (1, else 0), both int64 (N, L), and its places (N,)."""
    ids = np.full((len(batch), max(len(row.ids) for row in batch)), pad_token_id, np.int64)
    taken = np.zeros_like(ids)
    for number, row in enumerate(batch):
        ids[number, : len(row.ids)] = row.ids
        taken[number, : len(row.ids)] = 1
    return ids, taken, np.array([row.place for row in batch], np.int64)
