"""Paragraphs of many texts at once are those of each text by itself."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.documents import paragraphs, paragraphs_of
from tests.generated import examples

SPACES = "\n\n\n\t \r\x0b\x1c\x1f\x85\xa0\u1680\u2003\u2028\u202f\u205f\u3000"
OTHERS = "ab.\u0085\u00c2\u00e9\u1681\u200b\u2051\u3001\U0001d41a\x00"
BREAKS = ["\n", "\n\n", "\r\n", "a\r\n b", " \r\n\r\n"]
pieces = st.one_of(st.text(SPACES + OTHERS, max_size=8), st.sampled_from([*BREAKS, "word " * 20, "Satz é", "日本。"]))
texts = st.lists(pieces, max_size=8).map("".join)


@settings(deadline=None, max_examples=examples(400))
@given(st.lists(texts, max_size=6), st.integers(0, 3))
def test_paragraphs_of_many_texts_are_those_of_each(given_texts: list[str], first: int) -> None:
    array = pa.array(given_texts, pa.string()).slice(first)
    assert paragraphs_of(array).to_pylist() == [paragraphs(text) for text in given_texts[first:]]


def test_every_character_beside_a_line_break_is_as_in_one_text() -> None:
    points = [*range(0x3100), *range(0xFE00, 0x10000), 0x1F600]
    characters = [chr(point) for point in points if not 0xD800 <= point < 0xE000]
    given_texts = [form.format(character) for character in characters for form in ("a{}\nb", "a\n{}b", "{}a", "a{}")]
    assert paragraphs_of(pa.array(given_texts)).to_pylist() == [paragraphs(text) for text in given_texts]


def test_texts_that_stay_as_they_are_are_not_copied() -> None:
    array = pa.array(["One.\n\nTwo.\nThree.", "日本\n\n語", "x"])
    assert paragraphs_of(array) is array
