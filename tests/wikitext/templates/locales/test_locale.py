"""What the templates of a wiki's language share: numbers, foreign words, dates, and which language has which."""

from __future__ import annotations

import pytest

from bertdata.wikitext.clean import clean_wikitext
from bertdata.wikitext.mediawiki.numbers import Numbers
from bertdata.wikitext.templates.locales.locale import (
    after_the_code,
    date,
    naming,
    number,
    quantity,
)
from bertdata.wikitext.templates.locales.read import LANGUAGES, locale_of
from bertdata.wikitext.templates.table import BUILT_IN, templates_of


@pytest.mark.parametrize(
    ("numbers", "text", "written"),
    [
        (Numbers(), "1234", "1,234"),
        (Numbers(), "12345.678", "12,345.678"),
        (Numbers(".", ","), "-1234567.5", "−1.234.567,5"),
        (Numbers(" ", ",", 5), "1234", "1234"),
        (Numbers(" ", ",", 5), "12345", "12 345"),
        (Numbers(" ", ","), "1000000", "1 000 000"),
        (Numbers(".", ","), "100045", "100.045"),
        (Numbers(".", ","), "0001234", "0.001.234"),
        (Numbers(".", ","), "12", "12"),
        (Numbers(".", ","), "12 km", "12 km"),
        (Numbers(".", ","), "--12000", "-−12.000"),
        (Numbers(".", ","), "", ""),
    ],
)
def test_numbers_are_grouped_as_the_wiki_does(numbers: Numbers, text: str, written: str) -> None:
    assert numbers.format(text) == written


def test_english_numbers_are_those_of_the_table() -> None:
    from bertdata.wikitext.templates.functions import format_number

    for text in ("0", "999", "1000", "-1000.25", "123456789", "12.", "x", "−5"):
        assert Numbers().format(text) == format_number(text)


def test_numbers_are_read_back_without_their_groups() -> None:
    german = templates_of("de")
    assert clean_wikitext("Rund {{formatnum:12345.6}} und {{formatnum:12.345|R}}.", templates=german) == (
        "Rund 12.345,6 und 12345."
    )


def test_a_foreign_word_is_named_where_its_language_is_known() -> None:
    foreign = naming("{name}: {text}", {"de": "Duits"})
    assert foreign("DE-at ", {"1": "Wien"}) == "Duits: Wien"
    assert foreign("qq", {"1": "Wien"}) == "Wien"
    assert foreign("de", {"1": " "}) is None
    assert after_the_code(foreign)({"1": "de", "2": "Wien"}) == "Duits: Wien"


def test_quantities_and_dates_take_what_is_given() -> None:
    assert quantity(Numbers(" ", ","))({"1": "5", "2": "km/h"}) == "5 km/h"
    assert quantity(Numbers())({"1": "5", "2": "m", "3": "2", "4": "s", "5": "-1"}) == "5 m2⋅s−1"
    assert quantity(Numbers())({}) is None
    assert number(Numbers(".", ","))({"1": "1234", "2": "Euro", "3": "x"}) == "1.234 Euro"
    written = date(["Januar", "Februar"], "{day}. {month} {year}")
    assert written({"1": "05", "2": "2", "3": "1810"}) == "5. Februar 1810"
    assert written({"1": "5", "2": "März", "3": "1810"}) == "5. März 1810"
    assert written({"2": "13", "3": "1810"}) == "13 1810"
    assert written({"1": "5 Mai 1810"}) == "5 Mai 1810"
    assert written({}) is None


def test_a_language_without_tables_gets_no_english_words() -> None:
    swedish = templates_of("sv")
    assert locale_of("sv").handlers.keys() == {"convert", "conv", "langx"}
    assert clean_wikitext("Wien ({{lang-de|Wien}}) är {{convert|5|km}} bort.", templates=swedish) == (
        "Wien (Wien) är 5 km (3.1 mi) bort."
    )
    assert templates_of("en").handlers is templates_of("simple").handlers is BUILT_IN.handlers
    assert templates_of("") is BUILT_IN


def test_own_templates_come_before_those_of_the_language(tmp_path: object) -> None:
    path = f"{tmp_path}/own.txt"
    with open(path, "w", encoding="utf-8") as file:
        file.write("fecha = el {1}\n")
    assert templates_of("es", path).render("fecha", {"1": "5", "2": "1", "3": "1810"}) == "el 5"
    assert templates_of("es").render("fecha", {"1": "5", "2": "1", "3": "1810"}) == "5 de enero de 1810"


@pytest.mark.parametrize("language", sorted(LANGUAGES - {"en"}))
def test_every_table_names_languages_and_writes_something_for_each_template(language: str) -> None:
    locale = locale_of(language)
    assert locale.language == language
    assert locale.foreign("en", {"1": "salt"}) not in ("salt", None)
    arguments = {str(n): "12" for n in range(1, 7)}
    for name, handler in locale.handlers.items():
        assert handler({}) is None or isinstance(handler({}), str), name
        assert handler(dict(arguments)) is None or isinstance(handler(dict(arguments)), str), name


@pytest.mark.parametrize(
    ("language", "name", "arguments", "text"),
    [
        ("fr", "date", {"1": "5", "2": "9" * 5000, "3": "1810"}, f"5 {'9' * 5000} 1810"),
        ("ru", "oldstyledate", {"1": f"6.{'9' * 5000}", "2": "1799"}, f"6.{'9' * 5000} 1799"),
        ("ru", "oldstyledate", {"1": "².6", "2": "1799"}, "².6 1799"),
        ("ru", "oldstyledate", {"1": "6.6", "2": "1799"}, "6 июня 1799"),
    ],
)
def test_what_is_no_day_or_month_stays_as_it_is(language: str, name: str, arguments: dict[str, str], text: str) -> None:
    assert templates_of(language).render(name, arguments) == text
