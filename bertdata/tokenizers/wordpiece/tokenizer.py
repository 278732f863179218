"""`WordPieceTokenizer`: text to the ids that `tokenizers`, `transformers` and BERT's released code give.

A batch goes through a compiled kernel (`encode.encoder`), over Arrow buffers and without a Python object for a text or
a word.
"""

from __future__ import annotations

import json
import operator
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bertdata.errors import ConfigError, InputError
from bertdata.io import files
from bertdata.text_arrays import Texts, array_of, arrays_of, as_strings, check_text, check_utf8, lists_of, size_of
from bertdata.tokenizers.base import SpecialTokens, Tokenizer, check_one, frozen
from bertdata.tokenizers.call_rows import CallRows, TextTokens
from bertdata.tokenizers.call_settings import input_names_of, rows_of_file, side_of
from bertdata.tokenizers.json_format import template_or_single
from bertdata.tokenizers.loading import find_saved
from bertdata.tokenizers.pairs import RowTemplate
from bertdata.tokenizers.saved_check import warn_of_other_ids
from bertdata.tokenizers.transformers_methods import cleaned_up
from bertdata.tokenizers.wordpiece import formats, rebuilt
from bertdata.tokenizers.wordpiece.normalizer import Normalizer
from bertdata.tokenizers.wordpiece.tokenizer_json import Parts, merge_special, parse
from bertdata.tokenizers.wordpiece.vocabulary import (
    CONTINUATION,
    SPECIAL_TOKENS,
    check_special,
    check_vocabulary,
    is_unused,
)


class WordPieceTokenizer(Tokenizer):
    """BERT's tokenizer (Devlin et al. 2019; WordPiece of Schuster and Nakajima 2012), ids equal to `tokenizers`'.

    A literal special token in a text, such as "[SEP]", is text: it is cut at its brackets like any other
    (`encode_special_tokens = True` in `tokenizers`). `allow_special=True` turns it into its id, as `transformers`
    does by default. A word of over 100 characters is [UNK]. Lone surrogates raise InputError, as they have no UTF-8.

    Immutable, picklable, and safe to share between threads; the cache belongs to the object and is not pickled.

    >>> tokenizer = WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, "un", "##believ", "##able", "!"])
    >>> tokenizer.encode("Unbelievable!")
    [5, 6, 7, 8]
    >>> tokenizer.tokenize("unable")
    ['un', '##able']
    >>> tokenizer.decode([5, 6, 7, 8])
    'unbelievable!'
    """

    FILES = (formats.TOKENIZER, formats.VOCAB)
    EXTRA_FILES = (formats.CONFIG, formats.SPECIAL, formats.ADDED)
    SAVED = (formats.VOCAB, formats.TOKENIZER, formats.CONFIG)
    NOTATION = f"{CONTINUATION} in a mark: this token continues the word before it"
    IGNORES_WHITESPACE = True

    def __init__(self, parts: Parts) -> None:
        super().__init__(parts.tokens, SpecialTokens(additional=parts.special_tokens[len(SPECIAL_TOKENS) :]))
        self._parts = parts
        self.model_max_length = parts.model_max_length
        self.padding_side = side_of(parts.call)
        self.truncation_side = str(parts.call.get("truncation_side") or "right")
        data = {"post_processor": parts.post_processor}
        self._template, self._no_template = template_or_single(data)

    @classmethod
    def recognizes(cls, path: str) -> bool:
        """Tell whether a path is a directory with one of the files, a .txt or .json file, or one with a line [UNK]."""
        return (formats.is_file(path) and formats.is_vocabulary(path)) or super().recognizes(path)

    @classmethod
    def from_pretrained(cls, path: str | os.PathLike[str], *, do_lower_case: bool | None = None) -> WordPieceTokenizer:
        """Load a directory, a `vocab.txt`, a `tokenizer.json`, or by name a vocabulary that comes with bertdata.

        The names are bertdata-30k-uncased and bertdata-30k-cased; a path of that name goes first.

        The settings come from `tokenizer_config.json` beside it and from `tokenizer.json`; a bare `vocab.txt` means
        BERT's defaults, which lower-case. `do_lower_case` overrides what the files say. Truncation, padding and the
        decoder of a `tokenizer.json` are not taken over: `decode` has BERT's, and special tokens are looked for as
        they are written, whatever their entries say of `single_word`, `normalized` and spaces. Raises
        InputError where a file is missing, damaged, not BERT's WordPiece, or contradicts another.
        """
        return cls(formats.read(find_saved(path, [cls])[1], do_lower_case))

    @classmethod
    def from_tokens(
        cls,
        tokens: Sequence[str],
        *,
        do_lower_case: bool = True,
        strip_accents: bool | None = None,
        tokenize_chinese_chars: bool = True,
        special_tokens: Sequence[str] = SPECIAL_TOKENS,
    ) -> WordPieceTokenizer:
        """Make a tokenizer of tokens in the order of their ids, such as `train_wordpiece` returns.

        `special_tokens` names further special tokens; the five of BERT always are. Raises InputError where the tokens
        are not a vocabulary (`check_vocabulary`) and ConfigError where a special token is not among them, and as
        `check_special` does.
        """
        checked = check_vocabulary(tokens)
        special = merge_special(check_special(special_tokens))
        for token in special:
            if token not in checked:
                raise ConfigError(f"the special token {token!r} is not in the vocabulary; add it")
        normalizer = Normalizer(do_lower_case, strip_accents, tokenize_chinese_chars)
        return cls(Parts(checked, special, normalizer))

    @classmethod
    def from_tokenizers(cls, tokenizer: Any) -> WordPieceTokenizer:
        """Make one of a `tokenizers.Tokenizer`, as `from_pretrained` does of its file.

        Raises InputError where it is not BERT's pipeline, and ConfigError for something else, such as a tokenizer of
        `transformers`, which has one as `backend_tokenizer`.
        """
        if not callable(getattr(type(tokenizer), "to_str", None)):
            raise ConfigError(
                f"expected a tokenizers.Tokenizer, found {type(tokenizer).__name__}; of a fast tokenizer of "
                "transformers give its backend_tokenizer"
            )
        return cls(parse(json.loads(tokenizer.to_str())))

    def to_tokenizers(self) -> Any:
        """Return a new `tokenizers.Tokenizer` with the same ids.

        It turns literal special tokens into their ids unless its `encode_special_tokens` is set to True.
        """
        return rebuilt.build(self._parts)

    def save_pretrained(self, directory: str | os.PathLike[str]) -> None:
        """Write `vocab.txt`, `tokenizer.json` and `tokenizer_config.json`, which `AutoTokenizer.from_pretrained` opens.

        Each file is written atomically. Raises OutputError where the directory cannot be written.
        """
        rebuilt.write(files.path_text(directory), self._parts)
        warn_of_other_ids(self, files.path_text(directory))

    def encode(self, text: str, *, allow_special: bool = False) -> list[int]:
        """Return the ids of a text, without special tokens around it; raises InputError for a lone surrogate."""
        check_one(text, "encode_batch")
        check_text(text, "the text")
        if allow_special and any(token in text for token in self._parts.special_tokens):
            return list(self._whole.encode(text, add_special_tokens=False).ids)
        ids: list[int] = self._encoder([array_of([text])], 1, len(text))[0].tolist()
        return ids

    def encode_batch(self, texts: Texts, *, allow_special: bool = False) -> pa.ListArray:
        """Return the ids of many texts, one list each, as an Arrow list array of `id_type`.

        `texts` is a list of strings, or an Arrow array or chunked array of strings, sliced or not. No special tokens
        are put around a text. Raises ConfigError for another type, InputError, naming the row, for a null, a lone
        surrogate or bytes that are not UTF-8, and ConfigError where there are over 2**31 - 1 ids.

        >>> tokenizer = WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, "a", "b"])
        >>> tokenizer.encode_batch(["a b", ""]).to_pylist()
        [[5, 6], []]
        """
        return self._encode_special(as_strings(texts)) if allow_special else self._encode_strings(texts)

    def encode_with_offsets(self, text: str, *, allow_special: bool = False) -> dict[str, list[Any]]:
        """Return `input_ids` of a text, with the characters and the word of each id.

        The same as `encode_batch_with_offsets` gives for one text, as lists. Raises as `encode` does.

        >>> tokenizer = WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, "salt", "##y", "!"])
        >>> tokenizer.encode_with_offsets("Sâlty !")
        {'input_ids': [5, 6, 7], 'offset_mapping': [(0, 4), (4, 5), (6, 7)], 'word_ids': [0, 0, 1]}
        """
        check_one(text, "encode_batch_with_offsets")
        check_text(text, "the text")
        columns = self.encode_batch_with_offsets([text], allow_special=allow_special).to_pydict()
        lists: dict[str, list[Any]] = {name: values[0] for name, values in columns.items()}
        return lists | {"offset_mapping": list(map(tuple, lists["offset_mapping"]))}

    def encode_batch_with_offsets(self, texts: Texts, *, allow_special: bool = False) -> pa.RecordBatch:
        """Return the ids of many texts, with the characters and the word of each id, as Arrow lists.

        `input_ids` is what `encode_batch` returns. `offset_mapping` has for each id (start, end), int32, in characters
        of the text as given; `word_ids`, int32, counts a text's words as BERT cuts them, from 0: the first id of each
        number is the one that a label of the word goes to. Both equal those of `tokenizers`. Raises as `encode_batch`
        does.

        >>> tokenizer = WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, "salt", "##y", "!"])
        >>> tokenizer.encode_batch_with_offsets(["Sâlty", "!"]).to_pydict()  # doctest: +NORMALIZE_WHITESPACE
        {'input_ids': [[5, 6], [7]], 'offset_mapping': [[[0, 4], [4, 5]], [[0, 1]]], 'word_ids': [[0, 0], [0]]}
        """
        from bertdata.tokenizers.wordpiece.encode.offsets import locate

        strings = as_strings(texts)
        ids = self.encode_batch(strings, allow_special=allow_special)
        with self._encoder.cache() as cache:
            places = locate(strings, ids, self._taken, self.continuation, cache.characters)
        unsure = ~places.located | (self._holds_special(strings) if allow_special else False)
        reference = self._whole if allow_special else self._encoder.reference
        for row in np.flatnonzero(unsure).tolist():
            places.put(row, reference.encode(strings[row].as_py(), add_special_tokens=False))
        return pa.RecordBatch.from_pydict({"input_ids": ids} | places.columns())

    def decode(self, ids: Iterable[int], *, skip_special_tokens: bool = True) -> str:
        """Return the text of ids, as `tokenizers` joins it: no space before . , ! and ?

        `ids` are those of one text: a list, a NumPy or Arrow array or a tensor of one dimension. Raises ConfigError for
        something else than whole numbers, and InputError for an id outside the vocabulary.
        """
        whole_ids = _whole_numbers(ids)
        for token_id in whole_ids:
            if not 0 <= token_id < self.vocab_size:
                raise InputError(f"the id {token_id} is outside the vocabulary of {self.vocab_size} tokens")
        text = str(self._whole.decode(whole_ids, skip_special_tokens=skip_special_tokens))
        return cleaned_up(text) if self._parts.call.get("clean_up_tokenization_spaces") else text

    def __repr__(self) -> str:
        return f"WordPieceTokenizer(vocab_size={self.vocab_size}, do_lower_case={self.do_lower_case})"

    @property
    def row_template(self) -> RowTemplate:
        """The special ids around texts: BERT's, unless the file has another `post_processor`."""
        if self._parts.post_processor is None:
            return super().row_template
        if self._template is None:
            raise ConfigError(self._no_template or "the post_processor of this tokenizer puts nothing around texts")
        return self._template

    def call_rows(self, *, special: bool = True) -> CallRows:
        """Return what stands in the rows of calls; raises ConfigError where files do not say it clearly."""
        if special and self._parts.no_rows is not None:
            raise ConfigError(self._parts.no_rows)
        data = {"post_processor": self._parts.post_processor}
        rows = super().call_rows() if self._parts.post_processor is None else rows_of_file(data)
        return replace(rows, no_pairs=self._parts.no_pairs)

    @property
    def input_names(self) -> tuple[str, ...]:
        """What calls give: `model_input_names` of the settings, else what BERT takes."""
        return input_names_of(self._parts.call, types=True)

    def encode_words(self, texts: Sequence[Sequence[str]]) -> list[TextTokens]:
        """Return the tokens of texts that are given as lists of words, by `tokenizers`."""
        lists = [list(text) for text in texts]
        encoded = self._encoder.reference.encode_batch(lists, is_pretokenized=True, add_special_tokens=False)
        return [TextTokens(encoding.ids, encoding.offsets, encoding.word_ids) for encoding in encoded]

    def identity(self) -> dict[str, Any]:
        """Return the tokens, the special ones and the settings, without the family that others name."""
        around = self._parts.post_processor
        return ({} if around is None else {"post_processor": around}) | {
            "do_lower_case": self.do_lower_case,
            "special_tokens": sorted(self.special_tokens),
            "strip_accents": self._parts.normalizer.strips_accents,
            "tokenize_chinese_chars": self.tokenize_chinese_chars,
            "tokens": self.tokens,
        }

    @property
    def do_lower_case(self) -> bool:
        """Whether texts are lower-cased."""
        return self._parts.normalizer.do_lower_case

    @property
    def strip_accents(self) -> bool | None:
        """Whether accents are removed; None means as `do_lower_case`."""
        return self._parts.normalizer.strip_accents

    @property
    def tokenize_chinese_chars(self) -> bool:
        """Whether each Chinese character is a word."""
        return self._parts.normalizer.tokenize_chinese_chars

    @cached_property
    def continuation(self) -> NDArray[np.bool_]:
        """For each id, whether its token starts with ##, so continues a word: bool, read-only."""
        return frozen(np.array([token.startswith(CONTINUATION) for token in self.tokens], np.bool_))

    @cached_property
    def token_texts(self) -> tuple[str, ...]:
        """The tokens without ##."""
        return tuple(token.removeprefix(CONTINUATION) for token in self.tokens)

    def is_reserved(self, token: str) -> bool:
        """Tell whether a token is [unusedN]."""
        return is_unused(token)

    def __reduce__(self) -> tuple[type[WordPieceTokenizer], tuple[Parts]]:
        return type(self), (self._parts,)

    @cached_property
    def _encoder(self) -> Any:
        from bertdata.tokenizers.wordpiece.encode.encoder import Encoder

        return Encoder(self._parts, np.uint16 if self.vocab_size <= 1 << 16 else np.uint32)

    @cached_property
    def _taken(self) -> NDArray[np.int32]:
        from bertdata.tokenizers.wordpiece.encode.offsets import characters_taken

        return characters_taken(self.tokens)

    @cached_property
    def _whole(self) -> Any:
        return rebuilt.build(self._parts)

    def _encode_strings(self, texts: Texts) -> pa.ListArray:
        size = size_of(texts)
        values, ends = self._encoder(arrays_of(texts), len(texts), size)
        return lists_of(ends, values)

    def _holds_special(self, strings: pa.ChunkedArray) -> NDArray[np.bool_]:
        holds = np.zeros(len(strings), np.bool_)
        for token in self._parts.special_tokens:
            holds |= pc.match_substring(strings, token).to_numpy()
        return holds

    def _encode_special(self, strings: pa.ChunkedArray) -> pa.ListArray:
        holds = pa.array(self._holds_special(strings))
        check_utf8(strings)
        texts = strings.filter(holds).to_pylist()
        whole = [self._whole.encode(text, add_special_tokens=False).ids for text in texts]
        rest = self._encode_strings(strings.filter(pc.invert(holds)))
        both = pa.concat_arrays([rest, pa.array(whole, rest.type)])
        order = np.argsort(np.argsort(holds.to_numpy(zero_copy_only=False), kind="stable"), kind="stable")
        return both.take(pa.array(order))


def _whole_numbers(ids: Iterable[Any]) -> list[int]:
    try:
        return [operator.index(token_id.as_py() if isinstance(token_id, pa.Scalar) else token_id) for token_id in ids]
    except TypeError as error:
        raise ConfigError(
            f"expected the ids of one text, whole numbers ({error}); decode several one by one"
        ) from error
