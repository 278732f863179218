"""`PretrainingCollator`: examples to a padded batch, its masks drawn here (dynamic) or read from the shards (static).

A dynamic mask is what `mask_tokens` gives for (seed, epoch, example id, position): the same in any worker, on any rank,
after any resume. Padding is added behind the mask, so it is never masked and never labelled. What this module does not
do: packing several examples in a row.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bertdata.config import MaskingConfig
from bertdata.errors import ConfigError
from bertdata.examples.masking import IGNORE_INDEX, mask_tokens
from bertdata.shards import Shards, open_shards
from bertdata.torch.dataset import ShardDataset
from bertdata.wordpiece import WordPieceTokenizer

Ints = NDArray[np.int64]


class PretrainingCollator:
    """Makes a batch of (N, L) int64 tensors of examples from `ShardDataset`; L is a multiple of `pad_to_multiple_of`.

    A batch holds input_ids, token_type_ids, attention_mask (1 at tokens, 0 at padding), labels (the id to predict, -100
    elsewhere) and, where the objective has one, next_sentence_label or sentence_order_label (N,): what `transformers`
    calls them, so `model(**batch)` works.

    `masking` and `seed` are those of the shards unless given; the epoch is what an example says, else `epoch`. Static
    masks are passed through. Raises ConfigError for a `tokenizer` that is not the one the shards were made with, and
    for masking settings where the masks are in the shards already.

        collator = PretrainingCollator(dataset)
        batch = collator([dataset[(0, 1)], dataset[(0, 2)]])
    """

    def __init__(
        self,
        shards: str | os.PathLike[str] | Shards | ShardDataset,
        *,
        tokenizer: WordPieceTokenizer | None = None,
        masking: MaskingConfig | None = None,
        seed: int | None = None,
        epoch: int = 0,
        pad_to_multiple_of: int = 8,
    ) -> None:
        if isinstance(shards, ShardDataset):
            shards = shards.shards
        elif not isinstance(shards, Shards):
            shards = open_shards(shards)
        info = shards.info
        if tokenizer is not None and tokenizer.fingerprint != info.tokenizer:
            raise ConfigError(
                f"the tokenizer given is not the one the shards were made with ({tokenizer.fingerprint[:12]} given, "
                f"{info.tokenizer[:12]} in the shards); use the one saved beside them, or build with this one"
            )
        self.static = info.examples.masking == "static"
        if self.static and (masking is not None or seed is not None):
            raise ConfigError(
                "masking and seed were given, but the masks of these shards are static: written into them; "
                "leave both out, or build with --masking dynamic"
            )
        if pad_to_multiple_of < 1:
            raise ConfigError(f"pad_to_multiple_of is {pad_to_multiple_of}; expected at least 1")
        self.info, self.epoch, self.pad_to_multiple_of = info, epoch, pad_to_multiple_of
        self.masking = masking or info.masking
        self.seed = info.examples.seed if seed is None else seed
        self._replacement_ids = None if self.static else (tokenizer or shards).replacement_ids

    def __call__(self, examples: Sequence[Mapping[str, Any]]) -> dict[str, Tensor]:
        """Return the batch of some examples; raises ConfigError for none, or for one without the shards' columns."""
        if not examples:
            raise ConfigError("a batch of no examples cannot be collated; expected at least one")
        label = self.info.label
        needed = ["input_ids", "token_type_ids", "labels" if self.static else "example_id"]
        for name in [*needed, label] if label else needed:
            if name not in examples[0]:
                raise ConfigError(
                    f"an example has no {name!r}, it has {', '.join(map(repr, examples[0]))}; "
                    "expected examples of the shards this collator was made with"
                )
        lengths = np.array([len(example["input_ids"]) for example in examples], np.int64)
        input_ids, labels = self._masked(examples, lengths)
        width = -(-int(lengths.max()) // self.pad_to_multiple_of) * self.pad_to_multiple_of
        taken = np.arange(width) < lengths[:, None]
        batch = {
            "input_ids": _padded(input_ids, taken, self.info.pad_token_id),
            "token_type_ids": _padded(_flat(examples, "token_type_ids"), taken, 0),
            "attention_mask": torch.from_numpy(taken.astype(np.int64)),
            "labels": _padded(labels, taken, IGNORE_INDEX),
        }
        if label:
            batch[label] = torch.tensor([example[label] for example in examples], dtype=torch.int64)
        return batch

    def _masked(self, examples: Sequence[Mapping[str, Any]], lengths: Ints) -> tuple[NDArray[np.integer], Any]:
        input_ids = _flat(examples, "input_ids")
        if self._replacement_ids is None:
            return input_ids, _flat(examples, "labels")
        epochs = np.array([example.get("epoch", self.epoch) for example in examples], np.int64)
        ids = np.array([example["example_id"] for example in examples], np.int64)
        special = (input_ids == self.info.cls_token_id) | (input_ids == self.info.sep_token_id)
        masked, labels = np.empty(len(input_ids), np.int64), np.empty(len(input_ids), np.int64)
        for epoch in np.unique(epochs).tolist():
            rows = epochs == epoch
            tokens = np.repeat(rows, lengths)
            result = mask_tokens(
                input_ids[tokens],
                np.concatenate([[0], np.cumsum(lengths[rows])]),
                special[tokens],
                ids[rows],
                config=self.masking,
                seed=self.seed,
                epoch=epoch,
                mask_token_id=self.info.mask_token_id,
                replacement_ids=self._replacement_ids,
            )
            masked[tokens], labels[tokens] = result.input_ids, result.labels
        return masked, labels


def _flat(examples: Sequence[Mapping[str, Any]], name: str) -> NDArray[np.integer]:
    return np.concatenate([example[name] for example in examples])


def _padded(flat: NDArray[np.integer], taken: NDArray[np.bool_], fill: int) -> Tensor:
    padded = np.full(taken.shape, fill, np.int64)
    padded[taken] = flat
    return torch.from_numpy(padded)
