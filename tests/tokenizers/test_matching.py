"""The tokens of one vocabulary in another, by what they are in a text."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bertdata import load_tokenizer
from bertdata.tokenizers.base import Tokenizer
from bertdata.tokenizers.matching import KINDS, Matches, match_tokens
from bertdata.tokenizers.surfaces import Surface
from bertdata.tokenizers.token_marks import surface_reader
from bertdata.tokenizers.wordpiece.tokenizer import WordPieceTokenizer
from bertdata.tokenizers.wordpiece.vocabulary import SPECIAL_TOKENS

WORDPIECE, BYTES = load_tokenizer("bertdata-30k-cased"), load_tokenizer("bertdata-32k-bpe")


def of(tokens: list[str], **settings: Any) -> WordPieceTokenizer:
    return WordPieceTokenizer.from_tokens([*SPECIAL_TOKENS, *tokens], **settings)


def made_of(old: Tokenizer, new: Tokenizer, matches: Matches, token: str) -> tuple[str, list[str]]:
    """Return the kind of a token, and the old tokens that it is made of."""
    place = new.tokens.index(token)
    ids = matches.ids[matches.ends[place] : matches.ends[place + 1]]
    return KINDS[matches.kinds[place]], [old.tokens[token_id] for token_id in ids]


@pytest.fixture(scope="module")
def matches() -> Matches:
    """Return the tokens of a vocabulary of bytes in one of WordPiece."""
    return match_tokens(WORDPIECE, BYTES)


def test_a_vocabulary_is_itself() -> None:
    for tokenizer in (WORDPIECE, BYTES):
        matches = match_tokens(
            tokenizer, load_tokenizer(f"bertdata-{'32k-bpe' if tokenizer is BYTES else '30k-cased'}")
        )
        assert matches.ids.tolist() == list(range(tokenizer.vocab_size))
        assert set(matches.kinds.tolist()) == {KINDS.index("same")}


@pytest.mark.costly
@pytest.mark.parametrize(
    ("token", "kind", "old"),
    [
        ("Ġthe", "same", ["the"]),
        ("ing", "same", ["##ing"]),
        (".", "same", ["."]),
        ("Ġ.", "same", ["."]),
        ("[MASK]", "role", ["[MASK]"]),
        ("[unused0]", "none", []),
    ],
)
def test_marks_of_families_are_compared_by_what_they_mean(
    token: str, kind: str, old: list[str], matches: Matches
) -> None:
    assert made_of(WORDPIECE, BYTES, matches, token) == (kind, old)


def test_pieces_are_those_of_the_text_where_it_stands(matches: Matches) -> None:
    cut = np.flatnonzero(matches.kinds == KINDS.index("pieces"))
    begin = [token_id for token_id in cut.tolist() if BYTES.token_surfaces[token_id].begins]  # type: ignore[union-attr]
    assert len(begin) > 1000
    for token_id in np.random.default_rng(0).choice(begin, 200):
        surface = BYTES.token_surfaces[token_id]
        assert surface is not None
        expected = [
            token_id for token_id in WORDPIECE.encode(surface.text.decode()) if token_id != WORDPIECE.unk_token_id
        ]
        assert matches.ids[matches.ends[token_id] : matches.ends[token_id + 1]].tolist() == expected
    inside = [token_id for token_id in cut.tolist() if BYTES.token_surfaces[token_id].begins is False]  # type: ignore[union-attr]
    first = [WORDPIECE.tokens[matches.ids[matches.ends[token_id]]] for token_id in inside]
    assert sum(token.startswith("##") for token in first) > 0.95 * len(first)


def test_a_cased_word_is_what_the_old_vocabulary_makes_of_it() -> None:
    old, new = of(["q", "sea"]), of(["q", "Sea", "SEA"], do_lower_case=False)
    matches = match_tokens(old, new)
    assert made_of(old, new, matches, "Sea") == made_of(old, new, matches, "SEA") == ("pieces", ["sea"])


def test_what_is_unknown_to_the_old_vocabulary_has_no_match() -> None:
    old, new = of(["q", "sea"]), of(["水", "q"])
    assert made_of(old, new, match_tokens(old, new), "水") == ("none", [])


def test_parts_of_characters_are_their_bytes() -> None:
    data = {"pre_tokenizer": {"type": "ByteLevel"}, "model": {"type": "BPE"}}
    assert surface_reader(data)("æ°") == Surface(False, b"\xe6\xb0")
    fallback = {"pre_tokenizer": {"type": "Metaspace"}, "model": {"type": "BPE", "byte_fallback": True}}
    assert surface_reader(fallback)("<0xE6>") == Surface(False, b"\xe6")
    assert surface_reader(fallback)("▁the") == Surface(True, b"the")
