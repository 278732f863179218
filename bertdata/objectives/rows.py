"""Examples as rows of ids: the spans of a plan, gathered from a token block, with special tokens."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bertdata.objectives.blocks import Plan, TokenBlock

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
    """Gather the chosen examples of a plan, in the order given; raises ValueError for a plan of another block.

    >>> block = TokenBlock(np.array([7, 8, 9], np.uint16), np.ones(3, bool), np.array([1, 3]), np.array([3]),
    ...     np.array([1], np.uint64))
    >>> plan = Plan(np.array([[0, 1], [1, 3]]), np.array([0, 1], np.int8), np.array([0, 2]), np.array([0], np.int8),
    ...     np.array([5]))
    >>> rows = build_rows(block, plan, np.array([0]), cls_token_id=2, sep_token_id=3)
    >>> rows.input_ids.tolist(), rows.token_type_ids.tolist()
    ([2, 7, 3, 8, 9, 3], [0, 0, 0, 1, 1, 1])
    """
    from bertdata.objectives.kernels import rows as rows_kernel

    ends = np.empty(len(chosen), np.int64)
    fits = len(plan.types) == len(plan.spans)
    if not fits or not rows_kernel.row_ends(plan.spans, plan.offsets, chosen, len(block.tokens), ends):
        raise ValueError(
            f"an example was chosen that is not among the plan's {len(plan.offsets) - 1}, or "
            f"the plan is not one of this block of {len(block.tokens)} tokens"
        )
    offsets = np.concatenate([[0], ends])
    input_ids = np.empty(offsets[-1], block.tokens.dtype)
    token_type_ids, special = np.zeros(offsets[-1], np.uint8), np.zeros(offsets[-1], np.bool_)
    rows_kernel.fill_rows(
        *(block.tokens, plan.spans, plan.types, plan.offsets, chosen, ends),
        *(cls_token_id, sep_token_id, input_ids, token_type_ids, special),
    )
    return Rows(input_ids, token_type_ids, special, offsets, plan.labels[chosen], plan.ids[chosen])
