"""`ShardDataset` and `PretrainingCollator`: the examples of memory-mapped shards, and batches of them, as tensors.

Examples are read by `bertdata.loader.examples`, batches made by `bertdata.loader.collator`; tensors share the memory of
their arrays. Masks are drawn here or read from the shards.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Dataset

from bertdata.arrays import Ints
from bertdata.errors import ConfigError
from bertdata.loader.collator import BatchCollator, Flags
from bertdata.loader.epoch import Epoch, check_epoch
from bertdata.loader.examples import Example, Index, ShardExamples
from bertdata.loader.permutation_collator import PermutationCollator
from bertdata.masking.masking import IGNORE_INDEX
from bertdata.shards.packed import WORD_STARTS
from bertdata.torch.data.frameworks import accelerate_processes
from bertdata.torch.data.gpu_masking import mask_tokens

__all__ = [
    "DeviceCollator",
    "Example",
    "Index",
    "PermutationLMCollator",
    "PretrainingCollator",
    "ShardDataset",
    "SharedEpoch",
]

COMPILED_FROM = 1 << 19
"""Tokens of a data set above which masks are drawn by the compiled kernel. With fewer, torch is done before the kernel
would be loaded. Which of the two runs depends only on the shards."""


class SharedEpoch(Epoch):
    """A number of 0 or more, None until it is set, in memory that a `DataLoader` shares with its workers.

    Pickled for anything but a worker, it is a copy.
    """

    def __init__(self) -> None:
        self._shared = torch.full((), -1, dtype=torch.int64).share_memory_()  # type: ignore[no-untyped-call]

    def get(self) -> int | None:
        """Return the epoch, or None where none was set."""
        epoch = int(self._shared)
        return None if epoch < 0 else epoch

    def set(self, epoch: int) -> None:
        """Set the epoch; raises ConfigError for what is not a number of 0 or more."""
        self._shared.fill_(check_epoch(epoch))


class ShardDataset(ShardExamples, Dataset[Example]):
    """A map-style data set over shards, for the `dataset` of a `DataLoader`.

    The contents of an example are those of `bertdata.loader.ShardExamples`. It works with any number of workers, forked
    or spawned. Raises InputError where there are no shards or they are damaged, ConfigError where sets of shards do not
    fit together.

        dataset = ShardDataset("shards/train")
        dataset[3]           # {"input_ids": array([2, 87, ...], dtype=uint16), ..., "example_id": 5577...}
        dataset[(1, 3)]      # the same, and "epoch": 1
    """

    _epoch_type = SharedEpoch
    read_ahead = True  # a DataLoader asks for rows before it hands them out


class PretrainingCollator(BatchCollator):
    """Makes a batch of (N, L) int64 tensors of examples from `ShardDataset`, for the `collate_fn` of a `DataLoader`.

    Settings, errors and the contents of padded and packed batches are those of `bertdata.loader.BatchCollator`;
    `model(**batch)` works with a padded one.

    Examples without an epoch, such as those of a `DataLoader` that shuffles by itself, have that of the last
    `set_epoch`. If it was never called, torch's random numbers draw the masks of each batch: other ones in each epoch,
    and the same again after `torch.manual_seed` with the same number of workers. Where Accelerate runs in one process,
    that is a warning: it calls `set_epoch`, except in an epoch that it resumes.

        collator = PretrainingCollator(dataset)
        batch = collator([dataset[(0, 1)], dataset[(0, 2)]])
    """

    _epoch_type = SharedEpoch

    def __call__(self, examples: Sequence[Mapping[str, Any]]) -> dict[str, Tensor]:
        """Return the batch of some examples; raises ConfigError for none, or for one without the shards' columns."""
        return {name: _tensors(array) for name, array in self.arrays(examples).items()}

    def _unknown_epoch(self, examples: Sequence[Mapping[str, Any]]) -> int:
        """Draw the epoch of a batch, above all epochs that can be set."""
        if accelerate_processes() == 1 and isinstance(examples[0], Example):
            # It has told the data set the epoch before each iteration, except where a run was resumed.
            warnings.warn(
                "nobody told the data set or the collator the epoch, so torch's random numbers draw the masks; in the "
                "epoch that the Trainer of transformers resumes, these are other masks than those of a run that was "
                "not stopped: call dataset.set_epoch(epoch) before trainer.train(resume_from_checkpoint=...), with the "
                "whole number of `epoch` in the checkpoint's trainer_state.json",
                UserWarning,
                stacklevel=2,
            )
        return int(torch.randint(1 << 62, (1 << 63) - 1, ()))

    def _drawn(
        self,
        input_ids: NDArray[np.integer],
        offsets: Ints,
        special: NDArray[np.bool_],
        ids: Ints,
        group: tuple[int, int],
        word_starts: Flags,
    ) -> tuple[Ints, Ints]:
        width = int(offsets[1] - offsets[0])
        if self._tokens > COMPILED_FROM or not self.masker.by_token or not (np.diff(offsets) == width).all():
            return super()._drawn(input_ids, offsets, special, ids, group, word_starts)
        masked, labels = mask_tokens(
            torch.from_numpy(input_ids.reshape(-1, width).astype(np.int64)),
            torch.from_numpy(special.reshape(-1, width)),
            torch.from_numpy(ids),
            torch.full((len(ids),), group[0]),
            self.masker,
            levels=torch.full((len(ids),), group[1]),
        )
        return masked.numpy().ravel(), labels.numpy().ravel()


def _tensors(value: Any) -> Any:
    """Return an array as a tensor of the same memory; of a dictionary, each of its arrays; a Python number as it is."""
    if isinstance(value, Mapping):
        return {name: _tensors(array) for name, array in value.items()}
    return value if isinstance(value, int | float) else torch.from_numpy(value)


class PermutationLMCollator(PermutationCollator, PretrainingCollator):
    """Makes batches of tensors for `XLNetLMHeadModel` of transformers, for the `collate_fn` of a `DataLoader`.

    Settings and contents are those of `bertdata.loader.PermutationCollator`; examples without an epoch have that of
    `PretrainingCollator`.

        collator = PermutationLMCollator(dataset)
        loss = model(**collator([dataset[(0, 1)], dataset[(0, 2)]])).loss
    """


class DeviceCollator(PretrainingCollator):
    """Makes small batches to send, and from them, on the device, the batches of `PretrainingCollator`.

    A small batch holds input_ids uint16 (N, L) (int32 for large vocabularies), lengths and, where rows have token
    types, second_segments int32 (N,) (the position from which these are not 0), example_ids, epochs and, under a mask
    schedule, levels int64 (N,), where mask rates are drawn, mask_rates and the loss_weights of rows float32 (N,) and
    maskable int64 (N,), the pair label, and word_starts bool (N, L) for masks of whole words where the ids do not tell
    them. Settings are those of `PretrainingCollator`; raises ConfigError for packing, static masks, similar words, and
    `shifted` or `causal` labels. Two bytes a token cross the bus, three with word_starts.

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
        ):
            if wrong:
                raise ConfigError(f"masks cannot be drawn on the device: {why}; use PretrainingCollator")

    def __call__(self, examples: Sequence[Mapping[str, Any]]) -> dict[str, Tensor]:
        """Return the small batch of some examples; raises ConfigError as `PretrainingCollator` does."""
        return {name: torch.from_numpy(array) for name, array in self.unmasked(examples).items()}

    def finish(self, batch: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the batch of a small one, int64, on the same device."""
        ids, lengths = batch["input_ids"].long(), batch["lengths"].long()[:, None]
        place = torch.arange(ids.shape[1], device=ids.device)
        taken = place < lengths
        special = (ids == self.info.cls_token_id) | (ids == self.info.sep_token_id) | ~taken
        drawn_by = (batch["example_ids"], batch["epochs"])
        masked, labels = mask_tokens(ids, special, *drawn_by, self.masker, batch.get(WORD_STARTS), batch.get("levels"))
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
