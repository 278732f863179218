"""Masking units, which are predicted as a whole: a token, a word, or several words whose number is drawn."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bertdata.arrays import Ints
from bertdata.counter_rng import Bits, bits, threshold
from bertdata.masking import MASK_UNITS
from bertdata.masking.settings import MaskingConfig


@dataclass(frozen=True)
class MaskUnit:
    """What is predicted as a whole.

    name, help: the value of `--mask-unit`, and its help.
    weights: the relative frequencies of units of 1, 2, ... words under some settings.
    whole_words: whether the tokens of a word stay together; else each token counts as a word.
    settings: the fields of `MaskingConfig` that this unit reads and some other does not; a build refuses a flag of
    another unit's.
    revision: raise it when other tokens are masked, so that shards with static masks are written again.
    """

    name: str
    help: str
    weights: Callable[[MaskingConfig], Sequence[float]] = lambda config: [1.0]
    whole_words: bool = True
    settings: tuple[str, ...] = ()
    revision: int = 1

    def is_token(self, config: MaskingConfig) -> bool:
        """Tell whether a unit is always a single token."""
        return not self.whole_words and len(self.weights(config)) == 1


TOKEN = MaskUnit("token", "a token (BERT)", whole_words=False)
WORD = MaskUnit("word", "a whole word", settings=("replace_unit",))
NGRAM = MaskUnit(
    "ngram",
    "an n-gram of words (ALBERT, MacBERT)",
    lambda config: [*map(float, config.ngram_weights)] or [1 / n for n in range(1, config.max_ngram + 1)],
    settings=("max_ngram", "ngram_weights", "replace_unit"),
)
TOKEN_NGRAM = MaskUnit(
    "token-ngram",
    "neighbouring tokens, as many as an n-gram has words (GPT-BERT: --ngram-weights 1 1 1)",
    NGRAM.weights,
    whole_words=False,
    settings=NGRAM.settings,
)
SPAN = MaskUnit(
    "span",
    "a span of words (SpanBERT)",
    lambda config: [(1 - config.span_prob) ** n for n in range(config.max_span)],
    settings=("span_prob", "max_span", "replace_unit"),
)


def find_unit(config: MaskingConfig) -> MaskUnit:
    """Return the unit that settings name; raises ConfigError, which lists the known names, for an unknown one."""
    unit: MaskUnit = MASK_UNITS[config.mask_unit]
    return unit


def unit_lengths(config: MaskingConfig) -> list[float]:
    """Return the probabilities of units of 1, 2, ... words.

    >>> [round(chance, 3) for chance in unit_lengths(MaskingConfig(mask_unit="ngram"))]
    [0.545, 0.273, 0.182]
    >>> unit_lengths(MaskingConfig(mask_unit="ngram", ngram_weights=("40", "30", "20", "10")))
    [0.4, 0.3, 0.2, 0.1]
    >>> span = unit_lengths(MaskingConfig(mask_unit="span"))
    >>> round(sum(chance * words for words, chance in enumerate(span, 1)), 1)   # SpanBERT: 3.8
    3.8
    """
    weights = find_unit(config).weights(config)
    return [weight / sum(weights) for weight in weights]


@lru_cache(maxsize=64)
def unit_thresholds(config: MaskingConfig) -> NDArray[np.uint64]:
    """Return the thresholds of the draw of a length: below the n-th, a unit has at most n words."""
    lengths = unit_lengths(config)
    below = [threshold(sum(lengths[: n + 1])) for n in range(len(lengths))]
    return np.array([*below[:-1], 2**32], np.uint64)


class DrawnRows(Protocol):
    """What the draws of the tokens of flat rows depend on: where the rows are, their ids, and their epochs."""

    @property
    def offsets(self) -> Ints: ...

    @property
    def example_ids(self) -> Ints: ...

    @property
    def epochs(self) -> Ints: ...


def row_draws(key: Any, rows: DrawnRows, row: Ints, *counters: Ints) -> Bits:
    """Return a draw for each of some rows, uint64 (R,), by its epoch, its id and further counters, int64 (R,)."""
    epochs = rows.epochs[row] if len(rows.epochs) > 1 else rows.epochs
    return bits(key, epochs, rows.example_ids[row], *counters)


def token_draws(key: Any, rows: DrawnRows, positions: Ints) -> Bits:
    """Return a draw for each of some positions of flat rows, uint64 (P,), by its row and its place there.

    key: that of one purpose and the seed, uint64; positions: int64 (P,).
    """
    row = np.searchsorted(rows.offsets, positions, side="right") - 1
    return row_draws(key, rows, row, positions - rows.offsets[row])


def starting(
    word_starts: NDArray[np.bool_], special: NDArray[np.bool_], offsets: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return where words begin in flat rows, bool (T,); none continues across a special token or the end of a row.

    word_starts: which tokens begin a word, special: which are special, bool (T,); offsets: of the rows, int64 (E + 1,).
    Positions after the last row count as word starts, unless they are special.

    >>> special = np.array([True, False, False, True, False])
    >>> starting(np.array([True, True, False, True, False]), special, np.array([0, 5])).tolist()
    [False, True, False, False, True]
    """
    head = np.append(True, special)[:-1]
    head[offsets[offsets < len(head)]] = True
    begins: NDArray[np.bool_] = ~special & (word_starts | head)
    return begins
