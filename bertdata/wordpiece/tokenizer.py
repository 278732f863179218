"""`WordPieceTokenizer`: text to the ids that `tokenizers`, `transformers` and BERT's released code give.

A batch is cut into chunks by Arrow, each distinct chunk is looked up once (`lookup.py`), and the ids are laid out by
numpy: no Python object per text or word. It neither pads nor makes tensors, and it does not train.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bertdata.errors import ConfigError, InputError
from bertdata.wordpiece import formats
from bertdata.wordpiece.chunks import Texts, as_strings, check_text, split_rows, split_text, work_units
from bertdata.wordpiece.lookup import Lookup
from bertdata.wordpiece.normalizer import Normalizer
from bertdata.wordpiece.vocabulary import (
    CLS,
    CONTINUATION,
    MASK,
    PAD,
    SEP,
    SPECIAL_TOKENS,
    UNK,
    check_vocabulary,
    is_unused,
)


class WordPieceTokenizer:
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

    def __init__(self, parts: formats.Parts) -> None:
        self._parts = parts
        self._lookup = Lookup(parts)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, do_lower_case: bool | None = None) -> WordPieceTokenizer:
        """Load a directory, a `vocab.txt` or a `tokenizer.json`.

        The settings come from `tokenizer_config.json` beside it and from `tokenizer.json`; a bare `vocab.txt` means
        BERT's defaults, which lower-case. `do_lower_case` overrides what the files say. Raises InputError where a file
        is missing, damaged, not BERT's WordPiece, or contradicts another.
        """
        return cls(formats.read(os.fspath(path), do_lower_case))

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
        are no vocabulary (`check_vocabulary`) and ConfigError where a special token is not among them.
        """
        checked = check_vocabulary(tokens)
        special = formats.merge_special(special_tokens)
        for token in special:
            if token not in checked:
                raise ConfigError(f"the special token {token!r} is not in the vocabulary; add it")
        normalizer = Normalizer(do_lower_case, strip_accents, tokenize_chinese_chars)
        return cls(formats.Parts(checked, special, normalizer))

    @classmethod
    def from_tokenizers(cls, tokenizer: Any) -> WordPieceTokenizer:
        """Make one of a `tokenizers.Tokenizer`; raises InputError where it is not BERT's pipeline."""
        return cls(formats.parse(json.loads(tokenizer.to_str())))

    def to_tokenizers(self) -> Any:
        """Return a new `tokenizers.Tokenizer` with the same ids.

        It turns literal special tokens into their ids unless its `encode_special_tokens` is set to True.
        """
        return formats.build(self._parts)

    def save(self, directory: str | os.PathLike[str]) -> None:
        """Write `vocab.txt`, `tokenizer.json` and `tokenizer_config.json`, which `AutoTokenizer.from_pretrained` opens.

        Each file is written atomically. Raises OutputError where the directory cannot be written.
        """
        formats.write(os.fspath(directory), self._parts)

    def encode(self, text: str, *, allow_special: bool = False) -> list[int]:
        """Return the ids of a text, without special tokens around it; raises InputError for a lone surrogate."""
        if not isinstance(text, str):
            raise ConfigError(f"expected one string, found {type(text).__name__}; use encode_batch for many")
        try:
            if allow_special and any(token in text for token in self._parts.special_tokens):
                return list(self._whole.encode(text, add_special_tokens=False).ids)
            return list(chain.from_iterable(self._lookup(split_text(text))))
        except TypeError:  # what `tokenizers` raises for a lone surrogate
            check_text(text, "the text")
            raise

    def encode_batch(self, texts: Texts, *, allow_special: bool = False) -> pa.ListArray:
        """Return the ids of many texts, one list each, as an Arrow list array of `id_type`.

        `texts` is a list of strings, or an Arrow array or chunked array of strings, sliced or not. No special tokens
        are put around a text. Raises ConfigError for another type, InputError, naming the row, for a null, a lone
        surrogate or bytes that are not UTF-8, and ConfigError where there are over 2**31 - 1 ids.

        >>> tokenizer = WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, "a", "b"])
        >>> tokenizer.encode_batch(["a b", ""]).to_pylist()
        [[5, 6], []]
        """
        strings = as_strings(texts)
        return self._encode_special(strings) if allow_special else self._encode_strings(strings)

    def encode_pair(self, a: str, b: str | None = None, max_length: int = 512) -> dict[str, list[int]]:
        """Return `input_ids`, `token_type_ids` and `attention_mask` of [CLS] a [SEP], or of [CLS] a [SEP] b [SEP].

        What is over `max_length` ids, special ones included, is cut off the end of the longer text (`longest_first`,
        as `tokenizers` does it). Raises ConfigError where `max_length` has no room for the special tokens.

        >>> tokenizer = WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, "a", "b"])
        >>> tokenizer.encode_pair("a a a", "b", max_length=6)
        {'input_ids': [2, 5, 5, 3, 6, 3], 'token_type_ids': [0, 0, 0, 0, 1, 1], 'attention_mask': [1, 1, 1, 1, 1, 1]}
        """
        room = max_length - (2 if b is None else 3)
        if room < 0:
            raise ConfigError(f"max_length is {max_length}; {max_length - room} ids are taken by special tokens alone")
        first = self.encode(a)
        second = [] if b is None else self.encode(b)
        n_first, n_second = longest_first(len(first), len(second), room)
        head = [self.cls_token_id, *first[:n_first], self.sep_token_id]
        tail = [] if b is None else [*second[:n_second], self.sep_token_id]
        length = len(head) + len(tail)
        return {
            "input_ids": head + tail,
            "token_type_ids": [0] * len(head) + [1] * len(tail),
            "attention_mask": [1] * length,
        }

    def tokenize(self, text: str) -> list[str]:
        """Return the pieces of a text; a word that cannot be built from pieces is [UNK]."""
        return [self._parts.tokens[token_id] for token_id in self.encode(text)]

    def decode(self, ids: Iterable[int], *, skip_special_tokens: bool = True) -> str:
        """Return the text of ids, as `tokenizers` joins it; raises InputError for an id outside the vocabulary."""
        known = [int(token_id) for token_id in ids]
        for token_id in known:
            if not 0 <= token_id < self.vocab_size:
                raise InputError(f"the id {token_id} is outside the vocabulary of {self.vocab_size} tokens")
        return str(self._whole.decode(known, skip_special_tokens=skip_special_tokens))

    @property
    def vocab_size(self) -> int:
        """The number of tokens; ids are 0 to `vocab_size` - 1."""
        return len(self._parts.tokens)

    @property
    def tokens(self) -> tuple[str, ...]:
        """The tokens in the order of their ids."""
        return self._parts.tokens

    @property
    def special_tokens(self) -> tuple[str, ...]:
        """The special tokens, the five of BERT first."""
        return self._parts.special_tokens

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

    @property
    def pad_token_id(self) -> int:
        """The id of [PAD]."""
        return self._lookup.ids[PAD]

    @property
    def unk_token_id(self) -> int:
        """The id of [UNK]."""
        return self._lookup.ids[UNK]

    @property
    def cls_token_id(self) -> int:
        """The id of [CLS]."""
        return self._lookup.ids[CLS]

    @property
    def sep_token_id(self) -> int:
        """The id of [SEP]."""
        return self._lookup.ids[SEP]

    @property
    def mask_token_id(self) -> int:
        """The id of [MASK]."""
        return self._lookup.ids[MASK]

    @cached_property
    def special_ids(self) -> NDArray[np.int64]:
        """The ids of the special tokens, sorted: int64, read-only."""
        return _frozen(np.array(sorted(self._lookup.ids[token] for token in self._parts.special_tokens), np.int64))

    @cached_property
    def continuation(self) -> NDArray[np.bool_]:
        """For each id, whether its piece starts with ##, so continues a word: bool, read-only."""
        return _frozen(np.array([token.startswith(CONTINUATION) for token in self._parts.tokens], np.bool_))

    @cached_property
    def replacement_ids(self) -> NDArray[np.int64]:
        """The ids a random replacement may draw, sorted: neither special nor [unusedN]; int64, read-only."""
        special = frozenset(self._parts.special_tokens)
        drawn = (i for i, token in enumerate(self._parts.tokens) if token not in special and not is_unused(token))
        return _frozen(np.fromiter(drawn, np.int64))

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256, in hexadecimal, of the tokens, the special ones and the settings, wherever they were loaded from."""
        normalizer = self._parts.normalizer
        value = {
            "do_lower_case": normalizer.do_lower_case,
            "special_tokens": sorted(self._parts.special_tokens),
            "strip_accents": normalizer.strips_accents,
            "tokenize_chinese_chars": normalizer.tokenize_chinese_chars,
            "tokens": self._parts.tokens,
        }
        return hashlib.sha256(json.dumps(value, sort_keys=True).encode("ascii")).hexdigest()

    @property
    def id_type(self) -> pa.DataType:
        """The Arrow type of ids: uint16 up to 65,536 tokens, uint32 beyond."""
        return pa.uint16() if self.vocab_size <= 1 << 16 else pa.uint32()

    def __repr__(self) -> str:
        return f"WordPieceTokenizer(vocab_size={self.vocab_size}, do_lower_case={self.do_lower_case})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WordPieceTokenizer) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __reduce__(self) -> tuple[type[WordPieceTokenizer], tuple[formats.Parts]]:
        return type(self), (self._parts,)

    @property
    def _dtype(self) -> type[np.uint16] | type[np.uint32]:
        return np.uint16 if self.vocab_size <= 1 << 16 else np.uint32

    @cached_property
    def _whole(self) -> Any:
        return formats.build(self._parts)

    def _encode_strings(self, strings: pa.ChunkedArray) -> pa.ListArray:
        values: list[NDArray[Any]] = [np.zeros(0, self._dtype)]
        lengths: list[NDArray[np.int64]] = [np.zeros(1, np.int64)]
        for first_row, rows in work_units(strings):
            ids, counts = self._encode_rows(rows, first_row)
            values.append(ids)
            lengths.append(counts)
        offsets = np.cumsum(np.concatenate(lengths))
        if offsets[-1] > np.iinfo(np.int32).max:
            raise ConfigError(f"the batch gives {offsets[-1]} ids, over the {2**31 - 1} of one list array; split it")
        return pa.ListArray.from_arrays(pa.array(offsets.astype(np.int32)), pa.array(np.concatenate(values)))

    def _encode_rows(self, rows: pa.Array, first_row: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
        chunks = split_rows(rows, first_row)
        found = self._lookup(chunks.distinct)
        sizes = np.fromiter(map(len, found), np.int64, len(found))
        pool = np.fromiter(chain.from_iterable(found), self._dtype, int(sizes.sum()))
        starts = np.cumsum(sizes) - sizes
        per_chunk = sizes[chunks.codes]
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(per_chunk)])
        shift = np.repeat(starts[chunks.codes] - ends[:-1], per_chunk)
        return pool[shift + np.arange(ends[-1])], np.diff(ends[chunks.offsets])

    def _encode_special(self, strings: pa.ChunkedArray) -> pa.ListArray:
        holds: Any = pa.chunked_array([pa.array(np.zeros(len(strings), np.bool_))])
        for token in self._parts.special_tokens:
            holds = pc.or_(holds, pc.match_substring(strings, token))
        for first_row, rows in work_units(strings):
            split_rows(rows, first_row)
        texts = strings.filter(holds).to_pylist()
        whole = [self._whole.encode(text, add_special_tokens=False).ids for text in texts]
        rest = self._encode_strings(strings.filter(pc.invert(holds)))
        both = pa.concat_arrays([rest, pa.array(whole, rest.type)])
        order = np.argsort(np.argsort(holds.to_numpy(), kind="stable"), kind="stable")
        return both.take(pa.array(order))


def longest_first(n_first: int, n_second: int, room: int) -> tuple[int, int]:
    """Return how many ids of two texts are kept so that both fit: the longer one gives way, down to equal halves.

    >>> longest_first(7, 2, 6), longest_first(7, 7, 5), longest_first(1, 2, 6)
    ((4, 2), (2, 3), (1, 2))
    """
    if n_first + n_second <= room:
        return n_first, n_second
    shorter, half = min(n_first, n_second), room // 2
    if shorter <= half:
        return (shorter, room - shorter) if n_first <= n_second else (room - shorter, shorter)
    return (half, room - half) if n_first <= n_second else (room - half, half)


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array
