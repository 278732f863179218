"""Ids and words equal to those of `tokenizers` with published tokenizers, on the optional real data.

Run: python -m pytest tests/tokenizers -m slow
That takes minutes to an hour. The quick part, hostile texts, runs with every suite where the data is.
"""

from __future__ import annotations

from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata import load_tokenizer
from bertdata.tokenizers.json_tokenizer import JsonTokenizer
from tests.data import ROOT, data_path
from tests.generated import examples
from tests.tokenizers.real_texts import FILES, texts_of
from tests.tokenizers.small import EDGES, HARD, TEXTS

NAMES = sorted(path.parent.name for path in ROOT.glob("tokenizers/*/tokenizer.json")) or ["roberta"]


@pytest.fixture(scope="module", params=NAMES)
def tokenizer(request: pytest.FixtureRequest) -> JsonTokenizer:
    loaded = load_tokenizer(data_path("tokenizers", request.param))
    assert isinstance(loaded, JsonTokenizer)
    assert loaded.slow_because is None
    return loaded


def assert_equal(tokenizer: JsonTokenizer, texts: list[str]) -> None:
    """Compare ids and, where an id alone does not tell, the places where words begin."""
    expected: list[Any] = tokenizer.reference.encode_batch(texts, add_special_tokens=False)
    if tokenizer.continuation is not None:
        assert tokenizer.encode_batch(texts).to_pylist() == [encoding.ids for encoding in expected]
        return
    batch = tokenizer.encode_batch_with_words(texts)
    assert batch["input_ids"].to_pylist() == [encoding.ids for encoding in expected]
    starts = [[before != word for before, word in pairwise([None, *encoding.word_ids])] for encoding in expected]
    assert batch["word_starts"].to_pylist() == starts


@pytest.mark.costly
@settings(max_examples=examples(50))
@given(texts=st.lists(TEXTS, max_size=8))
def test_hostile_texts_are_encoded_as_by_tokenizers(tokenizer: JsonTokenizer, texts: list[str]) -> None:
    assert_equal(tokenizer, texts)


@pytest.mark.costly
def test_pairs_of_hard_pieces_are_encoded_as_by_tokenizers(tokenizer: JsonTokenizer) -> None:
    assert_equal(tokenizer, [f"{a}{b} {a}\n{b}" for a in HARD for b in HARD[::5]] + EDGES)


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_every_code_point_is_encoded_as_by_tokenizers_wherever_it_is(tokenizer: JsonTokenizer) -> None:
    points = [chr(point) for point in range(0x110000) if not 0xD800 <= point < 0xE000]
    for first in range(0, len(points), 1 << 14):
        some = points[first : first + (1 << 14)]
        assert_equal(tokenizer, [text for c in some for text in (f"a{c}b 1{c}1 .{c}.{c}\n {c} c", f"e\u0301 {c}", c)])


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("file", FILES or ["books"])
def test_all_real_data_is_encoded_as_by_tokenizers(tokenizer: JsonTokenizer, file: str) -> None:
    texts = texts_of(data_path(*Path(file).parts))
    while batch := list(islice(texts, 500)):
        assert_equal(tokenizer, batch)
