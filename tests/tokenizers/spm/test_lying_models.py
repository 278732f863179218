"""SentencePiece models whose pieces, scores, types or tables of characters are wrong are refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bertdata.errors import InputError
from bertdata.tokenizers.spm import proto
from bertdata.tokenizers.spm.tokenizer import SentencePieceTokenizer

PIECES = [("<unk>", 0.0, 2), ("<s>", 0.0, 3), ("</s>", 0.0, 3), ("\u2581", -2.0, 1), ("a", -3.0, 1), ("b", -3.5, 1)]


def model_of(*pieces: tuple[str, float, int], change: Callable[[Any], object] = lambda model: None) -> bytes:
    model = proto._message()()
    for piece, score, kind in (*PIECES, *pieces):
        model.pieces.add(piece=piece, score=score, type=kind)
    change(model)
    data: bytes = model.SerializeToString()
    return data


@pytest.mark.parametrize(
    ("piece", "message"),
    [
        (("a", -1.0, 1), "its piece 6 is 'a' once more"),
        (("<s>", 0.0, 1), "its piece 6 is '<s>' once more"),
        (("", -1.0, 1), "its piece 6 is empty"),
        (("c", float("nan"), 1), "its piece 6 has the score nan"),
        (("c", float("inf"), 3), "its piece 6 has the score inf"),
        (("c", -1.0, 77), "its piece 6 has the type 77"),
        (("c", -1.0, -1), "its piece 6 has the type -1"),
        (("c", -1.0, 2), "of its 7 pieces 2 are for unknown text"),
    ],
)
def test_each_piece_is_there_once_with_a_score_and_a_type(piece: tuple[str, float, int], message: str) -> None:
    with pytest.raises(InputError, match=message):
        SentencePieceTokenizer(model_of(piece))


def test_a_piece_that_is_not_utf8_is_refused() -> None:
    with pytest.raises(InputError, match=r"its piece 6 is not UTF-8|is not a whole model"):
        SentencePieceTokenizer(model_of(("qq", -1.0, 1)).replace(b"qq", b"\xff\xfe"))


def test_a_broken_table_of_characters_is_refused() -> None:
    data = model_of(change=lambda model: setattr(model.normalizer, "precompiled_charsmap", b"\xff" * 50))
    with pytest.raises(InputError, match="tokenizers cannot make a tokenizer of this model"):
        SentencePieceTokenizer(data)


def test_a_long_piece_of_a_byte_pair_model_is_cut_at_the_lengths_of_pieces_alone() -> None:
    def change(model: Any) -> None:
        model.trainer.model_type = proto.BPE_MODEL

    pieces = [("ab", -1.0, 1), ("abab", -2.0, 1), ("x" * 200_000, -9.0, 1)]
    tokenizer = SentencePieceTokenizer(model_of(*pieces, change=change))
    assert tokenizer._data["model"]["merges"] == [["a", "b"], ["ab", "ab"]]
    assert tokenizer.tokenize("abab") == ["\u2581", "abab"]
