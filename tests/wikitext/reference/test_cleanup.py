"""What is cleaned up next to a placeholder."""

from __future__ import annotations

import pytest

from bertdata.wikitext.reference.cleanup import clean_up
from bertdata.wikitext.rules import PLACEHOLDER


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        (f"; a {PLACEHOLDER}b", "; a b"),
        (f"a {PLACEHOLDER} b{PLACEHOLDER}c", "a bc"),
        (f"a {PLACEHOLDER}{PLACEHOLDER} b", "a b"),
        (f"a{PLACEHOLDER}b", "ab"),
        (f"a{PLACEHOLDER}{PLACEHOLDER}b", "ab"),
        (f"{PLACEHOLDER}b ", "b"),
        (f"a, {PLACEHOLDER}.", "a."),
        (f"a; {PLACEHOLDER}!", "a!"),
        (f"a ({PLACEHOLDER}) b", "a b"),
        (f"a. {PLACEHOLDER}.", "a."),
    ],
)
def test_marks_and_spaces_go_with_what_was_dropped(text: str, cleaned: str) -> None:
    assert clean_up(text) == cleaned
