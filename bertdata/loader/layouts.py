"""How the examples of a batch are laid out: padded, a row for each, or packed, all one after another in one row.

A layout says where the tokens lie that are masked, and makes the arrays of a batch of these and of the other columns.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from bertdata.arrays import Flags, Ints
from bertdata.loader.block_mask import attention_masks, varlen_keys
from bertdata.loader.padding import padded_length, padded_rows
from bertdata.shards.choices import CHOICE_LENGTHS

Batch = dict[str, NDArray[Any]]
Lists = Sequence[NDArray[Any]]
Fill = Callable[[str], int]
"""Returns what stands behind the values of a column, by its name."""


class Tokens(NamedTuple):
    """The tokens that are masked, one after another (T,): example i is at offsets[i] to offsets[i + 1].

    padding: True at padding, None where there is none; word_starts: True where words begin, None where that is not
    asked for.
    """

    input_ids: NDArray[np.integer]
    offsets: Ints
    padding: Flags | None
    word_starts: Flags | None


class Layout(Protocol):
    """Where tokens lie, and the arrays of a batch."""

    def tokens(self, ids: Lists, lengths: Ints, word_starts: Lists | None, fill: Fill) -> Tokens:
        """Return the tokens of examples, of these lengths (N,), as they are masked."""

    def batch(self, lists: Mapping[str, Lists], lengths: Ints, masked: Mapping[str, Ints], fill: Fill) -> Batch:
        """Return the arrays of a batch, int64; masked: the columns that were drawn, laid out as `tokens`."""


@dataclass(frozen=True)
class Padded:
    """A row (L,) for each example, L a multiple of `multiple`; attention_mask is 1 at tokens.

    Texts beside that of `input_ids`, as `input_ids_2`, have rows of a length of their own.
    """

    multiple: int

    def tokens(self, ids: Lists, lengths: Ints, word_starts: Lists | None, fill: Fill) -> Tokens:
        """Return the tokens of padded rows, padding among them."""
        width = padded_length(int(lengths.max()), self.multiple)
        rows = padded_rows(ids, width, fill("input_ids"), ids[0].dtype)
        starts = None if word_starts is None else padded_rows(word_starts, width, 1, np.bool_).ravel()
        offsets = np.arange(0, rows.size + 1, width, dtype=np.int64)
        return Tokens(rows.ravel(), offsets, (np.arange(width) >= lengths[:, None]).ravel(), starts)

    def batch(self, lists: Mapping[str, Lists], lengths: Ints, masked: Mapping[str, Ints], fill: Fill) -> Batch:
        """Return padded rows, (N, L)."""
        width = padded_length(int(lengths.max()), self.multiple)
        batch: Batch = {"attention_mask": (np.arange(width) < lengths[:, None]).astype(np.int64)}
        for name, column in lists.items():
            if name not in masked:
                is_other_text = name.startswith("input_ids_")
                longest = padded_length(max(map(len, column)), self.multiple) if is_other_text else width
                batch[name] = padded_rows(column, longest, fill(name), np.int64)
        return batch | {name: values.reshape(-1, width) for name, values in masked.items()}


@dataclass(frozen=True)
class PaddedChoices:
    """Rows (choices, L) for each example, L a multiple of `multiple`; attention_mask is 1 at tokens.

    An example with fewer choices than others of its batch ends with rows that have no tokens.
    """

    multiple: int

    def tokens(self, ids: Lists, lengths: Ints, word_starts: Lists | None, fill: Fill) -> Tokens:
        """Return nothing: choices are not masked."""
        raise NotImplementedError

    def batch(self, lists: Mapping[str, Lists], lengths: Ints, masked: Mapping[str, Ints], fill: Fill) -> Batch:
        """Return padded rows, (N, choices, L)."""
        del lengths, masked
        by_example = lists[CHOICE_LENGTHS]
        most = max(map(len, by_example))
        sizes = padded_rows(by_example, most, 0, np.int64)
        width = padded_length(int(sizes.max()), self.multiple)
        batch: Batch = {"attention_mask": (np.arange(width) < sizes[..., None]).astype(np.int64)}
        is_token = batch["attention_mask"].astype(np.bool_)
        for name, column in lists.items():
            if name != CHOICE_LENGTHS:
                batch[name] = np.full(is_token.shape, fill(name), np.int64)
                batch[name][is_token] = np.concatenate(column)
        return batch


@dataclass(frozen=True)
class Packed:
    """One row of all examples, (1, T), T a multiple of `multiple`; padding at its end is one more sequence.

    position_offset: where position_ids begin in each example; attention_mask, sliding_window: as of `BatchCollator`.
    """

    multiple: int
    position_offset: int = 0
    attention_mask: Literal["blocks", "varlen"] | None = None
    sliding_window: int | None = None

    def tokens(self, ids: Lists, lengths: Ints, word_starts: Lists | None, fill: Fill) -> Tokens:
        """Return the tokens of all examples, without padding."""
        del fill
        starts = None if word_starts is None else np.concatenate(word_starts)
        return Tokens(np.concatenate(ids), np.concatenate([[0], np.cumsum(lengths)]), None, starts)

    def batch(self, lists: Mapping[str, Lists], lengths: Ints, masked: Mapping[str, Ints], fill: Fill) -> Batch:
        """Return one row, with position_ids, cu_seqlens and the mask that was asked for."""
        total = int(lengths.sum())
        width = padded_length(total, self.multiple)
        if width > total:
            lengths = np.append(lengths, width - total)
        ends = np.cumsum(lengths)
        positions = np.arange(width) - np.repeat(ends - lengths, lengths)
        batch: Batch = {"position_ids": (positions + self.position_offset)[None]}
        for name, column in {**lists, **{name: [values] for name, values in masked.items()}}.items():
            batch[name] = padded_rows([np.concatenate(column)], width, fill(name), np.int64)
        batch["cu_seqlens"] = np.concatenate([[0], ends]).astype(np.int32)
        if self.attention_mask == "blocks":
            batch["attention_mask"] = attention_masks(batch["cu_seqlens"], self.sliding_window)
        elif self.attention_mask == "varlen":
            batch |= varlen_keys(batch["cu_seqlens"])
        return batch
