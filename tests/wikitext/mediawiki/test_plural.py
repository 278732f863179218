"""A number takes the form that CLDR's rules give it in each language, as MediaWiki chooses."""

from __future__ import annotations

import pytest

from bertdata.wikitext.mediawiki.language import language_of
from bertdata.wikitext.mediawiki.plural import choose_form


@pytest.mark.parametrize(
    ("language", "forms", "chosen"),
    [
        ("en", "one other", {"0": "other", "1": "one", "1.0": "one", "2": "other", "-1": "one", "x": "other"}),
        ("fr", "one other", {"0": "one", "1": "one", "1.5": "one", "2": "other"}),
        ("pt", "one other", {"0": "one", "1": "one", "2": "other"}),
        ("ru", "one few many", {"1": "one", "21": "one", "3": "few", "11": "many", "14": "many", "100": "many"}),
        ("pl", "one few many", {"1": "one", "2": "few", "12": "many", "22": "few", "21": "many"}),
        ("ar", "zero one two few many other", {"0": "zero", "2": "two", "103": "few", "11": "many", "100": "other"}),
        ("ja", "only", {"0": "only", "1": "only", "5": "only"}),
        ("ksh", "one more none", {"0": "none", "1": "one", "2": "more", "0.5": "more"}),
        ("cy", "zero one two few many other", {"3": "few", "6": "many", "7": "other"}),
    ],
)
def test_the_form_of_a_number(language: str, forms: str, chosen: dict[str, str]) -> None:
    rules = language_of(language).plural_rules
    assert {number: choose_form(number, forms.split(), rules) for number in chosen} == chosen


def test_fewer_forms_than_rules_and_explicit_ones() -> None:
    rules = language_of("ru").plural_rules
    assert choose_form("5", ["one", "more"], rules) == "more"
    assert choose_form("5", [], rules) == ""
    assert choose_form("1" + "0" * 22, ["one", "few", "many"], rules) == "many"
    assert choose_form("0.0000001", ["one", "few", "many", "other"], rules) == "many"
    assert choose_form("0", ["0=none", "one", "more"], rules) == "none"
    assert choose_form("5", ["0=none"], rules) == ""
