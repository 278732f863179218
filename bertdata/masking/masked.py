"""A flat batch of rows before and after it is masked: what is checked, and what is counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bertdata.arrays import Ints

if TYPE_CHECKING:
    from bertdata.masking.law import RowLaw


@dataclass(frozen=True)
class Masked:
    """One masked batch, flat: ids with masks in place, and labels that are the original id or -100, both (T,).

    They are int64, or narrower where asked for. capped: rows that had more predictions than `max_predictions_per_seq`.
    """

    input_ids: NDArray[Any]
    labels: NDArray[Any]
    capped: int


class Rows(NamedTuple):
    """What both kernels take of rows: where they are, what is not masked, and what is drawn by.

    epochs: of all rows, (1,), or of each, (E,); keys: those of the seed, uint64 (7,), in the order of `law.PURPOSES`.
    """

    offsets: Ints
    special: NDArray[np.bool_]
    example_ids: Ints
    epochs: Ints
    keys: NDArray[np.uint64]


def check_narrow(input_ids: NDArray[np.integer], replacement_ids: Ints, mask_token_id: int) -> None:
    """Raise ValueError where ids do not fit the narrow types of a masked batch."""
    highest = max(int(input_ids.max(initial=0)), int(replacement_ids.max(initial=0)), mask_token_id)
    if input_ids.dtype != np.uint16 or highest > np.iinfo(np.int16).max:
        raise ValueError(f"ids are {input_ids.dtype} up to {highest}; narrow=True expects uint16 up to 32767")


def check_arrays(
    input_ids: NDArray[np.integer],
    offsets: Ints,
    special: NDArray[np.bool_],
    example_ids: Ints,
    word_starts: NDArray[np.bool_] | None,
) -> None:
    """Raise ValueError where the arrays of a flat batch do not go together; they are those of `Masker.mask`."""
    flags = {len(special), len(special if word_starts is None else word_starts)}
    equal = len(offsets) == len(example_ids) + 1 and flags == {len(input_ids)}
    if not equal or offsets[0] < 0 or offsets[-1] > len(input_ids) or (np.diff(offsets) < 0).any():
        raise ValueError(
            f"{len(input_ids)} ids, {' or '.join(map(str, sorted(flags)))} flags, {len(offsets)} offsets and "
            f"{len(example_ids)} example ids do not go together; expected a flag for each id, and ascending offsets "
            "within them, one more than examples"
        )


def check_law(rows: Rows, law: RowLaw) -> None:
    """Raise ValueError unless epochs and each number of a law are of all rows, or of each."""
    number = len(rows.example_ids)
    for values in (rows.epochs, *law[:3], *(law.turns if law.in_turn else ())):
        if len(values) not in (1, number):
            raise ValueError(
                f"{len(values)} epochs or levels and {number} example ids do not go together; expected one of all "
                "rows, or one for each"
            )


def count_masked(masked: Masked, mask_token_id: int) -> tuple[int, int, int]:
    """Return how many tokens of a masked batch are predicted, how many of them became [MASK], how many are unchanged.

    >>> count_masked(Masked(np.array([2, 4, 8, 7]), np.array([-100, 9, 8, -100]), 0), 4)
    (2, 1, 1)
    """
    from bertdata.masking import masking_kernel

    counts = np.zeros(3, np.int64)
    masking_kernel.count_masked(masked.input_ids, masked.labels, mask_token_id, counts)
    predicted, became_mask, unchanged = counts.tolist()
    return predicted, became_mask, unchanged
