"""Sources mixed by weight: how many epochs of each, and which documents are in which copy of the corpus.

Weights are shares of the text. The total stays the same (times `dupe_factor`), so a source whose weight is above its
share of the text has more epochs, and another one fewer: whole copies, and after them a copy of some documents, drawn
by a hash of their ids.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bertdata.counter_rng import bernoulli, bits, key
from bertdata.errors import ConfigError

MOST_EPOCHS = 1000


def check_mix(weights: Mapping[str, float], sources: Sequence[str]) -> None:
    """Raise ConfigError, which names the sources, where there are weights but not one for each source."""
    names = ", ".join(sources)
    if unknown := [name for name in weights if name not in sources]:
        raise ConfigError(f"--mix names {', '.join(unknown)}, but the sources of this build are: {names}")
    if weights and (missing := [name for name in sources if name not in weights]):
        raise ConfigError(
            f"--mix gives no weight to {', '.join(missing)}; the sources of this build are: {names}. "
            "Give each a weight, or leave a source out of the build"
        )


def epochs_of(weights: Mapping[str, float], sizes: Mapping[str, int], dupe_factor: int) -> dict[str, float]:
    """Return how many epochs of each source a build takes; `sizes` are the bytes of text of each.

    Raises ConfigError where a source would have more than 1,000 epochs.

    >>> epochs_of({"wikipedia": 3, "books": 1}, {"wikipedia": 600, "books": 400}, 1)
    {'wikipedia': 1.25, 'books': 0.625}
    """
    whole, total = sum(sizes.values()) * dupe_factor, sum(weights[name] for name in sizes)
    epochs = {name: weights[name] / total * whole / size for name, size in sizes.items() if size}
    for name, number in epochs.items():
        if number > MOST_EPOCHS:
            raise ConfigError(
                f"--mix would take {name} {number:,.0f} times; expected {MOST_EPOCHS:,} epochs of a source at most: "
                "give it less weight"
            )
    return epochs


def number_of_copies(epochs: Sequence[float], dupe_factor: int) -> int:
    """Return how many copies of the corpus a build has; in a mixture the last ones have only some documents.

    >>> number_of_copies([1.25, 0.625], 1), number_of_copies([], 3)
    (2, 3)
    """
    return max(map(math.ceil, epochs), default=dupe_factor)


def documents_of_copy(
    keys: NDArray[np.uint64], sources: NDArray[np.int8], epochs: Sequence[float], copy: int, seed: int
) -> NDArray[np.bool_]:
    """Return which documents are in a copy, bool (D,), by the hashes of their ids and their sources; all if no epochs.

    >>> keys, sources = np.arange(4, dtype=np.uint64), np.array([0, 0, 1, 1], np.int8)
    >>> [documents_of_copy(keys, sources, (2.0, 1.0), copy, 0).tolist() for copy in range(2)]
    [[True, True, True, True], [True, True, False, False]]
    """
    taken = np.ones(len(keys), np.bool_)
    if epochs:
        draws = bits(key(seed, "mix"), keys)
        for number, share in enumerate(epochs):
            rest = min(max(share - copy, 0.0), 1.0)
            here = sources == number
            taken[here] = bernoulli(draws[here], rest)
    return taken
