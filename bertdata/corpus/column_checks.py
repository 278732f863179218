"""What selections and accounts ask of columns, tried on the first rows of each source, before any work."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.curation.condition_values import column_of_values
from bertdata.curation.settings import AccountsConfig
from bertdata.curation.where import OF_ALL
from bertdata.errors import ConfigError, InputError
from bertdata.shards.kept_columns import TYPES
from bertdata.shards.phases import PhaseConfig

_STRINGS = ("source", "id", "title", "url")


def check_first_values(
    phases: Sequence[PhaseConfig], accounts: AccountsConfig, values: Mapping[str, Sequence[Any]]
) -> None:
    """Try the conditions of phases, and the types that rows carry, on some values of columns of documents.

    values: by column, None where a document has none; of all columns as many. Raises ConfigError where a condition
    compares a column with a value of another type, and InputError where a column holds other values than are asked for.
    """
    number = len(next(iter(values.values()), ()))
    for phase in phases:
        for condition in phase.selection.conditions:
            condition.holds({name: _column(name, number, values) for name in condition.names})
        for name, kind in phase.selection.kept.items():
            carried_values(name, kind, _column(name, number, values).drop_null())
    for account in accounts.accounts:
        if any(isinstance(value, list) for value in values.get(account.column, ())):
            raise ConfigError(
                f"--account {account.name} counts documents by a column that holds lists; expected one of strings, "
                "numbers, or true and false"
            )


def carried_values(name: str, kind: str, column: pa.Array) -> NDArray[Any]:
    """Return the values of a column as rows carry them; raises InputError for those of another type than `--keep` says.

    >>> carried_values("score", "int", pa.array([3, 4])).tolist()
    [3, 4]
    """
    try:
        values: NDArray[Any] = column.cast(TYPES[kind]).to_numpy(zero_copy_only=False)
    except MemoryError:
        raise
    except pa.ArrowException as error:
        raise InputError(f"the column {name} of --keep {name}={kind} holds other values: {error}") from error
    if not np.isfinite(values).all():
        raise InputError(f"the column {name} of --keep {name}={kind} holds other values: infinity")
    return values


def _column(name: str, number: int, values: Mapping[str, Sequence[Any]]) -> pa.Array:
    if name in OF_ALL:
        return pa.array([""] * number if name in _STRINGS else [0] * number)
    return column_of_values(name, values[name]) if name in values else pa.nulls(number)
