"""The locale of a wiki: its own templates, and how it names the language of a foreign word."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from bertdata.wikitext.mediawiki.folding import case_variants
from bertdata.wikitext.mediawiki.language import Language, language_of
from bertdata.wikitext.mediawiki.numbers import Numbers
from bertdata.wikitext.templates import functions
from bertdata.wikitext.templates.convert import Arguments, cvt
from bertdata.wikitext.templates.factories import Handler, get, positional

Foreign = Callable[[str, Arguments], str | None]
"""Writes a foreign word, given the code of its language and the arguments of the call."""


@dataclass(frozen=True)
class Locale:
    """What the templates of a wiki's language write; `templates` maps lists of names to handlers, as `table` does.

    `code` is that of the language as its wikis state it, where it differs from that of the tables.
    """

    language: str
    templates: Mapping[str, Handler] = field(default_factory=dict, hash=False)
    foreign: Foreign = functions.language
    code: str = ""

    @property
    def wiki(self) -> Language:
        """What MediaWiki knows of the language; where none is stated, English."""
        return language_of(self.code)

    @property
    def numbers(self) -> Numbers:
        """How numbers are written."""
        return self.wiki.numbers

    @property
    def handlers(self) -> dict[str, Handler]:
        """From a template's folded name to its handler: the units of other languages are written as symbols."""
        if self.language == "en":
            return {}

        def langx(arguments: Arguments) -> str | None:
            return self.foreign(get(arguments, "1"), {**arguments, "1": get(arguments, "2")})

        by_names: dict[str, Handler] = {"convert, conv": cvt, "langx": langx, **self.templates}
        return {name: handler for names, handler in by_names.items() for name in case_variants(names.split(", "))}


def word(code: str, arguments: Arguments) -> str | None:
    """Write a foreign word without the name of its language."""
    return get(arguments, "1") or None


ENGLISH = Locale("en")


@dataclass(frozen=True)
class Words:
    """What the templates of a language are written with: names of languages by code, months, numbers, foreign words."""

    languages: Mapping[str, str]
    months: Sequence[str]
    numbers: Numbers
    foreign: Foreign


def naming(pattern: str, names: Mapping[str, str]) -> Foreign:
    """Write a foreign word after the name of its language, as a wiki's own {{lang-de|Wort}} does.

    >>> naming("{name}: {text}", {"de": "Duits"})("de-at", {"1": "Wien"})
    'Duits: Wien'
    """

    def foreign(code: str, arguments: Arguments) -> str | None:
        text = get(arguments, "1")
        code = code.strip().lower()
        name = names.get(code) or names.get(code.partition("-")[0])
        return pattern.format(name=name, text=text) if name and text else text or None

    return foreign


def of_language(foreign: Foreign, code: str) -> Handler:
    """Write a foreign word of one language, for a template that is named after it."""
    return lambda arguments: foreign(code, arguments)


def after_the_code(foreign: Foreign) -> Handler:
    """Write a foreign word whose language is the first argument."""
    return lambda arguments: foreign(get(arguments, "1"), {"1": get(arguments, "2")})


def number(numbers: Numbers) -> Handler:
    """Write a number, and what comes after it: a unit, or a noun."""

    def handler(arguments: Arguments) -> str | None:
        values = positional(arguments)
        return " ".join([numbers.format(values[0]), *values[1:2]]) if values else None

    return handler


def quantity(numbers: Numbers) -> Handler:
    """Write a number with its unit, or units with their exponents: {{unité|12|km}}, {{unité|5|m|s|-1}}.

    >>> quantity(Numbers(" ", ","))({"1": "12000", "2": "m", "3": "2"}), quantity(Numbers())({"1": "5", "2": "m",
    ... "3": "s", "4": "-1"})
    ('12 000 m2', '5 m⋅s−1')
    """

    def handler(arguments: Arguments) -> str | None:
        values = positional(arguments)
        if not values:
            return None
        unit = ""
        for value in values[1:]:
            is_power = re.fullmatch(r"[-−]?[0-9]", value)
            unit += value.replace("-", "−") if is_power else ("⋅" if unit else " ") + value
        return numbers.format(values[0]) + unit

    return handler


def date(months: Iterable[str], pattern: str = "{day} {month} {year}") -> Handler:
    """Write a date of a day, a month (a number or a name) and a year.

    >>> date(["enero"], "{day} de {month} de {year}")({"1": "5", "2": "1", "3": "1810"})
    '5 de enero de 1810'
    """
    names = list(months)

    def handler(arguments: Arguments) -> str | None:
        day, month, year = (get(arguments, str(n)) for n in (1, 2, 3))
        if month.isascii() and month.isdigit() and len(month) < 10 and 1 <= int(month) <= len(names):
            month = names[int(month) - 1]
        day = day.lstrip("0") if day.isdigit() else day
        if day and month and year:
            return pattern.format(day=day, month=month, year=year)
        return " ".join(filter(None, (day, month, year))) or None

    return handler
