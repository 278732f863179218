"""Spanish Wikipedia. Source: the pages of its templates, as https://es.wikipedia.org/wiki/Plantilla:Cita."""

from __future__ import annotations

from bertdata.sources.wikipedia.templates.convert import Arguments, cvt
from bertdata.sources.wikipedia.templates.factories import Kept, Literal, get
from bertdata.sources.wikipedia.templates.functions import block
from bertdata.sources.wikipedia.templates.locales.locale import (
    Locale,
    Numbers,
    date,
    names_of,
    naming,
    number,
    quantity,
    words,
)

NUMBERS = Numbers(" ", ",", 5)
MONTHS = words("enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre")
_ERAS = {"a": " a. C.", "d": " d. C."}
_CENTURY = {"s": "siglo ", "S": "Siglo ", "ss": "siglos ", "l": "siglo "}
_foreign = naming(
    "en {name}: {text}",
    names_of(
        "ar árabe, bg búlgaro, ca catalán, cs checo, da danés, de alemán, el griego, en inglés, es español, "
        "et estonio, eu euskera, fa persa, fi finés, fr francés, gl gallego, grc griego antiguo, he hebreo, "
        "hi hindi, hr croata, hu húngaro, hy armenio, id indonesio, is islandés, it italiano, ja japonés, "
        "ka georgiano, ko coreano, la latín, lt lituano, lv letón, nl neerlandés, no noruego, pl polaco, "
        "pt portugués, ro rumano, ru ruso, sa sánscrito, sk eslovaco, sl esloveno, sr serbio, sv sueco, "
        "th tailandés, tr turco, uk ucraniano, vi vietnamita, yi yidis, zh chino"
    ),
)


def _century(arguments: Arguments) -> str | None:
    """{{siglo|XX||s}}: siglo XX."""
    number, era, kind = (get(arguments, str(n)) for n in (1, 2, 3))
    return _CENTURY.get(kind, "") + number.upper() + _ERAS.get(era.lower(), "") if number else None


def _hard_space(arguments: Arguments) -> str:
    """{{esd}}, {{esd|5 km}}: a space, or a text that is not broken."""
    return get(arguments, "1") or " "


LOCALE = Locale(
    "es",
    {
        "esd, espacio duro": _hard_space,
        "siglo": _century,
        "fecha": date(MONTHS, "{day} de {month} de {year}"),
        "unidad": quantity(NUMBERS),
        "número, numero": number(NUMBERS),
        "convertir, conversión": cvt,
        "cita, cita larga, cita bloque, cita textual": block,
        "cita requerida, cr, demostrar, quién, cuándo, dónde, cuál, según quién, aclarar, no neutral": Kept("1"),
        "versalita, versalitas, nowrap, resaltar, unicode, politónico, abreviatura": Kept("1"),
        "a. c., ac, a.c.": Literal("a. C."),
        "d. c., dc, d.c.": Literal("d. C."),
    },
    _foreign,
    NUMBERS,
)
