"""`merge_symbols`: the best pair of neighbouring symbols is joined everywhere, again and again.

`kernels/merges.py` does it fast; the same in forty lines, the oracle of its tests, is `tests/oracles/merges.py`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bertdata.tokenizers.training.merging.corpus import Corpus


class Merged(NamedTuple):
    """The initial tokens and those that merges made, by id; the pairs that were merged, in the order of their merges.

    A pair that occurred again after its merge, and was merged again, counts with the last of them.
    """

    tokens: list[str]
    merges: list[tuple[str, str]]


def merge_symbols(
    corpus: Corpus, tokens: list[str], vocab_size: int, *, criterion: int, min_frequency: int, mark: str = ""
) -> Merged:
    """Return what merging makes of a corpus and its initial tokens, until there are `vocab_size` or no pair is left.

    `criterion` is a code of `merge_score.CODES`; `mark` is what tokens begin with that continue a word.
    """
    if len(corpus.points) == 0 or len(tokens) >= vocab_size:
        return Merged(tokens, [])
    from bertdata.tokenizers.training.merging import state as states
    from bertdata.tokenizers.training.merging.kernels.merges import merge_pairs

    state = states.state_of(corpus, tokens, vocab_size, mark)
    state.counters.criterion, state.counters.min_frequency = criterion, min_frequency
    while not merge_pairs(state, len(tokens), vocab_size):
        arrays = state._asdict()
        del state
        state = states.grow(arrays)
    chars = state.chars[: state.counters.chars].tobytes().decode("utf-32-le")
    made = state.symbols[len(tokens) : state.counters.symbols][["continues", "start", "length"]].tolist()
    every = tokens + [mark * continues + chars[start : start + length] for continues, start, length in made]
    pairs = state.pairs[: state.counters.pairs]
    joined = pairs[pairs.rank >= 0]
    symbols = joined.symbols[np.argsort(joined.rank)].tolist()
    return Merged(every, [(every[pair >> 32], every[pair & 0xFFFFFFFF]) for pair in symbols])
