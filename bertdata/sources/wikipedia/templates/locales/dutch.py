"""Dutch Wikipedia. Source: the pages of its templates, as https://nl.wikipedia.org/wiki/Sjabloon:Citaat."""

from __future__ import annotations

from bertdata.sources.wikipedia.templates.factories import Kept, Wrapped
from bertdata.sources.wikipedia.templates.functions import block
from bertdata.sources.wikipedia.templates.locales.locale import (
    Locale,
    Numbers,
    after_the_code,
    names_of,
    naming,
    number,
)

NUMBERS = Numbers(".", ",")
_foreign = naming(
    "{name}: {text}",
    names_of(
        "af Afrikaans, ar Arabisch, bg Bulgaars, ca Catalaans, cs Tsjechisch, da Deens, de Duits, el Grieks, "
        "en Engels, es Spaans, et Estisch, eu Baskisch, fa Perzisch, fi Fins, fr Frans, fy Fries, grc Oudgrieks, "
        "he Hebreeuws, hi Hindi, hr Kroatisch, hu Hongaars, hy Armeens, id Indonesisch, is IJslands, it Italiaans, "
        "ja Japans, ka Georgisch, ko Koreaans, la Latijn, lb Luxemburgs, lt Litouws, lv Lets, nl Nederlands, "
        "no Noors, pl Pools, pt Portugees, ro Roemeens, ru Russisch, sa Sanskriet, sk Slowaaks, sl Sloveens, "
        "sr Servisch, sv Zweeds, th Thai, tr Turks, uk Oekraïens, vi Vietnamees, wa Waals, yi Jiddisch, zh Chinees"
    ),
)

LOCALE = Locale(
    "nl",
    {
        "citaat, citaat met bron, quotebox": block,
        "citaatkort": Wrapped("“", "”"),
        "bron?, feit, wie?, wanneer?, waar?, welke?, hoeveel?, volgens wie?, afk, nowrap, verduidelijken": Kept("1"),
        "taal": after_the_code(_foreign),
        "getal": number(NUMBERS),
    },
    _foreign,
    NUMBERS,
)
