"""Ids equal to `tokenizers`' on all the optional real data, with the three published vocabularies: minutes to an hour.

Run: python -m pytest tests/tokenizers -m slow
It also runs every code point, here with a vocabulary of every character, so that no two of them are the same [UNK], and
in `test_tokenizer.py` with a small one; and the kernels with checked bounds (`test_encoder.py`).
"""

from __future__ import annotations

import unicodedata
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from bertdata.tokenizers.wordpiece import WordPieceTokenizer
from tests.data import data_path
from tests.tokenizers.real_texts import FILES, texts_of
from tests.tokenizers.wordpiece.reference import SPECIAL, reference, reference_ids

VOCABULARIES = [("bert-base-uncased", True), ("bert-base-cased", False), ("bert-base-multilingual-cased", False)]


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("name", "lower"), VOCABULARIES)
@pytest.mark.parametrize("file", FILES or ["books"])
def test_ids_equal_the_reference_on_all_real_data(file: str, name: str, lower: bool) -> None:
    path = data_path(*Path(file).parts)
    tokenizer = WordPieceTokenizer.from_pretrained(data_path("vocab", f"{name}.txt"), do_lower_case=lower)
    expected = reference(tokenizer.tokens, do_lower_case=lower)
    texts = texts_of(path)
    while batch := list(islice(texts, 500)):
        assert tokenizer.encode_batch(batch).to_pylist() == reference_ids(expected, batch)


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("settings", [{}, {"do_lower_case": False}, {"strip_accents": False}])
@pytest.mark.parametrize("end", [0x2000, pytest.param(0x110000, marks=pytest.mark.slow)])
def test_ids_equal_the_reference_where_every_character_has_a_piece(end: int, settings: dict[str, Any]) -> None:
    characters = [chr(point) for point in range(end) if not 0xD800 <= point <= 0xDFFF]
    written = [c for c in characters if unicodedata.category(c) not in ("Cn", "Co") and not c.isspace()]
    tokens = [*SPECIAL, *written, *(f"##{c}" for c in written)]
    tokenizer, expected = WordPieceTokenizer.from_tokens(tokens, **settings), reference(tokens, **settings)
    for first in range(0, len(characters), 10_000):
        texts = [f"{c} a{c}b e\u0301{c}\u0327 {c}\u0301" for c in characters[first : first + 10_000]]
        assert tokenizer.encode_batch(texts).to_pylist() == reference_ids(expected, texts)
