"""A second mask of each row, for a decoder: which tokens hide from which (RetroMAE, Xiao et al. 2022, section 3.3).

RetroMAE's encoder reads a masked row. A decoder of one layer then predicts every token of the row from the state of
[CLS], and from a part of the other tokens that is another one at each position ("enhanced decoding"). As in the
authors' code, a row has a number of sets of hidden tokens, each a mask as the masker of the row draws them, at a rate
of its own, and each position takes one of these sets by a draw. A token never sees itself; special tokens are never
hidden.

The draws are those of masks under another seed, derived from theirs: set k of an epoch e has the mask of the epoch
`SETS` e + k, modulo 2**64. So they are functions of the seed, the epoch and the example as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.arrays import Flags, Ints
from bertdata.counter_rng import bits, key
from bertdata.errors import ConfigError
from bertdata.masking.masking import IGNORE_INDEX, Masker
from bertdata.masking.settings import MaskingConfig

SETS = 128
"""The sets of a row, a power of two. The authors' code has as many as the row has tokens, and up to 256."""
SET_BITS = SETS.bit_length() - 1
MASK_PURPOSE, SET_PURPOSE = "decoder mask", "decoder set"


@dataclass(frozen=True, eq=False)
class DecoderMasker:
    """Draws the second masks of rows.

    masker: what draws a set; its seed is derived from that of the first masks.

    >>> first = Masker(MaskingConfig(), 0, 2, 3, 4, np.arange(5, 10))
    >>> masker = DecoderMasker.of(first, 0.5)
    >>> ids, rows = np.array([2, 9, 8, 7, 6, 3]), np.array([77])
    >>> hidden = masker.hidden(ids, np.array([0, 6]), rows, np.array([0]))
    >>> hidden.shape, hidden.sum(1).tolist() == [2] * SETS, masker.sets(rows, np.array([0]), 6).shape
    ((128, 6), True, (1, 6))
    """

    masker: Masker

    @classmethod
    def of(cls, first: Masker, rate: float) -> DecoderMasker:
        """Return what hides a share of tokens, in the units of the first masks; raises ConfigError for a wrong share.

        Nothing else of the first masks holds: neither a schedule, rates or weights that are drawn, turns, nor a limit.
        """
        if not 0 < rate < 1:
            raise ConfigError(
                f"decoder_masks is {rate:g}; expected the share of tokens that hide from the decoder, above 0 and "
                "below 1, as 0.5"
            )
        units = first.config
        config = MaskingConfig(
            masked_lm_prob=rate,
            mask_token_prob=1.0,
            random_token_prob=0.0,
            mask_unit=units.mask_unit,
            max_ngram=units.max_ngram,
            ngram_weights=units.ngram_weights,
            span_prob=units.span_prob,
            max_span=units.max_span,
        )
        return cls(replace(first, config=config, seed=key(first.seed, MASK_PURPOSE), similar_words=None, delays=None))

    def hidden(
        self,
        input_ids: NDArray[np.integer],
        offsets: Ints,
        example_ids: Ints,
        epochs: Ints,
        *,
        special: Flags | None = None,
        word_starts: Flags | None = None,
    ) -> Flags:
        """Return which tokens each set hides, bool (SETS, T), of the rows of a flat batch, as `Masker.mask` takes them.

        epochs: of the rows, int64 (E,).
        """
        special = self.masker.special(input_ids) if special is None else special
        starts, ends = offsets[:-1], np.arange(SETS)[:, None] * len(input_ids) + offsets[1:]
        of_sets = (SETS * epochs + np.arange(SETS)[:, None]).ravel()
        masked = self.masker.mask(
            np.tile(input_ids, SETS),
            np.concatenate([starts[:1], ends.ravel()]),
            np.tile(example_ids, SETS),
            of_sets,
            special=np.tile(special, SETS),
            word_starts=None if word_starts is None else np.tile(word_starts, SETS),
        )
        hidden: Flags = (masked.labels != IGNORE_INDEX).reshape(SETS, -1)
        return hidden

    def sets(self, example_ids: Ints, epochs: Ints, length: int) -> Ints:
        """Return which set each position of rows takes, int64 (E, length), from 0 to SETS - 1."""
        drawn = bits(key(self.masker.seed, SET_PURPOSE), epochs[:, None], example_ids[:, None], np.arange(length))
        numbers: Ints = (drawn >> np.uint64(64 - SET_BITS)).astype(np.int64)
        return numbers


def with_decoder_columns(batch: dict[str, Any], lengths: Ints, special: tuple[int, ...]) -> dict[str, Any]:
    """Return a padded batch, whose decoder_masks are still (N * SETS, L), with all that its decoder takes.

    decoder_input_ids: the ids without masks, int64 (N, L); decoder_labels: the same, -100 at special tokens and
    padding; maskable: how many tokens of each row have such a label, int64 (N,); decoder_masks: bool (N, SETS, L).
    lengths: of the rows, int64 (N,); special: the ids that are not masked, [CLS] and [SEP].
    """
    labels, ids = batch["labels"], batch["input_ids"]
    originals = np.where(labels == IGNORE_INDEX, ids, labels)
    real = np.arange(ids.shape[1]) < lengths[:, None]
    predicted = real & ~np.isin(originals, special)
    return batch | {
        "decoder_input_ids": originals,
        "decoder_labels": np.where(predicted, originals, IGNORE_INDEX),
        "decoder_masks": batch["decoder_masks"].reshape(len(ids), SETS, -1),
        "maskable": predicted.sum(1, dtype=np.int64),
    }
