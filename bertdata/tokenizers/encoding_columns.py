"""`Encoding`: the columns that a call of a tokenizer returns, as lists or tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bertdata.errors import ConfigError

TENSORS = (None, "np", "pt")


class Encoding(dict[str, Any]):
    """What a call returns: `input_ids` and others by name, also as attributes, as a `BatchEncoding`."""

    def __init__(self, columns: Mapping[str, Any], *, words: Sequence[Any] = ()) -> None:
        super().__init__(columns)
        self._words = words

    def word_ids(self, batch_index: int = 0) -> list[int | None]:
        """Return the number of the word of each id of a row, None for special ids, as of a row that is not padded.

        Raises ConfigError where the call did not ask for offsets, nor gave words.
        """
        words = self._words[batch_index] if len(self._words) else []
        if not words:
            raise ConfigError("this call knows no words; give return_offsets_mapping=True or is_split_into_words=True")
        return list(words)

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"this call gave {', '.join(self)}, and no {name}") from None


def as_tensors(columns: Mapping[str, Any], kind: str) -> Encoding:
    """Return columns as arrays of NumPy or tensors of torch."""
    if kind not in TENSORS:
        raise ConfigError(f"return_tensors is {kind!r}; expected None, 'np' or 'pt'")
    if len({len(ids) for ids in columns["input_ids"]}) > 1:
        raise ConfigError("rows of different lengths make no tensor; give padding=True, and truncation=True if need be")
    arrays = {name: np.array(rows, np.int64) for name, rows in columns.items()}
    return Encoding(arrays if kind == "np" else _tensors(arrays))


def _listed(row: Any) -> Any:
    """Return a row of numbers as a list, one number as it is."""
    return row.tolist() if hasattr(row, "tolist") else list(row) if isinstance(row, tuple) else row


def _tensors(arrays: Mapping[str, Any]) -> dict[str, Any]:
    try:
        import torch
    except ImportError as error:
        raise ConfigError("return_tensors is 'pt', but torch is not installed; install it, or ask for 'np'") from error
    return {name: torch.from_numpy(array) for name, array in arrays.items()}
