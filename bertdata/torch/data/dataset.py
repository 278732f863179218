"""`ShardDataset` and `PretrainingCollator`: the examples of memory-mapped shards, and batches of them, as tensors.

Examples are read by `bertdata.loader.examples`, batches made by `bertdata.loader.collator`; tensors share the memory of
their arrays. Masks are drawn here or read from the shards.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset
from torch.utils.data._utils.collate import collate, default_collate_fn_map

from bertdata.arrays import Flags, Ints
from bertdata.errors import ConfigError
from bertdata.loader.collator import BatchCollator
from bertdata.loader.draws import DrawnBy, DynamicMasks
from bertdata.loader.epoch import Epoch, check_epoch
from bertdata.loader.examples import Example, Index, ShardExamples
from bertdata.loader.layouts import Tokens
from bertdata.loader.permutation_collator import PermutationCollator
from bertdata.masking.law import RowLaw
from bertdata.masking.masking import Masker
from bertdata.torch.data.frameworks import Trainers, accelerate_processes
from bertdata.torch.data.gpu_masking import mask_tokens

__all__ = [
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


def collate_examples(examples: Sequence[Example], *, collate_fn_map: Mapping[Any, Any] | None = None) -> Any:
    """Collate as torch does without a `collate_fn`; raises ConfigError, which names ours, where rows differ in length.

    torch looks functions for the types of rows up in `default_collate_fn_map`, as its docstring of `collate` shows.
    """
    others = {kind: function for kind, function in (collate_fn_map or {}).items() if kind is not Example}
    try:
        return collate(list(examples), collate_fn_map=others)
    except (RuntimeError, TypeError) as error:
        raise ConfigError(
            f"rows cannot be stacked without a collator ({error}); expected one that pads and masks them, as "
            "DataLoader(dataset, collate_fn=PretrainingCollator(dataset)), or for shards of a fine-tuning task one "
            "that pads, as DataCollatorWithPadding of transformers"
        ) from error


default_collate_fn_map[Example] = collate_examples


class PretrainingCollator(BatchCollator):
    """Makes a batch of (N, L) int64 tensors of examples from `ShardDataset`, for the `collate_fn` of a `DataLoader`.

    Settings, errors and the contents of padded and packed batches are those of `bertdata.loader.BatchCollator`;
    `model(**batch)` works with a padded one.

    Examples without an epoch, such as those of a `DataLoader` that shuffles by itself, have that of the last
    `set_epoch`. If it was never called, torch's random numbers draw the masks of each batch: other ones in each epoch,
    and the same again after `torch.manual_seed` with the same number of workers. Where Accelerate runs, that is a
    warning: in one process it calls `set_epoch`, except in an epoch that it resumes, on several it never does.

        collator = PretrainingCollator(dataset)
        batch = collator([dataset[(0, 1)], dataset[(0, 2)]])
    """

    _epoch_type = SharedEpoch

    @cached_property
    def _trainers(self) -> Trainers:
        return Trainers()

    def __getstate__(self) -> dict[str, Any]:
        self._check_order()  # a worker that is spawned has no Trainer
        return self.__dict__

    def _check_order(self) -> None:
        """Warn where the Trainer of transformers goes on from a checkpoint and has not the rest of its rows."""
        if reason := self._trainers.lost_order(self):
            warnings.warn(
                f"the Trainer of transformers goes on from a checkpoint, and {reason}", UserWarning, stacklevel=3
            )

    def __call__(self, examples: Sequence[Mapping[str, Any]]) -> dict[str, Tensor]:
        """Return the batch of some examples; raises ConfigError for none, or for one without the shards' columns."""
        self._check_order()
        return {name: _tensors(array) for name, array in self.arrays(examples).items()}

    def _unknown_epoch(self, examples: Sequence[Mapping[str, Any]]) -> int:
        """Draw the epoch of a batch, above all epochs that can be set."""
        processes = accelerate_processes()
        if processes is not None and processes > 1 and isinstance(examples[0], Example):
            warnings.warn(
                "nobody told the data set or the collator the epoch, which Accelerate does not on several processes; "
                "so torch's random numbers draw the masks, other ones after a resume: call dataset.set_epoch(epoch) "
                "before each epoch, in the Trainer of transformers by a callback's on_epoch_begin",
                UserWarning,
                stacklevel=2,
            )
        if processes == 1 and isinstance(examples[0], Example):
            # It has told the data set the epoch before each iteration, except where a run was resumed.
            warnings.warn(
                "nobody told the data set or the collator the epoch, so torch's random numbers draw the masks; in the "
                "epoch that the Trainer of transformers resumes, these are other masks than those of a run that was "
                "not stopped: call dataset.set_epoch(epoch) before trainer.train(resume_from_checkpoint=...), with the "
                "whole number of `epoch` in the checkpoint's trainer_state.json. Of a Subset, a ConcatDataset or "
                "another wrapper nobody tells the data set any epoch: call dataset.set_epoch(epoch) before each one, "
                "by a callback's on_epoch_begin, and to evaluate on the same masks give the rows an epoch, as "
                "Subset(dataset, [(0, n) for n in numbers])",
                UserWarning,
                stacklevel=2,
            )
        return int(torch.randint(1 << 62, (1 << 63) - 1, ()))

    def _masks(self, masker: Masker) -> DynamicMasks:
        few = self._tokens <= COMPILED_FROM and masker.by_token and not self.packing
        return TorchMasks(masker) if few else super()._masks(masker)


class TorchMasks(DynamicMasks):
    """Masks of padded rows, drawn by torch."""

    def masked(self, tokens: Tokens, special: Flags, by: DrawnBy) -> tuple[Ints, Ints]:
        """Return masked ids and labels, int64 (T,), those of the compiled kernel."""
        rows = len(by.ids)
        masked, labels = mask_tokens(
            torch.from_numpy(tokens.input_ids.reshape(rows, -1).astype(np.int64)),
            torch.from_numpy(special.reshape(rows, -1)),
            torch.from_numpy(by.ids),
            torch.from_numpy(by.epochs),
            self.masker,
            RowLaw.of_columns(torch.from_numpy(self.masker.law(*by[:3]).columns(rows))),
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
