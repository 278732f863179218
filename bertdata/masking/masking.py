"""Which tokens of an example are predicted, and what stands in their place (BERT section 3.1, appendix A.1).

A mask is a function of the seed, the epoch (or static copy), the example's id and the position, so an example is masked
the same way on any worker and after any restart, and anew in every epoch. The share is of the tokens that are not
special ([CLS], [SEP], padding); the number in a row is rounded up or down at random so that its mean is exact, and is
at least one.

What is drawn together is a unit: a token; a whole word; an n-gram of words, n drawn with weight 1/n (ALBERT section
3.1); a span of words, its length geometric (SpanBERT section 3.1). A row is parted into units from the beginning of
each segment, so that none crosses a special token, and the units stand in an order drawn for them. Of tokens the first
are taken.

Units of words stand on a circle, each on as many places as it has tokens, and a stretch of the share of all places is
drawn on it: the units that begin in the stretch are predicted. So every unit has the chance that was asked for,
whatever its length, and the expected number of predicted tokens is exactly the share, in rows of every length. So that
a unit always begins in the stretch, none may be longer than it. An n-gram or a span therefore ends before the word that
would make it longer; a single word that is longer is predicted whole, but stands on fewer places. A row of so few words
that the share of them is less than one (at 15%, six words or fewer) has one word predicted, each with the same chance.

`max_predictions_per_seq` is kept exactly: where more tokens were chosen, the units are taken one after another round
the circle, those that do not fit any more are left out, and of a word longer than the limit, where it comes first, its
first pieces are taken.

80/10/10 is drawn for each token (BERT, ALBERT) or once for a unit (SpanBERT), `replace_unit`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.counter_rng import bits, key, threshold
from bertdata.errors import ConfigError
from bertdata.masking.settings import MaskingConfig
from bertdata.masking.units import find_unit, unit_thresholds

IGNORE_INDEX = -100

Ints = NDArray[np.int64]

_PURPOSES = ("mask number", "mask position", "mask length", "mask window", "mask action", "mask replacement")


@dataclass(frozen=True)
class Masked:
    """One masked batch, flat: ids with masks in place, and labels that are the original id or -100, both (T,).

    They are int64, or narrow where that was asked for. capped: rows in which `max_predictions_per_seq` bit.
    """

    input_ids: NDArray[Any]
    labels: NDArray[Any]
    capped: int


@dataclass(frozen=True, eq=False)
class Masker:
    """Masks the rows of one vocabulary: the settings, the seed, and the ids it must know.

    replacement_ids: what a random token is drawn from, unless that is the whole vocabulary, integers (R,);
    continuation: for each id of the vocabulary, whether its piece continues a word, bool (V,); needed where a unit is
    of whole words or random tokens are any.

    >>> masker = Masker(MaskingConfig(), seed=0, cls_token_id=2, sep_token_id=3, mask_token_id=4,
    ...     replacement_ids=np.arange(5, 10))
    >>> masked = masker.mask(np.array([2, 9, 8, 7, 3]), np.array([0, 5]), np.array([77]), epoch=0)
    >>> masked.input_ids.tolist(), masked.labels.tolist()
    ([2, 9, 4, 7, 3], [-100, -100, 8, -100, -100])
    """

    config: MaskingConfig
    seed: int
    cls_token_id: int
    sep_token_id: int
    mask_token_id: int
    replacement_ids: NDArray[np.integer]
    continuation: NDArray[np.bool_] | None = None

    def special(self, input_ids: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Return where [CLS] and [SEP] stand, bool (T,)."""
        special: NDArray[np.bool_] = (input_ids == self.cls_token_id) | (input_ids == self.sep_token_id)
        return special

    def mask(
        self,
        input_ids: NDArray[np.integer],
        offsets: Ints,
        example_ids: Ints,
        epoch: int,
        *,
        special: NDArray[np.bool_] | None = None,
        narrow: bool = False,
    ) -> Masked:
        """Mask the rows of a flat batch: row i is input_ids[offsets[i]:offsets[i+1]], and has the id example_ids[i].

        special: True at tokens that are not masked, [CLS] and [SEP] if not given; narrow: ids are written as uint16 and
        labels as int16, for vocabularies of up to 32,768 pieces. A row without ordinary tokens stays as it is. Raises
        ConfigError where `continuation` or replacements are missing, ValueError where the arrays do not go together or
        narrow types do not hold an id.
        """
        special = self.special(input_ids) if special is None else special
        _check_arrays(input_ids, offsets, special, example_ids)
        return self._masked(input_ids, offsets, example_ids, epoch, special, self.choices, narrow)

    def count(
        self,
        input_ids: NDArray[np.integer],
        offsets: Ints,
        example_ids: Ints,
        epoch: int,
        *,
        special: NDArray[np.bool_] | None = None,
    ) -> tuple[int, int]:
        """Return how many tokens of a batch `mask` predicts, and in how many rows the limit bit."""
        special = self.special(input_ids) if special is None else special
        if self.by_token:
            after = np.searchsorted(np.flatnonzero(special), offsets)
            number, capped = number_of_predictions(np.diff(offsets - after), example_ids, self.config, self.seed, epoch)
            return int(number.sum()), capped
        _check_arrays(input_ids, offsets, special, example_ids)
        masked = self._masked(input_ids, offsets, example_ids, epoch, special, np.zeros(1, np.int64), False)
        return int((masked.labels != IGNORE_INDEX).sum()), masked.capped

    @cached_property
    def choices(self) -> Ints:
        """The ids that a random token is drawn from, int64; raises ConfigError where it needs some and has none."""
        choices = np.ascontiguousarray(self.replacement_ids, np.int64)
        if self.config.random_tokens == "vocabulary":
            choices = np.arange(len(self._known("--random-tokens vocabulary", "how large the vocabulary is")))
        if self.config.random_token_prob and not len(choices):
            raise ConfigError(
                "the vocabulary has no ids but special and [unused] ones, so no random token can be drawn; "
                "give --random-token-prob 0, or another vocabulary"
            )
        return choices

    @cached_property
    def by_token(self) -> bool:
        """Whether a unit is a single token."""
        return find_unit(self.config).is_token(self.config)

    @cached_property
    def word_pieces(self) -> NDArray[np.bool_]:
        """Which ids continue a word, bool (V,), of which none does where a unit is not of whole words.

        Raises ConfigError where it has to know them and does not.
        """
        whole_words = find_unit(self.config).whole_words
        if not whole_words:
            return np.zeros(1, np.bool_)
        pieces = self._known(f"--mask-unit {self.config.mask_unit}", "which pieces continue a word")
        return np.ascontiguousarray(pieces, np.bool_)

    def _known(self, setting: str, what: str) -> NDArray[np.bool_]:
        if self.continuation is None:
            raise ConfigError(f"{setting} needs to know {what}; give the Masker the `continuation` of the tokenizer")
        return self.continuation

    def _masked(
        self,
        input_ids: NDArray[np.integer],
        offsets: Ints,
        example_ids: Ints,
        epoch: int,
        special: NDArray[np.bool_],
        choices: Ints,
        narrow: bool,
    ) -> Masked:
        rows = (
            np.ascontiguousarray(offsets, np.int64),
            np.ascontiguousarray(special, np.bool_),
            np.ascontiguousarray(example_ids, np.int64),
        )
        drawn = _epoch_keys(self.seed, epoch), _shares(self.config)
        limit = self.config.max_predictions_per_seq
        masked: NDArray[Any]
        labels: NDArray[Any]
        if narrow:
            _check_narrow(input_ids, choices, self.mask_token_id)
        with np.errstate(over="ignore"):
            if self.by_token:
                from bertdata.masking.tokens_kernel import mask_batch_of_tokens

                given: NDArray[Any] = np.ascontiguousarray(
                    input_ids, np.uint16 if input_ids.dtype == np.uint16 else np.int64
                )
                inside = len(given) == int(offsets[-1] - offsets[0])
                ids_type, labels_type = (np.uint16, np.int16) if narrow else (np.int64, np.int64)
                masked = np.empty(len(given), ids_type) if inside else input_ids.astype(ids_type)
                labels = np.empty(len(given), labels_type) if inside else np.full(len(given), IGNORE_INDEX, labels_type)
                capped = mask_batch_of_tokens(given, masked, labels, *rows, *drawn, limit, self.mask_token_id, choices)
                return Masked(masked, labels, int(capped))
            from bertdata.masking.units_kernel import mask_batch

            masked, labels = input_ids.astype(np.int64), np.full(len(input_ids), IGNORE_INDEX)
            lengths, by_unit = unit_thresholds(self.config), self.config.replace_unit == "unit"
            capped = mask_batch(
                *(masked, labels, *rows, self.word_pieces, *drawn, lengths),
                *(limit, self.mask_token_id, choices, by_unit),
            )
        if narrow:
            masked, labels = masked.astype(np.uint16), labels.astype(np.int16)
        return Masked(masked, labels, int(capped))


@lru_cache(maxsize=64)
def _shares(config: MaskingConfig) -> NDArray[np.uint64]:
    """Return the thresholds of being predicted, of [MASK], and of [MASK] or a random token, uint64 (3,)."""
    shown = config.mask_token_prob, config.mask_token_prob + config.random_token_prob
    return np.array([threshold(share) for share in (config.masked_lm_prob, *shown)], np.uint64)


@lru_cache(maxsize=64)
def _epoch_keys(seed: int, epoch: int) -> NDArray[np.uint64]:
    return bits(_keys(seed), epoch)


@lru_cache(maxsize=8)
def _keys(seed: int) -> NDArray[np.uint64]:
    return np.array([key(seed, purpose) for purpose in _PURPOSES], np.uint64)


def _check_narrow(input_ids: NDArray[np.integer], replacement_ids: Ints, mask_token_id: int) -> None:
    highest = max(int(input_ids.max(initial=0)), int(replacement_ids.max(initial=0)), mask_token_id)
    if input_ids.dtype != np.uint16 or highest > np.iinfo(np.int16).max:
        raise ValueError(
            f"ids are {input_ids.dtype} up to {highest}; expected uint16 up to 32767 to be masked narrowly"
        )


def _check_arrays(input_ids: NDArray[np.integer], offsets: Ints, special: NDArray[np.bool_], example_ids: Ints) -> None:
    whole = len(offsets) == len(example_ids) + 1 and len(special) == len(input_ids)
    if not whole or offsets[0] < 0 or offsets[-1] > len(input_ids) or (np.diff(offsets) < 0).any():
        raise ValueError(
            f"{len(input_ids)} ids, {len(special)} flags, {len(offsets)} offsets and {len(example_ids)} example ids do "
            "not go together; expected a flag for each id, and ascending offsets within them, one more than examples"
        )


def count_masked(masked: Masked, mask_token_id: int) -> tuple[int, int, int]:
    """Return how many tokens of a masked batch are predicted, how many of these became [MASK], how many stayed.

    >>> count_masked(Masked(np.array([2, 4, 8, 7]), np.array([-100, 9, 8, -100]), 0), 4)
    (2, 1, 1)
    """
    from bertdata.masking.tokens_kernel import count_masked

    counts = np.zeros(3, np.int64)
    count_masked(masked.input_ids, masked.labels, mask_token_id, counts)
    predicted, became, stayed = counts.tolist()
    return predicted, became, stayed


def number_of_predictions(
    available: Ints, example_ids: Ints, config: MaskingConfig, seed: int, epoch: int
) -> tuple[Ints, int]:
    """Return how many tokens of each row are wanted, int64 (E,), and in how many rows the limit bit.

    The fraction left by 0.15 n is rounded up or down by a draw; `available` is n, the ordinary tokens of each row. With
    units of one token it is what `Masker.mask` predicts; with units of words see `Masker.count`.
    """
    share = threshold(config.masked_lm_prob)
    fraction = bits(key(seed, "mask number"), epoch, example_ids) >> np.uint64(32)
    number = ((available.astype(np.uint64) * np.uint64(share) + fraction) >> np.uint64(32)).astype(np.int64)
    number = np.minimum(np.maximum(number, 1), available)
    if not config.max_predictions_per_seq:
        return number, 0
    return np.minimum(number, config.max_predictions_per_seq), int((number > config.max_predictions_per_seq).sum())
