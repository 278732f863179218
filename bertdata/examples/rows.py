"""Examples as rows of ids: special tokens around the spans of a plan, gathered from a token block.

What it does not do: choosing the spans (`segments`) or masking (`masking`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertdata.examples.segments import Plan, TokenBlock

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Rows:
    """A flat batch of examples, [CLS] span [SEP] (span [SEP])...: row i is at offsets[i] to offsets[i+1].

    input_ids: as the block's tokens (T,); token_type_ids: uint8 (T,); special: True at [CLS] and [SEP] (T,);
    offsets: int64 (E+1,); labels: int8 (E,); ids: int64 (E,).
    """

    input_ids: NDArray[np.unsignedinteger]
    token_type_ids: NDArray[np.uint8]
    special: NDArray[np.bool_]
    offsets: Ints
    labels: NDArray[np.int8]
    ids: Ints


def build_rows(block: TokenBlock, plan: Plan, chosen: Ints, *, cls_token_id: int, sep_token_id: int) -> Rows:
    """Gather the chosen examples of a plan, in the order given.

    >>> block = TokenBlock(np.array([7, 8, 9], np.uint16), np.ones(3, bool), np.array([1, 3]), np.array([3]),
    ...     np.array([1], np.uint64))
    >>> plan = Plan(np.array([[0, 1], [1, 3]]), np.array([0, 1], np.int8), np.array([0, 2]), np.array([0], np.int8),
    ...     np.array([5]))
    >>> rows = build_rows(block, plan, np.array([0]), cls_token_id=2, sep_token_id=3)
    >>> rows.input_ids.tolist(), rows.token_type_ids.tolist()
    ([2, 7, 3, 8, 9, 3], [0, 0, 0, 1, 1, 1])
    """
    spans_each = plan.offsets[chosen + 1] - plan.offsets[chosen]
    span = concatenated_ranges(plan.offsets[chosen], spans_each)
    lengths = plan.spans[span, 1] - plan.spans[span, 0]
    example_of_span = np.repeat(np.arange(len(chosen), dtype=np.int64), spans_each)
    row_lengths = 1 + np.bincount(example_of_span, weights=lengths + 1, minlength=len(chosen)).astype(np.int64)
    offsets = np.concatenate([[0], np.cumsum(row_lengths)])

    input_ids = np.full(offsets[-1], sep_token_id, block.tokens.dtype)
    special = np.ones(offsets[-1], np.bool_)
    before = np.cumsum(lengths + 1) - (lengths + 1)
    target = concatenated_ranges(before + example_of_span + 1, lengths)
    input_ids[target] = block.tokens[concatenated_ranges(plan.spans[span, 0], lengths)]
    special[target] = False
    input_ids[offsets[:-1]] = cls_token_id
    types = np.repeat(plan.types[span].astype(np.uint8), lengths + 1)
    token_type_ids = np.insert(types, before[np.searchsorted(example_of_span, np.arange(len(chosen)))], 0)
    return Rows(input_ids, token_type_ids, special, offsets, plan.labels[chosen], plan.ids[chosen])


def concatenated_ranges(starts: Ints, lengths: Ints) -> Ints:
    """Return start, start + 1, ... for each of the starts, one run after another.

    >>> concatenated_ranges(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(total, dtype=np.int64)
