"""What a tokenizer is, by its vocabulary and settings: its tokens, the ids of the special ones, its fingerprint.

Nothing here encodes.
"""

from __future__ import annotations

import hashlib
import json
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.tokenizers.wordpiece.formats import Parts
from bertdata.tokenizers.wordpiece.vocabulary import CLS, CONTINUATION, MASK, PAD, SEP, UNK, is_unused


class Properties:
    """What `WordPieceTokenizer` says of itself."""

    def __init__(self, parts: Parts) -> None:
        self._parts = parts
        self._ids = {token: token_id for token_id, token in enumerate(parts.tokens)}

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
        return self._ids[PAD]

    @property
    def unk_token_id(self) -> int:
        """The id of [UNK]."""
        return self._ids[UNK]

    @property
    def cls_token_id(self) -> int:
        """The id of [CLS]."""
        return self._ids[CLS]

    @property
    def sep_token_id(self) -> int:
        """The id of [SEP]."""
        return self._ids[SEP]

    @property
    def mask_token_id(self) -> int:
        """The id of [MASK]."""
        return self._ids[MASK]

    @cached_property
    def special_ids(self) -> NDArray[np.int64]:
        """The ids of the special tokens, sorted: int64, read-only."""
        return _frozen(np.array(sorted(self._ids[token] for token in self._parts.special_tokens), np.int64))

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

    @property
    def _dtype(self) -> type[np.uint16] | type[np.uint32]:
        return np.uint16 if self.vocab_size <= 1 << 16 else np.uint32


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    array.flags.writeable = False
    return array
