"""Dates in the words of a language: the formats of `{{#time:}}` and `{{#dateformat:}}`, for dates that are given.

Only the usual calendar is written; what depends on the clock or on a time zone is not.
"""

from __future__ import annotations

import calendar
import datetime
import re
from collections.abc import Callable, Mapping, Sequence

from bertdata.wikitext.mediawiki.numbers import Numbers

Calendar = Mapping[str, Sequence[str]]
"""The names of months and days: `months`, `genitive`, `short`, `days` from Sunday on, `short_days`."""
_ENGLISH_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_ENGLISH_MONTHS = [name.lower() for name in calendar.month_name]
_TIME = r"(?:[T ]+(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.\d+)?)?)?\s*(?:Z|UTC)?"
_NAMED = r"(?P<name>[A-Za-z]{3,9})\.?"
_FORMS = tuple(
    form + _TIME
    for form in (
        r"(?P<year>\d{4})-(?P<month>\d{1,2})-(?P<day>\d{1,2})",
        r"(?P<year>\d{4})/(?P<month>\d{1,2})/(?P<day>\d{1,2})",
        r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})",
        r"(?P<year>\d{4})-(?P<month>\d{1,2})",
        rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[ -]{_NAMED},?[ -](?P<year>\d{{4}})",
        rf"{_NAMED} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year>\d{{4}})",
        rf"(?P<year>\d{{4}})[ -]{_NAMED}[ -](?P<day>\d{{1,2}})",
        rf"{_NAMED},? (?P<year>\d{{4}})",
        r"(?P<day>\d{1,2})\.(?P<month>\d{1,2})\.(?P<year>\d{4})",
        r"(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4})",
    )
)
_DAYS = {"day": 1, "week": 7, "fortnight": 14}
_SECONDS = {"sec": 1, "second": 1, "min": 60, "minute": 60, "hour": 3600}
_CHANGE = (
    rf"(?P<count>[-+] ?\d{{1,6}})\s*(?P<unit>{'|'.join([*_DAYS, *_SECONDS, 'month', 'year'])})s?(?P<ago>\s+ago)?\Z"
)
_SECONDS_FROM_1970 = r"@(-?\d{1,10})"
_LONGEST_FORMAT = 6000


def read_date(text: str) -> datetime.datetime | None:
    """Return the date that a text states in full, as PHP reads it; None where it states none, or one by the clock.

    >>> read_date("2020-03-05 +1 month"), read_date("5 March 2020 14:30"), read_date("tomorrow")
    (datetime.datetime(2020, 4, 5, 0, 0), datetime.datetime(2020, 3, 5, 14, 30), None)
    """
    text = text.strip()
    if stamp := re.fullmatch(_SECONDS_FROM_1970, text, re.ASCII):
        return datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=int(stamp[1]))
    if change := re.search(_CHANGE, text, re.IGNORECASE | re.ASCII):
        return _changed(read_date(text[: change.start()]), change)
    for form in _FORMS:
        match = re.fullmatch(form, text, re.ASCII | re.IGNORECASE)
        if match is None:
            continue
        parts = match.groupdict()
        month = _month_of(parts["name"]) if parts.get("name") else int(parts["month"])
        try:
            day = datetime.datetime(int(parts["year"]), month, int(parts.get("day") or 1))
            return day.replace(
                hour=int(parts["hour"] or 0), minute=int(parts["minute"] or 0), second=int(parts["second"] or 0)
            )
        except ValueError:
            return None
    return None


def _changed(when: datetime.datetime | None, change: re.Match[str]) -> datetime.datetime | None:
    """Return a date so many days, months or the like later; a day that a month has not runs on into the next."""
    count = int(change["count"].replace(" ", "")) * (-1 if change["ago"] else 1)
    unit = change["unit"].lower()
    if when is None:
        return None
    try:
        if unit not in ("month", "year"):
            days, seconds = _DAYS.get(unit, 0), _SECONDS.get(unit, 0)
            return when + datetime.timedelta(days=days * count, seconds=seconds * count)
        months = when.year * 12 + when.month - 1 + count * (12 if unit == "year" else 1)
        begin = when.replace(year=months // 12, month=months % 12 + 1, day=1)
        return begin + datetime.timedelta(days=when.day - 1)
    except (ValueError, OverflowError):
        return None


def _month_of(name: str) -> int:
    """Return the number of an English month by its name or the beginning of it, 0 where it is none."""
    name = name.lower()
    return next(
        (
            number
            for number, full in enumerate(_ENGLISH_MONTHS)
            if full and (name == full or name in (full[:3], "sept"[: len(name)] if number == 9 else ""))
        ),
        0,
    )


_ERAS = {"k": 543, "o": -1911}
"""What the years of the Buddhist and of the Minguo era add to the usual ones."""


def write_date(when: datetime.datetime, pattern: str, names: Calendar, numbers: Numbers) -> str | None:
    """Write a date by a format of `{{#time:}}`, None where the format needs another calendar.

    >>> from bertdata.wikitext.mediawiki.language import language_of
    >>> english = language_of("en")
    >>> write_date(datetime.datetime(2020, 3, 5), 'j F Y, "on" l', english.calendar, english.numbers)
    '5 March 2020, on Thursday'
    """
    out: list[str] = []
    position, raw, roman, always_raw = 0, False, False, False
    while position < min(len(pattern), _LONGEST_FORMAT):
        sign = pattern[position]
        position += 1
        if sign == "\\":
            out.append(pattern[position : position + 1] or sign)
            position += 1
        elif sign == '"':
            end = pattern.find('"', position)
            out.append(pattern[position:end] if end >= 0 else sign)
            position = end + 1 if end >= 0 else position
        elif sign == "x" and position < len(pattern):
            code = pattern[position]
            position += 1
            if code == "x":
                out.append("x")
            elif code == "g":
                out.append((names.get("genitive") or names["months"])[when.month - 1])
            elif code in "nNr":
                raw, roman = raw or code == "n", roman or code == "r"
                always_raw ^= code == "N"
            elif code in _ERAS and pattern[position : position + 1] == "Y":
                position += 1
                out.append(numbers.format(str(when.year + _ERAS[code]), separators=False))
            else:
                return None
        elif sign in _WORDS:
            out.append(_WORDS[sign](when, names))
        elif sign in _NUMBERS:
            text = _NUMBERS[sign](when)
            if roman:
                text = _roman(int(text))
            elif not (raw or always_raw):
                text = numbers.format(text, separators=False)
            out.append(text)
            raw = roman = False
        else:
            out.append(sign)
    return "".join(out)


_WORDS: dict[str, Callable[[datetime.datetime, Calendar], str]] = {
    "F": lambda when, names: names["months"][when.month - 1],
    "M": lambda when, names: names["short"][when.month - 1],
    "l": lambda when, names: names["days"][when.isoweekday() % 7],
    "D": lambda when, names: names["short_days"][when.isoweekday() % 7],
    "e": lambda when, _: "UTC",
    "T": lambda when, _: "UTC",
    "O": lambda when, _: "+0000",
    "P": lambda when, _: "+00:00",
    "a": lambda when, _: "am" if when.hour < 12 else "pm",
    "A": lambda when, _: "AM" if when.hour < 12 else "PM",
    "c": lambda when, _: f"{when:%Y-%m-%dT%H:%M:%S}+00:00",
    "r": lambda when, _: (
        f"{_ENGLISH_DAYS[when.weekday()]}, {when.day:02} "
        f"{_ENGLISH_MONTHS[when.month][:3].capitalize()} {when.year:04} {when:%H:%M:%S} +0000"
    ),
}
_NUMBERS: dict[str, Callable[[datetime.datetime], str]] = {
    "d": lambda when: f"{when.day:02}",
    "j": lambda when: str(when.day),
    "m": lambda when: f"{when.month:02}",
    "n": lambda when: str(when.month),
    "Y": lambda when: f"{when.year:04}",
    "y": lambda when: f"{when.year % 100:02}",
    "o": lambda when: str(when.isocalendar()[0]),
    "W": lambda when: f"{when.isocalendar()[1]:02}",
    "w": lambda when: str(when.isoweekday() % 7),
    "N": lambda when: str(when.isoweekday()),
    "z": lambda when: str(when.timetuple().tm_yday - 1),
    "t": lambda when: str(calendar.monthrange(when.year, when.month)[1]),
    "L": lambda when: str(int(calendar.isleap(when.year))),
    "H": lambda when: f"{when.hour:02}",
    "G": lambda when: str(when.hour),
    "h": lambda when: f"{when.hour % 12 or 12:02}",
    "g": lambda when: str(when.hour % 12 or 12),
    "i": lambda when: f"{when.minute:02}",
    "s": lambda when: f"{when.second:02}",
    "I": lambda _: "0",
    "Z": lambda _: "0",
    "U": lambda when: str(int(when.replace(tzinfo=datetime.UTC).timestamp())),
}


def _roman(number: int) -> str:
    """Write a number in Roman digits.

    >>> _roman(1944)
    'MCMXLIV'
    """
    signs = ["M", "CM", "D", "CD", "C", "XC", "L", "XL", "X", "IX", "V", "IV", "I"]
    values = (1000, 900, 500, 400, 100, 90, 50, 40, 10, 9, 5, 4, 1)
    out = ""
    for value, sign in zip(values, signs, strict=True):
        out += sign * (number // value)
        number %= value
    return out


_ORDERS = {"dmy": "{day} {month} {year}", "mdy": "{month} {day}, {year}", "ymd": "{year} {month} {day}"}


def reformat_date(text: str, order: str, names: Calendar) -> str:
    """Write a date in another order, as `{{#dateformat:}}` does; anything else as it is.

    >>> from bertdata.wikitext.mediawiki.language import language_of
    >>> names = language_of("en").calendar
    >>> [reformat_date("2009-12-25", order, names) for order in ("mdy", "dmy", "ymd", "ISO 8601", "")]
    ['December 25, 2009', '25 December 2009', '2009 December 25', '2009-12-25', '2009-12-25']
    >>> [reformat_date(text, "mdy", names) for text in ("25 dec 2009", "25 dec", "soon")]
    ['December 25, 2009', 'December 25', 'soon']
    """
    if order not in _ORDERS and order != "ISO 8601":
        order = ""
    months = {name.lower(): number for kind in ("months", "short") for number, name in enumerate(names[kind], 1)}
    named = "(?P<name>" + "|".join(map(re.escape, sorted(months, key=len, reverse=True))) + ")"
    year, gap = r"(?P<year>\d{1,4}(?:[ _]BC)?)", r"(?: *, *| +)"
    forms = {
        "dmy": rf"(?P<day>\d{{1,2}})[ _]{named}{gap}{year}",
        "ydm": rf"{year}{gap}(?P<day>\d{{1,2}})[ _]{named}",
        "mdy": rf"{named}[ _](?P<day>\d{{1,2}}){gap}{year}",
        "ymd": rf"{year}{gap}{named}[ _](?P<day>\d{{1,2}})",
        "dm": rf"(?P<day>\d{{1,2}})[ _]{named}(?P<year>)",
        "md": rf"{named}[ _](?P<day>\d{{1,2}})(?P<year>)",
        "iso": r"(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})",
    }
    for written, form in forms.items():
        match = re.fullmatch(form, text, re.IGNORECASE | re.ASCII) or re.fullmatch(form, text, re.IGNORECASE)
        if match is None:
            continue
        parts = match.groupdict()
        if not order and written == "iso":
            return text
        month = months[parts["name"].lower()] if parts.get("name") else int(parts["month"])
        if not 1 <= month <= 12:
            return text
        if not parts["year"]:  # a day of a month: its order follows the two that have one
            day_first = order == "dmy" if order in ("dmy", "mdy") else written == "dm"
            month_name = names["months"][month - 1]
            return f"{parts['day']} {month_name}" if day_first else f"{month_name} {parts['day']}"
        if order == "ISO 8601":
            return text if "BC" in parts["year"] else f"{int(parts['year']):04}-{month:02}-{int(parts['day']):02}"
        day, year_text = parts["day"], parts["year"]
        if written == "iso":
            day, year_text = str(int(day)), str(int(year_text))
        pattern = _ORDERS.get(order or written, "{year}, {day} {month}")
        return pattern.format(day=day, month=names["months"][month - 1], year=year_text)
    return text
