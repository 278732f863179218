"""Which tokens of one vocabulary the tokens of another are: the same, the same role, or pieces of their text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bertdata.arrays import Ints
from bertdata.tokenizers.base import Tokenizer
from bertdata.tokenizers.surfaces import Surface

KINDS = ("same", "role", "pieces", "none")
SAME, ROLE, PIECES, NONE = range(len(KINDS))
ROLES = ("pad", "unk", "cls", "sep", "mask")
_WORD = ("a ",)
_INSIDE = ("q", "x", "z", "j", "k", "0", "a", "é")
_EITHER = ("a", "a ")


@dataclass(frozen=True, eq=False)
class Matches:
    """What each token of a new vocabulary is made of in an old one.

    kinds: uint8 (N,), places in `KINDS`; the old ids of the token i are ids[ends[i] : ends[i + 1]], int64, with ends
    (N + 1,); old_size: the tokens of the old vocabulary.
    """

    kinds: NDArray[np.uint8]
    ids: Ints
    ends: Ints
    old_size: int

    @property
    def counts(self) -> Ints:
        """How many old ids each token is made of, int64 (N,)."""
        return np.diff(self.ends)

    @classmethod
    def of(cls, matches: Sequence[tuple[int, Sequence[int]]], old_size: int) -> Matches:
        """Make them of a kind and the old ids of each token."""
        counts = [len(ids) for _, ids in matches]
        flat = np.array([old for _, ids in matches for old in ids], np.int64)
        kinds = np.array([kind for kind, _ in matches], np.uint8)
        return cls(kinds, flat, np.concatenate([[0], np.cumsum(counts)]).astype(np.int64), old_size)


def match_tokens(old: Tokenizer, new: Tokenizer) -> Matches:
    """Return what the tokens of `new` are in `old`.

    A special token is that of the same role, else the one that is written the same. A token of a text is the one of the
    same surface (`Surface`); where there is none, the pieces that `old` makes of its text: where it begins a word,
    after a space, and where it continues one, after a letter with which its pieces do not merge. Unknown pieces are
    left out.

    >>> from bertdata.tokenizers.wordpiece.tokenizer import SPECIAL_TOKENS, WordPieceTokenizer
    >>> first, second = (
    ...     WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, "q", *tokens])
    ...     for tokens in (("sea", "##side", "a"), ("seaside", "##side", "z"))
    ... )
    >>> [[KINDS[kind] for kind in match_tokens(first, second).kinds[5:]], match_tokens(first, second).ids[5:].tolist()]
    [['same', 'pieces', 'same', 'none'], [5, 6, 7, 7]]
    """
    if old.fingerprint == new.fingerprint:
        return Matches.of([(SAME, [token_id]) for token_id in range(new.vocab_size)], old.vocab_size)
    places = _by_surface(old)
    written = {token: token_id for token_id, token in enumerate(old.tokens)}
    roles = {new.id_of_role(role): old.id_of_role(role) for role in reversed(ROLES)}
    matches: list[tuple[int, Sequence[int]]] = [(NONE, [])] * new.vocab_size
    to_cut: dict[int, Surface] = {}
    for token_id, surface in enumerate(new.token_surfaces):
        if surface is None:
            same = roles.get(token_id, -1)
            if same < 0 and old.token_surfaces[written.get(new.tokens[token_id], 0)] is None:
                same = written.get(new.tokens[token_id], -1)
            if same >= 0:
                matches[token_id] = (ROLE, [same])
        elif (same := _place(places, surface)) >= 0:
            matches[token_id] = (SAME, [same])
        else:
            to_cut[token_id] = surface
    for token_id, pieces in zip(to_cut, _pieces(old, places, list(to_cut.values())), strict=True):
        if pieces:
            matches[token_id] = (PIECES, pieces)
    return Matches.of(matches, old.vocab_size)


def _by_surface(tokenizer: Tokenizer) -> dict[Surface, int]:
    """Return the id of each surface; of a token that may stand with and without a space, for both, if none has them."""
    places: dict[Surface, int] = {}
    either: list[tuple[bytes, int]] = []
    for token_id, surface in enumerate(tokenizer.token_surfaces):
        if surface is not None:
            places.setdefault(surface, token_id)
            if surface.begins is None:
                either.append((surface.text, token_id))
    for text, token_id in either:
        for begins in (False, True):
            places.setdefault(Surface(begins, text), token_id)
    return places


def _place(places: Mapping[Surface, int], surface: Surface) -> int:
    """Return the id of a surface, -1 for none; one that says nothing of a space is rather the token without one."""
    asked = (
        (surface,)
        if surface.begins is not None
        else (surface, *(Surface(form, surface.text) for form in (False, True)))
    )
    return next((places[form] for form in asked if form in places), -1)


def _pieces(old: Tokenizer, places: Mapping[Surface, int], surfaces: Sequence[Surface]) -> Iterator[list[int]]:
    """Yield the ids that a tokenizer makes of each surface, unknown ones left out."""
    texts = [_text(surface.text) for surface in surfaces]
    contexts = [_WORD if surface.begins else _EITHER if surface.begins is None else _INSIDE for surface in surfaces]
    pieces: list[Any] = [None] * len(surfaces)
    for context in (*_INSIDE, *_WORD):
        before = old.encode(context.rstrip(" "))
        asked = [
            place
            for place, text in enumerate(texts)
            if text is not None and pieces[place] is None and context in contexts[place]
        ]
        encoded = old.encode_batch([f"{context}{texts[place]}" for place in asked]).to_pylist()
        for place, ids in zip(asked, encoded, strict=True):
            if ids[: len(before)] == before:
                pieces[place] = ids[len(before) :]
    unmatched = [place for place, text in enumerate(texts) if text is not None and pieces[place] is None]
    for place, ids in zip(
        unmatched, old.encode_batch([texts[place] or "" for place in unmatched]).to_pylist(), strict=True
    ):
        pieces[place] = ids
    unknown = old.unk_token_id
    for surface, ids in zip(surfaces, pieces, strict=True):
        if ids is None:  # a part of a character: its bytes, where the other vocabulary has all of them
            letters = [places.get(Surface(False, bytes([byte])), -1) for byte in surface.text]
            yield [] if -1 in letters else letters
        else:
            yield [token_id for token_id in ids if token_id != unknown]


def _text(data: bytes) -> str | None:
    """Return bytes as text, None where they are no whole characters."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return None
