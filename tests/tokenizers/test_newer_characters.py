"""Ids do not depend on what the installed `tokenizers` knows of characters that are newer than its tables."""

from __future__ import annotations

import re
from typing import Any

import pytest
import tokenizers

from bertdata import WordPieceTokenizer
from bertdata.characters.newer import alike, holds_newer, lowered, table
from bertdata.errors import InputError
from bertdata.tokenizers import newer_characters
from bertdata.tokenizers.bpe.counting import pre_tokens
from bertdata.tokenizers.newer_characters import has_same_tables, known_to
from tests.growth import seconds
from tests.tokenizers.encode.test_composed import composed
from tests.tokenizers.small import SMALL, SPECIAL

IDEOGRAPH, DIGIT, CAPITAL, SMALL_LETTER, MARK = "\U0002ebf0", "\U00010d40", "\u1c89", "\u1c8a", "\u0897"
"""Of Unicode 15.1 and 16."""
UNASSIGNED = "\U000e1234"
TEXTS = [f"a{CAPITAL}b 1{DIGIT}2", f"{IDEOGRAPH}{IDEOGRAPH} low{MARK}", f"the {UNASSIGNED}low", SMALL_LETTER * 3]


@pytest.fixture
def old(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the installed `tokenizers` have other tables, as an older one has."""
    monkeypatch.setattr(newer_characters, "has_same_tables", lambda: False)


def test_newer_characters_are_of_the_kind_of_older_ones() -> None:
    assert [holds_newer(text) for text in (*TEXTS, "the caf\u00e9 \u4e2d\U0001f600")] == [True] * 4 + [False]
    assert alike(f"1{DIGIT}").isdecimal()
    assert alike(f"a{SMALL_LETTER}{IDEOGRAPH}").isalpha()
    assert (len(alike("".join(TEXTS))), alike("caf\u00e9")) == (len("".join(TEXTS)), "caf\u00e9")
    assert lowered(f"A{CAPITAL}") == f"A{SMALL_LETTER}"


def test_a_character_alone_is_looked_up_as_in_a_text() -> None:
    points = [int(point, 16) for point in re.findall(r"\\U([0-9a-f]{8})", table().newer.pattern)]
    around = {chr(point + step) for point in points for step in (-1, 0, 1) if point + step <= 0x10FFFF}
    assert [alike(character) * 2 for character in around] == [alike(character * 2) for character in around]
    assert {table().is_newer(character) for character in around} == {True, False}


def test_older_text_is_looked_through_as_fast_as_by_a_small_class() -> None:
    # Against one range after another, as re compares with characters beyond U+FFFF, it takes 200 times as long.
    text = "Größe 海水 ñ, Москва " * 10_000
    small = re.compile("[\u2c00-\u2c5f]")
    by_table, by_one = (min(seconds(look, text) for _ in range(5)) for look in (holds_newer, small.search))
    assert by_table < 60 * by_one


def test_words_of_byte_level_bpe_are_cut_by_the_table() -> None:
    assert pre_tokens(f"a{CAPITAL}b 1{DIGIT}2 {UNASSIGNED}a") == [f"a{CAPITAL}b", f" 1{DIGIT}2", f" {UNASSIGNED}", "a"]


def test_capitals_are_made_small_by_the_table() -> None:
    tokenizer = WordPieceTokenizer.from_tokens([*SPECIAL, SMALL_LETTER, CAPITAL, f"##{SMALL_LETTER}"])
    assert tokenizer.tokenize(CAPITAL * 2) == [SMALL_LETTER, f"##{SMALL_LETTER}"]
    assert tokenizer.encode_batch([CAPITAL * 2])[0].as_py() == [5, 7]


@pytest.mark.usefixtures("old")
@pytest.mark.parametrize("kind", ["o200k", "starcoder", "byte-level lower-cased", "mpnet", "bge-m3"])
def test_kernels_give_ids_by_the_table_whatever_tokenizers_knows(kind: str) -> None:
    tokenizer = composed(kind)
    batch = tokenizer.encode_batch(TEXTS).to_pylist()
    assert [tokenizer.encode(text) for text in TEXTS] == batch
    if has_same_tables():
        reference = tokenizer.reference.encode_batch(TEXTS, add_special_tokens=False)
        assert batch == [encoding.ids for encoding in reference]


@pytest.mark.parametrize("kind", ["mpnet", "camembert 2", "punctuation together", "herbert"])
def test_newer_punctuation_is_none_to_pre_tokenizers_of_any_release(kind: str) -> None:
    tokenizer = composed(kind)
    texts = [f"a{mark}b lo{mark} {mark}" for mark in "\u1b4e\u1b4f\U00010d6e\U00016d6d"]
    reference = tokenizer.reference.encode_batch(texts, add_special_tokens=False)
    assert tokenizer.encode_batch(texts).to_pylist() == [encoding.ids for encoding in reference]


@pytest.mark.parametrize("kind", ["starcoder", "runs of digits", "camembert 2"])
def test_newer_numbers_are_cut_as_digits_cuts_them(kind: str) -> None:
    tokenizer = composed(kind)
    texts = [f"a{number}b 1{number}{number} lo{number}\u0110" for number in ("\U00011de2", "\U00016ff4", DIGIT)]
    reference = tokenizer.reference.encode_batch(texts, add_special_tokens=False)
    if has_same_tables():
        assert tokenizer.encode_batch(texts).to_pylist() == [encoding.ids for encoding in reference]


@pytest.mark.usefixtures("old")
def test_what_tokenizers_cuts_itself_is_refused_where_its_tables_are_others() -> None:
    byte_level: Any = SMALL["gpt2"]
    assert byte_level.encode_batch(TEXTS)
    with pytest.raises(InputError, match=r"holds U\+1C89, .* has other Unicode tables than 17\.0\.0"):
        byte_level.encode_batch_with_offsets(TEXTS)
    with pytest.raises(InputError, match=r"holds U\+2EBF0"):
        byte_level.encode_words([["a", IDEOGRAPH]])
    assert byte_level.encode_batch_with_offsets(["caf\u00e9 \u4e2d"])
    assert SMALL["albert"].encode_batch_with_offsets(TEXTS)
    folding: Any = tokenizers.Tokenizer(tokenizers.models.BPE())
    folding.normalizer = tokenizers.normalizers.Lowercase()
    assert known_to(folding, [CAPITAL, ["a", CAPITAL]]) == [SMALL_LETTER, ["a", SMALL_LETTER]]
