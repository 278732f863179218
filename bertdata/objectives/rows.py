"""Examples as rows of ids: the spans of a plan, gathered from a token block, with special tokens around them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bertdata.arrays import Ints
from bertdata.objectives.blocks import Plan, TokenBlock
from bertdata.tokenizers.pairs import RowTemplate


@dataclass(frozen=True)
class Rows:
    """A flat batch of examples, spans with special tokens around them: row i is at offsets[i] to offsets[i+1].

    input_ids: as the block's tokens (T,); token_type_ids: uint8 (T,), all 0 where the template has none; special: True
    at special tokens (T,); offsets: int64 (E+1,); labels: int8 (E,); ids: int64 (E,); word_starts: True where a word
    begins and at special tokens (T,), or None.
    """

    input_ids: NDArray[np.unsignedinteger]
    token_type_ids: NDArray[np.uint8]
    special: NDArray[np.bool_]
    offsets: Ints
    labels: NDArray[np.int8]
    ids: Ints
    word_starts: NDArray[np.bool_] | None = None


def row_offsets(block: TokenBlock, plan: Plan, chosen: Ints, template: RowTemplate) -> Ints:
    """Return where the rows of the chosen examples of a plan begin, and where the last one ends: int64 (E+1,).

    Raises ValueError for a plan of another block.
    """
    from bertdata.objectives.kernels import rows as rows_kernel

    offsets = np.zeros(len(chosen) + 1, np.int64)
    fits = len(plan.types) == len(plan.spans) and rows_kernel.row_ends(
        *(plan.spans, plan.types, plan.offsets, chosen, len(block.tokens)),
        *(template.special(pair=False), len(template.between), offsets[1:]),
    )
    if not fits:
        raise ValueError(
            f"an example was chosen that is not among the plan's {len(plan.offsets) - 1}, or "
            f"the plan is not one of this block of {len(block.tokens)} tokens"
        )
    return offsets


def build_rows(block: TokenBlock, plan: Plan, chosen: Ints, template: RowTemplate) -> Rows:
    """Gather the chosen examples of a plan, in the order given; raises ValueError for a plan of another block.

    Between two spans of unlike types, which are a pair, stands `between` of the template, between others, such as two
    documents, its `separator`. A special token has the type of the text before it.

    >>> block = TokenBlock(np.array([7, 8, 9], np.uint16), np.ones(3, bool), np.array([1, 3]), np.array([3]),
    ...     np.array([1], np.uint64))
    >>> plan = Plan(np.array([[0, 1], [1, 3]]), np.array([0, 1], np.int8), np.array([0, 2]), np.array([0], np.int8),
    ...     np.array([5]))
    >>> rows = build_rows(block, plan, np.array([0]), RowTemplate((2,), (3,), (3,)))
    >>> rows.input_ids.tolist(), rows.token_type_ids.tolist()
    ([2, 7, 3, 8, 9, 3], [0, 0, 0, 1, 1, 1])
    """
    from bertdata.objectives.kernels import rows as rows_kernel

    offsets = row_offsets(block, plan, chosen, template)
    input_ids = np.empty(offsets[-1], block.tokens.dtype)
    token_type_ids, special = np.zeros(offsets[-1], np.uint8), np.zeros(offsets[-1], np.bool_)
    prefix, between, suffix = (np.array(ids, np.int64) for ids in (template.prefix, template.between, template.suffix))
    last_type = -1 if template.last_type is None else template.last_type
    rows_kernel.fill_rows(
        *(block.tokens, plan.spans, plan.types, plan.offsets, chosen, prefix, between, suffix),
        *(template.second_type, last_type, input_ids, token_type_ids, special),
    )
    return Rows(input_ids, token_type_ids, special, offsets, plan.labels[chosen], plan.ids[chosen])


def with_word_starts(rows: Rows, block: TokenBlock, plan: Plan, chosen: Ints) -> Rows:
    """Return the rows that `build_rows` made of the same examples, with `word_starts`.

    >>> block = TokenBlock(np.array([7, 8, 9], np.uint16), np.array([True, False, True]), np.array([3]), np.array([3]),
    ...     np.array([1], np.uint64))
    >>> plan = Plan(np.array([[0, 3]]), np.array([0], np.int8), np.array([0, 1]), np.array([0], np.int8), np.array([5]))
    >>> rows = build_rows(block, plan, np.array([0]), RowTemplate((2,), (3,), (3,)))
    >>> with_word_starts(rows, block, plan, np.array([0])).word_starts.tolist()
    [True, True, False, True, True]
    """
    begins, ends = plan.spans[_ranges(plan.offsets[chosen], plan.offsets[chosen + 1])].T
    starts = rows.special.copy()
    starts[~rows.special] = block.word_start[_ranges(begins, ends)]
    return replace(rows, word_starts=starts)


def _ranges(begins: Ints, ends: Ints) -> Ints:
    """Return the numbers of ranges, one after another.

    >>> _ranges(np.array([5, 2]), np.array([7, 5])).tolist()
    [5, 6, 2, 3, 4]
    """
    sizes = ends - begins
    after = np.cumsum(sizes)
    numbers: Ints = np.arange(after[-1] if len(after) else 0) + np.repeat(begins - after + sizes, sizes)
    return numbers
