"""Numbers are written as MediaWiki writes them in each of its languages, and read back."""

from __future__ import annotations

import pytest

from bertdata.wikitext.mediawiki import facts
from bertdata.wikitext.mediawiki.language import language_of
from bertdata.wikitext.mediawiki.numbers import Numbers
from tests.wikitext.mediawiki.names import languages

UNTRANSLATED = {"ar", "as", "bho", "hi", "ks", "lo", "ml", "sd", "te"}


def test_the_numbers_of_each_language() -> None:
    for code, facts_of in languages().items():
        if facts.code_of(code) != code:
            continue
        printed = facts_of["numbers"]["printed"]
        if code in UNTRANSLATED:
            printed = facts_of["numbers"].get("printedUntranslated", printed)
        numbers = language_of(code).numbers
        assert {number: numbers.format(number) for number in printed} == printed, code


@pytest.mark.parametrize(
    ("language", "text", "written"),
    [
        ("en", "1e3", "1,000"),
        ("en", "1.5E-2", "0.015"),
        ("en", "+5", "5"),
        ("en", ".5", ".5"),
        ("en", "5.", "5."),
        ("en", "-.5", "−.5"),
        ("en", "INF", "∞"),
        ("en", "12345 men", "12,345 men"),
        ("en", "1,234", "1,234"),
        ("en", "12345 - 6789", "12,345 - 6,789"),
        ("en", "1234-5678", "1,234−5,678"),
        ("en", "", ""),
        ("pl", "1234.5", "1234,5"),
        ("pl", "1.5e3", "1,5e3"),
        ("pl", "+5", "+5"),
        ("pl", "+123456", "+123456"),
        ("pl", "-12345e1", "−123\xa0450"),
        ("hi", "12345678.9", "1,23,45,678.9"),
        ("fa", "2026", "۲٬۰۲۶"),
        ("my", "1234567", "၁၂၃၄၅၆၇"),
        ("my", "1e5", "၁e၅"),
        ("en", "3.14159265358979323846", "3.14159265358979300000"),
        ("en", "12345678901234567890", "12,345,678,901,234,567,000"),
        ("es", "3.14159265358979323846", "3,14159265358979323846"),
    ],
)
def test_a_number_is_written_as_the_wiki_writes_it(language: str, text: str, written: str) -> None:
    assert language_of(language).numbers.format(text) == written


@pytest.mark.parametrize(
    ("language", "text", "number"),
    [
        ("de", "1.234,5", "1234.5"),
        ("fa", "−۱٬۲۳۴٫۵", "-1234.5"),
        ("en", "1,234 km", "1234 km"),
        ("fr", "12\xa0345,6", "12345.6"),
    ],
)
def test_a_number_is_read_back(language: str, text: str, number: str) -> None:
    assert language_of(language).numbers.unformat(text) == number


def test_without_separators_only_the_digits_are_the_language_s() -> None:
    assert language_of("fa").numbers.format("-1234.5", separators=False) == "−۱۲۳۴.۵"
    assert Numbers(".", ",").format("12345.6", separators=False) == "12345.6"


def test_digits_without_separators_may_be_others() -> None:
    numbers = language_of("mni").numbers
    assert (numbers.format("2"), numbers.format("2", separators=False)) == ("২", "꯲")
