"""The templates of a language's wiki that take a function of their own; the others are in the language's data file."""

from __future__ import annotations

import re
from collections.abc import Callable

from bertdata.wikitext.templates.convert import Arguments
from bertdata.wikitext.templates.factories import Handler, Literal, get, joined, positional
from bertdata.wikitext.templates.locales.locale import Words, date, of_language


def _arabic(words: Words) -> dict[str, Handler]:
    short = "en إنج, de أل, fr فر, la لات, el يون, es إسب, it إيط, ru روس, tr تر, fa فار, he عبر"
    short_names = dict(entry.split(" ") for entry in short.split(", "))

    def parenthesised(code: str) -> Handler:
        """{{ألمانية|Spree}}: (بالألمانية: Spree)."""
        return lambda arguments: f"({words.foreign(code, arguments)})" if get(arguments, "1") else None

    return {
        **{name.removeprefix("ال"): parenthesised(code) for code, name in words.languages.items()},
        **{name: parenthesised(code) for code, name in short_names.items()},
        **{f"لغة-{name}": of_language(words.foreign, code) for code, name in short_names.items()},
    }


def _chinese(words: Words) -> dict[str, Handler]:
    def lifetime(arguments: Arguments) -> str | None:
        """{{bd|1879年|3月14日|1955年|4月18日}}: （1879年3月14日－1955年4月18日）."""
        year, day, end, last = (get(arguments, str(n)) for n in range(1, 5))
        return f"（{year}{day}－{end}{last}）" if year or end else None

    return {"bd, 生卒": lifetime}


def ordinal(roman: str) -> str:
    """Return the French ordinal of a Roman number; anything else is returned as it is.

    >>> ordinal("I"), ordinal("xix"), ordinal("au")
    ('Ier', 'XIXe', 'au')
    """
    if not re.fullmatch("[IVXLCDMivxlcdm]+", roman):
        return roman
    return roman.upper() + ("er" if roman in ("I", "i") else "e")


def _french(words: Words) -> dict[str, Handler]:
    before_christ = " av. J.-C."
    full_date = date(words.months)

    def century(after: str = "") -> Handler:
        """{{s|XIX}}: XIXe siècle; {{sp|XVI|e|ou|XVII|e}}: XVIe ou XVIIe siècle."""

        def handler(arguments: Arguments) -> str | None:
            numerals = [ordinal(value) for value in positional(arguments) if value not in ("e", "er", "s")]
            return f"{' '.join(numerals)} siècle{after}" if numerals else None

        return handler

    def centuries(after: str = "") -> Handler:
        """{{s2|XII|XIII}}: XIIe et XIIIe siècles."""

        def handler(arguments: Arguments) -> str | None:
            numerals = [ordinal(value) for value in positional(arguments) if value not in ("e", "er")]
            return f"{', '.join(numerals[:-1])} et {numerals[-1]} siècles{after}" if len(numerals) > 1 else None

        return handler

    def day(arguments: Arguments) -> str | None:
        """{{date|1|juillet|1789}}, {{date|1 7 1789}}: 1er juillet 1789."""
        parts = get(arguments, "1").split()
        if len(parts) == 3 and not get(arguments, "2"):
            arguments = dict(zip("123", parts, strict=True))
        text = full_date(arguments)
        return re.sub(r"\A1 ", "1er ", text) if text else None

    def sovereign(arguments: Arguments) -> str | None:
        """{{souverain2|Joseph II (empereur)}}: Joseph II."""
        return re.sub(r" \([^()]*\)\Z", "", get(arguments, "2", "1")) or None

    def before(numeral: str) -> Handler:
        """{{84e|congrès}}: 84e congrès."""
        return lambda arguments: f"{numeral} {get(arguments, '1')}".strip()

    to_nine = ("", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX")
    roman = [ordinal(tens + number) for tens in ("", "X", "XX") for number in to_nine if tens + number] + ["XXXe"]
    numbers = [*roman, *(f"{number}e" for number in range(2, 101)), "1er", "2d", "2de"]
    return {
        "date, date-, jma, date de naissance, date de décès, date naissance, date décès, date sport, date-sport": day,
        "s, s-, s mini siècle, sp, sp-": century(),
        "s2, s2-": centuries(),
        "-s, -s-": century(before_christ),
        "-s2, -s2-": centuries(before_christ),
        "s mini, nobr romains, romain, rom, rom-maj, rom-min": lambda arguments: ordinal(get(arguments, "1")) or None,
        **{f"{numeral.lower()} siècle": Literal(f"{numeral} siècle") for numeral in roman},
        **{
            f"{numeral.lower()} siècle{before_christ.lower()}": Literal(f"{numeral} siècle{before_christ}")
            for numeral in roman
        },
        **{numeral.lower(): before(numeral) for numeral in numbers},
        "1re, 1ère": before("1re"),
        "ire, ière": before("Ire"),
        "n°, numéro, no": before("no"),
        "numéro avec majuscule": before("No"),
        "souverain, souverain-, souverain2, souverain3, sp2": sovereign,
    }


def _german(words: Words) -> dict[str, Handler]:
    def height(arguments: Arguments) -> str | None:
        metres = get(arguments, "1")
        return f"{words.numbers.format(metres)} m" if metres else None

    def section_sign(arguments: Arguments) -> str | None:
        number = get(arguments, "1")
        return f"§ {number}" if number else None

    return {
        "höhe": height,
        "§": section_sign,
        **{f"{code}s": of_language(words.foreign, code) for code in words.languages},
    }


def _italian(words: Words) -> dict[str, Handler]:
    def named(name: str) -> Handler:
        """{{russo|Москва|Moskva}}: in russo Москва, traslitterato Moskva."""

        def handler(arguments: Arguments) -> str | None:
            text, roman = get(arguments, "1"), get(arguments, "2")
            return (f"in {name} {text}" + (f", traslitterato {roman}" if roman else "")) if text else None

        return handler

    def measure(arguments: Arguments) -> str | None:
        """{{M|5|k|m}}, {{M|5|u=km}}: 5 km."""
        amount, *unit = positional(arguments) or [""]
        unit = unit or [get(arguments, "u", "ul")]
        return f"{words.numbers.format(amount)} {''.join(unit)}".strip() or None

    def power(arguments: Arguments) -> str | None:
        """{{exp|1,9|19}}: 1,9×1019, as the wiki's superscript is written elsewhere."""
        values = positional(arguments)
        return f"{values[0]}×10{values[1].replace('-', '−')}" if len(values) == 2 else None

    def flag(arguments: Arguments) -> str | None:
        """{{bandiera|Francia|nome}}: the country, where its name is asked for."""
        return get(arguments, "1") if "nome" in positional(arguments)[1:] or get(arguments, "nome") else None

    handlers = {"m": measure, "exp": power, "passo biblico": joined(" ", most=2), "bandiera": flag}
    return {**handlers, **{name: named(name) for name in words.languages.values()}}


def _japanese(words: Words) -> dict[str, Handler]:
    def reading(arguments: Arguments) -> str | None:
        """{{読み仮名|漢字|かんじ}}: 漢字（かんじ）."""
        text, spoken = get(arguments, "1"), get(arguments, "2")
        return f"{text}（{spoken}）" if text and spoken else text or None

    def age_at_death(arguments: Arguments) -> str | None:
        """{{没年齢|1935|1|8|1977|8|16}}: （42歳没）."""
        numbers = [get(arguments, str(n)) for n in range(1, 7)]
        if not all(number.isascii() and number.isdigit() and len(number) < 5 for number in numbers):
            return None
        born, died = [int(number) for number in numbers[:3]], [int(number) for number in numbers[3:]]
        return f"（{died[0] - born[0] - (died[1:] < born[1:])}歳没）"

    return {"読み仮名, 読み仮名 ruby不使用, 読み仮名ruby不使用, よみがな": reading, "没年齢": age_at_death}


def _russian(words: Words) -> dict[str, Handler]:
    def day_of(text: str) -> str:
        """Write 6.6 as a day and a month; anything else is returned as it is."""
        day, _, month = text.partition(".")
        numbers = all(part.isdecimal() and len(part) < 10 for part in (day, month))
        is_date = numbers and 1 <= int(month) <= len(words.months)
        return f"{int(day)} {words.months[int(month) - 1]}" if is_date else text

    def old_style(arguments: Arguments) -> str | None:
        """{{OldStyleDate|6 июня|1799|26 мая}}: 26 мая (6 июня) 1799."""
        new, year, old, old_year = (get(arguments, str(n)) for n in range(1, 5))
        if not new or not old:
            return " ".join(filter(None, (day_of(new), year))) or None
        new, old = day_of(new), day_of(old)
        return f"{old} {old_year} ({new} {year})" if old_year and old_year != year else f"{old} ({new}) {year}".strip()

    return {"oldstyledate, старая дата": old_style}


def _spanish(words: Words) -> dict[str, Handler]:
    eras = {"a": " a. C.", "d": " d. C."}
    kinds = {"s": "siglo ", "S": "Siglo ", "ss": "siglos ", "l": "siglo "}

    def century(arguments: Arguments) -> str | None:
        """{{siglo|XX||s}}: siglo XX."""
        number, era, kind = (get(arguments, str(n)) for n in (1, 2, 3))
        return kinds.get(kind, "") + number.upper() + eras.get(era.lower(), "") if number else None

    return {"esd, espacio duro": lambda arguments: get(arguments, "1") or " ", "siglo": century}


SPECIAL: dict[str, Callable[[Words], dict[str, Handler]]] = {
    **{"ar": _arabic, "de": _german, "es": _spanish, "fr": _french, "it": _italian, "ja": _japanese},
    **{"ru": _russian, "zh": _chinese},
}
"""By the code of a language: makes its own templates, names in lower case with a comma between them."""
