"""The methods and names that users of tokenizers of `transformers` know, on top of what a family gives.

Calls put special tokens around texts as `row_template` has them, cut and pad; what is not here, `AutoTokenizer` has:
it opens the folder that `save_pretrained` writes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, overload

import pyarrow as pa

from bertdata.errors import ConfigError, InputError
from bertdata.text_arrays import Texts
from bertdata.tokenizers.call_rows import FIRST, ROW_COLUMNS, SECOND, CallRows, Piece, TextTokens, row, rows_of_template
from bertdata.tokenizers.encoding_columns import Encoding, _listed, as_tensors
from bertdata.tokenizers.pairs import TRUNCATIONS, RowTemplate, Truncation, kept

Padding = bool | Literal["longest", "max_length", "do_not_pad"]
_PADS = {"attention_mask": 0, "special_tokens_mask": 1, "labels": -100, "offset_mapping": (0, 0)}
UNLIMITED = 1 << 30
"""A `model_max_length` from here on is none."""


class TransformersMethods(ABC):
    """Methods of a tokenizer of `transformers`, for the families; ids and rows are theirs."""

    tokens: tuple[str, ...]
    _ids: dict[str, int]
    _special: Any
    model_max_length: int = 512
    """The most ids of a row for calls with `truncation` and no `max_length`."""
    padding_side: str = "right"
    truncation_side: str = "right"
    """From which end of a text a call takes what is too much."""
    pad_token_type_id: int = 0

    @abstractmethod
    def encode_batch(self, texts: Texts) -> pa.ListArray: ...

    @abstractmethod
    def encode_batch_with_offsets(self, texts: Texts) -> pa.RecordBatch: ...

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
        text: str | Sequence[Any],
        text_pair: str | Sequence[Any] | None = None,
        *,
        add_special_tokens: bool = True,
        padding: Padding = False,
        truncation: bool | Truncation | None = None,
        max_length: int | None = None,
        is_split_into_words: bool = False,
        pad_to_multiple_of: int | None = None,
        padding_side: Literal["left", "right"] | None = None,
        return_tensors: Literal["np", "pt"] | None = None,
        return_token_type_ids: bool | None = None,
        return_attention_mask: bool | None = None,
        return_special_tokens_mask: bool = False,
        return_offsets_mapping: bool = False,
        return_length: bool = False,
        verbose: bool = True,
    ) -> Encoding:
        """Return `input_ids` and what else `model_input_names` has of a text, a pair, or many.

        The settings mean what they do in `transformers`; texts that spell special tokens are text here, though. One
        text gives lists, many texts lists of lists; `return_tensors` arrays or tensors of int64 with one row a text.
        `max_length` alone cuts, as there. Raises ConfigError for a setting that is none of those, and InputError where
        `only_first` or `only_second` cannot cut enough.

        >>> from bertdata import WordPieceTokenizer
        >>> tokenizer = WordPieceTokenizer.from_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b"])
        >>> dict(tokenizer(["a", "a b"], padding=True))["input_ids"]
        [[2, 5, 3, 0], [2, 5, 6, 3]]
        """
        single = isinstance(text, str) or (is_split_into_words and not _holds_lists(text))
        firsts: Any = [text] if single else text
        text_pair = None if single and not text_pair else text_pair  # "" is no text there either
        pair_single = isinstance(text_pair, str) or (is_split_into_words and not _holds_lists(text_pair))
        seconds: Any = [text_pair] if single and text_pair is not None else text_pair
        if seconds is not None and (pair_single != single or len(firsts) != len(seconds)):
            raise ConfigError("text and text_pair do not go together; expected two strings, or two lists of one length")
        if max_length is not None and padding is False and truncation is None:
            truncation = "longest_first"
        ways: dict[Any, str] = {True: "longest_first", False: "do_not_truncate", None: "do_not_truncate"}
        way: Any = ways.get(truncation, truncation)
        if way not in TRUNCATIONS:
            raise ConfigError(f"truncation is {truncation!r}; expected True, False or one of {', '.join(TRUNCATIONS)}")
        limit = self.model_max_length if max_length is None else max_length
        if limit >= UNLIMITED:
            way, padding = "do_not_truncate", False if padding == "max_length" else padding
        if way != "do_not_truncate" and padding not in (False, "do_not_pad") and pad_to_multiple_of:
            _check_multiple(limit, max_length, pad_to_multiple_of)
        if padding not in (False, "do_not_pad") and self.pad_token is None:
            raise ConfigError("this tokenizer has no pad token, so it cannot pad; leave padding out")
        pieces = self.call_rows(special=add_special_tokens).pieces(pair=seconds is not None, special=add_special_tokens)
        room = limit - sum(not isinstance(piece.content, str) for piece in pieces)
        if room < 0 and way != "do_not_truncate":
            raise ConfigError(f"max_length is {limit}; {limit - room} ids are taken by special tokens alone")
        names, places = self.input_names, return_offsets_mapping
        wanted = {
            "input_ids": True,
            "token_type_ids": "token_type_ids" in names if return_token_type_ids is None else return_token_type_ids,
            "special_tokens_mask": return_special_tokens_mask,
            "offset_mapping": places,
            "word_ids": places or is_split_into_words,
        }
        columns_wanted = [name for name in ROW_COLUMNS if wanted[name]]
        by_name = self._call_columns(
            firsts, seconds, pieces, room, way, columns_wanted, split=is_split_into_words, places=places
        )
        words = by_name.pop("word_ids", [])
        whole = self.pad(
            by_name,
            padding,
            max_length=limit if padding == "max_length" else None,
            pad_to_multiple_of=pad_to_multiple_of,
            padding_side=padding_side,
        )
        if not ("attention_mask" in names if return_attention_mask is None else return_attention_mask):
            del whole["attention_mask"]
        lengths = {"length": [len(ids) for ids in whole["input_ids"]]} if return_length else {}
        if return_tensors is not None:
            return as_tensors({**whole, **lengths}, return_tensors)
        columns = {name: rows[0] for name, rows in whole.items()} if single else dict(whole)
        return Encoding({**columns, **lengths}, words=words)

    def call_rows(self, *, special: bool = True) -> CallRows:
        """Return what stands in the rows of calls; raises ConfigError where that is not clear and special ids count."""
        return rows_of_template(self.row_template) if special else CallRows()

    @property
    def input_names(self) -> tuple[str, ...]:
        """What calls give, `model_input_names` in transformers: token types where rows have any."""
        return ("input_ids", *(["token_type_ids"] if self.row_template.has_types else []), "attention_mask")

    @property
    def model_input_names(self) -> list[str]:
        """What calls give."""
        return list(self.input_names)

    def _call_columns(
        self,
        firsts: Any,
        seconds: Any,
        pieces: Sequence[Piece],
        room: int,
        way: Any,
        names: Sequence[str],
        *,
        split: bool,
        places: bool,
    ) -> dict[str, list[Any]]:
        """Return some columns of rows, each text cut so that its row has room."""
        a = self._texts_tokens(firsts, split=split, places=places)
        b = None if seconds is None else self._texts_tokens(seconds, split=split, places=places)
        columns: dict[str, list[Any]] = {name: [] for name in names}
        for number, first in enumerate(a):
            texts = {FIRST: first} if b is None else {FIRST: first, SECOND: b[number]}
            lengths = len(first.ids), 0 if b is None else len(b[number].ids)
            numbers = kept(*lengths, room, way)
            if numbers != lengths:
                sides = zip(texts, numbers, strict=False)
                texts = {name: texts[name].cut(n, self.truncation_side) for name, n in sides}
            for name, column in columns.items():
                column.append(row(pieces, texts, name))
        return columns

    def _texts_tokens(self, texts: Any, *, split: bool, places: bool) -> list[TextTokens]:
        """Return the tokens of texts, or of texts that are lists of words, with their characters where asked for."""
        if split:
            return self.encode_words(texts)
        if not places:
            return [TextTokens(ids) for ids in self.encode_batch(texts).to_pylist()]
        batch = self.encode_batch_with_offsets(texts).to_pydict()
        columns = zip(batch["input_ids"], batch["offset_mapping"], batch["word_ids"], strict=True)
        return [TextTokens(ids, [tuple(offset) for offset in offsets], words) for ids, offsets, words in columns]

    def encode_words(self, texts: Sequence[Sequence[str]]) -> list[TextTokens]:
        """Return the tokens of texts that are given as lists of words; raises ConfigError where the family cannot."""
        raise ConfigError(f"{type(self).__name__} does not take texts that are split into words; give them as strings")

    def pad(
        self,
        encoded_inputs: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        padding: Padding = True,
        *,
        max_length: int | None = None,
        pad_to_multiple_of: int | None = None,
        padding_side: Literal["left", "right"] | None = None,
        return_tensors: Literal["np", "pt"] | None = None,
        **_: Any,
    ) -> Encoding:
        """Return rows with padding on their `padding_side`, all as long as the longest, or `max_length` ids.

        encoded_inputs: lists of rows by name, or rows, as a data collator has them. Other columns than lists of numbers
        are kept as they are. Raises ConfigError where rows of different lengths are to become one tensor.
        """
        side = self.padding_side if padding_side is None else padding_side
        if side not in ("left", "right"):
            raise ConfigError(f"padding_side is {side!r}; expected 'left' or 'right'")
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
            values: dict[str, Any] = {**_PADS, "token_type_ids": self.pad_token_type_id}
            values["input_ids"] = self._ids[self.pad_token] if self.pad_token is not None else None
            if values["input_ids"] is None and any(len(row) < length for row in ids):
                raise ConfigError("this tokenizer has no pad token, so it cannot pad; leave padding out")
            for name in columns.keys() & values.keys():
                if all(isinstance(row, list) for row in columns[name]):
                    pads = ([values[name]] * (length - len(row)) for row in columns[name])
                    both = zip(columns[name], pads, strict=True)
                    columns[name] = [row + more if side == "right" else more + row for row, more in both]
        return Encoding(columns) if return_tensors is None else as_tensors(columns, return_tensors)


def _check_multiple(limit: int, max_length: int | None, multiple: int) -> None:
    """Raise ConfigError where rows that are cut and padded cannot have a length that is a multiple."""
    if limit % multiple:
        raise ConfigError(
            f"max_length is {limit if max_length is None else max_length}, and rows are cut to it and padded to a "
            f"multiple of {multiple}; expected a max_length that is one"
        )


def _holds_lists(text: Any) -> bool:
    """Tell whether texts are given as lists of words, several of them."""
    return not isinstance(text, str) and text is not None and len(text) > 0 and not isinstance(text[0], str)
