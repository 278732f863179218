"""French Wikipedia. Source: the pages of its templates, as https://fr.wikipedia.org/wiki/Modèle:Unité."""

from __future__ import annotations

import re

from bertdata.sources.wikipedia.templates.convert import Arguments, cvt
from bertdata.sources.wikipedia.templates.factories import Handler, Kept, Literal, Wrapped, get, joined, positional
from bertdata.sources.wikipedia.templates.functions import block, fraction
from bertdata.sources.wikipedia.templates.locales.locale import (
    Locale,
    Numbers,
    after_the_code,
    date,
    names_of,
    naming,
    number,
    quantity,
    words,
)

NUMBERS = Numbers(" ", ",")
MONTHS = words("janvier février mars avril mai juin juillet août septembre octobre novembre décembre")
ROMAN = words(
    "I II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI XVII XVIII XIX XX XXI XXII XXIII XXIV XXV XXVI XXVII "
    "XXVIII XXIX XXX"
)
_BEFORE_CHRIST = " av. J.-C."
_foreign = naming(
    "en {name} : {text}",
    names_of(
        "ar arabe, bg bulgare, br breton, ca catalan, cs tchèque, da danois, de allemand, el grec moderne, "
        "en anglais, es espagnol, et estonien, eu basque, fa persan, fi finnois, fr français, grc grec ancien, "
        "he hébreu, hi hindi, hr croate, hu hongrois, hy arménien, id indonésien, is islandais, it italien, "
        "ja japonais, ka géorgien, ko coréen, la latin, lt lituanien, lv letton, nl néerlandais, no norvégien, "
        "oc occitan, pl polonais, pt portugais, ro roumain, ru russe, sa sanskrit, sk slovaque, sl slovène, "
        "sr serbe, sv suédois, th thaï, tr turc, uk ukrainien, vi vietnamien, yi yiddish, zh chinois"
    ),
)
_date = date([*MONTHS])


def ordinal(roman: str) -> str:
    """Return the ordinal of a Roman number; anything else is returned as it is.

    >>> ordinal("I"), ordinal("xix"), ordinal("au")
    ('Ier', 'XIXe', 'au')
    """
    if not re.fullmatch("[IVXLCDMivxlcdm]+", roman):
        return roman
    return roman.upper() + ("er" if roman in ("I", "i") else "e")


def century(after: str = "") -> Handler:
    """{{s|XIX}}: XIXe siècle; {{sp|XVI|e|ou|XVII|e}}: XVIe ou XVIIe siècle; {{s2|XII|XIII}}: XIIe et XIIIe siècles."""

    def handler(arguments: Arguments) -> str | None:
        words = [value for value in positional(arguments) if value not in ("e", "er", "s")]
        shown = [ordinal(value) for value in words]
        return f"{' '.join(shown)} siècle{after}" if shown else None

    return handler


def _centuries(after: str = "") -> Handler:
    def handler(arguments: Arguments) -> str | None:
        shown = [ordinal(value) for value in positional(arguments) if value not in ("e", "er")]
        return f"{', '.join(shown[:-1])} et {shown[-1]} siècles{after}" if len(shown) > 1 else None

    return handler


def _day(arguments: Arguments) -> str | None:
    """{{date|1|juillet|1789}}, {{date|1 7 1789}}: 1er juillet 1789."""
    parts = get(arguments, "1").split()
    if len(parts) == 3 and not get(arguments, "2"):
        arguments = dict(zip("123", parts, strict=True))
    text = _date(arguments)
    return re.sub(r"\A1 ", "1er ", text) if text else None


def _ordinals(shown: str) -> Handler:
    """{{84e|congrès}}: 84e congrès."""
    return lambda arguments: f"{shown} {get(arguments, '1')}".strip()


def _sovereign(arguments: Arguments) -> str | None:
    """{{souverain2|Joseph II (empereur)}}: Joseph II."""
    return re.sub(r" \([^()]*\)\Z", "", get(arguments, "2", "1")) or None


def _number_sign(arguments: Arguments) -> str:
    return f"no {get(arguments, '1')}".strip()


LOCALE = Locale(
    "fr",
    {
        # numbers, dates, centuries
        "unité, tmp, unité/2": quantity(NUMBERS),
        "nombre, nb, formatnum": number(NUMBERS),
        "date, date-, jma, date de naissance, date de décès, date naissance, date décès, date sport, date-sport": _day,
        "s, s-, s mini siècle": century(),
        "sp, sp-": century(),
        "s2, s2-": _centuries(),
        "-s, -s-": century(_BEFORE_CHRIST),
        "-s2, -s2-": _centuries(_BEFORE_CHRIST),
        "s mini, nobr romains, romain, rom, rom-maj, rom-min": lambda arguments: ordinal(get(arguments, "1")) or None,
        **{f"{ordinal(one).lower()} siècle": Literal(f"{ordinal(one)} siècle") for one in ROMAN},
        **{
            f"{ordinal(one).lower()} siècle av. j.-c.": Literal(f"{ordinal(one)} siècle{_BEFORE_CHRIST}")
            for one in ROMAN
        },
        **{ordinal(one).lower(): _ordinals(ordinal(one)) for one in ROMAN},
        **{f"{one}e": _ordinals(f"{one}e") for one in range(2, 101)},
        "1er": _ordinals("1er"),
        "1re, 1ère": _ordinals("1re"),
        "ire, ière": _ordinals("Ire"),
        "2d": _ordinals("2d"),
        "2de": _ordinals("2de"),
        "er": Literal("er"),
        "e, ème": Literal("e"),
        "re, ère": Literal("re"),
        "nd": Literal("nd"),
        "nde": Literal("nde"),
        "exp": Kept("1"),
        "av jc, av. j.-c., avjc": Literal("av. J.-C."),
        "ap jc, apr. j.-c., apjc": Literal("apr. J.-C."),
        "n°, numéro, no": _number_sign,
        "numéro avec majuscule": lambda arguments: f"No {get(arguments, '1')}".strip(),
        "conversion": cvt,
        "fraction": fraction("⁄"),
        # quotations
        "citation bloc, début citation bloc": block,
        'citation, citation étrangère, «, guil, guillemets, ", cita, « », citation nécessaire': Wrapped(
            "« ", " »", ("1", "citation", "texte")
        ),
        "début citation, fin citation": Literal(""),
        # foreign words
        "en langue": after_the_code(_foreign),
        "langue, lang": Kept("2", "texte"),
        "latin, grec ancien, grec, polytonique, arabe, hébreu, cyrillique, translittération, phonétique fra": Kept("1"),
        # text with a note, or with a form
        "référence nécessaire, refnec, réf nécessaire, référence insuffisante, refins, référence souhaitée": Kept("1"),
        "passage non neutre, passage à vérifier, passage évasif, passage promotionnel, pertinence": Kept("1"),
        "pertinence détail, quand, qui, quoi, où, lesquels, combien, pourquoi, comment, selon qui": Kept("1"),
        "précision nécessaire, préciser, clarifier, attribution, attribuer, évasif, pas clair": Kept("1"),
        "petites capitales, pc, petit, grand, nobr, abréviation, abr, abréviation discrète": Kept("1"),
        "terme défini, terme, indice, exposant, ind, surligner, souligner, barre, unicode, mot, incise-": Kept("1"),
        "lnobr": Kept("2", "1"),
        "souverain, souverain-, souverain2, souverain3, sp2": _sovereign,
        "fchim, formule chimique": joined(),
        "etc., etc": Literal(", etc."),
        "m., monsieur": Literal("M."),
        "mm.": Literal("MM."),
        "mme, madame": Literal("Mme"),
        "mlle": Literal("Mlle"),
        "mgr": Literal("Mgr"),
        "dr": Literal("Dr"),
        "st": Literal("St"),
        "ste": Literal("Ste"),
        "p.": Wrapped("p. "),
        ",": Literal(""),
    },
    _foreign,
    NUMBERS,
)
