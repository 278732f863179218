"""Unigram: counts of what stands between white space, and SentencePiece's model of them."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertdata.errors import ConfigError, InputError, MissingExtraError
from bertdata.tokenizers.base import SpecialTokens
from bertdata.tokenizers.settings import VocabularyConfig
from bertdata.tokenizers.spm.proto import PieceType, read_model
from bertdata.tokenizers.unigram.counting import count_between_spaces
from bertdata.tokenizers.unigram.trainer import train_unigram

FABLE = "The Fox saw the grapes hanging from a vine, and jumped for 23 grapes; but the fox never reached them. " * 4


def pieces(**more: Any) -> dict[str, tuple[float, int]]:
    pytest.importorskip("sentencepiece")
    settings: dict[str, Any] = {"special": SpecialTokens()} | more
    model = read_model(train_unigram(count_between_spaces([FABLE]), settings.pop("vocab_size", 60), **settings))
    return {piece.piece: (piece.score, piece.type) for piece in model.pieces}


@given(st.lists(st.text("ab \n\t\u00a0é"), max_size=4))
def test_counts_are_those_of_split(texts: list[str]) -> None:
    table = count_between_spaces(texts)
    expected = Counter(word for text in texts for word in text.split())
    assert dict(zip(*table.to_pydict().values(), strict=True)) == expected
    assert table["word"].to_pylist() == sorted(expected, key=str.encode)


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(InputError, match="row 1 is null"):
        count_between_spaces(pa.array(["a", None]))


def test_ids_are_special_then_unused_then_pieces_by_score() -> None:
    vocabulary = pieces(unused=2)
    kinds = [kind for _, kind in vocabulary.values()]
    assert kinds[:7] == [PieceType.CONTROL, PieceType.UNKNOWN, *[PieceType.CONTROL] * 3, *[PieceType.UNUSED] * 2]
    assert {*kinds[7:]} == {PieceType.NORMAL}
    scores = [score for score, _ in vocabulary.values()][7:]
    assert scores == sorted(scores, reverse=True)
    assert len(vocabulary) <= 60


def test_counts_in_another_order_or_as_often_give_the_same_bytes() -> None:
    pytest.importorskip("sentencepiece")
    words = count_between_spaces([FABLE])
    first = train_unigram(words, 60, special=SpecialTokens())
    assert train_unigram(words, 60, special=SpecialTokens()) == first


def test_the_counts_of_words_matter() -> None:
    pytest.importorskip("sentencepiece")
    models = []
    for often, seldom in (("grapes", "walrus"), ("walrus", "grapes")):
        words = pa.table(
            {
                "word": sorted([often, seldom]),
                "count": [500 if word == often else 1 for word in sorted([often, seldom])],
            }
        )
        scores = {
            piece.piece: piece.score for piece in read_model(train_unigram(words, 40, special=SpecialTokens())).pieces
        }
        models.append(scores)
    assert models[0]["g"] > models[1]["g"]
    assert models[0]["w"] < models[1]["w"]


def test_an_added_word_takes_the_place_of_the_piece_with_the_lowest_score() -> None:
    without, with_words = pieces(), pieces(added=["troponin", "vine,"])
    assert len(with_words) == len(without) or len(without) < 60
    assert (
        with_words["▁troponin"][0]
        == with_words["▁vine,"][0]
        == max(score for score, kind in with_words.values() if kind == 1)
    )
    characters = {piece for piece, (_, kind) in without.items() if len(piece) == 1 and kind == 1}
    assert characters <= with_words.keys()


def test_an_added_word_that_is_a_piece_already_makes_no_room_for_another() -> None:
    size = len(pieces())
    *_, last = (piece for piece in pieces() if len(piece) > 1)
    assert last == "▁a"
    vocabulary = pieces(vocab_size=size, added=["a", "walrus"])
    assert len(vocabulary) == size
    assert {"▁a", "▁walrus"} <= vocabulary.keys()


def test_case_is_folded_by_the_rules_of_the_model() -> None:
    assert "F" not in "".join(pieces(normalization="nmt_nfkc_cf"))
    assert "F" in "".join(pieces(normalization="nmt_nfkc"))


def test_all_of_ascii_that_occurs_is_kept_however_rare() -> None:
    pytest.importorskip("sentencepiece")
    words = count_between_spaces([FABLE * 500 + " ~7"])
    vocabulary = {piece.piece for piece in read_model(train_unigram(words, 60, special=SpecialTokens())).pieces}
    assert {"~", "7"} <= vocabulary


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"special": SpecialTokens(unk=None)}, "no special token for unknown text"),
        ({"vocab_size": 12}, "cannot train a vocabulary of 8 pieces from .* distinct words"),
        ({"added": ["two words"]}, "which is not one word"),
    ],
)
def test_what_cannot_be_trained_is_refused(more: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        pieces(**more)


def test_no_words_are_refused() -> None:
    pytest.importorskip("sentencepiece")
    with pytest.raises(ConfigError, match="from 0 distinct words"):
        train_unigram(count_between_spaces([]), 60, special=SpecialTokens())


def test_without_sentencepiece_the_settings_name_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    with pytest.raises(MissingExtraError, match=r"sentencepiece is not installed; .*\[sentencepiece\]"):
        VocabularyConfig(model="unigram")
