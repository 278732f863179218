"""Where the labelled tokens of a batch are, found before it is sent to a device.

To take tokens by a mask, the host has to know how many there are, so it waits until the device has done all that was
asked of it. The host had the batch first: `with_places` adds what it sees there as numbers, and a training step then
asks the device for nothing.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from typing import Any

import torch
from torch import Tensor, nn

from bertdata.masking.masking import IGNORE_INDEX

LABELLED, REAL, LONGEST = "labelled", "real", "longest"


def with_places(
    batch: Mapping[str, Tensor], pad_token_id: int, names: Collection[str] = (LABELLED, REAL, LONGEST)
) -> dict[str, Any]:
    """Return a `PretrainingCollator` batch on the host with what a model would otherwise ask of the device.

    labelled: int64 (M,), where in the rows, one after another, the tokens with a label are; real: int64 (K,), where
    tokens are that are no padding; longest: int, the tokens of the longest sequence of a packed row. An attention_mask
    that is 1 everywhere is left out: attention without a mask is faster. names: those that the model takes.

    >>> batch = {"input_ids": torch.tensor([[2, 7, 3], [2, 3, 0]]), "labels": torch.tensor([[-100, 9, -100]] * 2)}
    >>> batch = with_places(batch | {"attention_mask": torch.tensor([[1, 1, 1], [1, 1, 0]])}, pad_token_id=0)
    >>> batch["labelled"].tolist(), batch["real"].tolist()
    ([1, 4], [0, 1, 2, 3, 4])
    """
    with_known: dict[str, Any] = dict(batch)
    offsets, mask = batch.get("cu_seqlens"), batch.get("attention_mask")
    if LABELLED in names and "labels" in batch:
        with_known[LABELLED] = places_of(batch["labels"] != IGNORE_INDEX)
    if REAL in names:
        with_known[REAL] = places_of(real_tokens(batch, pad_token_id))
    if LONGEST in names and offsets is not None:
        with_known[LONGEST] = int(offsets.diff().max())
    if mask is not None and mask.ndim == 2 and bool(mask.all()):
        del with_known["attention_mask"]
    return with_known


def places_taken(model: nn.Module) -> frozenset[str]:
    """Return the names of what `with_places` adds that a model takes: what its `forward` and its encoders name."""
    named = {LABELLED, REAL} & {*inspect.signature(type(model).forward).parameters}
    kinds: set[Any] = {type(module) for module in model.modules() if hasattr(module, "encode")}
    if kinds and all(LONGEST in inspect.signature(kind.encode).parameters for kind in kinds):
        named.add(LONGEST)
    return frozenset(named)


def real_tokens(batch: Mapping[str, Any], pad_token_id: int) -> Tensor:
    """Return where a padded or packed batch has tokens that are no padding, bool (N, L)."""
    ids: Tensor = batch["input_ids"]
    mask: Tensor | None = batch.get("attention_mask")
    if batch.get("cu_seqlens") is not None:
        return ids != pad_token_id
    return torch.ones_like(ids, dtype=torch.bool) if mask is None else mask.bool()


def places_of(chosen: Tensor) -> Tensor:
    """Return the places of some tokens, bool (N, L), in the rows one after another: int64 (M,)."""
    places: Tensor = chosen.flatten().nonzero()[:, 0]
    return places


def labelled_places(labels: Tensor, given: Tensor | None) -> Tensor:
    """Return the places of the labelled tokens of labels (N, L), those that are known, or else as the device says."""
    return places_of(labels != IGNORE_INDEX) if given is None else given


def taken_at(states: Tensor, places: Tensor) -> Tensor:
    """Return the states (N, L, ...) at some places: (M, ...)."""
    return states.flatten(0, 1).index_select(0, places)


def sequence_of_each(cu_seqlens: Tensor, total: int) -> Tensor:
    """Return the number of the sequence of each of the `total` tokens of a packed row, int64 (T,).

    >>> sequence_of_each(torch.tensor([0, 2, 5], dtype=torch.int32), 5)
    tensor([0, 0, 1, 1, 1])
    """
    lengths = cu_seqlens.diff().long()
    return torch.arange(len(lengths), device=lengths.device).repeat_interleave(lengths, output_size=total)
