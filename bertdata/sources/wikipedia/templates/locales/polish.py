"""Polish Wikipedia. Source: the pages of its templates, as https://pl.wikipedia.org/wiki/Szablon:Cytat."""

from __future__ import annotations

from bertdata.sources.wikipedia.templates.factories import Kept
from bertdata.sources.wikipedia.templates.functions import block
from bertdata.sources.wikipedia.templates.locales.locale import (
    Locale,
    Numbers,
    after_the_code,
    names_of,
    naming,
    number,
)

NUMBERS = Numbers(" ", ",", 5)
_foreign = naming(
    "{name} {text}",
    names_of(
        "ar arab., be biał., bg bułg., ca kat., cs czes., da duń., de niem., el gr., en ang., es hiszp., et est., "
        "fa pers., fi fiń., fr fr., grc stgr., he hebr., hi hindi, hr chorw., hu węg., hy orm., is isl., it wł., "
        "ja jap., ka gruz., ko kor., la łac., lt lit., lv łot., nl niderl., no norw., pl pol., pt port., ro rum., "
        "ru ros., sa sanskr., sk słow., sl słoweń., sr serb., sv szw., tr tur., uk ukr., vi wiet., yi jid., zh chiń."
    ),
)

LOCALE = Locale(
    "pl",
    {
        "cytat, cytat d, długi cytat, blok cytatu": block,
        "fakt, kto, kiedy, gdzie, potrzebny przypis, nowrap, nobr, kapitaliki, u, nazwa": Kept("1"),
        "w języku, język, lang-x": after_the_code(_foreign),
        "liczba, wartość": number(NUMBERS),
    },
    _foreign,
    NUMBERS,
)
