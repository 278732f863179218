"""More functions that write the text of a template: seasons, districts, money, marriages, particles, laws.

As those of `templates/functions`, which has the more frequent ones, they take the rendered arguments and return the
text, None where the call leaves nothing.
"""

from __future__ import annotations

from bertdata.wikitext.templates.codes import COUNTRIES, LANGUAGE_NAMES, STATES
from bertdata.wikitext.templates.convert import Arguments
from bertdata.wikitext.templates.factories import Handler, get, positional
from bertdata.wikitext.templates.functions import format_number, ordinal

_SIGNS = {
    **{"USD": "US$", "GBP": "£", "EUR": "€", "JPY": "¥", "INR": "₹", "AUD": "A$", "CAD": "CA$", "NZD": "NZ$"},
    **{"CNY": "CN¥", "KRW": "₩", "CHF": "CHF ", "HKD": "HK$", "SGD": "S$", "RUB": "₽", "PHP": "₱", "ILS": "₪"},
}
_TIMES = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_OF_RUPEES = {
    **{"l": "lakh", "c": "crore", "lc": "lakh crore", "k": "thousand", "m": "million"},
    **{"b": "billion", "t": "trillion"},
}
_PARTICLES = {
    **{"electron": "e−", "positron": "e+", "proton": "p", "antiproton": "p̄", "neutron": "n", "photon": "γ"},
    **{"neutrino": "ν", "antineutrino": "ν̄", "electron neutrino": "νe", "electron antineutrino": "ν̄e"},
    **{"muon": "μ−", "antimuon": "μ+", "muon neutrino": "νμ", "tau": "τ−", "pion+": "π+", "pion-": "π−", "pion0": "π0"},
    **{"kaon+": "K+", "kaon-": "K−", "kaon0": "K0", "alpha": "α", "beta-": "β−", "beta+": "β+", "gluon": "g"},
}
_ENDS = {"d": "died", "died": "died", "death": "died", "widowed": "died", "ann": "ann.", "annulled": "ann."} | {
    **{"div": "div.", "divorce": "div.", "divorced": "div.", "sep": "sep.", "separated": "sep."}
}


def currency(arguments: Arguments) -> str | None:
    """Write an amount of money.

    >>> currency({"1": "6.7 million", "2": "JPY"}), currency({"1": "2 million", "2": "GBP", "passthrough": "yes"})
    ('¥6,700,000', '£2 million')
    """
    amount, code = get(arguments, "1", "amount"), get(arguments, "2", "type", default="USD").upper()
    if not amount:
        return None
    if not get(arguments, "passthrough"):
        number, _, word = amount.partition(" ")
        whole, _, decimals = number.replace(",", "").partition(".")
        zeros = _TIMES.get(word, 0) - len(decimals)
        if zeros >= 0 and (whole + decimals).isdecimal():
            amount = whole + decimals + "0" * zeros
        amount = format_number(amount)
    return _SIGNS.get(code, code + " ") + amount


def rupees(arguments: Arguments) -> str | None:
    """{{INRConvert|40|b}}: ₹40 billion, without the dollars, which depend on the day."""
    amount, unit = get(arguments, "1"), _OF_RUPEES.get(get(arguments, "2"), "")
    return f"₹{format_number(amount)} {unit}".strip() if amount else None


def season(league: str) -> Handler:
    """Write a season, of which a number is the first year, or one of its years.

    >>> [season("NBA")({"1": "1999", **more}) for more in ({}, {"2": "end"}, {"full": "y"})]
    ['1999–2000', '2000', '1999–2000 NBA season']
    """

    def handler(arguments: Arguments) -> str | None:
        first, which = get(arguments, "1"), get(arguments, "2", "app")
        if len(first) != 4 or not first.isdecimal():
            return first or None
        last = str(int(first) + 1)
        if which in ("start", "end"):
            return first if which == "start" else last
        years = f"{first}–{last if last.endswith('00') else last[2:]}"
        return f"{years} {league} season" if get(arguments, "full") else years

    return handler


def district(arguments: Arguments) -> str | None:
    """Write a district of the House of Representatives: all of its name, a short one (X), or the given text.

    >>> district({"1": "NM", "2": "3"}), district({"1": "Ohio", "2": "AL", "3": "X"})
    ("New Mexico's 3rd congressional district", 'Ohio at-large')
    """
    state, number, label = get(arguments, "1"), get(arguments, "2"), get(arguments, "3")
    if not (state and number):
        return None
    state = STATES.get(state.upper(), state)
    at_large = number.upper() == "AL"
    if label.upper() == "X":
        return f"{state} {'at-large' if at_large else number}"
    return label or f"{state}'s {'at-large' if at_large else ordinal({'1': number})} congressional district"


def marriage(arguments: Arguments) -> str | None:
    """Write a spouse and the years of the marriage.

    >>> marriage({"1": "Ann Lee", "2": "1929", "3": "1937", "end": "divorced"})
    'Ann Lee (m. 1929; div. 1937)'
    """
    name, begin, end = (get(arguments, str(n)) for n in (1, 2, 3))
    how = _ENDS.get(get(arguments, "end", "reason").rstrip(".").lower(), "")
    years = f"m. {begin}" if begin else ""
    if end:
        years = f"{years}; {how} {end}" if how and begin else f"{years}–{end}".lstrip("–")
    return (f"{name} ({years})" if years else name).strip() or None


def age(arguments: Arguments) -> str | None:
    """{{age|1935|1|8|1977|8|16}}: the years between two dates, 42; nothing where the second is the day of reading."""
    values = positional(arguments)
    if len(values) != 6 or not all(value.isdecimal() and len(value) < 5 for value in values):
        return None
    born, then = [int(value) for value in values[:3]], [int(value) for value in values[3:]]
    return str(then[0] - born[0] - (then[1:] < born[1:]))


def country(arguments: Arguments) -> str | None:
    """{{fb|GER}}: Germany."""
    code = get(arguments, "1")
    return COUNTRIES.get(code.upper(), code) or None


def particle(arguments: Arguments) -> str | None:
    """{{subatomic particle|electron}}: e−; the name where the sign is not known."""
    name = get(arguments, "1")
    return _PARTICLES.get(name.lower(), name) or None


def patent(arguments: Arguments) -> str | None:
    """{{US patent|1781541}}: U.S. patent 1,781,541."""
    number = get(arguments, "1")
    return f"U.S. patent {format_number(number)}" if number else None


def code_of_law(arguments: Arguments) -> str | None:
    """{{UnitedStatesCode|19|1305}}: 19 U.S.C. § 1305."""
    title, part = get(arguments, "1"), get(arguments, "2")
    return f"{title} U.S.C. § {part}" if title and part else None


def code_point(arguments: Arguments) -> str | None:
    """{{unichar|0041|Latin capital letter A}}: U+0041 A LATIN CAPITAL LETTER A."""
    digits, name = get(arguments, "1").removeprefix("U+").upper(), get(arguments, "2")
    try:
        point = int(digits, 16)
    except ValueError:
        return None
    character = f"&#{point};" if point < 0x110000 else ""
    return f"U+{digits} {character} {name.upper()}".strip()


def tag(arguments: Arguments) -> str | None:
    """{{tag|b}}: <b>...</b>, or only one of the two tags."""
    name, which = get(arguments, "1"), get(arguments, "2")[:1]
    if not name:
        return None
    begin, end = f"&lt;{name}&gt;", f"&lt;/{name}&gt;"
    return {"o": begin, "c": end, "s": f"&lt;{name} /&gt;"}.get(
        which, f"{begin}{get(arguments, 'content', '3') or '...'}{end}"
    )


def exchange(name: str) -> Handler:
    """{{NYSE|IBM}}: NYSE: IBM."""
    return lambda arguments: f"{name}: {symbol}" if (symbol := get(arguments, "1").upper()) else None


def in_languages(arguments: Arguments) -> str | None:
    """{{in lang|fr|de}}: (in French and German)."""
    names = [LANGUAGE_NAMES.get(code, code) for code in positional(arguments)]
    listed = ", ".join(names[:-1]) + " and " * (len(names) > 1) + "".join(names[-1:])
    return f"(in {listed})" if names else None
