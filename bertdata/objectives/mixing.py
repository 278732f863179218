"""Sources mixed by weight: how many epochs of each, and which documents are in which copy of the corpus.

Weights are shares of the text. The total stays the same (times `dupe_factor`), so a source whose weight is above its
share of the text has more epochs, and another one fewer: whole copies, and after them a copy of some documents, drawn
by a hash of their ids.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertdata.counter_rng import bernoulli, bits, key
from bertdata.errors import ConfigError, did_you_mean
from bertdata.objectives.settings import MixingConfig

MOST_EPOCHS = 1000


def check_mix(weights: Mapping[str, float], sources: Sequence[str]) -> None:
    """Raise ConfigError, which names the sources, where there are weights but not one for each source."""
    names = ", ".join(sources)
    if unknown := [name for name in weights if name not in sources]:
        near = did_you_mean(unknown[0], sources)
        raise ConfigError(f"--mix names {', '.join(unknown)}, but the sources of this build are: {names}{near}")
    if weights and (missing := [name for name in sources if name not in weights]):
        raise ConfigError(
            f"--mix gives no weight to {', '.join(missing)}; the sources of this build are: {names}. "
            "Give each a weight, or leave a source out of the build"
        )


@dataclass(frozen=True)
class SourceShare:
    """How much of a source train has: its weight, its epochs, and those it would have without `max_epochs`."""

    weight: float
    epochs: float
    wanted: float

    def values(self) -> dict[str, float]:
        """Return what the manifest says of it beside the epochs."""
        return {"weight": self.weight} | ({"wanted": round(self.wanted, 4)} if self.epochs < self.wanted else {})


def plan_shares(config: MixingConfig, sizes: Mapping[str, int], dupe_factor: int) -> dict[str, SourceShare]:
    """Return the share of each source that a phase takes; `sizes` are the tokens, or the bytes of text, of each.

    They have `train_tokens` together, or `train_epochs` times what they hold, or that `dupe_factor` times. What
    `max_epochs` does not let a source have, the others have by their weights (as in UniMax, Chung et al. 2023).
    Raises ConfigError where all of them together may not have as much, or a source would have over 1,000 epochs.

    >>> shares = plan_shares(MixingConfig(mix_temperature=0.5), {"en": 9_000_000, "is": 1_000_000}, 1)
    >>> {name: round(share.epochs, 2) for name, share in shares.items()}
    {'en': 0.83, 'is': 2.5}
    >>> shares = plan_shares(MixingConfig(mix_temperature=0.5, max_epochs=2), {"en": 9_000_000, "is": 1_000_000}, 1)
    >>> {name: round(share.epochs, 2) for name, share in shares.items()}
    {'en': 0.89, 'is': 2.0}
    """
    sizes = {name: size for name, size in sizes.items() if size}
    available = sum(sizes.values())
    total = config.train_tokens or available * (config.train_epochs or dupe_factor)
    weights = config.weights
    if not weights:
        powers = {name: (size / available) ** (config.mix_temperature or 1.0) for name, size in sizes.items()}
        weights = {name: power / sum(powers.values()) for name, power in powers.items()}
    most = float(config.max_epochs or MOST_EPOCHS)
    if config.max_epochs and config.train_epochs > config.max_epochs:
        raise ConfigError(
            f"--train-epochs {config.train_epochs:g} is over --max-epochs {config.max_epochs:g}; give fewer"
        )
    if config.max_epochs and total > most * available:
        raise ConfigError(
            f"train is to have {total:,.0f} tokens, and --max-epochs {most:g} of the {available:,} of its sources are "
            "fewer; take fewer tokens, more epochs, or more text"
        )
    if config.mix or config.mix_temperature:
        wanted, epochs = _filled(weights, sizes, total, math.inf), _filled(weights, sizes, total, most)
    else:
        wanted = epochs = dict.fromkeys(sizes, config.train_epochs or total / max(available, 1))
    for name, number in {} if config.max_epochs else wanted.items():
        if number > MOST_EPOCHS:
            raise ConfigError(
                f"train would take {name} {number:,.0f} times; expected {MOST_EPOCHS:,} epochs of a source at most: "
                "give it less weight, or train less text"
            )
    return {name: SourceShare(weights[name], epochs[name], wanted[name]) for name in sizes}


def _filled(weights: Mapping[str, float], sizes: Mapping[str, int], total: float, most: float) -> dict[str, float]:
    """Return the epochs of sources of some sizes by weight that add up to a total, none of them over `most`."""
    epochs: dict[str, float] = {}
    while len(epochs) < len(sizes):
        remaining = total - sum(sizes[name] * number for name, number in epochs.items())
        whole = sum(weights[name] for name in sizes if name not in epochs)
        shares = {
            name: weights[name] / whole * remaining / size if whole else 0.0
            for name, size in sizes.items()
            if name not in epochs
        }
        over = dict.fromkeys((name for name, number in shares.items() if number > most), most)
        epochs |= over or shares
    return epochs


def number_of_copies(epochs: Sequence[float], dupe_factor: int) -> int:
    """Return how many copies of the corpus a build has; in a mixture the last ones have only some documents.

    >>> number_of_copies([1.25, 0.625], 1), number_of_copies([], 3)
    (2, 3)
    """
    return max(map(math.ceil, epochs), default=dupe_factor)


def documents_of_copy(
    keys: NDArray[np.uint64], sources: NDArray[np.signedinteger], epochs: Sequence[float], copy: int, seed: int
) -> NDArray[np.bool_]:
    """Return which documents are in a copy, bool (D,), by the hashes of their ids and their sources; all if no epochs.

    >>> keys, sources = np.arange(4, dtype=np.uint64), np.array([0, 0, 1, 1], np.int8)
    >>> [documents_of_copy(keys, sources, (2.0, 1.0), copy, 0).tolist() for copy in range(2)]
    [[True, True, True, True], [True, True, False, False]]
    """
    taken = np.ones(len(keys), np.bool_)
    if epochs:
        draws = bits(key(seed, "mix"), keys)
        for number in np.unique(sources).tolist():
            rest = min(max(epochs[number] - copy, 0.0), 1.0)
            here = sources == number
            taken[here] = bernoulli(draws[here], rest)
    return taken
