"""Read the tables of templates, and the locales of languages, from their data files.

A table has sections, whose names say how the text of a template is written:

    [text]        a text in which {1} is an argument, {1|text} the first of two that is not blank
    [functions]   by the function of this name
    [joined]      the arguments, with this between them
    [fraction], [glosses], [money], [years]      by the function of that name, given this

Before the equals sign are the names of the templates, in lower case, with a comma between them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

from bertdata.io.package_data import toml_beside
from bertdata.wikitext.mediawiki.language import language_of
from bertdata.wikitext.templates import functions
from bertdata.wikitext.templates.convert import cvt
from bertdata.wikitext.templates.factories import Handler, joined, nothing, written
from bertdata.wikitext.templates.locales.locale import (
    ENGLISH,
    Locale,
    Words,
    after_the_code,
    date,
    naming,
    number,
    quantity,
    word,
)
from bertdata.wikitext.templates.locales.special import SPECIAL

LANGUAGES = frozenset(path.stem for path in Path(__file__).parent.glob("*.toml")) | {"en"}
"""The languages that have tables of their own."""
_MAKERS: dict[str, Callable[[str], Handler]] = {
    **{"text": written, "joined": joined, "fraction": functions.fraction, "glosses": functions.glosses},
    **{"money": functions.money, "years": functions.years},
}


def handlers_of(table: Mapping[str, Any], by_name: Mapping[str, Handler]) -> dict[str, Handler]:
    """Return the templates of a table, by their names with a comma between them.

    by_name: the functions that the section `functions` may name.
    """
    makers = {"functions": by_name.__getitem__, **_MAKERS}
    return {names: make(value) for section, make in makers.items() for names, value in table.get(section, {}).items()}


@lru_cache(maxsize=64)
def locale_of(language: str) -> Locale:
    """Return the locale of a wiki's language, as `xml:lang` names it; "" is English.

    >>> locale_of("de").numbers.format("12345"), locale_of("").language, locale_of("sv").language
    ('12.345', 'en', '')
    """
    code = language.lower().partition("-")[0]
    if code in ("", "en", "simple"):
        return Locale("en", code=language) if code else ENGLISH
    return _read_locale(code, language) if code in LANGUAGES else Locale("", foreign=word, code=language)


def _read_locale(code: str, language: str) -> Locale:
    table, wiki = toml_beside(__file__, code), language_of(language)
    languages = dict(entry.strip().split(" ", 1) for entry in table["languages"].split(","))
    numbers = replace(wiki.numbers, group_from=table.get("grouped_from", wiki.numbers.group_from))
    foreign = naming(table["foreign"], languages)
    words = Words(languages, wiki.month_names, numbers, foreign)
    by_name: dict[str, Handler] = {
        **{"block": functions.block, "convert": cvt, "nothing": nothing, "language": after_the_code(foreign)},
        **{"number": number(numbers), "quantity": quantity(numbers)},
        "date": date(words.months, table.get("date", "{day} {month} {year}")),
    }
    special = SPECIAL[code](words) if code in SPECIAL else {}
    return Locale(code, {**handlers_of(table, by_name), **special}, foreign, language)
