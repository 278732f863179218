"""Rows of a call: what a post-processor puts around one text or two, with types, offsets and a mask.

A `RowTemplate` is what rows of builds have; calls have what `tokenizers` makes of the file, whatever its form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from bertdata.errors import ConfigError
from bertdata.tokenizers.pairs import RowTemplate

FIRST, SECOND = "A", "B"
SPACE = "\u0120"
"""A space in the letters of byte-level BPE."""


class Piece(NamedTuple):
    """A part of a row: an id, or FIRST or SECOND for a text, with its token type."""

    content: int | str
    type_id: int


class UnclearPairs(NamedTuple):
    """Why rows of two texts are not clear, and whether it is their token types alone."""

    reason: str
    only_types: bool


@dataclass(frozen=True)
class CallRows:
    """The parts of a row of one text, and of one of two.

    types_of_cut_off: whether the rows of what is cut off have these token types too. `tokenizers` gives parts that are
    cut off the type 0, of a second text 1, but for RobertaProcessing. no_pairs: why rows of two texts are not clear,
    where that is so.
    """

    single: tuple[Piece, ...] = (Piece(FIRST, 0),)
    pair: tuple[Piece, ...] = (Piece(FIRST, 0), Piece(SECOND, 1))
    types_of_cut_off: bool = False
    no_pairs: UnclearPairs | None = None

    def pieces(self, *, pair: bool, special: bool, types: bool = False) -> tuple[Piece, ...]:
        """Return the parts of a row, without special ids where none are wanted.

        types: whether their token types are wanted, too. Raises ConfigError where a row of two texts is not clear.
        """
        if pair and special and self.no_pairs is not None and (types or not self.no_pairs.only_types):
            raise ConfigError(self.no_pairs.reason)
        pieces = self.pair if pair else self.single
        return pieces if special else tuple(piece for piece in pieces if isinstance(piece.content, str))


class TextTokens(NamedTuple):
    """The ids of a text; where they are asked for, the characters (start, end) of each, and its word.

    type_id: the token type of a part of a text that has another than its row says.
    """

    ids: Sequence[int]
    offsets: Sequence[Any] = ()
    words: Sequence[int | None] = ()
    type_id: int | None = None

    def part(self, start: int, end: int) -> TextTokens:
        """Return the tokens from one place up to another."""
        return TextTokens(self.ids[start:end], self.offsets[start:end], self.words[start:end])

    def with_space_before(self, token: str) -> TextTokens:
        """Return the tokens, of which the first, a `token` of byte-level BPE, has its first space among its characters.

        `tokenizers` leaves it there at the start of each part of a text where `add_prefix_space` is set. The space that
        it puts before a word that is given by itself has no place in the word.
        """
        start, end = self.offsets[0]
        text = token.replace(SPACE, " ")
        spaces = len(text) - len(text.lstrip())
        if not spaces or start < spaces:
            return self
        first = (start - 1, end if text.strip() else start - 1)
        return self._replace(offsets=[first, *self.offsets[1:]])


def windows(size: int, n: int, stride: int, side: str) -> list[tuple[int, int]]:
    """Return the places (start, end) of the parts of `n` tokens that a text is cut into, as `tokenizers` does it.

    The first part is what stays in a row; `side` is the end that is cut off it. Each part has the last `stride` tokens
    of the one before, which has to be fewer than `n`. Of nothing that stays the other part is the whole text.

    >>> windows(5, 3, 1, "right"), windows(5, 3, 1, "left"), windows(5, 0, 0, "right")
    ([(0, 3), (2, 5)], [(2, 5), (0, 3)], [(0, 0), (0, 5)])
    """
    if n >= size:
        return [(0, size)]
    if n == 0:
        return [(0, 0), (0, size)]
    starts = range(0, max(size - n, 0) + (n - stride), n - stride)
    parts = [(start, min(start + n, size)) for start in starts]
    return parts if side == "right" else [(size - end, size - start) for start, end in parts]


def combined(parts: Mapping[str, Sequence[TextTokens]]) -> list[dict[str, TextTokens]]:
    """Return the texts of the rows that the parts of one text, or of two, make: the first of each, and the others.

    >>> a, b = [TextTokens([1]), TextTokens([2])], [TextTokens([3]), TextTokens([4])]
    >>> [[text.ids[0] for text in row.values()] for row in combined({"A": a, "B": b})]
    [[1, 3], [2, 3], [2, 4], [1, 4]]
    """
    first: dict[str, TextTokens] = {}
    others: list[dict[str, TextTokens]] = []
    for name, (main, *rest) in parts.items():
        others = [{**row, name: part} for row in others for part in (main, *rest)]
        others += [{**first, name: part} for part in rest]
        first[name] = main
    return [first, *others]


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
            type_of_part = None if tokens is None else tokens.type_id
            column += [type_id if type_of_part is None else type_of_part] * (1 if tokens is None else len(tokens.ids))
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
