"""`DeviceCollator`: small batches to send to a device, and masks that are drawn there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertdata.errors import ConfigError
from bertdata.loader.draws import DrawnBy
from bertdata.loader.layouts import Batch, Lists
from bertdata.loader.padding import padded_length, padded_rows
from bertdata.loader.weights import row_weights
from bertdata.masking.law import RowLaw
from bertdata.masking.masking import IGNORE_INDEX, Masker
from bertdata.options.option import require
from bertdata.shards.columns import WORD_STARTS
from bertdata.torch.data.dataset import PretrainingCollator
from bertdata.torch.data.gpu_masking import mask_tokens

MASK_LAW = "mask_law"
"""The column of a small batch with the numbers of `RowLaw`, where rows have different ones."""


def unmasked(
    lists: Sequence[Lists], word_starts: Lists | None, by: DrawnBy, masker: Masker, width: int, pad_token_id: int
) -> Batch:
    """Return the padded ids of examples without masks, uint16 or int32 (N, L), and what determines the masks.

    lists: the ids and, where rows have them, the token types of each example; width: L. The columns are those of
    `DeviceCollator`.
    """
    ids, *types = lists
    lengths = np.fromiter(map(len, ids), np.int32, len(ids))
    rows: NDArray[Any] = padded_rows(ids, width, pad_token_id, ids[0].dtype)
    batch: Batch = {
        "input_ids": rows if rows.dtype == np.uint16 else rows.astype(np.int32),
        "lengths": lengths,
        "example_ids": by.ids,
        "epochs": by.epochs,
    }
    if masker.constant_law is None:
        batch[MASK_LAW] = masker.law(by.ids, by.epochs, by.levels).columns(len(ids))
    if masker.config.mask_rate_draw:
        batch |= row_weights(masker, masker.special(np.concatenate(ids)), lengths.astype(np.int64), by.ids, by.epochs)
    for column in types:
        typed = np.concatenate(column) > 0
        batch["second_segments"] = lengths - np.add.reduceat(typed, np.cumsum(lengths) - lengths, dtype=np.int32)
    if word_starts is not None:
        batch[WORD_STARTS] = padded_rows(word_starts, width, 1, np.bool_)
    return batch


class DeviceCollator(PretrainingCollator):
    """Makes small batches to send, and from them, on the device, the batches of `PretrainingCollator`.

    A small batch holds input_ids uint16 (N, L) (int32 for large vocabularies), lengths and, where rows have token
    types, second_segments int32 (N,) (the position from which these are not 0), example_ids and epochs int64 (N,), the
    pair label, and word_starts bool (N, L) for masks of whole words where the ids do not tell them. Where the rows have
    different laws (`bertdata.masking.law`), by a schedule, by rates that are drawn or by turns, it has mask_law int64
    (N, 3) or (N, 8), and where rates are drawn mask_rates and the loss_weights of rows float32 (N,) and maskable int64
    (N,). Settings are those of `PretrainingCollator`; raises ConfigError for packing, static masks, similar words,
    `decoder_masks`, and `shifted` or `causal` labels. Two bytes a token cross the bus, three with word_starts.

        collator = DeviceCollator(dataset)
        for small in DataLoader(dataset, batch_sampler=sampler, collate_fn=collator, pin_memory=True):
            batch = collator.finish({name: tensor.to("cuda", non_blocking=True) for name, tensor in small.items()})
    """

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        super().__init__(*arguments, **keywords)
        for wrong, why in (
            (self.static, "the masks of these shards are static: written into them"),
            (self.packing, "packing is done on the CPU"),
            (self._masker and self._masker.similar_words, "similar words are looked up on the CPU"),
            (self.shifted or self.causal or self.causal_share, "shifted and causal labels are made on the CPU"),
            (keywords.get("decoder_masks"), "second masks are drawn on the CPU"),
        ):
            if wrong:
                raise ConfigError(f"masks cannot be drawn on the device: {why}; use PretrainingCollator")
        self._types = ["token_type_ids"] if self.info.row_template.has_types else []
        self._law: RowLaw | None = None
        if law := self.masker.constant_law:
            self._law = RowLaw(int(law.rate[0]), int(law.to_mask[0]), int(law.to_random[0]))

    def __call__(self, examples: Sequence[Mapping[str, Any]]) -> dict[str, Tensor]:
        """Return the small batch of some examples; raises ConfigError as `PretrainingCollator` does."""
        require(
            self._of_split(examples) is self,
            "these rows are of a split with other mask rates than that of which this collator was made, and `finish` "
            "would draw the masks of that one; make a DeviceCollator of this split",
        )
        self._check(examples)
        lists = [self._lists(examples, name) for name in ("input_ids", *self._types)]
        by, starts = self._drawn_by(examples), self._word_starts(examples)
        width = padded_length(max(map(len, lists[0])), self.pad_to_multiple_of)
        small = unmasked(lists, starts, by, self.masker, width, self.info.pad_token_id) | self._numbers(examples)
        return {name: torch.from_numpy(array) for name, array in small.items()}

    def finish(self, batch: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the batch of a small one, int64, on the same device."""
        ids, lengths = batch["input_ids"].long(), batch["lengths"].long()[:, None]
        place = torch.arange(ids.shape[1], device=ids.device)
        taken = place < lengths
        special = (ids == self.info.cls_token_id) | (ids == self.info.sep_token_id) | ~taken
        law = self._law or RowLaw.of_columns(batch[MASK_LAW])
        drawn_by = (batch["example_ids"], batch["epochs"], self.masker, law)
        masked, labels = mask_tokens(ids, special, *drawn_by, batch.get(WORD_STARTS))
        whole = {"input_ids": masked, "attention_mask": taken.long(), "labels": labels}
        if "mask_rates" in batch:
            weights = torch.where(labels == IGNORE_INDEX, 0.0, batch["loss_weights"][:, None])
            whole |= {name: batch[name] for name in ("mask_rates", "maskable")} | {"loss_weights": weights}
        template = self.info.row_template
        if template.has_types:
            typed = ((place >= batch["second_segments"].long()[:, None]) & taken).long()
            whole["token_type_ids"] = typed * template.second_type
            if template.last_type is not None:
                whole["token_type_ids"].scatter_(1, lengths - 1, template.last_type)
        return whole | {name: batch[name] for name in self._scalars.values()}
