"""Columns of documents that rows carry (`--keep`): their names and types, and what their values add up to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.counter_rng import bits, key
from bertdata.errors import ConfigError
from bertdata.shards.columns import COLUMNS, INPUT_IDS, OF_BATCHES

TYPES: dict[str, pa.DataType] = {"int": pa.int64(), "float": pa.float64()}
"""The types of columns that rows carry, by what --keep calls them."""
_OF_ROWS = frozenset([*COLUMNS, *OF_BATCHES, "next_sentence_label", "sentence_order_label"])
"""The names that rows and batches have for other things."""
SUM_OF = "kept_"
"""The prefix of the counts that say what the values of a column add up to."""


def parse_kept(given: Sequence[str]) -> dict[str, str]:
    """Return the columns of --keep and their types, as {"score": "float"}; raises ConfigError for what is none.

    >>> parse_kept(["score=float", "year=int"])
    {'score': 'float', 'year': 'int'}
    """
    column_types: dict[str, str] = {}
    for text in given:
        name, _, kind = text.rpartition("=")
        if not name or kind not in TYPES:
            raise ConfigError(f"--keep {text!r} is not a column and its type; expected as score=float or year=int")
        if name in _OF_ROWS or name.startswith(INPUT_IDS):
            raise ConfigError(f"--keep names {name!r}, which rows have for something else; rename it in the documents")
        if name in column_types:
            raise ConfigError(f"--keep names {name!r} twice")
        column_types[name] = kind
    return column_types


def fields_of(column_types: Mapping[str, str]) -> dict[str, pa.DataType]:
    """Return the Arrow types of columns by name, those of rows that are not packed."""
    return {name: TYPES[kind] for name, kind in column_types.items()}


def sums_of(values: Mapping[str, NDArray[np.integer | np.floating]]) -> dict[str, int]:
    """Return what columns add up to, for whoever counts rows again: a sum of hashes, whatever the order of the rows.

    values: by column, int64 or float64 (N,).

    >>> counts = sums_of({"year": np.array([1901, 1950])})
    >>> counts == sums_of({"year": np.array([1950, 1901])}), counts == sums_of({"year": np.array([1950, 1902])})
    (True, False)
    """
    sums = {}
    for name, column in values.items():
        hashes = bits(key(0, f"kept column {name}"), np.ascontiguousarray(column).view(np.uint64))
        sums[f"{SUM_OF}{name}"] = int((hashes >> np.uint64(32)).sum(dtype=np.uint64))
    return sums
