"""`Encoding`: the columns that a call of a tokenizer returns, as lists or tensors, and where its tokens stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from bertdata.errors import ConfigError, InputError
from bertdata.tokenizers.encoded_row import EncodedRow

TENSORS = (None, "np", "pt")


class Encoding(dict[Any, Any]):
    """What a call returns: `input_ids` and others by name, also as attributes, as a `BatchEncoding`.

    Where tokens stand is worked out when it is first asked for. A copy that went through pickle has the columns alone.
    """

    def __init__(self, columns: Mapping[str, Any], *, rows: Callable[[], Sequence[EncodedRow]] | None = None) -> None:
        super().__init__(columns)
        self._rows = rows

    @property
    def data(self) -> dict[str, Any]:
        """The columns."""
        return dict(self)

    @property
    def is_fast(self) -> bool:
        """Whether it is known where tokens stand."""
        return self._rows is not None

    @cached_property
    def encodings(self) -> list[EncodedRow]:
        """The rows, with the places of their tokens; raises ConfigError where the family does not know them."""
        if self._rows is None:
            raise ConfigError(
                "these columns are a copy, or rows that were padded: only what the call itself returned knows where "
                "their tokens stand; ask that"
            )
        return list(self._rows())

    @property
    def n_sequences(self) -> int | None:
        """How many texts a row has; None where there is no row."""
        return self.encodings[0].n_sequences if self.encodings else None

    def tokens(self, batch_index: int = 0) -> list[str]:
        """Return the tokens of a row."""
        return self._row(batch_index).tokens

    def word_ids(self, batch_index: int = 0) -> list[int | None]:
        """Return the number of the word of each id of a row, None for special ids and padding."""
        return list(self._row(batch_index).word_ids)

    def sequence_ids(self, batch_index: int = 0) -> list[int | None]:
        """Return for each id of a row the number of its text, 0 or 1, and None for special ids and padding."""
        return self._row(batch_index).sequence_ids

    def token_to_sequence(self, batch_or_token_index: int, token_index: int | None = None) -> int | None:
        """Return the number of the text of a token: of (row, token), or of a token of the only row."""
        row, token = self._token(batch_or_token_index, token_index)
        return row.token_to_sequence(token)

    def token_to_word(self, batch_or_token_index: int, token_index: int | None = None) -> int | None:
        """Return the number of the word of a token: of (row, token), or of a token of the only row."""
        row, token = self._token(batch_or_token_index, token_index)
        return row.token_to_word(token)

    def token_to_chars(self, batch_or_token_index: int, token_index: int | None = None) -> Span | None:
        """Return the characters of a token in its text: of (row, token), or of a token of the only row."""
        row, token = self._token(batch_or_token_index, token_index)
        return _span(row.token_to_chars(token))

    def word_to_tokens(
        self, batch_or_word_index: int, word_index: int | None = None, sequence_index: int = 0
    ) -> Span | None:
        """Return the tokens of a word of a text: of (row, word), or of a word of the only row."""
        row, word = self._place(batch_or_word_index, word_index)
        return _span(row.word_to_tokens(word, sequence_index))

    def word_to_chars(self, batch_or_word_index: int, word_index: int | None = None, sequence_index: int = 0) -> Span:
        """Return the characters of a word of a text: of (row, word), or of a word of the only row."""
        row, word = self._place(batch_or_word_index, word_index)
        span = _span(row.word_to_chars(word, sequence_index))
        if span is None:
            raise InputError(f"the row has no token of the word {word} of text {sequence_index}; ask for one of it")
        return span

    def char_to_token(
        self, batch_or_char_index: int, char_index: int | None = None, sequence_index: int = 0
    ) -> int | None:
        """Return the token that holds a character of a text: of (row, character), or of one of the only row."""
        row, character = self._place(batch_or_char_index, char_index)
        return row.char_to_token(character, sequence_index)

    def char_to_word(
        self, batch_or_char_index: int, char_index: int | None = None, sequence_index: int = 0
    ) -> int | None:
        """Return the word that holds a character of a text: of (row, character), or of one of the only row."""
        row, character = self._place(batch_or_char_index, char_index)
        return row.char_to_word(character, sequence_index)

    def convert_to_tensors(self, tensor_type: str | None = None) -> Encoding:
        """Turn the columns into arrays of NumPy ("np") or tensors of torch ("pt"), in place; returns itself."""
        if tensor_type is not None:
            self.update(as_tensors({name: _listed(values) for name, values in self.items()}, tensor_type))
        return self

    def to(self, device: Any, *, non_blocking: bool = False) -> Encoding:
        """Move the tensors of torch to a device, in place; returns itself."""
        for name, value in self.items():
            if hasattr(value, "to"):
                self[name] = value.to(device=device, non_blocking=non_blocking)
        return self

    def _row(self, batch_index: int) -> EncodedRow:
        try:
            return self.encodings[batch_index]
        except IndexError:
            raise InputError(
                f"there is no row {batch_index}; this call gave {len(self.encodings)}, from 0 on"
            ) from None

    def _place(self, batch_or_index: int, index: int | None) -> tuple[EncodedRow, int]:
        return (self._row(0), batch_or_index) if index is None else (self._row(batch_or_index), index)

    def _token(self, batch_or_index: int, index: int | None) -> tuple[EncodedRow, int]:
        """Return a row and a place in it; both may count from the end, where they are below 0."""
        row, token = self._place(batch_or_index, index)
        return row, token + len(row) if token < 0 else token

    def __getitem__(self, name: Any) -> Any:
        return self.encodings[name] if isinstance(name, int | slice) else super().__getitem__(name)

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"this call gave {', '.join(self)}, and no {name}") from None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (dict(self),)


class Span(NamedTuple):
    """Where something begins, and where it ends: the place after its last."""

    start: int
    end: int


def _span(places: tuple[int, int] | None) -> Span | None:
    return None if places is None else Span(*places)


def as_tensors(columns: Mapping[str, Any], kind: str) -> Encoding:
    """Return columns as arrays of NumPy or tensors of torch."""
    if kind not in TENSORS:
        raise ConfigError(f"return_tensors is {kind!r}; expected None, 'np' or 'pt'")
    for rows in columns.values():
        if len({len(row) for row in rows if isinstance(row, list)}) > 1:
            raise ConfigError(
                "rows of different lengths make no tensor; give padding=True, and truncation=True if need be"
            )
    arrays = {name: np.array(rows, np.int64) for name, rows in columns.items()}
    return Encoding(arrays if kind == "np" else _tensors(arrays))


def tensors_of(row: Any) -> Any:
    """Return what kind of tensors a row is given as, None for a list."""
    if isinstance(row, np.ndarray):
        return "np"
    return "pt" if type(row).__module__.partition(".")[0] == "torch" else None


def _listed(row: Any) -> Any:
    """Return a row of numbers as a list, one number as it is."""
    return row.tolist() if hasattr(row, "tolist") else list(row) if isinstance(row, tuple) else row


def _tensors(arrays: Mapping[str, Any]) -> dict[str, Any]:
    try:
        import torch
    except ImportError as error:
        raise ConfigError("return_tensors is 'pt', but torch is not installed; install it, or ask for 'np'") from error
    return {name: torch.from_numpy(array) for name, array in arrays.items()}
