"""Dates in the words of a language: the formats of `{{#time:}}` and `{{#dateformat:}}`, for dates that are given.

What depends on the clock or on a time zone is not written. Other calendars are those of `calendars.py`.
"""

from __future__ import annotations

import calendar
import datetime
import re
from collections.abc import Callable, Mapping, Sequence

from bertdata.wikitext.mediawiki import calendars
from bertdata.wikitext.mediawiki.numbers import Numbers

Calendar = Mapping[str, Sequence[str]]
"""The names of months and days: `months`, `genitive`, `short`, `days` from Sunday on, `short_days`; others' months."""
_ENGLISH_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_ENGLISH_MONTHS = [name.lower() for name in calendar.month_name]
_NAMED = r"(?P<name>[A-Za-z]{3,9})"
_YEAR = r"(?P<year>\d{1,4})"
"""A year; one below 100 that is not written with four digits is of the last century or of this one, as PHP has it."""
_FORMS = (
    rf"{_YEAR}-(?P<month>\d{{1,2}})-(?P<day>\d{{1,2}})",
    r"(?P<year>\d{4})/(?P<month>\d{1,2})/(?P<day>\d{1,2})",
    r"(?P<year>\d{4})(?P<month>\d{2})(?P<day>\d{2})",
    r"(?P<year>\d{4})-(?P<month>\d{1,2})",
    rf"(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[ .-]*{_NAMED}[ .-]*{_YEAR}",
    rf"{_NAMED}[ .]*(?P<day>\d{{1,2}})(?:st|nd|rd|th)?[ .,]+{_YEAR}",
    rf"{_NAMED}[ .-]*(?P<year>\d{{4}})",
    r"(?P<day>\d{1,2})[.-](?P<month>\d{1,2})[.-](?P<year>\d{4})",
    rf"(?P<month>\d{{1,2}})/(?P<day>\d{{1,2}})/{_YEAR}",
    r"(?P<year>\d{4})-?W(?P<week>\d{2})(?:-?(?P<week_day>[0-7]))?",
    r"(?P<year>\d{4})-?(?P<year_day>\d{3})",
)
_CLOCK = (
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.\d{1,9})?)?|(?= ?[ap]m))"
    r"(?: ?(?P<half>[ap])m)?(?: ?(?:Z|UTC|GMT|\(UTC\)|(?P<zone>[-+]\d{2}:?\d{2})))?"
)
_CLOCK_FIRST = re.compile(rf"{_CLOCK},? (?!\Z)", re.ASCII | re.IGNORECASE)
_CLOCK_LAST = re.compile(rf"(?:, |[T ]){_CLOCK}\Z", re.ASCII | re.IGNORECASE)
_DIGITS_ALONE = re.compile(r"(\d{8})(\d{2})(\d{2})(\d{2})", re.ASCII)
_ZONE_LAST = re.compile(r" ?(?:UTC|GMT|\(UTC\)|(?<=\d)Z)\Z", re.ASCII | re.IGNORECASE)
_DAYS = {"day": 1, "week": 7, "fortnight": 14}
_SECONDS = {"sec": 1, "second": 1, "min": 60, "minute": 60, "hour": 3600}
_CHANGE = (
    rf"(?P<count>[-+] ?\d{{1,6}})\s*(?P<unit>{'|'.join([*_DAYS, *_SECONDS, 'month', 'year'])})s?(?P<ago>\s+ago)?\Z"
)
_SECONDS_FROM_1970 = r"@(-?\d{1,10})"
_LONGEST_FORMAT = 6000
_LAST_CENTURY_FROM = 70


def read_date(text: str) -> datetime.datetime | None:
    """Return the date that a text states in full, as PHP reads it; None where it states none, or one by the clock.

    >>> read_date("2020-03-05 +1 month"), read_date("5 March 2020 14:30"), read_date("tomorrow")
    (datetime.datetime(2020, 4, 5, 0, 0), datetime.datetime(2020, 3, 5, 14, 30), None)
    """
    text = " ".join(text.split())
    if stamp := re.fullmatch(_SECONDS_FROM_1970, text, re.ASCII):
        return datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=int(stamp[1]))
    if change := re.search(_CHANGE, text, re.IGNORECASE | re.ASCII):
        return _changed(read_date(text[: change.start()]), change)
    if digits := _DIGITS_ALONE.fullmatch(text):
        text = f"{digits[1]} {digits[2]}:{digits[3]}:{digits[4]}"
    clock = _CLOCK_LAST.search(text) or _CLOCK_FIRST.match(text)
    begin, end = clock.span() if clock else (0, 0)
    day = _read_day(_ZONE_LAST.sub("", text[:begin] + text[end:]))
    passed = _since_midnight(clock) if clock else datetime.timedelta()
    try:
        return None if day is None or passed is None else day + passed
    except OverflowError:
        return None


def _since_midnight(clock: re.Match[str]) -> datetime.timedelta | None:
    """Return the time of a day as it is in UTC."""
    hour, minute, second = (int(clock[name] or 0) for name in ("hour", "minute", "second"))
    if clock["half"] and not 1 <= hour <= 12:
        return None
    if clock["half"]:
        hour = hour % 12 + 12 * (clock["half"].lower() == "p")
    if hour > 24 or minute > 59 or second > 59:
        return None
    passed = datetime.timedelta(hours=hour, minutes=minute, seconds=second)
    if not clock["zone"]:
        return passed
    ahead = datetime.timedelta(hours=int(clock["zone"][1:3]), minutes=int(clock["zone"][-2:]))
    return passed + ahead if clock["zone"][0] == "-" else passed - ahead


def _read_day(text: str) -> datetime.datetime | None:
    """Return the day that a text states; one that a month has not runs on into the next."""
    for form in _FORMS:
        match = re.fullmatch(form, text, re.ASCII | re.IGNORECASE)
        if match is None:
            continue
        parts = match.groupdict()
        year = int(parts["year"])
        if year < 100 and len(parts["year"]) < 4:
            year += 1900 if year >= _LAST_CENTURY_FROM else 2000
        try:
            if parts.get("year_day"):
                return datetime.datetime(year, 1, 1) + datetime.timedelta(days=int(parts["year_day"]) - 1)
            if parts.get("week"):
                days = 7 * int(parts["week"]) + int(parts["week_day"] or 1) - 8
                return datetime.datetime.fromisocalendar(year, 1, 1) + datetime.timedelta(days=days)
            month = _month_of(parts["name"]) if parts.get("name") else int(parts["month"])
            day = int(parts.get("day") or 1)
            return datetime.datetime(year, month, 1) + datetime.timedelta(days=day - 1) if day <= 31 else None
        except (ValueError, OverflowError):
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


_OTHER_CALENDARS = "ijkmot"
"""What stands after an x before the code of another calendar."""


def write_date(when: datetime.datetime, pattern: str, names: Calendar, numbers: Numbers) -> str:
    """Write a date by a format of `{{#time:}}`.

    >>> from bertdata.wikitext.mediawiki.language import language_of
    >>> english = language_of("en")
    >>> write_date(datetime.datetime(2020, 3, 5), 'j F Y, "on" l, xjj xjF', english.calendar, english.numbers)
    '5 March 2020, on Thursday, 9 Adar'
    """
    out: list[str] = []
    position, raw, always_raw = 0, False, False
    digits: Callable[[int], str] | None = None
    while position < min(len(pattern), _LONGEST_FORMAT):
        sign = pattern[position]
        position += 1
        if sign == "\\":
            out.append(pattern[position : position + 1] or sign)
            position += 1
            continue
        if sign == '"':
            end = pattern.find('"', position)
            out.append(pattern[position:end] if end >= 0 else sign)
            position = end + 1 if end >= 0 else position
            continue
        code = _code_at(pattern, position - 1)
        position += len(code) - 1
        raw = raw or code == "xn"
        always_raw ^= code == "xN"
        digits = {"xr": _roman, "xh": calendars.hebrew_number}.get(code, digits)
        if code in _SETTINGS:
            continue
        if code in _WORDS:
            out.append(_WORDS[code](when, names))
        elif code in calendars.WORDS:
            out.append(calendars.CODES[code](when.date(), names))
        elif code in _NUMBERS or code in calendars.CODES:
            text = _NUMBERS[code](when) if code in _NUMBERS else calendars.CODES[code](when.date(), names)
            if raw or always_raw:
                raw = False
            elif digits:
                text, digits = digits(int(text) if text.removeprefix("-").isdecimal() else 0), None
            elif text.isdecimal():
                text = numbers.format(text, separators=False)
            out.append(text)
        else:
            out.append(code[-1])
    return "".join(out)


def _code_at(pattern: str, position: int) -> str:
    """Return the code that begins here: a letter, or x with what it goes with.

    >>> _code_at("jFY", 0), _code_at("xjF", 0), _code_at("xgY", 0), _code_at("x", 0)
    ('j', 'xjF', 'xg', 'x')
    """
    code = pattern[position : position + 2] if pattern[position] == "x" else pattern[position]
    return pattern[position : position + 3] if code[1:] and code[1] in _OTHER_CALENDARS else code


_SETTINGS = frozenset(["xn", "xN", "xr", "xh"])
"""The codes that say how the next numbers are written."""
_WORDS: dict[str, Callable[[datetime.datetime, Calendar], str]] = {
    "xx": lambda when, _: "x",
    "xg": lambda when, names: (names.get("genitive") or names["months"])[when.month - 1],
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
    "c": lambda when, _: f"{when.isoformat(timespec='seconds')}+00:00",
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
    """Write a number in Roman digits, up to 10000.

    >>> _roman(1944), _roman(0)
    ('MCMXLIV', '0')
    """
    if not 0 < number <= 10000:
        return str(number)
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
