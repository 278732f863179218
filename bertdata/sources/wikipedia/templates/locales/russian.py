"""Russian Wikipedia. Source: the pages of its templates, as https://ru.wikipedia.org/wiki/Шаблон:Цитата."""

from __future__ import annotations

from bertdata.sources.wikipedia.templates.convert import Arguments
from bertdata.sources.wikipedia.templates.factories import Kept, Literal, get
from bertdata.sources.wikipedia.templates.functions import block
from bertdata.sources.wikipedia.templates.locales.locale import (
    Locale,
    Numbers,
    after_the_code,
    date,
    names_of,
    naming,
    number,
    words,
)

NUMBERS = Numbers(" ", ",", 5)
MONTHS = words("января февраля марта апреля мая июня июля августа сентября октября ноября декабря")
_foreign = naming(
    "{name} {text}",
    names_of(
        "ar араб., az азерб., be белор., bg болг., ca кат., cs чеш., da дат., de нем., el греч., en англ., es исп., "
        "et эст., eu баск., fa перс., fi фин., fr фр., grc др.-греч., he ивр., hi хинди, hr хорв., hu венг., "
        "hy арм., id индон., is исл., it итал., ja яп., ka груз., kk каз., ko кор., la лат., lt лит., lv латыш., "
        "mn монг., nl нидерл., no норв., pl польск., pt порт., ro рум., ru рус., sa санскр., sk словацк., "
        "sl словен., sr серб., sv швед., tg тадж., th тайск., tk туркм., tr тур., tt татар., uk укр., uz узб., "
        "vi вьетн., yi идиш, zh кит."
    ),
)


def _day(text: str) -> str:
    """Write 6.6 as a day and a month; anything else is returned as it is."""
    day, dot, month = text.partition(".")
    known = dot and day.isdigit() and month.isdigit() and 1 <= int(month) <= len(MONTHS)
    return f"{int(day)} {MONTHS[int(month) - 1]}" if known else text


def _old_style(arguments: Arguments) -> str | None:
    """{{OldStyleDate|6 июня|1799|26 мая}}: 26 мая (6 июня) 1799."""
    new, year, old, old_year = (get(arguments, str(n)) for n in range(1, 5))
    if not new or not old:
        return " ".join(filter(None, (_day(new), year))) or None
    new, old = _day(new), _day(old)
    return f"{old} {old_year} ({new} {year})" if old_year and old_year != year else f"{old} ({new}) {year}".strip()


LOCALE = Locale(
    "ru",
    {
        "num, число, formatnum, nts": number(NUMBERS),
        "date, дата, др, дс": date(MONTHS),
        "oldstyledate, старая дата": _old_style,
        "цитата, начало цитаты, cquote, quote": block,
        "конец цитаты": Literal(""),
        "s, nobr, nobreak, nowrap, comment, подсказка, tt, abbr, comm": Kept("1"),
        "iw, не переведено, нп, нп1, нп2, нп3, нп4, нп5, нп6, не переведено 2, не переведено 3": Kept("2", "1"),
        "не переведено 4, не переведено 5, не переведено есть, translation, iw-": Kept("2", "1"),
        "нет аи 2, нет аи-2, уточнить, кто, кто?, где, когда, что, какой, чей, сколько, почему, стиль, оригинал": Kept(
            "1"
        ),
        "год": Kept("1"),
        "—, тире": Literal(" — "),
        "lang-x, язык": after_the_code(_foreign),
        "рубль, руб": Literal("₽"),
    },
    _foreign,
    NUMBERS,
)
