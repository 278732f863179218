"""Character references are undone as Python's `html.unescape` does, numbers of any length too."""

from __future__ import annotations

import html

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertdata.wikitext.character_references import undo_character_references
from bertdata.wikitext.clean import clean_wikitext

PIECES = ["&", "&#", "&#x", "0", "00", "1", "65", "1114111", "1114112", "99999999", ";", "a", "amp", "lt;", " "]


@given(st.lists(st.sampled_from(PIECES), max_size=12).map("".join))
def test_references_are_undone_as_python_does(text: str) -> None:
    assert undo_character_references(text) == html.unescape(text)


@pytest.mark.parametrize(
    ("text", "undone"),
    [
        ("&#" + "9" * 5000 + ";x", "\ufffdx"),
        ("&#" + "0" * 5000 + "65;", "A"),
        ("&#" + "0" * 5000 + ";", "\ufffd"),
        ("&#x" + "0" * 5000 + "41;", "A"),
    ],
)
def test_a_number_may_have_any_length(text: str, undone: str) -> None:
    assert undo_character_references(text) == undone


@pytest.mark.parametrize(
    ("source", "prose"),
    [
        ("It is {{#ifeq:&#" + "9" * 5000 + ";|a|no|so}}.", "It is so."),
        ("It is {{#switch:x|&#" + "9" * 5000 + ";=no|so}}.", "It is so."),
        ("It is <math>&#" + "0" * 5000 + "65;</math>.", "It is A."),
    ],
)
def test_a_page_with_a_long_number_is_cleaned(source: str, prose: str) -> None:
    assert clean_wikitext(source, compiled=False) == prose
