"""Which lines are prose, in the reference and in the kernels."""

from __future__ import annotations

import pytest

from bertdata.wikitext.clean import clean_wikitext
from tests.wikitext.agreement import agree


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (
            "Intro.\n one two three four five six seven eight nine.",
            "Intro. one two three four five six seven eight nine.",
        ),
        ("Intro.\n one two three four five six seven eight.", "Intro."),
        ("Intro.\n one two three four five six seven eight nine", "Intro."),
        ("Intro.\n! a\nAfter.", "Intro.\n\nAfter."),
        ("Intro.\n!a !! b\nAfter.", "Intro.\n\nAfter."),
        ("Intro.\n!Kung is spoken.", "Intro. !Kung is spoken."),
        ("Ask ([https://example.org]) now.", "Ask now."),
    ],
)
def test_code_headers_of_tables_and_empty_links_are_no_prose(source: str, expected: str) -> None:
    assert clean_wikitext(source) == expected
    assert agree(source)
