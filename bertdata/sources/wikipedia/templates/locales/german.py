"""German Wikipedia. Source: the pages of its templates, as https://de.wikipedia.org/wiki/Vorlage:Höhe."""

from __future__ import annotations

from bertdata.sources.wikipedia.templates.convert import Arguments
from bertdata.sources.wikipedia.templates.factories import Kept, Literal, Wrapped, get
from bertdata.sources.wikipedia.templates.functions import block, fraction
from bertdata.sources.wikipedia.templates.locales.locale import (
    Locale,
    Numbers,
    after_the_code,
    names_of,
    naming,
    number,
    of_language,
    words,
)

NAMES = names_of(
    "ar arabisch, bg bulgarisch, ca katalanisch, cs tschechisch, da dänisch, de deutsch, el griechisch, en englisch, "
    "es spanisch, et estnisch, eu baskisch, fa persisch, fi finnisch, fr französisch, grc altgriechisch, "
    "he hebräisch, hi hindi, hr kroatisch, hu ungarisch, hy armenisch, id indonesisch, is isländisch, "
    "it italienisch, ja japanisch, ka georgisch, ko koreanisch, la lateinisch, lt litauisch, lv lettisch, "
    "nl niederländisch, no norwegisch, pl polnisch, pt portugiesisch, ro rumänisch, ru russisch, sa sanskrit, "
    "sk slowakisch, sl slowenisch, sr serbisch, sv schwedisch, th thailändisch, tr türkisch, uk ukrainisch, "
    "vi vietnamesisch, yi jiddisch, zh chinesisch"
)
NUMBERS = Numbers(".", ",", 5)
_foreign = naming("{name} {text}", NAMES)
_QUOTED = words("en fr la it es ru el grc nl pt pl cs hu tr sv da no ja zh ar he")


def _height(arguments: Arguments) -> str | None:
    metres = get(arguments, "1")
    return f"{NUMBERS.format(metres)} m" if metres else None


LOCALE = Locale(
    "de",
    {
        "formnum, zahl": number(NUMBERS),
        "höhe": _height,
        "bruch": fraction("⁄"),
        '", zitat-inline': Wrapped("„", "“", ("1", "text")),
        "zitat": block,
        **{f"zitat-{code}": block for code in _QUOTED},
        **{f'"-{code}': Wrapped("„", "“", ("1", "text")) for code in _QUOTED},
        **{f"{code}s": of_language(_foreign, code) for code in NAMES},
        "langs": after_the_code(_foreign),
        "polytonisch, hebr, arab, kyrillisch, devanagari, unicode, ipa-text, farbe, hervorhebung, zitierzeichen": Kept(
            "1"
        ),
        "sperrsatz, kapitälchen, großbuchstaben, fett, marker, unterstrichen, abk": Kept("1"),
        "§": lambda arguments: f"§ {get(arguments, '1')}" if get(arguments, "1") else None,
        "weblink ohne linktext": Literal(""),
    },
    _foreign,
    NUMBERS,
)
