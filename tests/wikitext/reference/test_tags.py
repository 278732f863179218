"""Formulas between tags, in the reference and in the kernels."""

from __future__ import annotations

import pytest

from bertdata.wikitext.clean import clean_wikitext
from tests.wikitext.agreement import agree


@pytest.mark.parametrize(
    ("formula", "shown"),
    [
        ("H2O", "H2O"),
        ("SO4^{2-}", "SO42−"),
        ("2 H2 + O2 -> 2 H2O", "2 H2 + O2 → 2 H2O"),
        ("H" * 60, "H" * 60),
        ("H" * 61, ""),
        (r"\ce{X}", ""),
    ],
)
def test_a_formula_of_chemistry_is_text_where_it_is_plain_and_short(formula: str, shown: str) -> None:
    source = f"It is <chem>{formula}</chem> here."
    assert clean_wikitext(source) == f"It is {shown} here.".replace("  ", " ")
    assert agree(source)
