"""What stands beside holes, in the readable pass and its compiled twin."""

from __future__ import annotations

import pytest

from bertdata.sources.wikipedia.wikitext.reference.cleanup import HOLE, heal


@pytest.mark.parametrize(
    ("text", "healed"),
    [
        (f"; a {HOLE}b", "; a b"),
        (f"a {HOLE} b{HOLE}c", "a bc"),
        (f"a {HOLE}{HOLE} b", "a b"),
        (f"a{HOLE}b", "ab"),
        (f"a, {HOLE}.", "a."),
        (f"a; {HOLE}!", "a!"),
        (f"a ({HOLE}) b", "a b"),
        (f"a. {HOLE}.", "a."),
    ],
)
def test_marks_and_spaces_close_over_a_hole(text: str, healed: str) -> None:
    assert heal(text) == healed
