"""Arabic Wikipedia. Source: the pages of its templates, as https://ar.wikipedia.org/wiki/قالب:اقتباس."""

from __future__ import annotations

from bertdata.sources.wikipedia.templates.convert import Arguments, cvt
from bertdata.sources.wikipedia.templates.factories import Handler, Kept, Literal, Wrapped, get
from bertdata.sources.wikipedia.templates.functions import block
from bertdata.sources.wikipedia.templates.locales.locale import Locale, after_the_code, names_of, naming, of_language

NAMES = names_of(
    "bg البلغارية, ca الكتالونية, cs التشيكية, da الدنماركية, de الألمانية, el اليونانية, en الإنجليزية, "
    "es الإسبانية, fa الفارسية, fi الفنلندية, fr الفرنسية, grc الإغريقية, he العبرية, hi الهندية, hu المجرية, "
    "hy الأرمنية, id الإندونيسية, it الإيطالية, ja اليابانية, ka الجورجية, ko الكورية, ku الكردية, la اللاتينية, "
    "nl الهولندية, no النرويجية, pl البولندية, pt البرتغالية, ro الرومانية, ru الروسية, sr الصربية, sv السويدية, "
    "syr السريانية, tr التركية, uk الأوكرانية, ur الأردية, vi الفيتنامية, zh الصينية"
)
_foreign = naming("ب{name}: {text}", NAMES)
_SHORT = names_of("en إنج, de أل, fr فر, la لات, el يون, es إسب, it إيط, ru روس, tr تر, fa فار, he عبر")


def _parenthesised(code: str) -> Handler:
    """{{ألمانية|Spree}}: (بالألمانية: Spree)."""

    def handler(arguments: Arguments) -> str | None:
        return f"({_foreign(code, arguments)})" if get(arguments, "1") else None

    return handler


LOCALE = Locale(
    "ar",
    {
        **{name.removeprefix("ال"): _parenthesised(code) for code, name in NAMES.items()},
        **{short: _parenthesised(code) for code, short in _SHORT.items()},
        **{f"لغة-{short}": of_language(_foreign, code) for code, short in _SHORT.items()},
        "لغة, lang-x": after_the_code(_foreign),
        "اقتباس, اقتباس خاص, اقتباس مركزي, مقتبس, اقتباس طويل": block,
        "بحاجة لمصدر, حاجة لمصدر, من, متى, أين, توضيح نص, غير واضح": Kept("1"),
        "مصغر, صغير, بلا فصل, لا فصل, نص عريض, شريط, كلمة, تلميح, اختصار": Kept("1"),
        "وإو, و إ و": Kept("نص", "عر", "1"),
        "تحويل": cvt,
        "هـ": Wrapped("", " هـ"),
        "صلى الله عليه وسلم, ص": Literal("صلى الله عليه وسلم"),
        "عليه السلام": Literal("عليه السلام"),
        "شرطة": Literal("–"),
    },
    _foreign,
)
