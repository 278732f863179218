"""Dates in other calendars are those that MediaWiki prints."""

from __future__ import annotations

import datetime
import itertools

import pytest

from bertdata.wikitext.mediawiki import calendars

PRINTED = [
    ("1600-03-20", (979, 1, 1, 0), (1008, 9, 5), (5360, 7, 5, 30)),
    ("1688-10-09", (1067, 7, 18, 203), (1099, 12, 13), (5449, 1, 15, 30)),
    ("2024-02-29", (1402, 12, 10, 345), (1445, 8, 19), (5784, 13, 20, 30)),
]
"""A day, and it in the Iranian, the Islamic and the Hebrew calendar, as MediaWiki 1.45 prints it."""


@pytest.mark.parametrize(("day", "iranian", "islamic", "hebrew"), PRINTED)
def test_a_day_is_that_of_another_calendar(
    day: str, iranian: tuple[int, ...], islamic: tuple[int, ...], hebrew: tuple[int, ...]
) -> None:
    date = datetime.date.fromisoformat(day)
    assert (calendars.iranian(date), calendars.islamic(date), calendars.hebrew(date)) == (iranian, islamic, hebrew)


@pytest.mark.parametrize("convert", [calendars.iranian, calendars.islamic, calendars.hebrew])
def test_days_that_follow_are_the_next_of_a_month_or_the_first(convert) -> None:  # type: ignore[no-untyped-def]
    days = [convert(datetime.date(2000, 1, 1) + datetime.timedelta(days=number)) for number in range(13_000)]
    for before, after in itertools.pairwise(days):
        is_next = after[:2] == before[:2] and after[2] == before[2] + 1
        assert is_next or (after[2] == 1 and 29 <= before[2] <= 31)


@pytest.mark.parametrize(
    ("number", "written"),
    [(0, "0"), (1, "א'"), (15, 'ט"ו'), (16, 'ט"ז'), (20, "כ'"), (120, 'ק"ך'), (1000, "א' אלף"), (1001, "א'א'"),
     (5784, "ה'תשפ\"ד"), (9999, "ט'תתקצ\"ט"), (10000, "10000")],
)  # fmt: skip
def test_a_number_is_written_in_hebrew_letters(number: int, written: str) -> None:
    assert calendars.hebrew_number(number) == written
