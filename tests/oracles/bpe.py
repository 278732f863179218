"""The BPE trainer as its definition reads; for reading, and for checking `train_bpe` on small inputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bertdata.tokenizers.bpe.trainer import ALPHABET, letters_of
from bertdata.tokenizers.training.merging.merging import Merged
from tests.oracles.merges import merge_slowly


def train_bpe_slowly(
    word_counts: Mapping[str, int], vocab_size: int, *, min_frequency: int = 2, first: Sequence[str] = ()
) -> Merged:
    """Return what `train_bpe` returns.

    >>> train_bpe_slowly({"low": 5, "lower": 2}, 260).merges
    [('l', 'o'), ('lo', 'w'), ('e', 'r'), ('low', 'er')]
    """
    words = [(list(letters_of(word)), count) for word, count in word_counts.items() if count]
    return merge_slowly(words, [*first, *ALPHABET], vocab_size, criterion="frequency", min_frequency=min_frequency)
