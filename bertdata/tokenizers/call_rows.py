"""Rows of a call: what a post-processor puts around one text or two, with types, offsets and a mask.

A `RowTemplate` is what rows of builds have; calls have what `tokenizers` makes of the file, whatever its form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from bertdata.tokenizers.pairs import RowTemplate

FIRST, SECOND = "A", "B"


class Piece(NamedTuple):
    """A part of a row: an id, or FIRST or SECOND for a text, with its token type."""

    content: int | str
    type_id: int


@dataclass(frozen=True)
class CallRows:
    """The parts of a row of one text, and of one of two."""

    single: tuple[Piece, ...] = (Piece(FIRST, 0),)
    pair: tuple[Piece, ...] = (Piece(FIRST, 0), Piece(SECOND, 1))

    def pieces(self, *, pair: bool, special: bool) -> tuple[Piece, ...]:
        """Return the parts of a row, without special ids where none are wanted."""
        pieces = self.pair if pair else self.single
        return pieces if special else tuple(piece for piece in pieces if isinstance(piece.content, str))


class TextTokens(NamedTuple):
    """The ids of a text; where they are asked for, the characters (start, end) of each, and its word."""

    ids: Sequence[int]
    offsets: Sequence[Any] = ()
    words: Sequence[int | None] = ()

    def cut(self, n: int, side: str) -> TextTokens:
        """Return the first `n` tokens, or with the side "left", which is cut off then, the last."""
        left_in = slice(n) if side == "right" else slice(len(self.ids) - n, None)
        return TextTokens(self.ids[left_in], self.offsets[left_in], self.words[left_in])


def row(pieces: Sequence[Piece], texts: Mapping[str, TextTokens], name: str) -> list[Any]:
    """Return one column of a row, by its name in ROW_COLUMNS.

    >>> row([Piece(2, 0), Piece(FIRST, 0), Piece(3, 1)], {FIRST: TextTokens([7])}, "token_type_ids")
    [0, 0, 1]
    """
    column: list[Any] = []
    for content, type_id in pieces:
        tokens = texts[content] if isinstance(content, str) else None
        if name == "input_ids":
            column += [content] if tokens is None else tokens.ids
        elif name == "token_type_ids":
            column += [type_id] * (1 if tokens is None else len(tokens.ids))
        elif name == "special_tokens_mask":
            column += [1] if tokens is None else [0] * len(tokens.ids)
        elif name == "offset_mapping":
            column += [(0, 0)] if tokens is None else tokens.offsets
        else:
            column += [None] if tokens is None else tokens.words
    return column


ROW_COLUMNS = ("input_ids", "token_type_ids", "special_tokens_mask", "offset_mapping", "word_ids")


def rows_of_template(template: RowTemplate) -> CallRows:
    """Return the parts of the rows of a template.

    >>> [piece.content for piece in rows_of_template(RowTemplate((2,), (3,), (3,))).pair]
    [2, 'A', 3, 'B', 3]
    """

    def pieces(*, pair: bool) -> tuple[Piece, ...]:
        second = (
            [*(Piece(token_id, 0) for token_id in template.between), Piece(SECOND, template.second_type)]
            if pair
            else []
        )
        last = zip(template.suffix, template.suffix_types(pair=pair), strict=True)
        first = [*(Piece(token_id, 0) for token_id in template.prefix), Piece(FIRST, 0)]
        return (*first, *second, *(Piece(*typed_id) for typed_id in last))

    return CallRows(pieces(pair=False), pieces(pair=True))
