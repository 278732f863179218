"""What a batch has beside labels where the mask rate of each row is drawn: the rates, and the weights of the loss."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.arrays import Ints
from bertdata.errors import InputError
from bertdata.masking.masking import IGNORE_INDEX, Masker
from bertdata.masking.rate_draws import loss_weights
from bertdata.masking.settings import MaskingConfig


def with_weights(
    batch: dict[str, NDArray[Any]],
    lengths: Ints,
    rates: NDArray[np.float32],
    config: MaskingConfig,
    special: tuple[int, ...],
) -> dict[str, NDArray[Any]]:
    """Return mask_rates float32 (N,), maskable int64 (N,) and loss_weights, float32 in the shape of the labels.

    batch: padded or packed, masked, with its labels (not shifted); lengths: the tokens of each example, int64 (N,);
    rates: of the examples, float32 (N,); special: the ids that are not masked, [CLS] and [SEP].

    >>> batch = {"input_ids": np.array([[2, 4, 8, 3]]), "labels": np.array([[-100, 7, -100, -100]])}
    >>> config = MaskingConfig(mask_rate_draw="0.2-0.8")
    >>> found = with_weights(batch, np.array([4]), np.array([0.5], np.float32), config, (2, 3))
    >>> found["loss_weights"].tolist(), found["maskable"].tolist()
    ([[0.0, 2.0, 0.0, 0.0]], [2])
    """
    labels = batch["labels"]
    labelled = labels != IGNORE_INDEX
    maskable = labelled | ~np.isin(batch["input_ids"], special)
    if len(labels) == len(lengths) and "cu_seqlens" not in batch:
        maskable &= np.arange(labels.shape[1]) < lengths[:, None]
        number, predicted = maskable.sum(1), labelled.sum(1)
        weights = weights_of_rows(config, rates, number, predicted)[:, None]
    else:
        begins, total = np.cumsum(lengths) - lengths, int(lengths.sum())
        sums = [np.add.reduceat(flags[0, :total], begins, dtype=np.int64) for flags in (maskable, labelled)]
        number, predicted = sums
        of_rows = np.repeat(weights_of_rows(config, rates, number, predicted), lengths)
        weights = np.zeros(labels.shape, np.float32)
        weights[0, :total] = of_rows
    of_tokens = np.where(labelled, weights, np.float32(0))
    return {"mask_rates": rates, "loss_weights": of_tokens, "maskable": number}


def row_weights(
    masker: Masker, special: NDArray[np.bool_], lengths: Ints, example_ids: Ints, epochs: Ints
) -> dict[str, NDArray[Any]]:
    """Return what `with_weights` does of rows that are not masked yet, but loss_weights of rows, float32 (N,).

    special: which of their flat tokens are special, bool (T,); lengths: of the rows, int64 (N,).
    """
    maskable = lengths - np.add.reduceat(special, np.cumsum(lengths) - lengths, dtype=np.int64)
    rates, predicted = masker.rates(example_ids, epochs), np.ones_like(maskable)
    if masker.config.mask_number == "rounded":
        predicted, _ = masker.number_of_predictions(maskable, example_ids, epochs)
    weights = weights_of_rows(masker.config, rates, maskable, predicted)
    return {"mask_rates": rates, "loss_weights": weights, "maskable": maskable}


def weights_of_rows(
    config: MaskingConfig, rates: NDArray[np.float32], maskable: Ints, predicted: Ints
) -> NDArray[np.float32]:
    """Return `loss_weights` under settings that draw rates, float32 (N,)."""
    independent = config.mask_number == "independent"
    return loss_weights(config.mask_rate_draw, rates, maskable, predicted, independent=independent)


def check_rates(rates: NDArray[Any]) -> NDArray[np.float32]:
    """Return the mask rates of static rows, float32 (N,); raises InputError for what are no rates."""
    if not bool(((rates >= 0) & (rates <= 1)).all()):
        raise InputError("a row has a mask rate that is not from 0 to 1: the shard was changed; build again")
    return rates.astype(np.float32)
