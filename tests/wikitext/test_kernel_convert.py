"""The compiled conversions write what `convert` writes, whatever the number, the units and how they are rounded."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata import clean_wikitext
from bertdata.wikitext.templates.measurement_units import UNITS
from tests.generated import examples
from tests.wikitext.agreement import agree

NUMBERS = st.one_of(
    st.integers(-10_000, 10**9).map(str),
    st.integers(0, 10**7).map("{:,}".format),
    st.decimals(0, 10**6, places=3, allow_nan=False).map(str),
    st.sampled_from(["0", "0.0", "1", "1.0", "-1", "007", "1.", ".5", "1/2", "1e3", "10,", ",1", "99999999999999999"]),
)
CODES = st.sampled_from([*UNITS, "ftin", "km mi", "km+mi", "bogus", ""])
OPTIONS = st.lists(
    st.sampled_from(
        [
            *("abbr=on", "abbr=off", "abbr=", "adj=on", "sp=us", " sp = us", "disp=or", "disp=", "lk=on", "lk=out"),
            *("0", "2", "-1", "-2", "12", "", " "),
        ]
    ),
    max_size=4,
)


@settings(max_examples=examples(300), deadline=None)
@given(st.sampled_from(["convert", "cvt"]), NUMBERS, CODES, st.one_of(st.just(""), CODES), OPTIONS, st.booleans())
def test_a_conversion_is_written_as_the_reference_writes_it(
    name: str, number: str, code: str, target: str, options: list[str], nested: bool
) -> None:
    call = "{{" + "|".join([name, number, code, target, *options]) + "}}"
    source = f"It lies {{{{nowrap|{call}}}}} away." if nested else f"It lies {call} away."
    assert agree(source)


@pytest.mark.parametrize("code", ["m", "metres", "meter"])
def test_few_metres_become_feet_and_inches_by_each_name_of_the_metre(code: str) -> None:
    source = f"It is {{{{convert|1.85|{code}|abbr=on}}}} high."
    assert clean_wikitext(source, compiled=True) == "It is 1.85 m (6 ft 1 in) high."


FAMILIES = ["transl", "chem", "nihongo", "nihongo2", "angbr", "linktext", "hlist", "sortname", "quote", "lang", "smu"]
PIECES = ["a", "b c", " ", "é", "\u3000", "\u00a0", "12", "-", "2-", "日", "|", "|", "|", "[[x|y]]", "=", "\n", "–"]


@settings(max_examples=examples(300), deadline=None)
@given(st.sampled_from(FAMILIES), st.lists(st.sampled_from(PIECES), max_size=9), st.booleans())
def test_frequent_templates_are_written_as_the_reference_writes_them(
    name: str, pieces: list[str], nested: bool
) -> None:
    call = f"{{{{{name}|{''.join(pieces)}}}}}"
    source = f"It is {{{{nowrap|{call}}}}} here." if nested else f"It is {call} here."
    assert agree(source)


@settings(max_examples=examples(300), deadline=None)
@given(st.lists(st.sampled_from([*PIECES, "x^2", "{", "\\", "&lt;", "$", "<i>", "'''"]), max_size=30).map("".join))
def test_formulas_are_written_as_the_reference_writes_them(formula: str) -> None:
    source = f"It is <math>{formula}</math> here."
    assert agree(source)
