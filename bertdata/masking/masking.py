"""Which tokens of an example are predicted, and what replaces them (BERT section 3.1, appendix A.1).

A mask is a function of the seed, the epoch (or static copy), the example's id and the position. So an example has the
same mask on any worker and after any restart, and another one in every epoch. `masked_lm_prob` is a share of the tokens
that are not special ([CLS], [SEP], padding). The number in a row is rounded up or down at random, so that its mean is
exact, and is at least one.

Tokens are drawn in units: a token; a whole word; an n-gram of words, n drawn with weight 1/n (ALBERT section 3.1); a
span of words of geometric length (SpanBERT section 3.1). A row is split into units from the beginning of each segment,
so no unit crosses a special token. The units are put in an order that is drawn. Where a unit is one token, the first
ones of this order are predicted.

Units of words lie in this order on a circle, each on as many places as it has tokens. An arc of `masked_lm_prob` of all
places is drawn on the circle, and the units that begin in the arc are predicted. So every unit has the probability
asked for, whatever its length, and the expected number of predicted tokens is exact in rows of every length. No unit
may be longer than the arc, else none might begin in it. Therefore an n-gram or a span ends before the word that would
make it too long, and a single word that is too long is predicted whole but takes fewer places. A row of so few words
that the arc is shorter than one place (at 15%, six words or fewer) has one word predicted, each with the same
probability.

`max_predictions_per_seq` is never exceeded. Where more tokens were chosen, units are taken one after another round the
circle, and those that no longer fit are left out. If the first unit is longer than the limit, its first tokens are
taken.

Where tokens are drawn by weights (DistilBERT), see `smoothing`; where positions are masked in turn (GPT-BERT), the arcs
of some epochs divide the circle among them, see `turns`.

Where each row has a rate of its own, see `rate_draws`.

Where a schedule changes the rates during a run, a mask is a function of the level of the run as well.

The choice of 80/10/10 is drawn for each token (BERT, ALBERT) or once for a unit (SpanBERT), see `replace_unit`; where
similar words stand in for [MASK] (MacBERT), for each word or once for a unit, see `similar_words`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bertdata.arrays import Ints
from bertdata.errors import ConfigError
from bertdata.masking.law import RowLaw, is_constant, law_of, number_of_predictions, seed_keys
from bertdata.masking.masked import Masked, Rows, check_arrays, check_law, check_narrow
from bertdata.masking.rate_draws import rates_of
from bertdata.masking.settings import MaskingConfig
from bertdata.masking.smoothing import spread_table
from bertdata.masking.units import find_unit, starting, unit_thresholds

if TYPE_CHECKING:
    from bertdata.masking.similar_words import SimilarWords

IGNORE_INDEX = -100


@dataclass(frozen=True, eq=False)
class Masker:
    """Masks rows of token ids: the settings, the seed, and what has to be known of the vocabulary.

    replacement_ids: what a random token is drawn from, unless that is the whole vocabulary, integers (R,);
    continuation: which ids continue a word, bool (V,), None where an id alone does not tell: where units are whole
    words, rows come with `word_starts` then; vocab_size: needed where random tokens are drawn from the whole
    vocabulary, and `continuation` is None; similar_words: what replaces words instead of [MASK]; delays: by which rare
    tokens are predicted more often, int64 (V,), as `smoothing.delays` returns them. Raises ConfigError where the
    settings need similar words or delays and none are given.

    >>> masker = Masker(MaskingConfig(), seed=0, cls_token_id=2, sep_token_id=3, mask_token_id=4,
    ...     replacement_ids=np.arange(5, 10))
    >>> masked = masker.mask(np.array([2, 9, 8, 7, 3]), np.array([0, 5]), np.array([77]), 0)
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
    vocab_size: int = 0
    similar_words: SimilarWords | None = None
    delays: Ints | None = None

    def __post_init__(self) -> None:
        if self.config.mask_smoothing and self.delays is None:
            raise ConfigError(
                f"mask_smoothing is {self.config.mask_smoothing}, but the Masker does not know how frequent tokens "
                "are; give it `delays`, as `bertdata.masking.smoothing.delays` returns them"
            )
        if self.config.similar_words and self.similar_words is None:
            raise ConfigError(
                f"similar_words is {self.config.similar_words}, but the Masker has no table; give it `similar_words`, "
                "as `bertdata.masking.similar_words.table_for` returns them"
            )

    def special(self, input_ids: NDArray[np.integer]) -> NDArray[np.bool_]:
        """Return which tokens are [CLS] or [SEP], bool (T,)."""
        special: NDArray[np.bool_] = (input_ids == self.cls_token_id) | (input_ids == self.sep_token_id)
        return special

    def law(self, example_ids: Ints, epochs: int | Ints, levels: int | Ints | None = None) -> RowLaw:
        """Return the law of rows, by the ids of their examples, int64 (E,); raises ConfigError as `law_of` does."""
        return self.constant_law or law_of(self.config, self.seed, example_ids, epochs, levels)

    @cached_property
    def constant_law(self) -> RowLaw | None:
        """The law of all rows in every epoch, None where they have different ones."""
        return law_of(self.config, self.seed, np.zeros(0, np.int64), 0) if is_constant(self.config) else None

    def mask(
        self,
        input_ids: NDArray[np.integer],
        offsets: Ints,
        example_ids: Ints,
        epochs: int | Ints,
        *,
        levels: int | Ints | None = None,
        special: NDArray[np.bool_] | None = None,
        word_starts: NDArray[np.bool_] | None = None,
        narrow: bool = False,
    ) -> Masked:
        """Mask the rows of a flat batch: row i is input_ids[offsets[i]:offsets[i+1]], and has the id example_ids[i].

        epochs: of all rows, or of each, int64 (E,); levels: of the run, 0 to 1000, alike, needed under a schedule;
        special: True at tokens that are not masked, [CLS] and [SEP] if not given; word_starts: True where a word
        begins, read where units are whole words, else known by `continuation`; narrow: ids are written as uint16 and
        labels as int16, for vocabularies of up to 32,768 tokens. A row of special tokens only is not changed. Raises
        ConfigError where words, replacements or levels are not known, ValueError where the arrays do not go together
        or an id is too large for the narrow types.
        """
        special = self.special(input_ids) if special is None else special
        check_arrays(input_ids, offsets, special, example_ids, word_starts)
        if narrow:
            check_narrow(input_ids, self.choices, self.mask_token_id)
        example_ids = np.ascontiguousarray(example_ids, np.int64)
        rows = Rows(
            np.ascontiguousarray(offsets, np.int64),
            np.ascontiguousarray(special, np.bool_),
            example_ids,
            np.ascontiguousarray(epochs, np.int64).reshape(-1),
            seed_keys(self.seed),
        )
        law = self.law(example_ids, epochs, levels)
        check_law(rows, law)
        with np.errstate(over="ignore"):
            if self.by_token:
                return self._mask_tokens(input_ids, rows, law, narrow)
            return self._mask_units(input_ids, rows, law, word_starts, narrow)

    def count(
        self,
        input_ids: NDArray[np.integer],
        offsets: Ints,
        example_ids: Ints,
        epochs: int | Ints,
        *,
        levels: int | Ints | None = None,
        special: NDArray[np.bool_] | None = None,
        word_starts: NDArray[np.bool_] | None = None,
    ) -> tuple[int, int]:
        """Return how many tokens of a batch `mask` predicts, and how many rows the limit shortened."""
        special = self.special(input_ids) if special is None else special
        if self.by_token and self.config.mask_number == "rounded":
            after = np.searchsorted(np.flatnonzero(special), offsets)
            number, capped = self.number_of_predictions(np.diff(offsets - after), example_ids, epochs, levels)
            return int(number.sum()), capped
        rows = input_ids, offsets, example_ids, epochs
        masked = self.mask(*rows, levels=levels, special=special, word_starts=word_starts)
        return int((masked.labels != IGNORE_INDEX).sum()), masked.capped

    def number_of_predictions(
        self, available: Ints, example_ids: Ints, epochs: int | Ints, levels: int | Ints | None = None
    ) -> tuple[Ints, int]:
        """Return how many tokens of each row are predicted, and how many rows the limit shortened, as in `law`."""
        law = self.law(example_ids, epochs, levels)
        limit = self.config.max_predictions_per_seq
        return number_of_predictions(available, example_ids, epochs, law, self.seed, limit)

    @cached_property
    def choices(self) -> Ints:
        """The ids that a random token is drawn from, int64; raises ConfigError where it needs some and has none."""
        choices = np.ascontiguousarray(self.replacement_ids, np.int64)
        if self.config.random_tokens == "vocabulary":
            size = self.vocab_size or (0 if self.continuation is None else len(self.continuation))
            if not size:
                raise ConfigError(
                    "--random-tokens vocabulary needs to know how large the vocabulary is; give the Masker `vocab_size`"
                )
            choices = _whole_vocabulary(size)
        if (self.config.random_token_prob or self.similar_words is not None) and not len(choices):
            raise ConfigError(
                "the vocabulary has no ids but special and [unused] ones, so no random token can be drawn; "
                "give --random-token-prob 0, or another vocabulary"
            )
        return choices

    @cached_property
    def by_token(self) -> bool:
        """Whether single tokens are drawn, each in every epoch anew."""
        return find_unit(self.config).is_token(self.config) and not self.config.mask_in_turn

    @cached_property
    def continues_word(self) -> NDArray[np.bool_]:
        """Which ids continue a word, bool (V,); none where units are not whole words.

        Raises ConfigError where units are whole words and `continuation` was not given.
        """
        if not self.by_words:
            return np.zeros(1, np.bool_)
        if self.continuation is None:
            raise ConfigError(
                f"--mask-unit {self.config.mask_unit} needs to know where words begin: the ids of this vocabulary do "
                "not tell, and the rows have no word_starts; take --mask-unit token, or rows that `bertdata build` "
                "made (or give the Masker the `continuation` of the tokenizer)"
            )
        return np.ascontiguousarray(self.continuation, np.bool_)

    @cached_property
    def by_words(self) -> bool:
        """Whether the tokens of a word stay together."""
        return find_unit(self.config).whole_words

    def word_begins(
        self,
        input_ids: NDArray[np.integer],
        offsets: Ints,
        special: NDArray[np.bool_],
        word_starts: NDArray[np.bool_] | None,
    ) -> NDArray[np.bool_]:
        """Return where the words of `mask` begin in flat rows, bool (T,): all ordinary tokens where units are tokens.

        Raises ConfigError where words are not known.
        """
        if not self.by_words:
            return ~special
        if word_starts is None:
            in_vocabulary = (input_ids >= 0) & (input_ids < len(self.continues_word))
            word_starts = ~(in_vocabulary & self.continues_word[np.where(in_vocabulary, input_ids, 0)])
        return starting(word_starts, special, offsets)

    def rates(self, example_ids: Ints, epochs: int | Ints, levels: int | Ints | None = None) -> NDArray[np.float32]:
        """Return the rate of each row, float32 (E,)."""
        return rates_of(np.broadcast_to(self.law(example_ids, epochs, levels).rate, example_ids.shape))

    def _mask_tokens(self, input_ids: NDArray[np.integer], rows: Rows, law: RowLaw, narrow: bool) -> Masked:
        from bertdata.masking import masking_kernel

        originals: NDArray[Any] = np.ascontiguousarray(
            input_ids, np.uint16 if input_ids.dtype == np.uint16 else np.int64
        )
        inside = len(originals) == int(rows.offsets[-1] - rows.offsets[0])
        ids_type, labels_type = (np.uint16, np.int16) if narrow else (np.int64, np.int64)
        masked: NDArray[Any] = np.empty(len(originals), ids_type) if inside else input_ids.astype(ids_type)
        labels: NDArray[Any] = np.empty(len(originals), labels_type)
        if not inside:
            labels.fill(IGNORE_INDEX)
        capped = masking_kernel.mask_tokens(
            *(originals, masked, labels, *rows, *law[:3]),
            *(self.config.max_predictions_per_seq, self.mask_token_id, self.choices, *self._weights),
            self.config.mask_number == "independent",
        )
        return Masked(masked, labels, int(capped))

    @cached_property
    def _weights(self) -> tuple[Ints, Ints]:
        """The table and the delays of `smoothing`, empty where each token has the same chance."""
        if self.delays is None or not self.config.mask_smoothing:
            return np.zeros((2, 0), np.int64), np.zeros(0, np.int64)
        return self.spread_table, np.ascontiguousarray(self.delays, np.int64)

    @property
    def spread_table(self) -> Ints:
        """The table of `smoothing`."""
        return spread_table()

    def _mask_units(
        self,
        input_ids: NDArray[np.integer],
        rows: Rows,
        law: RowLaw,
        word_starts: NDArray[np.bool_] | None,
        narrow: bool,
    ) -> Masked:
        from bertdata.masking import masking_kernel

        masked, labels = input_ids.astype(np.int64), np.full(len(input_ids), IGNORE_INDEX)
        by_unit = self.config.replace_unit == "unit"
        none = np.zeros(0, np.bool_)
        if word_starts is None or not self.by_words:
            words = self.continues_word, none
        else:
            words = none, np.ascontiguousarray(word_starts, np.bool_)
        similar, replacements = self.similar_words, (self.mask_token_id, self.choices)
        if similar is not None:
            from bertdata.masking.similar_words import TO_RANDOM, TO_SIMILAR

            replacements = TO_SIMILAR, np.array([TO_RANDOM])
        capped = masking_kernel.mask_units(
            *(masked, labels, *rows, *law[:3], *law.turns, *words, unit_thresholds(self.config)),
            *(self.config.max_predictions_per_seq, *replacements, by_unit),
        )
        if similar is not None:
            begins = self.word_begins(input_ids, rows.offsets, rows.special, word_starts)
            similar.replace(masked, labels, begins, rows, self.choices)
        if narrow:
            return Masked(masked.astype(np.uint16), labels.astype(np.int16), int(capped))
        return Masked(masked, labels, int(capped))


@lru_cache(maxsize=4)
def _whole_vocabulary(size: int) -> Ints:
    return np.arange(size)
