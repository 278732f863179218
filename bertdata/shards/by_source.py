"""The sources of examples: the type of the column that numbers them, and counts by source."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

MOST_IN_INT8 = 127


def source_type(number: int) -> pa.DataType:
    """Return the type of the column `source` for a number of sources: int8 up to 127, else int16."""
    return pa.int8() if number <= MOST_IN_INT8 else pa.int16()


def count_by_source(
    what: str, sources: NDArray[np.signedinteger], names: Sequence[str], amounts: NDArray[np.integer] | None = None
) -> dict[str, int]:
    """Return how many things there are of each source, or what their amounts add up to, as `{what}_of_{name}`.

    sources: the number in `names` of each thing (N,); amounts: int (N,). A source without any has 0, but is left out
    where there are over 127 sources, as most of them are in few shards. Without names there are no counts.

    >>> count_by_source("tokens", np.array([1, 1, 0]), ["wikipedia", "books", "news"], np.array([5, 6, 7]))
    {'tokens_of_wikipedia': 7, 'tokens_of_books': 11, 'tokens_of_news': 0}
    """
    if not names:
        return {}
    totals = np.zeros(len(names), np.int64)
    np.add.at(totals, sources, 1 if amounts is None else amounts)
    there = np.bincount(sources, minlength=len(names)) if len(names) > MOST_IN_INT8 else np.ones(len(names))
    return {f"{what}_of_{names[number]}": int(totals[number]) for number in np.flatnonzero(there).tolist()}
