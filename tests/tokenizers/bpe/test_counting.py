"""Counts of pre-tokens are those of `tokenizers` on the whole text, however it is cut."""

from __future__ import annotations

import sys
from collections import Counter

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import pre_tokenizers

from bertdata.errors import ConfigError, InputError
from bertdata.tokenizers.bpe import counting
from bertdata.tokenizers.bpe.counting import count_pre_tokens
from bertdata.tokenizers.bpe.trainer import letters_of

HOSTILE = st.text(st.sampled_from("ab'stve1 \n\t\r\x1c\x1f\x85\xa0\u2003\u3000.,!é中\u200b"), max_size=30)


def of_tokenizers(texts: list[str]) -> Counter[str]:
    cutter = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return Counter(word for text in texts for word, _ in cutter.pre_tokenize_str(text))


def counted(texts: list[str] | pa.Array) -> dict[str, int]:
    """Return the counts by plain Python, after a check that kernels give the same."""
    tables = []
    for least in (1 << 40, 0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(counting, "COMPILED_FROM", least)
            tables.append(count_pre_tokens(texts))
    assert tables[0].equals(tables[1])
    return {letters_of(word): count for word, count in zip(*tables[0].to_pydict().values(), strict=True)}


@given(st.lists(HOSTILE, max_size=3))
def test_counts_are_those_of_tokenizers_on_hostile_text(texts: list[str]) -> None:
    assert counted(texts) == of_tokenizers(texts)


@pytest.mark.parametrize("end", [0x3100, pytest.param(0x30000, marks=pytest.mark.slow)])
def test_counts_are_those_of_tokenizers_with_every_character_in_context(end: int) -> None:
    texts = [
        "".join(f"a{chr(point)}b {chr(point)} !{chr(point)}\n {chr(point)}1" for point in range(start, start + 256))
        for start in range(0, end, 256)
        if not 0xD800 <= start < 0xE000
    ]
    assert counted(texts) == of_tokenizers(texts)


def test_more_words_than_fit_and_long_ones_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counting, "MAX_WORDS", 64)
    texts = [" ".join(f"w{number % 150}" for number in range(900)), "é" * 80, "a" * 70 + " " + "a" * 70]
    assert counted(texts) == of_tokenizers(texts)


def test_words_are_sorted_by_their_bytes() -> None:
    words = count_pre_tokens(["b a\ue000 \U00010000 z"])["word"].to_pylist()
    assert words == sorted(words, key=str.encode)


def test_a_slice_of_an_array_is_counted_alone() -> None:
    assert counted(pa.array(["no", "yes yes", "no"])[1:2]) == {"yes": 1, "Ġyes": 1}


def test_what_is_no_text_is_refused() -> None:
    with pytest.raises(ConfigError, match="found str"):
        count_pre_tokens("text")
    with pytest.raises(InputError, match="row 1 is null"):
        count_pre_tokens(["a", None])


def test_the_highest_character_is_counted() -> None:
    assert counted([chr(sys.maxunicode)]) == {letters_of(chr(sys.maxunicode)): 1}
