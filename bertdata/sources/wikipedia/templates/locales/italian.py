"""Italian Wikipedia. Source: the pages of its templates, as https://it.wikipedia.org/wiki/Template:Citazione."""

from __future__ import annotations

from bertdata.sources.wikipedia.templates.convert import Arguments, cvt
from bertdata.sources.wikipedia.templates.factories import Handler, Kept, Literal, get, joined, positional
from bertdata.sources.wikipedia.templates.functions import block
from bertdata.sources.wikipedia.templates.locales.locale import Locale, Numbers, names_of, naming, number

NUMBERS = Numbers(".", ",")
NAMES = names_of(
    "ar arabo, bg bulgaro, ca catalano, cs ceco, da danese, de tedesco, el greco, en inglese, es spagnolo, "
    "et estone, eu basco, fa persiano, fi finlandese, fr francese, grc greco antico, he ebraico, hi hindi, "
    "hr croato, hu ungherese, hy armeno, id indonesiano, is islandese, it italiano, ja giapponese, ka georgiano, "
    "ko coreano, la latino, lt lituano, lv lettone, nl olandese, no norvegese, pl polacco, pt portoghese, ro rumeno, "
    "ru russo, sa sanscrito, sk slovacco, sl sloveno, sq albanese, sr serbo, sv svedese, th thailandese, tr turco, "
    "uk ucraino, vi vietnamita, yi yiddish, zh cinese"
)
_foreign = naming("in {name} {text}", NAMES)


def _named(name: str) -> Handler:
    """{{russo|Москва|Moskva}}: in russo Москва, traslitterato Moskva."""

    def handler(arguments: Arguments) -> str | None:
        text, roman = get(arguments, "1"), get(arguments, "2")
        return (f"in {name} {text}" + (f", traslitterato {roman}" if roman else "")) if text else None

    return handler


def _measure(arguments: Arguments) -> str | None:
    """{{M|5|k|m}}, {{M|5|u=km}}: 5 km."""
    amount, *unit = positional(arguments) or [""]
    unit = unit or [get(arguments, "u", "ul")]
    return f"{NUMBERS.format(amount)} {''.join(unit)}".strip() or None


def _power(arguments: Arguments) -> str | None:
    """{{exp|1,9|19}}: 1,9×1019, as the wiki's superscript is written elsewhere."""
    values = positional(arguments)
    return f"{values[0]}×10{values[1].replace('-', '−')}" if len(values) == 2 else None


def _flag(arguments: Arguments) -> str | None:
    """{{bandiera|Francia|nome}}: the country, where its name is asked for."""
    return get(arguments, "1") if "nome" in positional(arguments)[1:] or get(arguments, "nome") else None


LOCALE = Locale(
    "it",
    {
        "q, quote, citazione, citazione lunga": block,
        "cn, senza fonte, citazione necessaria, chiarire, non chiaro, chi, quando, dove, in che senso": Kept("1"),
        "ta, tutto attaccato, maiuscoletto, evidenzia, sottolineato, unicode, cas, polytonic": Kept("1"),
        "m": _measure,
        "unità": number(NUMBERS),
        "numero": number(NUMBERS),
        "exp": _power,
        "converti": cvt,
        "passo biblico": joined(" ", most=2),
        "bandiera": _flag,
        "...": Literal("[...]"),
        "tex": Literal("TeX"),
        "latex": Literal("LaTeX"),
        **{name: _named(name) for name in NAMES.values()},
    },
    _foreign,
    NUMBERS,
)
