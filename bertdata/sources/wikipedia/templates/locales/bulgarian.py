"""Bulgarian Wikipedia, where {{lang|de|Wort}} names the language as {{lang-de|Wort}} does."""

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
    "на {name}: {text}",
    names_of(
        "ar арабски, be беларуски, bg български, ca каталонски, cs чешки, da датски, de немски, el гръцки, "
        "en английски, es испански, et естонски, fa персийски, fi фински, fr френски, grc старогръцки, he иврит, "
        "hi хинди, hr хърватски, hu унгарски, hy арменски, is исландски, it италиански, ja японски, ka грузински, "
        "ko корейски, la латински, lt литовски, lv латвийски, mk македонски, nl нидерландски, no норвежки, "
        "pl полски, pt португалски, ro румънски, ru руски, sa санскрит, sk словашки, sl словенски, sq албански, "
        "sr сръбски, sv шведски, tr турски, uk украински, zh китайски"
    ),
)

LOCALE = Locale(
    "bg",
    {
        "lang": after_the_code(_foreign),
        "цитат, цитат2, начало на цитат": block,
        "факт, кой, кога, къде, б.пр., нп": Kept("1"),
        "число, бр": number(NUMBERS),
    },
    _foreign,
    NUMBERS,
)
