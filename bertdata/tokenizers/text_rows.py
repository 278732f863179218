"""What `tokenizers` makes of texts: its errors as ours, and no special token out of what a text spells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from bertdata.errors import InputError
from bertdata.tokenizers.late_model import open_reference
from bertdata.tokenizers.literal_special import NAME_LENGTH, Row, SpecialParts, split_row
from bertdata.tokenizers.newer_characters import known_to


@dataclass(frozen=True)
class TextRows:
    """Encodes texts by `tokenizers`, with the places and words of tokens.

    reference: the `tokenizers.Tokenizer` in which special tokens have other names; hide: returns its file with names of
    a `name_length`; parts: how a text gets no special ids; lengths: of each id the characters of its token.
    """

    reference: Any
    hide: Callable[..., tuple[dict[str, Any], SpecialParts]]
    parts: SpecialParts
    lengths: Sequence[int]
    has_added: bool

    def encode(self, texts: Sequence[Any], *, split: bool = False) -> list[Row]:
        """Return what `tokenizers` makes of texts, or of lists of words, in which no special token is spelled."""
        with asking_tokenizers():
            given = list(known_to(self.reference, texts))
            encoded = self.reference.encode_batch(given, is_pretokenized=split, add_special_tokens=False)
        rows = [Row(encoding.ids, encoding.offsets, encoding.word_ids) for encoding in encoded]
        if self.parts.never_special:
            return rows
        rows = [self._without_names(text, row) for text, row in zip(texts, rows, strict=True)]
        return [split_row(row, self.parts.splits, self.lengths) for row in rows]

    def _without_names(self, text: Any, row: Row) -> Row:
        """Return a row that the names of special tokens in the reference have no part in: longer ones are taken."""
        split = not isinstance(text, str)
        length = max(len(text) if not split else max(map(len, text), default=0), NAME_LENGTH)
        while not self.parts.spellable.isdisjoint(row.ids):
            length *= 2
            data, _ = self.hide(name_length=length)
            with asking_tokenizers():
                reference = open_reference(data if self.has_added else {**data, "added_tokens": []})
                encoded = reference.encode(text, is_pretokenized=split, add_special_tokens=False)
            row = Row(encoded.ids, encoded.offsets, encoded.word_ids)
        return row


@contextmanager
def asking_tokenizers(problem: str = "cannot encode a text with this tokenizer.json") -> Iterator[None]:
    """Raise InputError where `tokenizers` cannot do something with a file that it could read.

    problem: what it cannot do, as encode where an unknown token is missing. It raises Exception itself then, and of its
    panics an exception that is not a child of Exception.
    """
    try:
        yield
    except BaseException as error:
        if type(error) is not Exception and type(error).__name__ != "PanicException":
            raise
        raise InputError(
            f"tokenizers {problem} ({error}); correct the model and the normalizer that the file describes"
        ) from error
