"""Wrapped lines as one: words that a line end parts, and dashes."""

from __future__ import annotations

import pytest

from bertdata.sources.books.dehyphenate import joined, one_line


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["no-\nbody left"], ["nobody left"]),
        (["no-\nbody", "came in"], ["nobody", "came in"]),
        (["a no-\nbody-\nelse b"], ["a nobody- else b"]),
        (["well-\nknown", "well-known"], ["well-known", "well-known"]),
        (["Anglo-\nSaxon"], ["Anglo-Saxon"]),
        (["in 1914-\n18 and -\nlater"], ["in 1914- 18 and - later"]),
        (["a b"], ["a b"]),
    ],
)
def test_a_word_that_a_line_end_parts_is_written_as_the_rest_writes_it(texts: list[str], expected: list[str]) -> None:
    assert joined(texts) == expected


@pytest.mark.parametrize(
    "text", [" It rained.", "It rained. ", "It  rained.", "It\nrained.", "It\trained.", "It rained."]
)
def test_a_line_has_single_spaces_and_none_at_its_ends(text: str) -> None:
    assert one_line(text) == "It rained."
