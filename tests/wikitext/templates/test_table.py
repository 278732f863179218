"""What calls of templates become, by the name and the arguments that wikis write them with."""

from __future__ import annotations

import re
import unicodedata

import pytest

from bertdata.wikitext.templates.codes import LANGUAGE_NAMES
from bertdata.wikitext.templates.table import BUILT_IN


def rendered(call: str) -> str | None:
    name, *fields = call.split("|")
    arguments: dict[str, str] = {}
    for field in fields:
        key, equals, value = field.partition("=")
        position = sum(argument.isdigit() for argument in arguments) + 1
        arguments |= {key: value} if equals else {str(position): key}
    return BUILT_IN.render(name, arguments)


@pytest.mark.parametrize(
    ("call", "expected"),
    {
        "abbr|EU|Union": "EU",
        "tooltip|text=EU": "EU",
        "convert|3|kg": "3 kilograms (6.6 lb)",
        "cvt|3|kg": "3 kg (6.6 lb)",
        "unité|12|km": "12 km",
        "unité|12|km|3": "12 km",
        "tmp|12": "12",
        "unité": None,
        "heure|8|30|15": "8 h 30",
        "frac|4": "1⁄4",
        "frac|3|4": "3⁄4",
        "sfrac|2|1|3": "2+1/3",
        "frac": None,
        "birth date|1900|1|2": "January 2, 1900",
        "birth date|1900|1|2|df=y": "2 January 1900",
        "birth date|1900|13|2": "13 1900",
        "birth date|about 1900": "about 1900",
        "death date and age|1977|8|16|1935|1|8": "August 16, 1977 (aged 42)",
        "death date and age|1977|1|8|1935|1|8": "January 8, 1977 (aged 42)",
        "death date and age|1977|1|7|1935|1|8": "January 7, 1977 (aged 41)",
        "death date and age|1977|8|16|1935|1|": "August 16, 1977",
        "death date and age|1977|8|16": "August 16, 1977",
        "oldstyledate|August 16|1761|August 5": "August 16 [O.S. August 5] 1761",
        "oldstyledate|August 16||August 5": "August 16 [O.S. August 5]",
        "oldstyledate||1761|August 5": None,
        "oldstyledate|August 16|1761": None,
        "sclass|Kidd|destroyer": "Kidd-class destroyer",
        "sclass|Kidd|destroyer|1": "Kidd class",
        "sclass|Kidd|destroyer|5": "Kidd",
        "sclass|Kidd": "Kidd-class",
        "sclass||destroyer": None,
        "cvt|2.39|km2|2|abbr=out": "2.39 km2 (0.92 sq mi)",
        "height|ft=6|in=6": "6 ft 6 in (1.98 m)",
        "height|ft=6|in=6|abbr=no": "6 feet 6 inches (1.98 metres)",
        "height|m=1.57": "1.57 m (5 ft 2 in)",
        "as of|2012|July|18|lc=y|df=US": "as of July 18, 2012",
        "as of|2012|july|18": "As of 18 July 2012",
        "as of|2012|spring": "As of spring 2012",
        "birth date and age|1969|October|3": "October 3, 1969",
        "plural|20|fly": "20 flies",
        "plural|2|day": "2 days",
        "plural|2|box": "2 boxes",
        "plural|1|fly": "1 fly",
        "plural|2|man|men": "2 men",
        "currency|8 trillion|JPY": "¥8,000,000,000,000",
        "currency|1.25 thousand|EUR": "€1,250",
        "currency|1.2345 thousand": "US$1.2345 thousand",
        "currency|24.7 million|GBP|passthrough=yes": "£24.7 million",
        "currency|5|XYZ": "XYZ 5",
        "currency": None,
        "inrconvert|40|b": "₹40 billion",
        "inrconvert|1234567": "₹1,234,567",
        "nbay|2009": "2009–10",
        "nbay|2009|start": "2009",
        "nhly|1999|end": "2000",
        "nhly|1999|full=y": "1999–2000 NHL season",
        "nbay|this": "this",
        "ushr|New Mexico|3|": "New Mexico's 3rd congressional district",
        "ushr|AK|AL": "Alaska's at-large congressional district",
        "ushr|AL|2|X": "Alabama 2",
        "ushr|IL|7|7th": "7th",
        "ushr|IL": None,
        "marriage|Ann Lee|2000": "Ann Lee (m. 2000)",
        "marriage|Ann Lee|2000|2010": "Ann Lee (m. 2000–2010)",
        "marriage|Ann Lee|2000|2010|end=died": "Ann Lee (m. 2000; died 2010)",
        "marriage|Ann Lee||2010": "Ann Lee (2010)",
        "marriage|Ann Lee": "Ann Lee",
        "age|1935|1|8|1977|1|7": "41",
        "age|1935|1|8": None,
        "fb|ger": "Germany",
        "cr|Ruritania": "Ruritania",
        "subatomic particle|Electron": "e−",
        "subatomic particle|axion": "axion",
        "us patent|1781541": "U.S. patent 1,781,541",
        "us patent|D123": "U.S. patent D123",
        "usc|19|1305a": "19 U.S.C. § 1305a",
        "usc|19": None,
        "unichar|00e9|e with acute": "U+00E9 &#233; E WITH ACUTE",
        "unichar|x": None,
        "tag|b": "&lt;b&gt;...&lt;/b&gt;",
        "tag|b|content=c": "&lt;b&gt;c&lt;/b&gt;",
        "tag|b|open": "&lt;b&gt;",
        "tag|b|close": "&lt;/b&gt;",
        "tag|br|single": "&lt;br /&gt;",
        "nyse|ibm": "NYSE: IBM",
        "in lang|fr|de|it": "(in French, German and Italian)",
        "in lang|fr": "(in French)",
        "mp|1998 BM|30": "1998 BM30",
        "oldstyledateny|February 2|January 20": "February 2 [O.S. January 20]",
        "plural form|cacti": "pl.: cacti",
        "isbn|0-19-852663-6": "ISBN 0-19-852663-6",
        "lang-fr|Paris": "French: Paris",
        "lang-de-at|Paradeiser": "Austrian German: Paradeiser",
        "lang-qqq|word": "word",
        "lang-fr": None,
    }.items(),
)
def test_a_call_becomes_what_a_wiki_shows(call: str, expected: str | None) -> None:
    assert rendered(call) == expected


def test_languages_have_codes_and_names_of_words_with_capitals() -> None:
    for code, name in LANGUAGE_NAMES.items():
        assert re.fullmatch(r"[a-z]{2,3}(-[a-z]{2,4})?", code)
        assert re.fullmatch(r"[A-Z][a-zéāåʽá]+([ -][A-Z][a-zåá]+)*", name), name
    assert LANGUAGE_NAMES["lt"] == "Lithuanian"
    assert LANGUAGE_NAMES["km"] == "Khmer"


def test_the_name_of_a_greek_letter_is_the_letter() -> None:
    names = (
        "alpha beta gamma epsilon zeta eta theta iota kappa lambda mu nu xi omicron pi rho sigma tau upsilon phi chi"
    )
    for name in [*names.split(), "psi", "omega"]:
        unicode_name = f"GREEK SMALL LETTER {name.upper().replace('LAMBDA', 'LAMDA')}"
        assert rendered(name) == unicodedata.lookup(unicode_name)
