"""The methods and names that users of tokenizers of `transformers` know, on top of what a family gives.

Calls put special tokens around texts as `row_template` has them, cut and pad; what is not here, `AutoTokenizer` has:
it opens the folder that `save_pretrained` writes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, overload

import numpy as np
import pyarrow as pa

from bertdata.errors import ConfigError, InputError
from bertdata.text_arrays import Texts
from bertdata.tokenizers.pairs import TRUNCATIONS, RowTemplate, Truncation, kept, row_of

Padding = bool | Literal["longest", "max_length", "do_not_pad"]
_TENSORS = (None, "np", "pt")
_PADS = {"token_type_ids": 0, "attention_mask": 0, "special_tokens_mask": 1, "labels": -100}


class Encoding(dict[str, Any]):
    """What a call returns: `input_ids` and others by name, also as attributes, as a `BatchEncoding`."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"this call gave {', '.join(self)}, and no {name}") from None


class TransformersMethods(ABC):
    """Methods of a tokenizer of `transformers`, for the families; ids and rows are theirs."""

    tokens: tuple[str, ...]
    _ids: dict[str, int]
    _special: Any
    model_max_length: int = 512
    """The most ids of a row for calls with `truncation` and no `max_length`."""
    padding_side = "right"

    @abstractmethod
    def encode_batch(self, texts: Texts) -> pa.ListArray: ...

    @abstractmethod
    def decode(self, ids: Iterable[int], *, skip_special_tokens: bool = True) -> str:
        """Return the text of ids: a list, a NumPy or Arrow array or a tensor of one dimension."""

    @property
    @abstractmethod
    def row_template(self) -> RowTemplate: ...

    def __len__(self) -> int:
        return len(self.tokens)

    def __bool__(self) -> bool:
        return True

    def get_vocab(self) -> dict[str, int]:
        """Return the ids of all tokens."""
        return dict(self._ids)

    @property
    def pad_token(self) -> str | None:
        """The token for padding, None where there is none."""
        return self._role("pad")

    @property
    def unk_token(self) -> str | None:
        """The token for unknown text, None where nothing is unknown."""
        return self._role("unk")

    @property
    def cls_token(self) -> str | None:
        """The token that stands for a row, None where there is none."""
        return self._role("cls")

    @property
    def sep_token(self) -> str | None:
        """The token after a text, None where there is none."""
        return self._role("sep")

    @property
    def mask_token(self) -> str | None:
        """The token that hides another, None where there is none."""
        return self._role("mask")

    def _role(self, role: str) -> str | None:
        token: str | None = getattr(self._special, role)
        return token

    @property
    def all_special_tokens(self) -> list[str]:
        """The special tokens."""
        return list(self._special.names)

    @property
    def all_special_ids(self) -> list[int]:
        """The ids of the special tokens."""
        return [self._ids[token] for token in self._special.names]

    @overload
    def convert_tokens_to_ids(self, tokens: str) -> int | None: ...  # type: ignore[overload-overlap]
    @overload
    def convert_tokens_to_ids(self, tokens: Iterable[str]) -> list[int | None]: ...
    def convert_tokens_to_ids(self, tokens: str | Iterable[str]) -> int | list[int | None] | None:
        """Return the id of a token, or of each; of one that is not in the vocabulary that of [UNK], or None."""
        if not isinstance(tokens, str):
            return [self.convert_tokens_to_ids(token) for token in tokens]
        return self._ids.get(tokens, None if self.unk_token is None else self._ids[self.unk_token])

    @overload
    def convert_ids_to_tokens(self, ids: int, *, skip_special_tokens: bool = False) -> str: ...
    @overload
    def convert_ids_to_tokens(self, ids: Iterable[int], *, skip_special_tokens: bool = False) -> list[str]: ...
    def convert_ids_to_tokens(self, ids: int | Iterable[int], *, skip_special_tokens: bool = False) -> str | list[str]:
        """Return the token of an id, or of each; raises InputError for an id outside the vocabulary."""
        if not isinstance(ids, Iterable):
            if not 0 <= ids < len(self.tokens):
                raise InputError(f"the id {ids} is outside the vocabulary of {len(self.tokens)} tokens")
            return self.tokens[ids]
        special = frozenset(self._special.names) if skip_special_tokens else frozenset()
        tokens = (self.convert_ids_to_tokens(int(token_id)) for token_id in ids)
        return [token for token in tokens if token not in special]

    def batch_decode(self, sequences: Iterable[Iterable[int]], *, skip_special_tokens: bool = True) -> list[str]:
        """Return the text of each list of ids, as `decode` does."""
        return [self.decode(ids, skip_special_tokens=skip_special_tokens) for ids in sequences]

    def num_special_tokens_to_add(self, pair: bool = False) -> int:
        """Return how many special tokens stand in a row of one text, or of two."""
        return self.row_template.special(pair=pair)

    def get_special_tokens_mask(self, ids: Sequence[int], already_has_special_tokens: bool = True) -> list[int]:
        """Return 1 for each special token of a row and 0 for each other; the ids must be a whole row."""
        if not already_has_special_tokens:
            raise ConfigError(
                "expected the ids of a whole row; call the tokenizer with return_special_tokens_mask=True"
            )
        special = frozenset(self.all_special_ids)
        return [int(int(token_id) in special) for token_id in ids]

    def __call__(
        self,
        text: str | Sequence[str],
        text_pair: str | Sequence[str] | None = None,
        *,
        add_special_tokens: bool = True,
        padding: Padding = False,
        truncation: bool | Truncation = False,
        max_length: int | None = None,
        pad_to_multiple_of: int | None = None,
        return_tensors: Literal["np", "pt"] | None = None,
        return_token_type_ids: bool | None = None,
        return_attention_mask: bool = True,
        return_special_tokens_mask: bool = False,
    ) -> Encoding:
        """Return `input_ids`, `token_type_ids` if the rows have any, and `attention_mask` of a text, a pair, or many.

        The settings mean what they do in `transformers`; texts that spell special tokens are text here, though. One
        text gives lists, many texts lists of lists; `return_tensors` arrays or tensors of int64 with one row a text.
        Raises ConfigError for a setting that is none of those, and as `encode_pair` does.

        >>> from bertdata import WordPieceTokenizer
        >>> tokenizer = WordPieceTokenizer.from_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b"])
        >>> dict(tokenizer(["a", "a b"], padding=True))["input_ids"]
        [[2, 5, 3, 0], [2, 5, 6, 3]]
        """
        single = isinstance(text, str)
        firsts = [text] if isinstance(text, str) else text
        seconds = [text_pair] if isinstance(text_pair, str) else text_pair
        if seconds is not None and (isinstance(text_pair, str) != single or len(firsts) != len(seconds)):
            raise ConfigError("text and text_pair do not go together; expected two strings, or two lists of one length")
        way: Any = {True: "longest_first", False: "do_not_truncate"}.get(truncation, truncation)  # type: ignore[arg-type]
        if way not in TRUNCATIONS:
            raise ConfigError(f"truncation is {truncation!r}; expected True, False or one of {', '.join(TRUNCATIONS)}")
        template = self.row_template if add_special_tokens else RowTemplate((), (), ())
        limit = self.model_max_length if max_length is None else max_length
        room = limit - template.special(pair=seconds is not None)
        if room < 0 and way != "do_not_truncate":
            raise ConfigError(f"max_length is {limit}; {limit - room} ids are taken by special tokens alone")
        a = self.encode_batch(firsts).to_pylist()
        b = [None] * len(a) if seconds is None else self.encode_batch(seconds).to_pylist()
        rows = []
        for first, second in zip(a, b, strict=True):
            n_first, n_second = kept(len(first), len(second or ()), room, way)
            cut = None if second is None else second[:n_second]
            row = row_of(first[:n_first], cut, template=template, pad_token_id=0)
            if return_special_tokens_mask:
                row["special_tokens_mask"] = template.special_mask(n_first, None if cut is None else len(cut))
            if not (self.row_template.has_types if return_token_type_ids is None else return_token_type_ids):
                del row["token_type_ids"]
            rows.append(row)
        found = {name: [row[name] for row in rows] for name in (rows[0] if rows else ("input_ids", "attention_mask"))}
        whole = self.pad(
            found, padding, max_length=limit if padding == "max_length" else None,
            pad_to_multiple_of=pad_to_multiple_of, return_tensors=return_tensors,
        )  # fmt: skip
        if not return_attention_mask:
            del whole["attention_mask"]
        return Encoding({name: rows[0] for name, rows in whole.items()}) if single and not return_tensors else whole

    def pad(
        self,
        encoded_inputs: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        padding: Padding = True,
        *,
        max_length: int | None = None,
        pad_to_multiple_of: int | None = None,
        return_tensors: Literal["np", "pt"] | None = None,
        **_: Any,
    ) -> Encoding:
        """Return rows with padding at their ends, so that all are as long as the longest, or `max_length` ids.

        encoded_inputs: lists of rows by name, or rows, as a data collator has them. Other columns than lists of numbers
        are kept as they are. Raises ConfigError where rows of different lengths are to become one tensor.
        """
        if return_tensors not in _TENSORS:
            raise ConfigError(f"return_tensors is {return_tensors!r}; expected None, 'np' or 'pt'")
        if not isinstance(encoded_inputs, Mapping):
            encoded_inputs = {name: [row[name] for row in encoded_inputs] for name in encoded_inputs[0]}
        columns = {name: [_listed(row) for row in rows] for name, rows in encoded_inputs.items()}
        ids = columns["input_ids"]
        columns.setdefault("attention_mask", [[1] * len(row) for row in ids])
        if padding not in (False, "do_not_pad"):
            length = max((len(row) for row in ids), default=0)
            if padding == "max_length":
                length = self.model_max_length if max_length is None else max_length
            length += -length % (pad_to_multiple_of or 1)
            values = {**_PADS, "input_ids": self._ids[self.pad_token] if self.pad_token is not None else None}
            if values["input_ids"] is None and any(len(row) < length for row in ids):
                raise ConfigError("this tokenizer has no pad token, so it cannot pad; leave padding out")
            for name in columns.keys() & values.keys():
                if all(isinstance(row, list) for row in columns[name]):
                    columns[name] = [row + [values[name]] * (length - len(row)) for row in columns[name]]
        if return_tensors is None:
            return Encoding(columns)
        if len({len(row) for row in columns["input_ids"]}) > 1:
            raise ConfigError(
                "rows of different lengths make no tensor; give padding=True, and truncation=True if need be"
            )
        arrays = {name: np.array(rows, np.int64) for name, rows in columns.items()}
        return Encoding(arrays if return_tensors == "np" else _tensors(arrays))


def _listed(row: Any) -> Any:
    """Return a row of numbers as a list, one number as it is."""
    return row.tolist() if hasattr(row, "tolist") else list(row) if isinstance(row, tuple) else row


def _tensors(arrays: Mapping[str, Any]) -> dict[str, Any]:
    try:
        import torch
    except ImportError as error:
        raise ConfigError("return_tensors is 'pt', but torch is not installed; install it, or ask for 'np'") from error
    return {name: torch.from_numpy(array) for name, array in arrays.items()}
