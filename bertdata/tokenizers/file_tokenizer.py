"""`FileTokenizer`: what a `tokenizer.json` and the files beside it say of tokens, roles and rows."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.errors import ConfigError
from bertdata.tokenizers import json_format, token_marks
from bertdata.tokenizers.base import Tokenizer, frozen
from bertdata.tokenizers.call_inputs import UNLIMITED
from bertdata.tokenizers.call_rows import CallRows
from bertdata.tokenizers.call_settings import (
    cleans_up,
    input_names_of,
    pad_type_of,
    pairs_unclear,
    parts_keep_a_space,
    rows_of_file,
    side_of,
    sides_of_file,
    with_pad_of_file,
)
from bertdata.tokenizers.file_keys import check_config
from bertdata.tokenizers.files_beside import (
    CONFIG,
    is_byte_level,
    rows_unclear,
    whole_file,
)
from bertdata.tokenizers.ids import reading_json
from bertdata.tokenizers.json_parts import check_flags, longest_row, searched_texts
from bertdata.tokenizers.late_model import Reference, open_reference
from bertdata.tokenizers.literal_special import kind_of, without_special
from bertdata.tokenizers.pairs import RowTemplate
from bertdata.tokenizers.surfaces import Surface
from bertdata.tokenizers.text_rows import asking_tokenizers

_LOG = logging.getLogger("bertdata")
_NO_DROPOUT = (
    "the model of this tokenizer.json has dropout = %s, which gives a text other ids each time; it is off here: "
    "tokenizer.with_dropout() turns it on"
)
_DECIDE_IDS = ("added_tokens", "normalizer", "pre_tokenizer", "post_processor", "model")
"""The parts of a tokenizer.json that decide ids and rows; truncation, padding and the decoder do not."""


class FileTokenizer(Tokenizer):
    """A tokenizer by its files; how texts are encoded is `JsonTokenizer`'s."""

    def __init__(
        self,
        data: Mapping[str, Any],
        config: Mapping[str, Any],
        *,
        added: Mapping[str, int] | None = None,
        dropout: bool = False,
    ) -> None:
        """Take the contents of `tokenizer.json` and of `tokenizer_config.json`; raises InputError as `from_pretrained`.

        added: the tokens of `added_tokens.json`. dropout: whether merges are left out at random, where the model says
        so; the same text then gets other ids each time.
        """
        check_config(config, CONFIG)
        config = with_pad_of_file(data, config)
        with reading_json("is not a whole tokenizer.json"):
            data = whole_file(data, config, added)
            self._dropout = float(data["model"].get("dropout") or 0.0)
            if self._dropout and not dropout:
                _LOG.warning("%s", _NO_DROPOUT % self._dropout)
                data = {**data, "model": {**data["model"], "dropout": None}}
        self._data, self._config = data, config
        with reading_json("is not a whole tokenizer.json"):
            vocabulary = json_format.vocabulary_of(data)
            tokens = json_format.tokens_by_id(vocabulary)
            special = json_format.special_tokens(data, config, vocabulary)
            json_format.check_parts(data)
            self._template, self._no_template = json_format.template_or_single(data)
            rows = rows_of_file(data)
            self._call_rows = replace(rows, no_pairs=pairs_unclear(rows, config, vocabulary))
            self._no_rows = rows_unclear(data, config)
            letters = json_format.byte_letters().values() if is_byte_level(data) else ()
            self._hide = partial(without_special, data, vocabulary, frozenset(special.names), letters)
            self._plain, self._special_parts = self._hide()
            self._added = {entry["id"]: entry for entry in self._plain["added_tokens"] if not entry["special"]}
            self._spelled = {
                entry["id"]: {**entry, "special": True}
                for entry in (data.get("added_tokens") or ())
                if self._added and entry["content"] in special.names
            }
            check_flags(data.get("added_tokens") or ())
        super().__init__(tokens, special, vocabulary if [*vocabulary] == tokens else None)
        self.model_max_length = longest_row(config, UNLIMITED)
        sides = sides_of_file(data) | dict(config)
        self.padding_side = side_of(sides)
        self.truncation_side = str(sides.get("truncation_side") or "right")
        self.pad_token_type_id = pad_type_of(config)
        self._cleans_up = cleans_up(config, kind_of(data["model"]))
        self.parts_keep_a_space = parts_keep_a_space(data)
        self._bare = Reference({**self._plain, "added_tokens": []})
        json_format.check_template(self._template, self.vocab_size)
        normalizer = self._bare.normalizer
        with asking_tokenizers():
            self._searched = searched_texts(
                [*self._added.values(), *self._spelled.values()],
                None if normalizer is None else normalizer.normalize_str,
            )

    @cached_property
    def continuation(self) -> NDArray[np.bool_] | None:
        """For each id, whether its token lacks the mark U+2581 that begins a word; None where words have no mark."""
        if not token_marks.begins_words(self._data):
            return None
        return frozen(np.array([not token.startswith(json_format.METASPACE) for token in self.tokens], np.bool_))

    @cached_property
    def _marked_tokens(self) -> frozenset[int]:
        """The ids of tokens that begin with a mark of a space; none where the tokenizer makes no such marks."""
        return token_marks.marked_tokens(self._data, self.tokens)

    @cached_property
    def _begins_with_mark(self) -> NDArray[np.bool_] | None:
        """For each id, whether its token begins with a mark of a space; None where the tokenizer makes no marks."""
        marked = self._marked_tokens
        return frozen(np.array([i in marked for i in range(self.vocab_size)], np.bool_)) if marked else None

    @property
    def row_template(self) -> RowTemplate:
        """The special ids around texts, as the `post_processor` of the file has them; BERT's where it has none.

        Raises ConfigError where the files contradict each other, or the form is none that rows of builds have.
        """
        if self._no_rows is not None:
            raise ConfigError(self._no_rows)
        if self._template is None and self._no_template is not None:
            raise ConfigError(self._no_template)
        return self._template or super().row_template

    def call_rows(self, *, special: bool = True) -> CallRows:
        """Return what stands in the rows of calls: what the `post_processor` puts there, whatever its form."""
        if special and self._no_rows is not None:
            raise ConfigError(self._no_rows)
        return self._call_rows

    @property
    def input_names(self) -> tuple[str, ...]:
        """What calls give: `model_input_names` of the settings, else those of the class that they name."""
        return input_names_of(self._config)

    @cached_property
    def token_texts(self) -> tuple[str, ...]:
        """The tokens without marks of spaces, the bytes of byte-level BPE as text; special tokens as they are."""
        return token_marks.texts_of_tokens(self._data, self.tokens, frozenset(self.special_tokens))

    @cached_property
    def token_surfaces(self) -> tuple[Surface | None, ...]:
        """What each token is in a text, by the marks of the file: letters of bytes, U+2581, ##, or none."""
        special = frozenset(self.special_tokens)
        surface_of = token_marks.surface_reader(self._data)
        return tuple(
            None if token in special or self.is_reserved(token) else surface_of(token) for token in self.tokens
        )

    def is_reserved(self, token: str) -> bool:
        """Tell whether a token is kept free, as [unused0]."""
        return json_format.is_reserved(token)

    def identity(self) -> dict[str, Any]:
        """Return what decides ids and rows, and which token has which role."""
        roles = [self._special.pad, self._special.unk, self._special.cls, self._special.sep, self._special.mask]
        return {"family": "json", "special_tokens": roles} | {name: self._data.get(name) for name in _DECIDE_IDS}

    @cached_property
    def reference(self) -> Any:
        """The `tokenizers.Tokenizer` with the same ids, which takes literal special tokens for text."""
        return open_reference(self._plain) if self._added else self._bare.whole

    @cached_property
    def _whole(self) -> Any:
        """The `tokenizers.Tokenizer` of the whole file, for what special tokens have a part in.

        Tokens that settings name as special are so there too, where the file does not call them so.
        """
        tokenizer, special = open_reference(self._data), {*self._special.names}
        tokenizer.add_special_tokens([token for token in json_format.all_named(self._config) if token in special])
        return tokenizer
