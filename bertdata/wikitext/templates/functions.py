"""The small functions that write the text of a template: dates, fractions, ships, quotations, foreign words.

Each takes the arguments as MediaWiki numbers them ("1", "2", ... and the named ones), already rendered, and returns the
text, or None where the call leaves nothing. `templates/table` says which template uses which function.
"""

from __future__ import annotations

import re

from bertdata.wikitext.reference.tags import paragraph, poem
from bertdata.wikitext.templates.codes import LANGUAGE_NAMES
from bertdata.wikitext.templates.convert import Arguments, convert
from bertdata.wikitext.templates.factories import Handler, Wrapped, get, positional
from bertdata.wikitext.templates.numbers import group_digits

_MONTHS = [
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
]
_YES = frozenset(["y", "yes", "1", "true", "on"])

_before, _after = paragraph("\0").split("\0")
block = Wrapped(_before, _after, ("text", "1", "quote", "content"))
"""Write a quotation as a paragraph of its own."""


def poem_quote(arguments: Arguments) -> str | None:
    """Write a quoted poem as a paragraph whose lines stay lines."""
    text = get(arguments, "text", "1", "quote")
    return poem(text) if text else None


def language(code: str, arguments: Arguments, start: int = 1) -> str | None:
    """Write a foreign word after the name of its language, with the transliteration and meaning that are given.

    >>> language("ru", {"1": "космонавт", "2": "kosmonavt"})
    'Russian: космонавт, romanized: kosmonavt'
    """
    text, roman, meaning = (get(arguments, str(start + n)) for n in range(3))
    if not text:
        return None
    code = code.strip().lower()
    name = get(arguments, "label") or LANGUAGE_NAMES.get(code) or LANGUAGE_NAMES.get(code.partition("-")[0], "")
    phrase = f"{name.rstrip(':')}: {text}" if name and name.lower() != "none" else text
    roman = get(arguments, "translit", "tr", "r") or roman
    meaning = get(arguments, "lit", "literal", "translation") or meaning
    return phrase + (f", romanized: {roman}" if roman else "") + (f", lit. '{meaning}'" if meaning else "")


def langx(arguments: Arguments) -> str | None:
    """{{langx|de|München}}: the language is the first argument."""
    return language(get(arguments, "1"), arguments, 2)


def transliteration(arguments: Arguments) -> str | None:
    """{{transl|ar|DIN|text}}: the text is the last argument, after a language and perhaps a standard."""
    values = positional(arguments)
    return values[-1] if len(values) > 1 else None


def nihongo(arguments: Arguments) -> str | None:
    """{{nihongo|English|kanji|romaji|extra}}: English (kanji, romaji, extra).

    >>> nihongo({"1": "Tokyo Tower", "2": "東京タワー", "3": "Tōkyō tawā"})
    'Tokyo Tower (東京タワー, Tōkyō tawā)'
    """
    english, kanji, roman, extra, after = (get(arguments, str(n)) for n in range(1, 6))
    inner = [kanji, roman, extra or get(arguments, "extra")]
    if not english:
        english, inner = (roman, [kanji, inner[2]]) if roman else (kanji, inner[2:])
    inside = ", ".join(value for value in inner if value)
    return " ".join(filter(None, [english, f"({inside})" if inside else "", after or get(arguments, "extra2")])) or None


def nihongo3(arguments: Arguments) -> str | None:
    """{{nihongo3|English|kanji|romaji}}: romaji (kanji, English)."""
    return nihongo({**arguments, "1": get(arguments, "3"), "3": get(arguments, "1")})


def circa(arguments: Arguments) -> str | None:
    """{{circa|1450|1460}}: c. 1450 – c. 1460."""
    return " – ".join(f"c. {value}" for value in positional(arguments)[:2]) or "c."


def years(mark: str) -> Handler:
    """{{reign|1259|1282}}: a mark, then one year or two with a dash."""
    return lambda arguments: f"{mark} {'–'.join(positional(arguments)[:2])}".strip()


def date(arguments: Arguments) -> str | None:
    """Write year, month and day in that order as a date; the month first unless df= says otherwise.

    >>> date({"1": "1815", "2": "12", "3": "10"}), date({"1": "2017", "2": "10"})
    ('December 10, 1815', 'October 2017')
    """
    return _date(arguments, day_first=get(arguments, "df").lower() in _YES)


def _date(arguments: Arguments, *, day_first: bool) -> str | None:
    year, month, day = (get(arguments, str(n)) for n in (1, 2, 3))
    if not _is_number(year):
        return year or None
    if _is_number(month) and 1 <= int(month) <= 12:
        name = _MONTHS[int(month) - 1]
    elif month.capitalize() in _MONTHS:
        name = month.capitalize()
    else:
        return f"{month} {year}".strip()
    if not _is_number(day):
        return f"{name} {year}"
    return f"{int(day)} {name} {year}" if day_first else f"{name} {int(day)}, {year}"


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


def death_date_and_age(arguments: Arguments) -> str | None:
    """{{death date and age|1977|8|16|1935|1|8}}: the date and how old the person was."""
    numbers = [get(arguments, str(n)) for n in range(1, 7)]
    if not all(_is_number(number) for number in numbers):
        return date(arguments)
    died, born = [int(number) for number in numbers[:3]], [int(number) for number in numbers[3:]]
    return f"{date(arguments)} (aged {died[0] - born[0] - (died[1:] < born[1:])})"


def as_of(arguments: Arguments) -> str | None:
    """{{as of|2017|10|lc=y}}: as of October 2017."""
    if alternative := get(arguments, "alt"):
        return alternative
    day_first = get(arguments, "df").lower() not in ("us", "mdy", "md")
    when = _date(arguments, day_first=day_first)
    words = "Since" if get(arguments, "since") else "As of"
    return f"{words.lower() if get(arguments, 'lc') else words} {when}" if when else None


def old_style_date(arguments: Arguments) -> str | None:
    """{{OldStyleDate|August 16|1761|August 5}}: August 16 [O.S. August 5] 1761."""
    new, year, old = (get(arguments, str(n)) for n in (1, 2, 3))
    return f"{new} [O.S. {old}] {year}".strip() if new and old else None


def fraction(slash: str) -> Handler:
    """{{frac|3|1|2}}: 3+1⁄2; one argument is a denominator."""

    def handler(arguments: Arguments) -> str | None:
        parts = positional(arguments)
        if len(parts) > 2:
            return f"{parts[0]}+{parts[1]}{slash}{parts[2]}"
        return slash.join(["1", *parts] if len(parts) == 1 else parts) or None

    return handler


def value(arguments: Arguments) -> str | None:
    """{{val|1.67|0.02|e=-27|u=kg}}: a number, its uncertainty, a power of ten and a unit.

    >>> value({"1": "1.67", "2": "0.02", "e": "-27", "u": "kg"})
    '1.67±0.02×10−27 kg'
    """
    number, *errors = positional(arguments) or [""]
    number = re.sub(r"[eE]([-−+]?\d{1,3})\Z", r"×10\1", number).replace("-", "−")
    if get(arguments, "fmt") == "commas":
        number = format_number(number)
    error = ""
    if len(errors) > 1:
        error = f"+{errors[0].lstrip('+')} −{errors[1].lstrip('-−')}"
    elif errors:
        error = errors[0] if errors[0][0] in "+-−±" else "±" + errors[0]
    power = f"×10{get(arguments, 'e').replace('-', '−')}" if get(arguments, "e") else ""
    unit, per = get(arguments, "u", "ul").replace("-", "−"), get(arguments, "up", "upl")
    unit += f"/{per}" if per else ""
    gap = " " if unit and unit[0] not in "%°″′" else ""
    return (get(arguments, "p") + number + error + power + gap + unit + get(arguments, "s")).strip() or None


def money(sign: str) -> Handler:
    """{{US$|18000}}: the sign and the number."""

    def handler(arguments: Arguments) -> str | None:
        amount = get(arguments, "1")
        return sign + format_number(amount) if amount else None

    return handler


def before_unit(unit: str) -> Handler:
    """{{solar mass|5}}: a number and its unit, or the unit alone."""
    return lambda arguments: f"{get(arguments, '1')} {unit}".strip()


def format_number(text: str) -> str:
    """Group the digits of a plain number as `{{formatnum:}}` does; anything else is returned as it is.

    >>> format_number("-12345.6"), format_number("MMXX")
    ('−12,345.6', 'MMXX')
    """
    digits = text.lstrip("-−")
    if len(text) - len(digits) > 1 or not re.fullmatch(r"[0-9]{1,100}(\.[0-9]*)?", digits):
        return text
    return "−" * (digits != text) + group_digits(digits)


def ordinal(arguments: Arguments) -> str | None:
    """{{ordinal|3}}: 3rd; text that is not a number is returned as it is."""
    text = get(arguments, "1")
    if not _is_number(text):
        return text or None
    return text + ("th" if text[-2:-1] == "1" else {"1": "st", "2": "nd", "3": "rd"}.get(text[-1], "th"))


def plural(arguments: Arguments) -> str | None:
    """{{plural|2|word|words}}: the number and the noun."""
    number, singular, plural_form = (get(arguments, str(n)) for n in (1, 2, 3))
    return f"{number} {singular if number == '1' else plural_form or _plural_of(singular)}" if singular else None


def _plural_of(noun: str) -> str:
    if re.search("[^aeiou]y$", noun):
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith(("s", "x", "z", "ch", "sh")) else "s")


def ship(prefix: str) -> Handler:
    """{{USS|Enterprise|CVN-65|6}}: name, hull number, and which of them to show; {{ship}} gives the prefix too.

    >>> ship("USS")({"1": "Enterprise", "2": "CVN-65"}), ship("")({"1": "HMS", "2": "Victory"})
    ('USS Enterprise (CVN-65)', 'HMS Victory')
    """

    def handler(arguments: Arguments) -> str | None:
        first, name, hull, choice = [prefix] * bool(prefix) + [
            get(arguments, str(n)) for n in range(1, 5 - bool(prefix))
        ]
        full = f"{first} {name}".strip()
        if not full or not hull:
            return full or None
        by_choice = {"1": hull, "2": name, "3": f"{name} ({hull})", "5": f"{first} {hull}", "6": full}
        return by_choice.get(get(arguments, "format") or choice, f"{full} ({hull})")

    return handler


def ship_class(arguments: Arguments) -> str | None:
    """{{sclass|Kidd|destroyer}}: Kidd-class destroyer."""
    name, kind, choice = (get(arguments, str(n)) for n in (1, 2, 3))
    if not name:
        return None
    return {"1": f"{name} class", "5": name}.get(choice, f"{name}-class {kind}".strip())


def chemistry(arguments: Arguments) -> str | None:
    """{{chem|S|O|4|2-}}: SO42−; a mass number has a space after it, as the wiki shows it: {{chem|14|C}} is 14 C.

    >>> chemistry({"1": "14", "2": "C"}), chemistry({"1": "H", "2": "2", "3": "O"})
    ('14 C', 'H2O')
    """
    parts = positional(arguments)
    mass = parts[0] + " " if len(parts) > 1 and _is_number(parts[0]) else ""
    return mass + "".join(re.sub(r"-\Z", "−", part) for part in parts[bool(mass) :]) or None


def sic(arguments: Arguments) -> str | None:
    """{{sic|som|domite}}: the text with [sic] after it, unless hidden."""
    parts = positional(arguments)
    text = "".join(part for part in parts if part != "hide")
    return (text if "hide" in parts or get(arguments, "hide") in _YES else f"{text} [sic]".strip()) or None


def glosses(mark: str) -> Handler:
    """{{lit|a|b}}: a mark, then the glosses in single quotes."""
    return lambda arguments: mark + " or ".join(f"'{part}'" for part in positional(arguments))


def height(arguments: Arguments) -> str | None:
    """{{height|m=1.57}}: 1.57 m (5 ft 2 in)."""
    abbreviated = {"abbr": "off" if get(arguments, "abbr") in ("no", "off", "n") else "on"}
    if metres := get(arguments, "m", "meter", "meters", "metres"):
        return convert({"1": metres, "2": "m", "3": "ftin", "4": "0", **abbreviated})
    feet, inches = get(arguments, "ft", "feet"), get(arguments, "in", "inch", "inches", default="0")
    return convert({"1": feet, "2": "ft", "3": inches, "4": "in", "5": "m", **abbreviated}) if feet else None


def supreme_court(arguments: Arguments) -> str | None:
    """{{ussc|385|812|1966}}: 385 U.S. 812 (1966)."""
    volume, page, year = get(arguments, "1", "volume"), get(arguments, "2", "page"), get(arguments, "3", "date")
    return f"{volume} U.S. {page}" + (f" ({year})" if year else "") if volume and page else None


def textual_citation(arguments: Arguments) -> str | None:
    """{{harvtxt|Ting|Lee|1994}}: Ting & Lee (1994), a citation that is part of the sentence."""
    *names, year = positional(arguments) or [""]
    return f"{' & '.join(names)} ({year})" if names else None


def sub_and_superscript(arguments: Arguments) -> str | None:
    """{{su|p=+1|b=-2}}: the superscript, then the subscript."""
    return " ".join(filter(None, [get(arguments, "p", "1"), get(arguments, "b", "2")])) or None


def music(arguments: Arguments) -> str | None:
    """{{music|flat}}: the accidental."""
    signs = {"flat": "♭", "b": "♭", "sharp": "♯", "#": "♯", "natural": "♮"}
    return signs.get(get(arguments, "1").lower())
