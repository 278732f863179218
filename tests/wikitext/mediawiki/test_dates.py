"""Dates are read as PHP reads them and written in the words of the wiki's language."""

from __future__ import annotations

import pytest

from bertdata.wikitext.mediawiki.dates import read_date, reformat_date, write_date
from bertdata.wikitext.mediawiki.language import language_of


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("2020-03-05", "2020-03-05T00:00:00"),
        ("2020-03-05 14:30:09", "2020-03-05T14:30:09"),
        ("2020-03-05T14:30Z", "2020-03-05T14:30:00"),
        ("20200305", "2020-03-05T00:00:00"),
        ("5 Mar 2020", "2020-03-05T00:00:00"),
        ("March 5, 2020", "2020-03-05T00:00:00"),
        ("5th September 2020", "2020-09-05T00:00:00"),
        ("2020-12-31 +1 day", "2021-01-01T00:00:00"),
        ("2020-01-31 + 1 month", "2020-03-02T00:00:00"),
        ("2020-03-05 -2 weeks", "2020-02-20T00:00:00"),
        ("3/5/2020", "2020-03-05T00:00:00"),
        ("5.3.2020", "2020-03-05T00:00:00"),
        ("@1583366400", "2020-03-05T00:00:00"),
        ("20200305143009", "2020-03-05T14:30:09"),
        ("14:30, 5 March 2020 (UTC)", "2020-03-05T14:30:00"),
        ("2020-03-05T01:30:09+02:00", "2020-03-04T23:30:09"),
        ("2020-03-05 2:30 pm", "2020-03-05T14:30:00"),
        ("12am 5 March 2020", "2020-03-05T00:00:00"),
        ("2020-W10-4", "2020-03-05T00:00:00"),
        ("2020-065", "2020-03-05T00:00:00"),
        ("2023-02-29", "2023-03-01T00:00:00"),
        ("850-3-4", "0850-03-04T00:00:00"),
        ("4 March 850", "0850-03-04T00:00:00"),
        ("March 4, 0050", "0050-03-04T00:00:00"),
        ("4.-Mar 69", "2069-03-04T00:00:00"),
        ("Mar. 4,70", "1970-03-04T00:00:00"),
        ("3/4/7", "2007-03-04T00:00:00"),
    ],
)
def test_a_date_that_is_given_is_read(text: str, iso: str) -> None:
    when = read_date(text)
    assert when is not None
    assert when.isoformat() == iso


@pytest.mark.parametrize(
    "text",
    [
        "",
        "now",
        "tomorrow",
        "2020-13-01",
        "2020-02-32",
        "2020-03-05 13pm",
        "14:30",
        "Brumaire 5, 2020",
        "+1 day",
        "Marchy 5, 2020",
        "5 March, 2020",
        "2020 March 5",
        "March 850",
    ],
)
def test_a_date_by_the_clock_and_no_date_are_not_read(text: str) -> None:
    assert read_date(text) is None


@pytest.mark.parametrize(
    ("language", "pattern", "text"),
    [
        ("en", "l, d F Y", "Thursday, 05 March 2020"),
        ("en", "D j M y, H:i", "Thu 5 Mar 20, 14:30"),
        ("en", r"\Y\e\a\r Y \"", 'Year 2020 "'),
        ("en", "xrY xnY", "MMXX 2020"),
        ("en", "N w z t L W o", "4 4 64 31 1 10 2020"),
        ("ru", "j xg Y", "5 марта 2020"),
        ("ru", "F Y", "март 2020"),
        ("fa", "Y", "۲۰۲۰"),
        ("de", "j. F", "5. März"),
        ("en", "xoY xkY e T O P", "109 2563 UTC UTC +0000 +00:00"),
        ("sr", "F", "март"),
        ("fa", "xij xiF xiY", "۱۵ اسفند ۱۳۹۸"),
        ("he", "xjj xjx xhxjY", "9 באדר ה'תש\"ף"),
        ("ar", "xmj xmF xmY", "10 رجب 1441"),
        ("ja", "xtY xoY xkY", "令和2 109 2563"),
        ("en", "xa xz xjq x", "a z q x"),
        ("en", "xit xiz xjt xrxmY", "29 350 29 MCDXLI"),
    ],
)
def test_a_date_is_written_in_the_words_of_the_language(language: str, pattern: str, text: str) -> None:
    when, wiki = read_date("2020-03-05 14:30"), language_of(language)
    assert when is not None
    assert write_date(when, pattern, wiki.calendar, wiki.numbers) == text


def test_a_year_before_1000_has_four_digits() -> None:
    when, wiki = read_date("850-3-4 12:00"), language_of("en")
    assert when is not None
    assert write_date(when, "c Y", wiki.calendar, wiki.numbers) == "0850-03-04T12:00:00+00:00 0850"


def test_a_name_that_a_language_lacks_is_that_of_the_next() -> None:
    days = language_of("ami").calendar["days"]  # it has the first four, and falls back on Chinese
    assert (days[0], days[4]) == ("pilipayan", "星期四")


@pytest.mark.parametrize(
    ("text", "order", "written"),
    [
        ("2009-12-25", "mdy", "December 25, 2009"),
        ("25 Dec 2009", "ISO 8601", "2009-12-25"),
        ("December 25, 2009", "dmy", "25 December 2009"),
        ("2009 December 25", "", "2009 December 25"),
        ("44 BC, 15 March", "dmy", "15 March 44 BC"),
        ("2009-13-25", "dmy", "2009-13-25"),
        ("around 2009", "dmy", "around 2009"),
        ("December 25", "dmy", "25 December"),
        ("25 dec", "ymd", "25 December"),
    ],
)
def test_a_date_is_written_in_another_order(text: str, order: str, written: str) -> None:
    assert reformat_date(text, order, language_of("en").calendar) == written
