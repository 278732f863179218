"""Dates in the calendars that `{{#time:}}` knows beside the usual one: Iranian, Hebrew, Islamic, and eras of years.

`CODES` is the registry: what a format writes, from the date and the names of months. Islamic dates are those of the
civil calendar by its cycle of 30 years, Iranian ones those of the cycle of 33 years, as on a wiki.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Mapping, Sequence

Names = Mapping[str, Sequence[str]]
"""The names of months: `iranian`, `hijri`, `hebrew` (Adar I and II last), `hebrew_genitive`."""
_IRANIAN_EPOCH = datetime.date(1600, 3, 20).toordinal()
_IRANIAN_EPOCH_YEAR = 979
_IRANIAN_CYCLE, _IRANIAN_LEAP_CYCLE = (33, 12053), (4, 1461)
_IRANIAN_MONTHS = (31,) * 6 + (30,) * 5 + (29,)
_JULIAN_DAY_OF_ORDINAL_0 = 1721425
_GREGORIAN_FROM = datetime.date(1582, 10, 15)
_ISLAMIC_EPOCH = 1948440
_ISLAMIC_CYCLE = (30, 10631)
_HEBREW_EPOCH = -1373427
"""The ordinal of the day before 1 Tishri of year 1, as Python counts days."""
_ADAR, _ADAR_1, _ADAR_2 = 6, 13, 14
_PARTS_OF_DAY, _PARTS_OF_MONTH, _FIRST_NEW_MOON = 25920, 13753, 12084
_THAI_YEAR_FROM_APRIL = range(1912, 1941)
_ERAS = (
    (datetime.date(2019, 5, 1), 2019, "令和"),
    (datetime.date(1989, 1, 8), 1989, "平成"),
    (datetime.date(1926, 12, 25), 1926, "昭和"),
    (datetime.date(1912, 7, 30), 1912, "大正"),
    (datetime.date(1873, 1, 1), 1868, "明治"),
)
_FINAL_LETTERS = str.maketrans("כמנפצ", "ךםןףץ")


def iranian(day: datetime.date) -> tuple[int, int, int, int]:
    """Return year, month, day, and how many days of the year are over, in the Iranian calendar.

    >>> iranian(datetime.date(2020, 3, 20)), iranian(datetime.date(2020, 3, 19))
    ((1399, 1, 1, 0), (1398, 12, 29, 364))
    """
    cycles, days = divmod(day.toordinal() - _IRANIAN_EPOCH, _IRANIAN_CYCLE[1])
    leap_cycles, days = divmod(days, _IRANIAN_LEAP_CYCLE[1])
    year = _IRANIAN_EPOCH_YEAR + _IRANIAN_CYCLE[0] * cycles + _IRANIAN_LEAP_CYCLE[0] * leap_cycles
    if days >= 366:  # the first of four years is the leap year
        years, days = divmod(days - 1, 365)
        year += years
    month, rest = _month_of(days, _IRANIAN_MONTHS)
    return year, month, rest, days


def islamic(day: datetime.date) -> tuple[int, int, int]:
    """Return year, month and day in the civil Islamic calendar; a day before the reform of 1582 is a Julian date.

    >>> islamic(datetime.date(2020, 4, 24)), islamic(datetime.date(1453, 5, 29))
    ((1441, 9, 1), (857, 5, 20))
    """
    days = _julian_day(day) - _ISLAMIC_EPOCH
    years, length = _ISLAMIC_CYCLE
    year = (years * days + length + 15) // length
    days -= 354 * (year - 1) + (3 + 11 * year) // years
    month, rest = _month_of(days, (30, 29) * 6)
    return year, month, rest


def hebrew(day: datetime.date) -> tuple[int, int, int, int]:
    """Return year, month, day, and the length of the month, in the Hebrew calendar: Tishri is 1, Adar I 13, Adar II 14.

    >>> hebrew(datetime.date(2020, 9, 19)), hebrew(datetime.date(2019, 3, 1))
    ((5781, 1, 1, 30), (5779, 13, 24, 30))
    """
    ordinal = day.toordinal()
    year = day.year + 3761
    if _hebrew_new_year(year) > ordinal:
        year -= 1
    begin = _hebrew_new_year(year)
    length = _hebrew_new_year(year + 1) - begin
    is_leap = length > 370
    lengths = [30, 29 + (length % 10 == 5), 30 - (length % 10 == 3), 29, 30, *((30, 29) if is_leap else (29,))]
    lengths += [30, 29] * 3
    place, rest = _month_of(ordinal - begin, lengths)
    if is_leap:
        numbers = [*range(1, _ADAR), _ADAR_1, _ADAR_2, *range(_ADAR + 1, 13)]
        return year, numbers[place - 1], rest, lengths[place - 1]
    return year, place, rest, lengths[place - 1]


def _hebrew_new_year(year: int) -> int:
    """Return the ordinal of 1 Tishri; put off where this year or the one before would have a length that none has."""
    days = _days_to_new_moon(year)
    put_off = 2 if _days_to_new_moon(year + 1) - days == 356 else int(days - _days_to_new_moon(year - 1) == 382)
    return _HEBREW_EPOCH + days + put_off


def _days_to_new_moon(year: int) -> int:
    """Return how many days before a year the count of years began, by its mean new moon; never on three week days."""
    months = (235 * year - 234) // 19
    days = 29 * months + (_FIRST_NEW_MOON + _PARTS_OF_MONTH * months) // _PARTS_OF_DAY
    return days + (3 * (days + 1) % 7 < 3)


def _julian_day(day: datetime.date) -> int:
    if day >= _GREGORIAN_FROM:
        return day.toordinal() + _JULIAN_DAY_OF_ORDINAL_0
    before_march = (14 - day.month) // 12
    year, month = day.year + 4800 - before_march, day.month + 12 * before_march - 3
    return day.day + (153 * month + 2) // 5 + 365 * year + year // 4 - 32083


def _month_of(days: int, lengths: Sequence[int]) -> tuple[int, int]:
    """Return the number of the month and of the day in it, where so many days of the year are over."""
    month = 0
    while month < len(lengths) - 1 and days >= lengths[month]:
        days -= lengths[month]
        month += 1
    return month + 1, days + 1


def thai_year(day: datetime.date) -> int:
    """Return the year of the Thai calendar, which began in April for some years.

    >>> thai_year(datetime.date(1935, 3, 1)), thai_year(datetime.date(2020, 3, 1))
    (2477, 2563)
    """
    return day.year + 543 - (day.year in _THAI_YEAR_FROM_APRIL and day.month <= 3)


def japanese_year(day: datetime.date) -> str:
    """Return the year of the Japanese era.

    >>> japanese_year(datetime.date(2019, 5, 1)), japanese_year(datetime.date(1990, 1, 1))
    ('令和元', '平成2')
    """
    for begin, first_year, era in _ERAS:
        if day >= begin:
            year = day.year - first_year + 1
            return f"{era}{year if year > 1 else '元'}"
    return f"西暦{day.year}"


def hebrew_number(number: int) -> str:
    """Write a number in Hebrew letters.

    >>> hebrew_number(5784), hebrew_number(15), hebrew_number(3), hebrew_number(5000)
    ('ה\\'תשפ"ד', 'ט"ו', "ג'", "ה' אלפים")
    """
    if not 0 < number < 10000:
        return str(number)
    thousands, rest = divmod(number, 1000)
    if not rest:
        return "א' אלף" if thousands == 1 else f"{_letter(thousands, 'אבגדהוזחט')}' אלפים"
    hundreds, below = divmod(rest, 100)
    letters = "ת" * (hundreds // 4) + _letter(hundreds % 4, "קרש")
    tens, ones = (0, 0) if below in (15, 16) else divmod(below, 10)
    letters += _letter(tens, "יכלמנסעפצ") + _letter(ones, "אבגדהוזחט")
    letters += {15: "טו", 16: "טז"}.get(below, "")
    written = letters if len(letters) == 1 and not thousands else letters[:-1] + letters[-1].translate(_FINAL_LETTERS)
    marked = written + "'" if len(written) == 1 else f'{written[:-1]}"{written[-1]}'
    return (_letter(thousands, "אבגדהוזחט") + "'" if thousands else "") + marked


def _letter(digit: int, letters: str) -> str:
    return letters[digit - 1] if digit else ""


CODES: dict[str, Callable[[datetime.date, Names], str]] = {
    "xij": lambda day, _: str(iranian(day)[2]),
    "xiF": lambda day, names: names["iranian"][iranian(day)[1] - 1],
    "xin": lambda day, _: str(iranian(day)[1]),
    "xiY": lambda day, _: str(iranian(day)[0]),
    "xiy": lambda day, _: str(iranian(day)[0])[-2:],
    "xit": lambda day, _: str(_IRANIAN_MONTHS[iranian(day)[1] - 1]),
    "xiz": lambda day, _: str(iranian(day)[3]),
    "xmj": lambda day, _: str(islamic(day)[2]),
    "xmF": lambda day, names: names["hijri"][islamic(day)[1] - 1],
    "xmn": lambda day, _: str(islamic(day)[1]),
    "xmY": lambda day, _: str(islamic(day)[0]),
    "xjj": lambda day, _: str(hebrew(day)[2]),
    "xjF": lambda day, names: names["hebrew"][hebrew(day)[1] - 1],
    "xjx": lambda day, names: names["hebrew_genitive"][hebrew(day)[1] - 1],
    "xjn": lambda day, _: str(hebrew(day)[1]),
    "xjt": lambda day, _: str(hebrew(day)[3]),
    "xjY": lambda day, _: str(hebrew(day)[0]),
    "xkY": lambda day, _: str(thai_year(day)),
    "xoY": lambda day, _: str(day.year - 1911),
    "xtY": lambda day, _: japanese_year(day),
}
"""From a code of a format to what it writes."""
WORDS = frozenset(["xiF", "xmF", "xjF", "xjx"])
"""The codes that are written as they are, in no other digits."""
