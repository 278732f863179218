"""Parser functions and variables give the text that MediaWiki's documentation says."""

from __future__ import annotations

import pytest

from bertdata.wikitext.clean import clean_wikitext
from bertdata.wikitext.templates.parser_functions import ERROR, FUNCTIONS, UNKNOWN, render_parser_function


def rendered(call: str, title: str = "") -> str | None:
    """Return the text of a call that is written without its braces."""
    head, *arguments = call.split("|")
    return render_parser_function(head, arguments, title)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("#switch: a | a = one | b = two", "one"),
        ("#switch: b | a = one | b = two", "two"),
        ("#switch: a | a | b = both", "both"),
        ("#switch: c | a = one", ""),
        ("#switch: c | a = one | other", "other"),
        ("#switch: c | a = one | #default = other | b = two", "other"),
        ("#switch: c | #default | a = one", "one"),
        ("#switch: c | bare | a = one", ""),
    ],
)
def test_a_switch_gives_the_result_of_the_first_case_that_matches_or_of_the_default(call: str, text: str) -> None:
    assert rendered(call) == text


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("#if: x | yes | no", "yes"),
        ("#if:  | yes | no", "no"),
        ("#if: | yes", ""),
        ("#ifeq: a | a | same | not", "same"),
        ("#ifeq: a | b | same | not", "not"),
        ("#ifeq: a | b | same", ""),
        ("#ifeq: 01 | 1.0 | same | not", "same"),
        ("#ifeq: a&amp;b | a&b | same | not", "same"),
        ("#switch: 2 | 02 = yes | no", "yes"),
        ("#ifexpr: 1 > 0 | yes | no", "yes"),
        ("#ifexpr: (-1)*0 | yes | no", "no"),
        ("#ifexpr: | yes | no", "no"),
        ("#ifexpr: 1 > | yes | no", ERROR),
        ("#ifexpr: 1 < 0 | yes", ""),
        ("plural: 1 | page | pages", "page"),
        ("plural: 2 | page | pages", "pages"),
        ("plural: 2", ""),
    ],
)
def test_a_condition_chooses_an_argument_or_nothing(call: str, text: str) -> None:
    assert rendered(call) == text


@pytest.mark.parametrize(
    ("call", "text"),
    [
        ("formatnum: 1234567.5", "1,234,567.5"),
        ("formatnum: 1,234 | R", "1234"),
        ("formatnum: 1,234 | R | more", "1234"),
        ("#expr: 2 + 3 * 2", "8"),
        ("#expr: (2 + 3) * 2 ^ 2", "20"),
        ("#expr: 10 / 4", "2.5"),
        ("#expr: 2 / 3 round 2", "0.67"),
        ("#expr: -7 mod 3", "-1"),
        ("#expr: 3 = 3 and not 0", "1"),
        ("#expr: floor 2.7 + ceil 2.2 + trunc(-2.5) + abs(-1)", "4"),
        ("#expr: 10^20", "1.0E+20"),
        ("#expr: pi round 4", "3.1416"),
        ("#expr: 1 / 0", ERROR),
        ("#expr: 9^9^9^9", ERROR),
        ("#expr: a", ERROR),
        ("#expr: (1", ERROR),
        ("#expr: " + "(" * 900, ERROR),
        ("#expr: " + "-" * 900 + "1", ERROR),
        ("#expr: " + "not " * 200 + "1", ERROR),
        ("#expr: " + "1+" * 600 + "1", ERROR),
        ("lc: SaLT", "salt"),
        ("uc: SaLT", "SALT"),
        ("lcfirst: SALT", "sALT"),
        ("ucfirst: salt water", "Salt water"),
        ("padleft: 7 | 3 | 0", "007"),
        ("#dateformat: 1 May 2009 | mdy", "May 1, 2009"),
    ],
)
def test_a_function_of_text_gives_text(call: str, text: str) -> None:
    assert rendered(call) == text


@pytest.mark.parametrize("name", ["PAGENAME", "FULLPAGENAME", "BASEPAGENAME", "SUBPAGENAME"])
def test_a_name_of_the_page_is_its_title(name: str) -> None:
    assert rendered(name, "Salt") == "Salt"
    assert not rendered(name + ":", "Salt")


def test_every_function_that_is_listed_gives_text_and_no_other_does() -> None:
    called = {meaning: name for names in (UNKNOWN.functions, UNKNOWN.variables) for name, meaning in names.items()}
    assert FUNCTIONS.keys() <= called.keys()
    first = {"time": "Y", "timel": "Y", "ns": "6", "nse": "6", "tag": "b"}
    texts = {
        name: rendered(called[name] if name in "=!" else f"{called[name]}: {first.get(name, 'x')} | 2001-02-03", "Salt")
        for name in FUNCTIONS
    }
    assert [name for name, text in texts.items() if text is None] == []
    assert rendered("CURRENTYEAR") is None
    assert rendered("#invoke: module | function") is None


def test_the_name_for_an_address_has_its_apostrophe_encoded() -> None:
    assert render_parser_function("FULLPAGENAMEE:user:A's b", [], "") == "User:A%27s_b"


def test_a_modifier_is_read_as_its_language_writes_it() -> None:
    # the small letter of İ is two characters
    assert clean_wikitext("Bu {{GÜVENLİYERİNEKOY:lc:ABC}} olur.", language="tr") == "Bu abc olur."
