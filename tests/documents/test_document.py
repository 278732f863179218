from __future__ import annotations

import re

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.documents import SLOTS, paragraphs, slot
from tests.generated import examples
from tests.statistics import assert_uniform


def test_slots_are_in_range_and_evenly_filled() -> None:
    slots = [slot(f"enwiki:{number}") for number in range(20_000)]
    assert min(slots) >= 0
    assert max(slots) < SLOTS
    assert_uniform(np.bincount(np.array(slots) >> 10, minlength=64))


def paragraphs_by_the_rule(text: str) -> str:
    """Cut at lines of blanks where there are any, else at each line."""
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip()
    border = r"\n[^\S\n]*\n\s*" if re.search(r"\n[^\S\n]*\n", text) else r"\n+"
    return "\n\n".join(part.strip() for part in re.split(border, text) if part.strip())


@settings(deadline=None, max_examples=examples(400))
@given(st.text(st.sampled_from("ab\n\n\n \t\r\x0b\x1c\x85\u2028\u3000\u00a0\u00e9"), max_size=14))
def test_paragraphs_are_those_of_the_rule_whatever_white_space_is_beside_line_breaks(text: str) -> None:
    assert paragraphs(text) == paragraphs_by_the_rule(text)
    assert paragraphs(paragraphs(text)) == paragraphs(text)
