"""`JsonTokenizer`: a `tokenizer.json` of any model, with the ids that `tokenizers` gives."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from bertdata.characters.newer import holds_newer
from bertdata.errors import ConfigError, InputError
from bertdata.io import files
from bertdata.io.contents import once_for_contents, parse_once, parsing_once
from bertdata.io.imports import collector_paused
from bertdata.text_arrays import Texts, as_strings, check_text, check_utf8, lists_of, size_of, utf8_arrays
from bertdata.tokenizers.base import check_one
from bertdata.tokenizers.call_rows import TextTokens
from bertdata.tokenizers.file_tokenizer import FileTokenizer
from bertdata.tokenizers.files_beside import (
    ADDED,
    CONFIG,
    SPECIAL,
    read_added,
    read_settings,
    saved_settings,
)
from bertdata.tokenizers.literal_special import Row
from bertdata.tokenizers.loading import find_saved
from bertdata.tokenizers.newer_characters import known_to
from bertdata.tokenizers.saved_check import warn_of_other_ids
from bertdata.tokenizers.text_rows import TextRows, asking_tokenizers
from bertdata.tokenizers.transformers_methods import cleaned_up
from bertdata.tokenizers.wordpiece import formats

TOKENIZER = "tokenizer.json"
_SHORT = 200
"""Characters of one text up to which `tokenizers` is faster than a call of the kernels."""
_MANY_ADDED = 1000
"""Added tokens with which `tokenizers` takes longer to open than the kernels."""


class JsonTokenizer(FileTokenizer):
    """A tokenizer of any model that `tokenizers` reads: byte-level BPE, Unigram and others.

    A literal special token in a text, such as "</s>", is text (`encode_special_tokens = True` in `tokenizers`).
    Truncation and padding of the file are not taken over. Immutable, picklable, and safe to share between threads.
    """

    FILES = (TOKENIZER,)
    EXTRA_FILES: ClassVar[tuple[str, ...]] = (CONFIG, SPECIAL, ADDED)
    SAVED: ClassVar[tuple[str, ...]] = (TOKENIZER, CONFIG)

    @classmethod
    def recognizes(cls, path: str) -> bool:
        """Tell whether a path is, or holds, a `tokenizer.json` that `WordPieceTokenizer` does not read."""
        name = _file(path)
        if not files.exists(name):
            return False
        return _is_another_model(name, *formats.contents_with_beside(name))

    @classmethod
    def from_pretrained(cls, path: str | os.PathLike[str]) -> JsonTokenizer:
        """Load a directory or a `tokenizer.json`; the files beside it say which special token has which role.

        Raises InputError where a file is missing or damaged, or needs a newer version of `tokenizers`.
        """
        with parsing_once(), collector_paused():
            name = _file(find_saved(path, [cls])[1])
            folder = name.rpartition("/")[0]
            config = read_settings(folder)
            try:
                return cls(parse_once(files.read_bytes(name), name), config, added=read_added(folder))
            except InputError as error:
                raise InputError(str(error), path=name) from error

    def save_pretrained(self, directory: str | os.PathLike[str]) -> None:
        """Write `tokenizer.json` and `tokenizer_config.json`, which `AutoTokenizer.from_pretrained` opens.

        Each file is written atomically. Raises OutputError where the directory cannot be written.
        """
        folder = files.path_text(directory)
        text = json.dumps(self._data, ensure_ascii=False, indent=2) + "\n"
        files.write_bytes(files.join(folder, TOKENIZER), text.encode("utf-8"))
        roles = {role: getattr(self._special, role) for role in ("pad", "unk", "cls", "sep", "mask")}
        settings = {
            "model_input_names": list(self.input_names),
            "padding_side": self.padding_side,
            **saved_settings(self._data, self._config),
            **{f"{role}_token": token for role, token in roles.items() if token is not None},
        }
        files.write_json(files.join(folder, CONFIG), settings)
        files.remove_files(
            files.join(folder, name) for name in (SPECIAL, ADDED) if files.exists(files.join(folder, name))
        )
        if not self._data["model"].get("dropout"):
            warn_of_other_ids(self, folder)

    def encode(self, text: str) -> list[int]:
        """Return the ids of one text, without special tokens around it; raises InputError for a lone surrogate."""
        check_one(text, "encode_batch")
        check_text(text, "the text")
        if len(text) > _SHORT:
            return super().encode(text)
        if (len(self._added) > _MANY_ADDED or holds_newer(text)) and self._encoder is not None:
            return super().encode(text)
        with asking_tokenizers():
            ids: list[int] = self.reference.encode(*known_to(self.reference, [text]), add_special_tokens=False).ids
        return ids if self._special_parts.never_special else self._rows([text])[0].ids

    def encode_batch(self, texts: Texts) -> pa.ListArray:
        """Return the ids of many texts, one list of `id_type` each, without special tokens around them.

        Raises ConfigError for something else than strings or for over 2**31 - 1 ids, and InputError, naming the row,
        for a null, a lone surrogate or bytes that are not UTF-8.
        """
        by_kernels = self._by_kernels(texts)
        if by_kernels is None:
            strings = as_strings(texts)
            check_utf8(strings)
            if not self._special_parts.never_special:
                return pa.array([row.ids for row in self._rows(strings.to_pylist())], pa.list_(self.id_type))
            with asking_tokenizers():
                given = known_to(self.reference, strings.to_pylist())
                encoded = self.reference.encode_batch_fast(given, add_special_tokens=False)
            return pa.array([encoding.ids for encoding in encoded], pa.list_(self.id_type))
        return lists_of(by_kernels.ends, by_kernels.ids)

    def encode_batch_with_words(self, texts: Texts) -> pa.RecordBatch:
        """Return `input_ids`, and `word_starts`, True for the first id of each word of the pre-tokenizer.

        A mark U+2581 of a space begins a word too, as some tokenizers have that and no pre-tokenizer (Gemma's).
        """
        if self.continuation is not None:
            return super().encode_batch_with_words(texts)
        by_kernels = self._by_kernels(texts, words=True)
        if by_kernels is not None:
            marks = self._begins_with_mark
            starts = by_kernels.word_starts if marks is None else by_kernels.word_starts | marks[by_kernels.ids]
            columns = [lists_of(by_kernels.ends, by_kernels.ids), lists_of(by_kernels.ends, starts)]
            return pa.RecordBatch.from_arrays(columns, ["input_ids", "word_starts"])
        encoded = self._encodings(texts)
        marked = self._marked_tokens
        starts = [
            [before != word or token_id in marked for (before, word), token_id in zip(words, encoding.ids, strict=True)]
            for encoding in encoded
            for words in [pairwise([None, *encoding.word_ids])]
        ]
        ids = pa.array([encoding.ids for encoding in encoded], pa.list_(self.id_type))
        return pa.RecordBatch.from_pydict({"input_ids": ids, "word_starts": pa.array(starts, pa.list_(pa.bool_()))})

    def encode_batch_with_offsets(self, texts: Texts) -> pa.RecordBatch:
        """Return `input_ids`, `offset_mapping` and `word_ids` as `tokenizers` gives them, at its speed."""
        encoded = self._encodings(texts)
        columns = {
            "input_ids": pa.array([encoding.ids for encoding in encoded], pa.list_(self.id_type)),
            "offset_mapping": pa.array([encoding.offsets for encoding in encoded], pa.list_(pa.list_(pa.int32(), 2))),
            "word_ids": pa.array([encoding.word_ids for encoding in encoded], pa.list_(pa.int32())),
        }
        return pa.RecordBatch.from_pydict(columns)

    def decode(self, ids: Iterable[int], *, skip_special_tokens: bool = True) -> str:
        """Return the text of ids, as `tokenizers` joins it; raises InputError for an id outside the vocabulary."""
        whole_ids = list(map(int, ids))
        if outside := [token_id for token_id in whole_ids if not 0 <= token_id < self.vocab_size]:
            raise InputError(f"the id {outside[0]} is outside the vocabulary of {self.vocab_size} tokens")
        with asking_tokenizers():
            text = str(self._whole.decode(whole_ids, skip_special_tokens=skip_special_tokens))
        return cleaned_up(text) if self._cleans_up else text

    def encode_words(self, texts: Sequence[Sequence[str]]) -> list[TextTokens]:
        """Return the tokens of texts that are given as lists of words, by `tokenizers`."""
        return [TextTokens(*row) for row in self._rows([list(text) for text in texts], split=True)]

    def __reduce__(self) -> tuple[Any, ...]:
        return _opened, (type(self), self._data, self._config, bool(self._data["model"].get("dropout")))

    def with_dropout(self, probability: float | None = None) -> JsonTokenizer:
        """Return a tokenizer that leaves out merges at random, with the probability of the file if none is given.

        Texts go through `tokenizers` then, and get other ids each time. Raises ConfigError where the model is not BPE,
        or where no probability between 0 and 1 is known.
        """
        if "merges" not in self._data["model"]:
            raise ConfigError("this tokenizer has no merges to leave out; dropout is for BPE")
        probability = self._dropout if probability is None else probability
        if not 0 < probability <= 1:
            raise ConfigError(f"dropout is {probability}; expected a probability over 0, up to 1")
        model = {**self._data["model"], "dropout": probability}
        return JsonTokenizer({**self._data, "model": model}, self._config, dropout=True)

    @property
    def slow_because(self) -> str | None:
        """Why texts go through `tokenizers`, as a part of a sentence; None where kernels encode them."""
        from bertdata.tokenizers.encode.choice import obstacle

        if self._special_parts.splits:
            return f"its merges make {self.tokens[min(self._special_parts.splits)]!r} of a text, which is special"
        with asking_tokenizers():
            return obstacle(self._plain, self._bare, self._added_tokens)

    @cached_property
    def _encoder(self) -> Any:
        """What encodes words by kernels; None where `tokenizers` encodes each text."""
        from bertdata.tokenizers.encode.choice import encoder_of

        if self._special_parts.splits:
            return None
        dtype = np.uint16 if self.id_type == pa.uint16() else np.uint32
        with asking_tokenizers():
            return encoder_of(self._plain, self._bare, self._added_tokens, dtype)

    def _by_kernels(self, texts: Texts, *, words: bool = False) -> Any:
        """Return what kernels make of texts (`encode.output.Encoded`).

        None where there are none, and where a text spells the name that a special token has in their place.
        """
        with nullcontext() if "_encoder" in vars(self) else collector_paused(), asking_tokenizers():
            if self._encoder is None:
                return None
            result = self._encoder(utf8_arrays(texts), len(texts), size_of(texts), words=words)
        spelled = self._special_parts.spellable
        return None if spelled and np.isin(result.ids, [*spelled]).any() else result

    @cached_property
    def _added_tokens(self) -> Any:
        """The added tokens as kernels look for them; special ones are text, in which no others are looked for."""
        from bertdata.tokenizers.encode.added_tokens import AddedTokens

        return AddedTokens(self._searched, {**self._added, **self._spelled})

    def _encodings(self, texts: Texts) -> list[Row]:
        strings = as_strings(texts)
        check_utf8(strings)
        return self._rows(strings.to_pylist())

    def _rows(self, texts: list[Any], *, split: bool = False) -> list[Row]:
        """Return what `tokenizers` makes of texts, or of lists of words, in which no special token is spelled."""
        return self._text_rows.encode(texts, split=split)

    @cached_property
    def _text_rows(self) -> TextRows:
        lengths = [len(token) for token in self.tokens]
        return TextRows(self.reference, self._hide, self._special_parts, lengths, has_added=bool(self._added))


def _opened(
    cls: type[JsonTokenizer], data: Mapping[str, Any], config: Mapping[str, Any], dropout: bool
) -> JsonTokenizer:
    return cls(data, config, dropout=dropout)


@once_for_contents
def _is_another_model(path: str, *contents: bytes | None) -> bool:
    data = parse_once(contents[0] or b"", path)
    if not isinstance(data, dict) or not isinstance(data.get("model"), dict):
        return False
    return not formats.reads_with(data, formats.folder_of(path))


def _file(path: str) -> str:
    return path if path.endswith(".json") else files.join(path, TOKENIZER)
