"""Calls of a tokenizer, and padding: rows as `transformers` gives them, for every family."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from numbers import Integral
from typing import Any, Literal, NamedTuple

import pyarrow as pa

from bertdata.errors import ConfigError
from bertdata.text_arrays import Texts
from bertdata.tokenizers.call_inputs import CallTexts, Lengths, lengths_of_call, part_of, texts_of_call
from bertdata.tokenizers.call_rows import (
    FIRST,
    ROW_COLUMNS,
    SECOND,
    CallRows,
    Piece,
    TextTokens,
    combined,
    row,
    rows_of_template,
)
from bertdata.tokenizers.encoded_row import EncodedRow, encoded_row
from bertdata.tokenizers.encoding_columns import Encoding, _listed, as_tensors, tensors_of
from bertdata.tokenizers.pairs import RowTemplate, Truncation

Padding = bool | Literal["longest", "max_length", "do_not_pad"]
_PADS = {"attention_mask": 0, "special_tokens_mask": 1, "labels": -100, "offset_mapping": (0, 0), "word_ids": None}


class _Row(NamedTuple):
    """A row before it is padded: which text of the call it is of, its parts, and its texts."""

    number: int
    pieces: Sequence[Piece]
    texts: Mapping[str, TextTokens]


class TokenizerCalls(ABC):
    """`tokenizer(texts, ...)` and `tokenizer.pad(...)`; ids, places and rows are those of a family."""

    tokens: tuple[str, ...]
    _ids: dict[str, int]
    model_max_length: int = 512
    """The most ids of a row for calls with `truncation` and no `max_length`."""
    padding_side: str = "right"
    truncation_side: str = "right"
    """From which end of a text a call takes what is too much."""
    pad_token_type_id: int | None = 0
    """The token type of padding; None where versions of transformers differ."""
    parts_keep_a_space: bool = False
    """Whether the characters of the first token of a part that was cut from a text have the space before them."""

    @abstractmethod
    def encode(self, text: str) -> list[int]: ...

    @abstractmethod
    def encode_batch(self, texts: Texts) -> pa.ListArray: ...

    @abstractmethod
    def encode_batch_with_offsets(self, texts: Texts) -> pa.RecordBatch: ...

    @property
    @abstractmethod
    def row_template(self) -> RowTemplate: ...

    @property
    @abstractmethod
    def pad_token(self) -> str | None: ...

    def __call__(
        self,
        text: str | Sequence[Any] | None = None,
        text_pair: str | Sequence[Any] | None = None,
        text_target: str | Sequence[Any] | None = None,
        text_pair_target: str | Sequence[Any] | None = None,
        *,
        add_special_tokens: bool = True,
        padding: Padding = False,
        truncation: bool | Truncation | None = None,
        max_length: int | None = None,
        max_target_length: int | None = None,
        stride: int = 0,
        is_split_into_words: bool = False,
        pad_to_multiple_of: int | None = None,
        padding_side: Literal["left", "right"] | None = None,
        return_tensors: Literal["np", "pt"] | None = None,
        return_token_type_ids: bool | None = None,
        return_attention_mask: bool | None = None,
        return_overflowing_tokens: bool = False,
        return_special_tokens_mask: bool = False,
        return_offsets_mapping: bool = False,
        return_length: bool = False,
        split_special_tokens: bool = True,
        verbose: bool = True,
    ) -> Encoding:
        """Return `input_ids` and what else `model_input_names` has of a text, a pair, or many.

        The settings mean what they do in `transformers`; texts that spell special tokens are text here, though, and a
        `max_length` without room for the special tokens is refused. One text gives lists, many texts lists of lists;
        `return_tensors` arrays or tensors of int64 with one row a text. `max_length` alone cuts, as there. With
        `return_overflowing_tokens` what is cut off makes rows too, each with `stride` tokens of the row before, and
        `overflow_to_sample_mapping` says of which text each row is. Texts for `text_target` give `labels`. Raises
        ConfigError for a setting that is none of those, and InputError where `only_first` or `only_second` cannot cut
        enough.

        >>> from bertdata import WordPieceTokenizer
        >>> tokenizer = WordPieceTokenizer.from_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "b"])
        >>> dict(tokenizer(["a", "a b"], padding=True))["input_ids"]
        [[2, 5, 3, 0], [2, 5, 6, 3]]
        """
        if text is None and text_target is None:
            raise ConfigError("neither text nor text_target is given; give one of them")
        if not split_special_tokens:
            raise ConfigError(
                "split_special_tokens is False, but no text becomes a special token here; put the ids of special "
                "tokens between those of texts, or open the folder with AutoTokenizer"
            )
        if padding_side not in (None, "left", "right"):
            raise ConfigError(f"padding_side is {padding_side!r}; expected 'left' or 'right'")
        names = self.input_names
        columns = {
            "input_ids": True,
            "token_type_ids": "token_type_ids" in names if return_token_type_ids is None else return_token_type_ids,
            "attention_mask": "attention_mask" in names if return_attention_mask is None else return_attention_mask,
            "special_tokens_mask": return_special_tokens_mask,
            "offset_mapping": return_offsets_mapping,
        }
        results = []
        for first, second, limit in (
            (text, text_pair, max_length),
            (text_target, text_pair_target, max_length if max_target_length is None else max_target_length),
        ):
            if first is not None:
                texts = texts_of_call(first, second, split=is_split_into_words)
                lengths = lengths_of_call(padding, truncation, limit, self.model_max_length, stride, pad_to_multiple_of)
                results.append(
                    _Call(self, texts, lengths, add_special_tokens, padding_side, return_overflowing_tokens).result(
                        [name for name, wanted in columns.items() if wanted], return_tensors, with_length=return_length
                    )
                )
        if len(results) == 2:
            results[0]["labels"] = results[1]["input_ids"]
        return results[0]

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

    def texts_tokens(self, texts: Any, *, split: bool, places: bool) -> list[TextTokens]:
        """Return the tokens of texts, or of texts that are lists of words, with their characters where asked for."""
        if split:
            return self.encode_words(texts)
        if not places and len(texts) == 1 and isinstance(texts[0], str):
            return [
                TextTokens(self.encode(texts[0]))
            ]  # without arrays, which take longer to make than a sentence's ids
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
        return_attention_mask: bool | None = None,
        return_tensors: Literal["np", "pt"] | None = None,
        **_: Any,
    ) -> Encoding:
        """Return rows with padding on their `padding_side`, all as long as the longest, or `max_length` ids.

        encoded_inputs: lists of rows by name, or rows, as a data collator has them, or one row. Rows of arrays or of
        tensors give such. Other columns than lists of numbers are kept as they are. Raises ConfigError where there are
        no `input_ids`, and where rows of different lengths are to become one tensor.
        """
        side = self.padding_side if padding_side is None else padding_side
        if side not in ("left", "right"):
            raise ConfigError(f"padding_side is {side!r}; expected 'left' or 'right'")
        if not isinstance(encoded_inputs, Mapping):
            names = encoded_inputs[0] if len(encoded_inputs) else ()
            encoded_inputs = {name: [row[name] for row in encoded_inputs] for name in names}
        if "input_ids" not in encoded_inputs:
            raise ConfigError(f"there are no input_ids to pad, but {', '.join(encoded_inputs) or 'nothing'}; give rows")
        first: Any = next(iter(encoded_inputs["input_ids"]), [])
        single = isinstance(first, Integral)
        if return_tensors is None and not single:
            return_tensors = tensors_of(first)
        columns = {
            name: [_listed(row) for row in ([rows] if single else rows)] for name, rows in encoded_inputs.items()
        }
        ids = columns["input_ids"]
        if "attention_mask" in self.input_names if return_attention_mask is None else return_attention_mask:
            columns.setdefault("attention_mask", [[1] * len(row) for row in ids])
        if padding not in (False, "do_not_pad"):
            length = max((len(row) for row in ids), default=0)
            if padding == "max_length":
                length = self.model_max_length if max_length is None else max_length
            columns |= self._padded(columns, length + -length % (pad_to_multiple_of or 1), side)
        if return_tensors is not None:
            return as_tensors(columns, return_tensors)
        return Encoding({name: rows[0] for name, rows in columns.items()} if single else columns)

    def _padded(self, columns: Mapping[str, list[Any]], length: int, side: str) -> dict[str, list[Any]]:
        """Return the columns of rows that have padding, up to a length."""
        values: dict[str, Any] = {**_PADS, "token_type_ids": self.pad_token_type_id}
        if self.pad_token_type_id is None and "token_type_ids" in columns:
            raise ConfigError(
                "padding has the token type 3 in XLNetTokenizer of transformers 4, with which models were trained, and "
                "0 in transformers 5; leave out return_token_type_ids, or padding"
            )
        values["input_ids"] = self._ids[self.pad_token] if self.pad_token is not None else None
        if values["input_ids"] is None and any(len(ids) < length for ids in columns["input_ids"]):
            raise ConfigError("this tokenizer has no pad token, so it cannot pad; leave padding out")
        padded = {}
        for name in columns.keys() & values.keys():
            if all(isinstance(row, list) for row in columns[name]):
                pads = ([values[name]] * (length - len(row)) for row in columns[name])
                both = zip(columns[name], pads, strict=True)
                padded[name] = [row + more if side == "right" else more + row for row, more in both]
        return padded


class _Call(NamedTuple):
    """One call of a tokenizer, whose settings were checked."""

    tokenizer: TokenizerCalls
    texts: CallTexts
    lengths: Lengths
    special: bool
    padding_side: str | None
    others: bool
    """Whether what is cut off makes rows too."""

    def result(self, names: Sequence[str], return_tensors: str | None, *, with_length: bool) -> Encoding:
        """Return some columns of the rows."""
        if self.lengths.padding and self.tokenizer.pad_token is None:
            raise ConfigError("this tokenizer has no pad token, so it cannot pad; leave padding out")
        places = "offset_mapping" in names
        rows = self._rows(places=places, types="token_type_ids" in names)
        columns = self._columns(rows, names)
        if with_length:
            columns["length"] = [len(ids) for ids in columns["input_ids"]]
        if self.others:
            columns["overflow_to_sample_mapping"] = [each.number for each in rows]
        view = partial(self._encoded, rows if places or self.texts.split else None)
        if return_tensors is not None:
            return Encoding(as_tensors(columns, return_tensors), rows=view)
        if self.texts.single and not self.others:
            columns = {name: values[0] if isinstance(values[0], list) else values for name, values in columns.items()}
        return Encoding(columns, rows=view)

    def _rows(self, *, places: bool, types: bool = False) -> list[_Row]:
        """Return the rows, each text cut so that its row has room, and where asked for those of what was cut off."""
        tokenizer, texts = self.tokenizer, self.texts
        firsts = tokenizer.texts_tokens(texts.firsts, split=texts.split, places=places)
        with_pair, given = texts.given_seconds()
        encoded = tokenizer.texts_tokens(given, split=texts.split, places=places) if with_pair else []
        seconds = dict(zip(with_pair, encoded, strict=True))
        kinds = tokenizer.call_rows(special=self.special)
        pieces = {pair: kinds.pieces(pair=pair, special=self.special, types=types) for pair in {False, bool(seconds)}}
        special = {pair: sum(not isinstance(each.content, str) for each in parts) for pair, parts in pieces.items()}
        self._check_stride(special[False])
        rows = []
        for number, first in enumerate(firsts):
            pair = number in seconds
            both = {FIRST: first, SECOND: seconds[number]} if pair else {FIRST: first}
            sizes = [len(text.ids) for text in both.values()]
            cut = self.lengths.parts(sizes, special[pair], tokenizer.truncation_side, others=self.others)
            own_types = not (kinds.types_of_cut_off and self.special)
            parts = {
                name: self._parts(text, places, int(name != FIRST) if own_types else None)
                for (name, text), places in zip(both.items(), cut, strict=True)
            }
            order = dict.fromkeys(piece.content for piece in pieces[pair] if isinstance(piece.content, str))
            rows += [_Row(number, pieces[pair], each) for each in combined({name: parts[name] for name in order})]
        return rows

    def _parts(self, text: TextTokens, places: Sequence[tuple[int, int]], type_id: int | None) -> list[TextTokens]:
        """Return the parts of a text, those that are cut off with a token type of their own unless it is None."""
        parts = [part_of(text, ends) for ends in places]
        if self.tokenizer.parts_keep_a_space and text.offsets:
            tokens = self.tokenizer.tokens
            parts = [
                part.with_space_before(tokens[part.ids[0]]) if start and part.ids else part
                for part, (start, _) in zip(parts, places, strict=True)
            ]
        return parts if type_id is None else [parts[0], *(part._replace(type_id=type_id) for part in parts[1:])]

    def _check_stride(self, special: int) -> None:
        lengths = self.lengths
        if lengths.way != "do_not_truncate" and lengths.stride and lengths.stride >= lengths.limit - special:
            raise ConfigError(
                f"stride is {lengths.stride}, and max_length {lengths.limit} leaves {lengths.limit - special} ids to a "
                "text; expected a stride below that"
            )

    def _columns(self, rows: Sequence[_Row], names: Sequence[str]) -> dict[str, list[Any]]:
        """Return some columns of rows, padded as asked for."""
        columns = {name: [row(each.pieces, each.texts, name) for each in rows] for name in ROW_COLUMNS if name in names}
        if "attention_mask" in names:
            columns["attention_mask"] = [[1] * len(ids) for ids in columns["input_ids"]]
        lengths = self.lengths
        if lengths.padding:
            length = max((len(ids) for ids in columns["input_ids"]), default=0)
            if self.others:  # `tokenizers` takes the longest of the rows that are not of what was cut off
                first = {each.number: place for place, each in reversed([*enumerate(rows)])}
                length = max((len(columns["input_ids"][place]) for place in first.values()), default=0)
            length = lengths.limit if lengths.padding == "max_length" else length
            side = self.padding_side or self.tokenizer.padding_side
            columns |= self.tokenizer._padded(columns, length + -length % (lengths.multiple or 1), side)
        return columns

    def _encoded(self, rows: Sequence[_Row] | None) -> list[EncodedRow]:
        """Return the rows with the places of their tokens, which are worked out where they are not known yet."""
        rows = self._rows(places=True) if rows is None else rows
        columns = self._columns(rows, [*ROW_COLUMNS, "attention_mask"])
        side, result = self.padding_side or self.tokenizer.padding_side, []
        for number, each in enumerate(rows):
            of_row = {name: values[number] for name, values in columns.items()}
            ids = of_row["input_ids"]
            padding = len(ids) - sum(
                len(each.texts[p.content].ids) if isinstance(p.content, str) else 1 for p in each.pieces
            )
            tokens = [self.tokenizer.tokens[token_id] for token_id in ids]
            result.append(encoded_row(each.pieces, each.texts, of_row, tokens, before=padding if side == "left" else 0))
        return result
