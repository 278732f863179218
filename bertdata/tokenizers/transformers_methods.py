"""The methods and names that users of tokenizers of `transformers` know, on top of what a family gives.

Calls put special tokens around texts as `row_template` has them, cut and pad; what is not here, `AutoTokenizer` has:
it opens the folder that `save_pretrained` writes.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, overload

from bertdata.errors import ConfigError, InputError
from bertdata.tokenizers.calls import TokenizerCalls


class TransformersMethods(TokenizerCalls):
    """Methods of a tokenizer of `transformers`, for the families; ids and rows are theirs."""

    _special: Any

    @abstractmethod
    def decode(self, ids: Iterable[int], *, skip_special_tokens: bool = True) -> str:
        """Return the text of ids: a list, a NumPy or Arrow array or a tensor of one dimension."""

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
        return sum(not isinstance(piece.content, str) for piece in self.call_rows().pieces(pair=pair, special=True))

    def get_special_tokens_mask(self, ids: Sequence[int], already_has_special_tokens: bool = True) -> list[int]:
        """Return 1 for each special token of a row and 0 for each other; the ids must be a whole row."""
        if not already_has_special_tokens:
            raise ConfigError(
                "expected the ids of a whole row; call the tokenizer with return_special_tokens_mask=True"
            )
        special = frozenset(self.all_special_ids)
        return [int(int(token_id) in special) for token_id in ids]


def cleaned_up(text: str) -> str:
    """Return a text without the spaces that stand before punctuation and English endings where tokens were joined.

    >>> cleaned_up("it is n't , is it ?")
    "it isn't, is it?"
    """
    for joined in (" .", " ?", " !", " ,", " ' ", " n't", " 'm", " 's", " 've", " 're"):
        text = text.replace(joined, joined.strip(" "))
    return text
