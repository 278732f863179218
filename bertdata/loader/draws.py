"""What is predicted of the tokens of a batch: a draw makes the labels, and a layout says where they stand.

Static masks are read from the rows; dynamic ones are drawn; causal rows predict every next token; some rows of a mixed
phase are causal and the others masked. Shifted labels are those of another draw, one position to the left. Another draw
is a class with the two methods of `Draw`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bertdata.arrays import Flags, Ints
from bertdata.errors import ConfigError
from bertdata.loader.layouts import Batch, Tokens
from bertdata.loader.next_token import causal_labels, with_causal_attention, with_causal_rows, with_shifted_labels
from bertdata.loader.weights import with_weights
from bertdata.masking.decoder_masks import DecoderMasker, with_decoder_columns
from bertdata.masking.masking import Masker
from bertdata.masking.settings import MaskingConfig
from bertdata.masking.training import causal_rows


class DrawnBy(NamedTuple):
    """What the draws of the examples of a batch depend on, one value each, (N,).

    ids, epochs: int64, empty where the draw does not need them; levels: of the run, int64, None without a schedule;
    rates: those in static rows, float32, None where rows have none.
    """

    ids: Ints
    epochs: Ints
    levels: Ints | None
    rates: NDArray[np.float32] | None


class Draw(Protocol):
    """What is predicted of the tokens of a batch."""

    @property
    def by_epoch(self) -> bool:
        """Whether it is another one in every epoch, so that epochs have to be known."""

    def columns(self, tokens: Tokens, by: DrawnBy) -> dict[str, Ints]:
        """Return the columns that are drawn, int64 (T,), as `tokens` lie: none, labels, or input_ids and labels."""

    def finished(self, batch: Batch, lengths: Ints, by: DrawnBy) -> Batch:
        """Return a batch that was laid out, of examples of these lengths (N,), with what else it has."""


@dataclass(frozen=True)
class StaticMasks:
    """The masks in the rows; rates: the settings by which the rates of rows were drawn, None where they were not.

    special: the ids of special tokens, which are not masked.
    """

    special: tuple[int, ...]
    rates: MaskingConfig | None = None
    by_epoch: bool = False

    def columns(self, tokens: Tokens, by: DrawnBy) -> dict[str, Ints]:
        """Return none: labels are columns of the rows."""
        return {}

    def finished(self, batch: Batch, lengths: Ints, by: DrawnBy) -> Batch:
        """Return a batch, with the weights of the loss where rates were drawn."""
        if self.rates is None or by.rates is None:
            return batch
        return batch | with_weights(batch, lengths, by.rates, self.rates, self.special)


def special_of(tokens: Tokens, masker: Masker) -> Flags:
    """Return which tokens are never predicted: [CLS], [SEP] and padding, bool (T,)."""
    special = masker.special(tokens.input_ids)
    return special if tokens.padding is None else special | tokens.padding


@dataclass(frozen=True)
class DynamicMasks:
    """Masks drawn by a masker, other ones in every epoch."""

    masker: Masker
    by_epoch: bool = True

    def columns(self, tokens: Tokens, by: DrawnBy) -> dict[str, Ints]:
        """Return masked ids, and the labels of the tokens that are predicted."""
        masked, labels = self.masked(tokens, special_of(tokens, self.masker), by)
        return {"input_ids": masked, "labels": labels}

    def masked(self, tokens: Tokens, special: Flags, by: DrawnBy) -> tuple[Ints, Ints]:
        """Return masked ids and labels, int64 (T,); special: what is never masked, bool (T,)."""
        masked = self.masker.mask(
            *(tokens.input_ids, tokens.offsets, by.ids, by.epochs),
            levels=by.levels,
            special=special,
            word_starts=tokens.word_starts,
        )
        return masked.input_ids, masked.labels

    def finished(self, batch: Batch, lengths: Ints, by: DrawnBy) -> Batch:
        """Return a batch, with the weights of the loss where rates are drawn."""
        config = self.masker.config
        if not config.mask_rate_draw:
            return batch
        special = (self.masker.cls_token_id, self.masker.sep_token_id)
        return batch | with_weights(batch, lengths, self.masker.rates(by.ids, by.epochs), config, special)


@dataclass(frozen=True)
class CausalRows:
    """Every next token is predicted, and none is masked; attention of all rows is causal."""

    by_epoch: bool = False

    def columns(self, tokens: Tokens, by: DrawnBy) -> dict[str, Ints]:
        """Return the label of each token: its id, but for the first of a row and for padding."""
        labels = causal_labels(tokens.input_ids, tokens.offsets, tokens.padding)
        return {"input_ids": tokens.input_ids.astype(np.int64), "labels": labels}

    def finished(self, batch: Batch, lengths: Ints, by: DrawnBy) -> Batch:
        """Return a batch with causal attention."""
        return with_causal_attention(batch)


@dataclass(frozen=True)
class SomeCausalRows:
    """A share of the rows is causal, drawn anew in each epoch, and the others are masked.

    flags: whether attention is left to the model, by causal_rows and causal_share.
    """

    masks: DynamicMasks
    share: float
    flags: bool = False

    @property
    def by_epoch(self) -> bool:
        """Whether rows differ between epochs: not where all are causal."""
        return self.share < 1

    def rows(self, by: DrawnBy, number: int) -> Flags:
        """Return which examples are causal, bool (N,)."""
        if self.share == 1:
            return np.ones(number, np.bool_)
        return causal_rows(self.share, self.masks.masker.seed, by.ids, by.epochs)

    def columns(self, tokens: Tokens, by: DrawnBy) -> dict[str, Ints]:
        """Return the ids and labels of causal and of masked rows."""
        causal = CausalRows().columns(tokens, by)
        if self.share == 1:
            return causal
        masked = self.masks.columns(tokens, by)
        of_tokens = np.repeat(self.rows(by, len(tokens.offsets) - 1), np.diff(tokens.offsets))
        return {name: np.where(of_tokens, causal[name], masked[name]) for name in masked}

    def finished(self, batch: Batch, lengths: Ints, by: DrawnBy) -> Batch:
        """Return a batch with the attention of its causal rows."""
        batch = self.masks.finished(batch, lengths, by)
        return with_causal_rows(batch, self.rows(by, len(lengths)), self.share if self.flags else None)


@dataclass(frozen=True)
class SecondMasks:
    """Masks of padded rows, and those that their decoder has (`bertdata.masking.decoder_masks`)."""

    masks: DynamicMasks
    masker: DecoderMasker
    by_epoch: bool = True

    def columns(self, tokens: Tokens, by: DrawnBy) -> dict[str, Ints]:
        """Return masked ids, labels, decoder_sets and decoder_masks, (N * sets * L,), bool."""
        rows = tokens.input_ids, tokens.offsets, by.ids, by.epochs
        special = special_of(tokens, self.masks.masker)
        hidden: Any = self.masker.hidden(*rows, special=special, word_starts=tokens.word_starts)
        by_row = hidden.reshape(len(hidden), len(by.ids), -1).swapaxes(0, 1)
        sets = self.masker.sets(by.ids, by.epochs, by_row.shape[-1])
        return self.masks.columns(tokens, by) | {"decoder_masks": by_row.ravel(), "decoder_sets": sets.ravel()}

    def finished(self, batch: Batch, lengths: Ints, by: DrawnBy) -> Batch:
        """Return a batch with what its decoder takes."""
        special = (self.masks.masker.cls_token_id, self.masks.masker.sep_token_id)
        return with_decoder_columns(self.masks.finished(batch, lengths, by), lengths, special)


@dataclass(frozen=True)
class Shifted:
    """Another draw whose labels are one position to the left, and the weights of the loss with them."""

    draw: Draw

    @property
    def by_epoch(self) -> bool:
        """That of the draw."""
        return self.draw.by_epoch

    def columns(self, tokens: Tokens, by: DrawnBy) -> dict[str, Ints]:
        """Return those of the draw; labels are shifted when the batch is laid out."""
        return self.draw.columns(tokens, by)

    def finished(self, batch: Batch, lengths: Ints, by: DrawnBy) -> Batch:
        """Return the batch of the draw with shifted labels."""
        return with_shifted_labels(self.draw.finished(batch, lengths, by))


def with_second_masks(draw: Draw, rate: float, *, packing: bool) -> SecondMasks:
    """Return a draw with second masks of a rate; raises ConfigError where it has no place for them.

    packing: whether rows are packed.
    """
    lacking = "these are causal, or predicted at the position before" * (not isinstance(draw, DynamicMasks))
    lacking = "the masks of these shards are static: written into them" if isinstance(draw, StaticMasks) else lacking
    if packing:
        lacking = "in a packed row the sequences would see each other"
    elif isinstance(draw, DynamicMasks) and draw.masker.config.mask_rate_draw:
        lacking = "the rates of these rows are drawn, and both losses count the same tokens by them"
    if lacking or not isinstance(draw, DynamicMasks):
        raise ConfigError(
            f"decoder_masks are for padded rows with dynamic masks, and {lacking}; leave decoder_masks out, or take "
            "such rows"
        )
    return SecondMasks(draw, DecoderMasker.of(draw.masker, rate))
