"""`Tokenizer`: what every family of tokenizers gives to the rest of bertdata, and what follows from its tokens.

A family is a class made from this one, and a line in `bertdata.tokenizers.loading.TOKENIZERS`. Builds, loaders, masks,
exports and fine-tuning use what is here, and nothing else of a family.
"""

from __future__ import annotations

import hashlib
import json
import os
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bertdata.errors import ConfigError, InputError
from bertdata.io import files
from bertdata.text_arrays import Texts
from bertdata.tokenizers.pairs import RowTemplate, Truncation, bert_template, check_pair_settings, kept, row_of
from bertdata.tokenizers.surfaces import Surface, stands_alone
from bertdata.tokenizers.transformers_methods import TransformersMethods


@dataclass(frozen=True)
class SpecialTokens:
    """The tokens that are not text, by their roles as in `transformers`; `additional` have none.

    A role may be None, as `unk` of a byte-level BPE, or all but `unk` of a tokenizer for text generation. Two roles may
    have the same token.
    """

    pad: str | None = "[PAD]"
    unk: str | None = "[UNK]"
    cls: str | None = "[CLS]"
    sep: str | None = "[SEP]"
    mask: str | None = "[MASK]"
    additional: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """All of them, each once, those with a role first."""
        named = (self.pad, self.unk, self.cls, self.sep, self.mask, *self.additional)
        return tuple(dict.fromkeys(name for name in named if name is not None))


class Tokenizer(TransformersMethods):
    """A vocabulary and how texts become its ids. Immutable, picklable, safe to share between threads.

    A family defines `continuation`, `encode_batch`, `from_pretrained` and `save_pretrained`, names its `FILES`, and
    overrides what is different for it. Ids are 0 to `vocab_size` - 1, and two tokenizers are equal if their
    fingerprints are.
    """

    FILES: ClassVar[tuple[str, ...]]
    """Names of files, any of which in a directory tells that a tokenizer of this family is saved there."""
    EXTRA_FILES: ClassVar[tuple[str, ...]] = ()
    """Names of files that are read too where they are beside one of `FILES`."""
    SAVED: ClassVar[tuple[str, ...]] = ()
    """Names of the files that `save_pretrained` writes, of those above; empty for all of them."""
    NOTATION: ClassVar[str] = ""
    """How its tokens say where words begin, as for the legend of `bertdata show`; empty if they do not say it."""
    IGNORES_WHITESPACE: ClassVar[bool] = False
    """Whether white space at the start and the end of a text makes no difference to its ids."""

    def __init__(
        self, tokens: Sequence[str], special: SpecialTokens | None = None, ids: dict[str, int] | None = None
    ) -> None:
        """Take the tokens in the order of their ids; raises InputError where a special token is not among them.

        ids: the id of each token, in the order of ids, where that is at hand.
        """
        self.tokens = tuple(tokens)
        self._special = special or SpecialTokens()
        self._ids = ids or dict(zip(self.tokens, range(len(self.tokens)), strict=True))
        for token in self._special.names:
            if token not in self._ids:
                raise InputError(f"the vocabulary has no {token}, a special token; add it, or take another vocabulary")

    @classmethod
    def recognizes(cls, path: str) -> bool:
        """Tell whether a directory, or one file, holds a tokenizer of this family."""
        return files.name(path) in cls.FILES or any(files.exists(files.join(path, name)) for name in cls.FILES)

    @classmethod
    @abstractmethod
    def from_pretrained(cls, path: str | os.PathLike[str]) -> Tokenizer:
        """Load what `save_pretrained` wrote; raises InputError where a file is missing or damaged."""

    @abstractmethod
    def save_pretrained(self, directory: str | os.PathLike[str]) -> None:
        """Write the files of a tokenizer, each atomically; raises OutputError where the directory cannot be written."""

    @abstractmethod
    def encode_batch(self, texts: Texts) -> pa.ListArray:
        """Return the ids of many texts, one list of `id_type` each, without special tokens around them.

        `texts` is a list of strings, or an Arrow array or chunked array of strings: `text_arrays.as_strings` checks it.
        """

    @property
    @abstractmethod
    def continuation(self) -> NDArray[np.bool_] | None:
        """For each id, whether its token continues a word, so does not begin one: bool (vocab_size,).

        None where an id alone does not tell, as in byte-level BPE, whose "hello" begins a word after a line end and
        continues one after "s"; `encode_batch_with_words` tells it then.
        """

    def encode_batch_with_words(self, texts: Texts) -> pa.RecordBatch:
        """Return `input_ids` as `encode_batch`, and `word_starts`, lists of bool: whether a word begins at each id.

        Words are those of the pre-tokenizer. A family without `continuation` overrides this.
        """
        input_ids = self.encode_batch(texts)
        if self.continuation is None:
            raise NotImplementedError(f"{type(self).__name__} has no continuation, so it must say where words begin")
        starts = pa.array(~self.continuation[input_ids.values.to_numpy()])
        word_starts = pa.ListArray.from_arrays(input_ids.offsets, starts)
        return pa.RecordBatch.from_arrays([input_ids, word_starts], ["input_ids", "word_starts"])

    def encode_batch_with_offsets(self, texts: Texts) -> pa.RecordBatch:
        """Return `input_ids` as `encode_batch`, `offset_mapping` and `word_ids` of many texts, as lists.

        `offset_mapping` has for each id (start, end) in characters of its text, int32; `word_ids`, int32, number the
        words of a text. Raises ConfigError in a family that does not know them.
        """
        raise ConfigError(
            f"{type(self).__name__} does not give the positions of tokens in a text, which answers to questions need; "
            "use a tokenizer that does, as WordPiece"
        )

    def decode(self, ids: Iterable[int], *, skip_special_tokens: bool = True) -> str:
        """Return the text of ids, with a space before each word; a family that knows better overrides it."""
        special = frozenset(self.special_tokens) if skip_special_tokens else frozenset()
        shown = [int(token_id) for token_id in ids if self.tokens[int(token_id)] not in special]
        continues = np.zeros(self.vocab_size, np.bool_) if self.continuation is None else self.continuation
        return "".join(self.token_texts[i] if continues[i] else f" {self.token_texts[i]}" for i in shown).lstrip(" ")

    def encode(self, text: str) -> list[int]:
        """Return the ids of one text, without special tokens; raises ConfigError where it is not a string."""
        check_one(text, "encode_batch")
        ids: list[int] = self.encode_batch([text]).flatten().to_numpy().tolist()
        return ids

    def tokenize(self, text: str) -> list[str]:
        """Return the tokens of one text."""
        return [self.tokens[token_id] for token_id in self.encode(text)]

    def encode_pair(
        self,
        a: str,
        b: str | None = None,
        max_length: int = 512,
        *,
        truncation: Truncation = "longest_first",
        pad_to_multiple_of: int | None = None,
    ) -> dict[str, list[int]]:
        """Return `input_ids`, `token_type_ids` and `attention_mask` of a row of one text or two, by `row_template`.

        For BERT that is [CLS] a [SEP], or [CLS] a [SEP] b [SEP]; a family without token types gives none. What is over
        `max_length` ids, special ones included, is cut off the end: of the longer text (`longest_first`), of one
        (`only_first`, `only_second`) or of none (`do_not_truncate`), as `tokenizers` does it. Padding then goes up to a
        multiple of `pad_to_multiple_of`. Raises ConfigError where `max_length` has no room for the special tokens or a
        setting is out of range, and InputError where `only_...` cannot cut enough.

        >>> from bertdata import WordPieceTokenizer
        >>> tokenizer = WordPieceTokenizer.from_tokens([*SpecialTokens().names, "a", "b"])
        >>> tokenizer.encode_pair("a a a", "b", max_length=6)
        {'input_ids': [2, 5, 5, 3, 6, 3], 'token_type_ids': [0, 0, 0, 0, 1, 1], 'attention_mask': [1, 1, 1, 1, 1, 1]}
        """
        check_pair_settings(max_length, truncation, pad_to_multiple_of)
        template = self.row_template
        room = template.room(max_length, pair=b is not None)
        if room < 0 and truncation != "do_not_truncate":
            raise ConfigError(f"max_length is {max_length}; {max_length - room} ids are taken by special tokens alone")
        first = self.encode(a)
        second = None if b is None else self.encode(b)
        n_first, n_second = kept(len(first), len(second or ()), room, truncation)
        return row_of(
            first[:n_first],
            None if second is None else second[:n_second],
            template=template,
            pad_token_id=self.pad_token_id if pad_to_multiple_of else 0,
            pad_to_multiple_of=pad_to_multiple_of,
        )

    @property
    def slow_because(self) -> str | None:
        """Why texts are not encoded by kernels but by another library, as a part of a sentence; None where they are."""
        return None

    @property
    def row_template(self) -> RowTemplate:
        """The special ids around one text or two in a row: BERT's unless the family overrides it."""
        return bert_template(self.cls_token_id, self.sep_token_id)

    @property
    def token_texts(self) -> tuple[str, ...]:
        """What each token stands for in a text: the token without the marks by which it says where words begin."""
        return self.tokens

    @property
    def token_surfaces(self) -> tuple[Surface | None, ...]:
        """What each token is in a text, whatever marks its family writes: `Surface`, None for one that is no text.

        Special and reserved tokens are none.
        """
        continues = np.zeros(self.vocab_size, np.bool_) if self.continuation is None else self.continuation
        special = frozenset(self.special_tokens)
        return tuple(
            None
            if token in special or self.is_reserved(token)
            else Surface(None if stands_alone(text) else not continued, text.encode("utf-8", "surrogatepass"))
            for token, text, continued in zip(self.tokens, self.token_texts, continues.tolist(), strict=True)
        )

    def identity(self) -> dict[str, Any]:
        """Return everything that decides ids, as JSON; a family adds its settings."""
        return {
            "family": type(self).__name__,
            "special_tokens": sorted(self.special_tokens),
            "tokens": self.tokens,
        }

    @cached_property
    def fingerprint(self) -> str:
        """SHA-256 of `identity`, 64 hexadecimal digits; the same wherever the tokenizer was loaded from."""
        return hashlib.sha256(json.dumps(self.identity(), sort_keys=True).encode("ascii")).hexdigest()

    @property
    def vocab_size(self) -> int:
        """The number of tokens."""
        return len(self.tokens)

    @property
    def id_type(self) -> pa.DataType:
        """The Arrow type of ids: uint16 up to 65,536 tokens, else uint32."""
        return pa.uint16() if self.vocab_size <= 1 << 16 else pa.uint32()

    @property
    def special_tokens(self) -> tuple[str, ...]:
        """The special tokens: those for padding, unknown text, [CLS], [SEP] and [MASK], then others."""
        names: tuple[str, ...] = self._special.names
        return names

    @property
    def pad_token_id(self) -> int:
        """The id of [PAD], or of what stands for it; raises ConfigError where the tokenizer has none."""
        return self._id_of("pad")

    @property
    def cls_token_id(self) -> int:
        """The id of [CLS], or of what stands for it; raises ConfigError where the tokenizer has none."""
        return self._id_of("cls")

    @property
    def sep_token_id(self) -> int:
        """The id of [SEP], or of what stands for it; raises ConfigError where the tokenizer has none."""
        return self._id_of("sep")

    @property
    def mask_token_id(self) -> int:
        """The id of [MASK], or of what stands for it; raises ConfigError where the tokenizer has none."""
        return self._id_of("mask")

    @property
    def unk_token_id(self) -> int:
        """The id of [UNK], or of what stands for it; -1 where nothing is unknown, as in byte-level BPE."""
        return self.id_of_role("unk")

    def id_of_role(self, role: str) -> int:
        """Return the id of the special token of a role (pad, unk, cls, sep or mask); -1 where none has it."""
        token = getattr(self._special, role)
        return -1 if token is None else self._ids[token]

    def _id_of(self, role: str) -> int:
        if (token_id := self.id_of_role(role)) < 0:
            raise missing_roles([role])
        return token_id

    @cached_property
    def special_ids(self) -> NDArray[np.int64]:
        """The ids of the special tokens, sorted: int64, read-only."""
        return frozen(np.array(sorted(self._ids[token] for token in self.special_tokens), np.int64))

    @cached_property
    def replacement_ids(self) -> NDArray[np.int64]:
        """The ids a random replacement is drawn from, sorted: neither special nor reserved; int64, read-only."""
        special = frozenset(self.special_tokens)
        drawn = (i for i, token in enumerate(self.tokens) if token not in special and not self.is_reserved(token))
        return frozen(np.fromiter(drawn, np.int64))

    def is_reserved(self, token: str) -> bool:
        """Tell whether a token is kept free for later use, as [unused0] of BERT."""
        return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Tokenizer) and self.fingerprint == other.fingerprint

    def __hash__(self) -> int:
        return hash(self.fingerprint)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(vocab_size={self.vocab_size})"


def missing_roles(roles: Sequence[str], path: str | None = None) -> ConfigError:
    """Return the error that no token of a tokenizer has some roles, with the remedy."""
    new = ", ".join(f"'{role}_token': '[{role.upper()}]'" for role in roles)
    names = " or ".join(filter(None, [", ".join(roles[:-1]), roles[-1]]))
    return ConfigError(
        f"this tokenizer has no {names} token, which rows for encoders need; open it with "
        f"transformers, call add_special_tokens({{{new}}}), save it and use that folder",
        path=path,
    )


def check_one(text: object, batch: str) -> None:
    """Raise ConfigError, naming the function for many texts, where `text` is not one string."""
    if not isinstance(text, str):
        raise ConfigError(f"expected one string, found {type(text).__name__}; use {batch} for many")


def frozen(array: NDArray[Any]) -> NDArray[Any]:
    """Return the array, read-only from now on."""
    array.flags.writeable = False
    return array
