"""How often each token is in the text of train, kept beside the shards, for masks that favour rare tokens.

`token_counts/table.arrow` has the column `count`, int64, of which row i is of id i: the tokens of train of the phase,
each document once, whatever the copies and the mixture. The `info` of the shards has its fingerprint.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np
import pyarrow as pa

from bertdata.arrays import Ints
from bertdata.errors import ConfigError
from bertdata.masking.settings import MaskingConfig
from bertdata.shards.mask_tables import load
from bertdata.tokenizers.base import Tokenizer

FOLDER = "token_counts"
_COLUMN = "count"


@dataclass(frozen=True, eq=False)
class TokenCounts:
    """The count of each id of a vocabulary, int64 (V,).

    >>> TokenCounts.from_arrow(TokenCounts(np.array([3, 0, 7])).to_arrow()).counts.tolist()
    [3, 0, 7]
    """

    counts: Ints

    @classmethod
    def from_arrow(cls, table: pa.Table) -> Self:
        """Return the counts that `to_arrow` wrote; raises ValueError for what is not counts."""
        counts = table[_COLUMN].to_numpy()
        if counts.dtype != np.int64 or (counts < 0).any():
            raise ValueError(f"the column {_COLUMN!r} is not of whole numbers from 0 on")
        return cls(counts)

    def to_arrow(self) -> pa.Table:
        """Return them as a table of one column."""
        return pa.table({_COLUMN: pa.array(self.counts, pa.int64())})

    @cached_property
    def fingerprint(self) -> str:
        """A digest of all counts, 64 hexadecimal digits."""
        return hashlib.sha256(self.counts.astype("<i8").tobytes()).hexdigest()


def load_counts(build: str, fingerprint: str) -> TokenCounts:
    """Return the counts beside the shards of a build; raises the errors of `mask_tables.load`."""
    return load(TokenCounts.from_arrow, build, FOLDER, "token counts", fingerprint)


def delays_for(masking: MaskingConfig, tokenizer: Tokenizer, build: str, fingerprint: str) -> Ints | None:
    """Return the delays of `bertdata.masking.smoothing` under masking settings, None where these have no smoothing.

    fingerprint: that of the counts of the build, "" where it has none. Special tokens, [UNK] among them, have weight 0.
    Raises ConfigError where the build has no counts, or others, or those of another vocabulary.
    """
    if not masking.mask_smoothing:
        return None
    from bertdata.masking.smoothing import delays

    if not fingerprint:
        raise ConfigError(
            f"mask_smoothing is {masking.mask_smoothing:g}, and these shards were built without --mask-smoothing, so "
            "they have no counts of their tokens; build again with it (nothing is tokenized again), or give 0",
            path=build,
        )
    counts = load_counts(build, fingerprint).counts
    if len(counts) != tokenizer.vocab_size:
        raise ConfigError(
            f"there are counts of {len(counts):,} tokens, and the vocabulary has {tokenizer.vocab_size:,}; build again",
            path=build,
        )
    return delays(counts, tokenizer.special_ids, masking.mask_smoothing)
