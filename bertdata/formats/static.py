"""Rows with static masks as Google's create_pretraining_data writes them: padded, predictions in lists of their own.

Masks of static shards are taken as they are; of dynamic ones those of an epoch are drawn, by the function the loader
uses. The fields have Google's names: input_ids, input_mask (1 at tokens), segment_ids, masked_lm_positions,
masked_lm_ids, masked_lm_weights (1 at predictions), next_sentence_labels, which ALBERT's sentence order has too. The
examples of packed rows become a row each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.errors import ConfigError, InputError
from bertdata.formats.names import static_formats
from bertdata.masking.masking import IGNORE_INDEX, Masker
from bertdata.masking.training import MASKED
from bertdata.shards import Shards
from bertdata.shards.packed import unpacked, word_starts
from bertdata.shards.pretraining_info import PretrainingInfo

FIELDS = (
    *("input_ids", "input_mask", "segment_ids"),
    *("masked_lm_positions", "masked_lm_ids", "masked_lm_weights", "next_sentence_labels"),
)
"""The fields of a row; segment_ids only where rows have token types, the last one where they have a pair label."""


Fields = dict[str, NDArray[Any]]
"""Rows in the fields of Google's create_pretraining_data, each (N,) or (N, width); see `StaticRows.fields`."""


@dataclass(frozen=True)
class StaticRows:
    """How examples become rows: the epoch whose masks are drawn, and the most predictions that a row has room for."""

    info: PretrainingInfo
    epoch: int
    max_predictions_per_seq: int
    masker: Masker

    def of(self, shards: Shards) -> StaticRows:
        """Return how examples of a split become rows."""
        return replace(self, masker=self.info.masker(shards.tokenizer(), split=shards.split, build=shards.build))

    def predictions(self, batch: pa.RecordBatch) -> int:
        """Return the largest number of predictions that an example of a batch has."""
        _, labels, offsets = self._masked(batch)
        before = np.concatenate([[0], np.cumsum(labels != IGNORE_INDEX)])[offsets]
        return int(np.diff(before).max(initial=0))

    def _masked(self, batch: pa.RecordBatch) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return the ids with their masks, the labels and the offsets of a batch, flat, all int64."""
        ids, offsets = flat(batch["input_ids"])
        if not self.info.draws_masks:
            return ids.astype(np.int64), flat(batch["labels"])[0].astype(np.int64), offsets
        examples, starts = batch["example_id"].to_numpy(), word_starts(batch)
        masked = self.masker.mask(ids, offsets, examples, self.epoch, word_starts=starts)
        return masked.input_ids, masked.labels, offsets

    def fields(self, batch: pa.RecordBatch, path: str, begin: int) -> Fields:
        """Return the rows of examples, of which the first is number `begin` of the shard at `path`.

        input_ids, input_mask and segment_ids (where rows have token types) are int64 (N, L), masked_lm_positions and
        masked_lm_ids int64 (N, P), masked_lm_weights float32 (N, P), next_sentence_labels int64 (N,). Raises
        ConfigError where a row has more predictions than there is room for.
        """
        ids, labels, offsets = self._masked(batch)
        lengths, width, room = np.diff(offsets), self.info.max_seq_length, self.max_predictions_per_seq
        places = np.arange(len(ids)) - np.repeat(offsets[:-1], lengths)
        rows = np.repeat(np.arange(len(lengths)), lengths)
        of_tokens: Fields = {"input_ids": ids, "input_mask": np.ones(len(ids), np.int64)}
        if self.info.row_template.has_types:
            of_tokens["segment_ids"] = flat(batch["token_type_ids"])[0]
        fields = {name: np.zeros((len(lengths), width), np.int64) for name in of_tokens}
        fields["input_ids"][:] = self.info.pad_token_id
        for name, values in of_tokens.items():
            fields[name][rows, places] = values
        at = np.flatnonzero(labels != IGNORE_INDEX)
        number = np.bincount(rows[at], minlength=len(lengths))
        if len(number) and number.max() > room:
            row = int(number.argmax())
            raise ConfigError(
                f"row {begin + row} has {number[row]} predictions, and --max-predictions-per-seq is {room}: give at "
                f"least {number.max()}, or build with --max-predictions-per-seq {room}",
                path=path,
            )
        column = np.arange(len(at)) - np.repeat(np.cumsum(number) - number, number)
        for name, values, kind in (
            ("masked_lm_positions", places[at], np.int64),
            ("masked_lm_ids", labels[at], np.int64),
            ("masked_lm_weights", np.ones(len(at)), np.float32),
        ):
            fields[name] = np.zeros((len(lengths), room), kind)
            fields[name][rows[at], column] = values
        if self.info.label:
            fields["next_sentence_labels"] = batch[self.info.label].to_numpy().astype(np.int64)
        return fields


def flat(column: pa.ListArray) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the values of a list array and its offsets, from 0, int64."""
    offsets = column.offsets.to_numpy().astype(np.int64)
    return column.values.to_numpy()[offsets[0] : offsets[-1]], offsets - offsets[0]


def static_rows(splits: Sequence[Shards], epoch: int = 0, max_predictions_per_seq: int = 0) -> StaticRows:
    """Return how the shards of a build become rows.

    max_predictions_per_seq 0: the limit of the build, or without one the largest number that a row has. Dynamic masks
    are drawn under the limit. Raises InputError for fine-tuning data, ConfigError for an epoch where masks are static.
    """
    info, tokenizer = splits[0].info, splits[0].tokenizer()
    if not isinstance(info, PretrainingInfo):
        raise InputError(
            f"holds {info.purpose}, which has no masks; export it to one of {static_formats(False)}",
            path=splits[0].build,
        )
    if epoch < 0 or (epoch and info.examples.masking == "static"):
        raise ConfigError(
            f"--epoch is {epoch}; expected 0 or more, and 0 where masks are static"
            + (": these are in the shards, a copy for each of --dupe-factor" if epoch > 0 else "")
        )
    if info.masking.mask_schedule and any(of_split.split == "train" for of_split in splits):
        raise ConfigError(
            f"the mask rate of train is {info.masking.rate_text}, and this format has masks that are written once; "
            f"export to one of {static_formats(False)}, or build with a constant --masked-lm-prob",
            path=splits[0].build,
        )
    if any(info.masking.for_split(of_split.split).mask_rate_draw for of_split in splits):
        raise ConfigError(
            f"rows have {info.masking.rate_draw_text}, and this format has no place for the rates, by which the loss "
            f"is weighted; export to one of {static_formats(False)}, or build with a constant --masked-lm-prob",
            path=splits[0].build,
        )
    if info.masking.training != MASKED:
        raise ConfigError(
            f"rows are trained for --training {info.masking.training}, and this format has masked tokens alone; export "
            f"to one of {static_formats(False)}, or build without --training",
            path=splits[0].build,
        )
    if max_predictions_per_seq < 0:
        raise ConfigError(f"--max-predictions-per-seq is {max_predictions_per_seq}; expected 0 (as is) or more")
    if info.examples.masking == "dynamic" and max_predictions_per_seq:
        info = replace(info, masking=replace(info.masking, max_predictions_per_seq=max_predictions_per_seq))
    masker = info.masker(tokenizer, split=splits[0].split, build=splits[0].build)
    rows = StaticRows(info, epoch, 0, masker)
    room = max_predictions_per_seq or info.masking.max_predictions_per_seq
    if not room:
        tables = ((rows.of(split), split.table) for split in splits)
        room = max(masked.predictions(unpacked(batch)) for masked, table in tables for batch in table.to_batches())
    return replace(rows, max_predictions_per_seq=max(room, 1))
