"""The templates whose text belongs to the prose, by name.

`table.toml` has those whose text is fixed or one of their arguments, the table here those that a function of
`templates/functions` writes. Hatnotes, boxes, citations, cleanup notes, coordinates and pronunciations are left out on
purpose. `templates/unknown` decides what a template leaves that is in no table. A user's own table, read by
`own_templates`, takes precedence.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import NamedTuple

from bertdata.errors import InputError
from bertdata.io.package_data import toml_beside
from bertdata.wikitext.mediawiki.folding import case_variants, fold_name
from bertdata.wikitext.mediawiki.language import Language
from bertdata.wikitext.mediawiki.page_kinds import page_kinds
from bertdata.wikitext.templates import factories, functions, short_texts
from bertdata.wikitext.templates.convert import Arguments, convert, cvt
from bertdata.wikitext.templates.expansions import OnPage, PageExpansions
from bertdata.wikitext.templates.factories import Handler, Literal, get, joined, positional
from bertdata.wikitext.templates.locales.locale import ENGLISH, Locale
from bertdata.wikitext.templates.locales.read import handlers_of, locale_of
from bertdata.wikitext.templates.parser_functions import known_functions, known_variables


class CallNames(NamedTuple):
    """The folded names of a wiki's functions and variables, and of the templates that tell what a page is."""

    language: Language
    functions: frozenset[str]
    variables: frozenset[str]
    kinds: Mapping[str, str]


class Templates:
    """The templates that carry text: those of this module, those of the wiki's language, and `own` ones.

    Of two of one name the later in this order counts.

    >>> templates = Templates({"my box": lambda arguments: arguments["1"] + "!"})
    >>> templates.render("my box", {"1": "It rained"}), templates.render("lang-fr", {"1": "Paris"})
    ('It rained!', 'French: Paris')
    >>> templates.carries_text("citation needed")
    False
    """

    def __init__(self, user_templates: Mapping[str, Handler] | None = None, locale: Locale = ENGLISH) -> None:
        self.own = dict(user_templates or {})
        self.locale = locale

    @cached_property
    def handlers(self) -> Mapping[str, Handler]:
        """From a template's folded name to the function that writes its text."""
        more = {**self.locale.handlers, **self.own}
        return {**TEMPLATES, **more} if more else TEMPLATES

    @cached_property
    def calls(self) -> CallNames:
        """What is called by other names than those of templates, in the wiki's language."""
        wiki = self.locale.wiki
        return CallNames(wiki, known_functions(wiki), known_variables(wiki), page_kinds(self.locale.code))

    def carries_text(self, name: str) -> bool:
        """Tell whether a call of this template can leave text, so that its arguments are worth reading."""
        return name in self.handlers or name.startswith("lang-")

    def render(self, name: str, arguments: Arguments, expansions: PageExpansions | None = None) -> str | None:
        """Return the prose a template call stands for; None if it has none.

        `name` is folded (`site_config.fold_name`); `arguments` are numbered as MediaWiki does, and already rendered.
        `expansions` are those of the page so far, for templates that are expanded by their pages.
        """
        handler = self.handlers.get(name)
        if expansions is not None and isinstance(handler, OnPage):
            return handler.expand(arguments, expansions)
        return handler(arguments) if handler is not None else self.locale.foreign(name[5:], arguments)


@lru_cache(maxsize=64)
def templates_of(language: str, path: str = "", sha256: str = "") -> Templates:
    """Return the templates of a wiki's language, as `xml:lang` names it, with those of a user's table if there is one.

    A table is read once for each `sha256` that is given with it.

    >>> templates_of("fr").render("lang-de", {"1": "Wien"}), templates_of("") is BUILT_IN
    ('en allemand : Wien', True)
    """
    locale = locale_of(language)
    user_templates = own_templates(path).own if path else {}
    return Templates(user_templates, locale) if user_templates or locale is not ENGLISH else BUILT_IN


def own_templates(path: str) -> Templates:
    """Read a user's table of templates; raises InputError, with the line, where one is not `name, name = text`.

    In the text, {1} is an argument, {1|text} the first of two that is not blank; with no text the template leaves
    nothing. Blank lines and lines that begin with # say nothing.

    >>> from bertdata.io.files import write_bytes
    >>> write_bytes("memory://own.txt", b"# heights\\nelevation, altitude = {1} m\\n")
    >>> own_templates("memory://own.txt").render("altitude", {"1": "12"})
    '12 m'
    """
    from bertdata.io import compression

    handlers: dict[str, Handler] = {}
    with compression.open_decompressed(path) as file:
        lines = file.read().decode("utf-8", "replace").splitlines()
    for number, line in enumerate(lines, 1):
        names, equals, text = (part.strip() for part in line.partition("="))
        if not line.strip() or line.startswith("#"):
            continue
        folded = [fold_name(name.strip().lower()) for name in names.split(",") if name.strip()]
        if not equals or not folded:
            raise InputError(
                f"line {number} is {line!r}; expected `name, name = text`, as `elevation = {{1}} m`", path=path
            )
        handlers.update(dict.fromkeys(case_variants(folded), factories.pattern(text)))
    return Templates(handlers)


_FUNCTIONS: dict[str, Handler] = {
    "transl, translit, transliteration, tlit": functions.transliteration,
    "langx": functions.langx,
    "nihongo, nihongo foot, nihongo title, japonais": functions.nihongo,
    "nihongo3": functions.nihongo3,
    "sortname, bibleverse, bibleref, bibleref2, unité, tmp": joined(" ", most=2),
    "dash year": joined("–", most=2),
    "nuclide": joined("-", most=2),
    "post-nominals, postnominals, post nominals": lambda arguments: get(arguments, "list") or joined(" ")(arguments),
    "sic": functions.sic,
    "ussc, scotus": functions.supreme_court,
    "harvtxt, harvcoltxt": functions.textual_citation,
    "poemquote, poem quote": functions.poem_quote,
    "tag": short_texts.tag,
    "unichar": short_texts.code_point,
    "music": functions.music,
    # numbers and quantities
    "convert, conv": convert,
    "cvt": cvt,
    "val": functions.value,
    "±, +-": lambda arguments: "±" + get(arguments, "1"),
    "su": functions.sub_and_superscript,
    "currency": short_texts.currency,
    "inrconvert": short_texts.rupees,
    "height": functions.height,
    "plural": functions.plural,
    "formatprice, format price, nts, number table sorting": lambda arguments: (
        functions.format_number(get(arguments, "1")) or None
    ),
    "nombre": lambda arguments: functions.format_number(get(arguments, "1")).replace(",", " ") or None,
    "ordinal": functions.ordinal,
    "höhe": lambda arguments: f"{get(arguments, '1')} m" if get(arguments, "1") else None,
    # dates
    "birth date, birth-date, birth date and age, birth date and age2, bda": functions.date,
    "death date, death-date, start date, start date and age, end date, end date and age, film date": functions.date,
    "death date and age, dda": functions.death_date_and_age,
    "circa, ca, c.": functions.circa,
    "as of, asof": functions.as_of,
    "oldstyledate, oldstyledatedy, old style date": functions.old_style_date,
    "oldstyledateny": lambda arguments: functions.old_style_date({**arguments, "2": "", "3": get(arguments, "2")}),
    "nbay, nba year, abay": short_texts.season("NBA"),
    "nhly, nhl year": short_texts.season("NHL"),
    "age": short_texts.age,
    "marriage": short_texts.marriage,
    "heure": lambda arguments: " h ".join(positional(arguments)[:2]) or None,
    # science
    "chem, chem/link": functions.chemistry,
    "delta": lambda arguments: "δ" + "".join(positional(arguments)[:2]),
    "jupiter mass": functions.before_unit("MJ"),
    "solar mass": functions.before_unit("M☉"),
    "solar radius": functions.before_unit("R☉"),
    "solar luminosity": functions.before_unit("L☉"),
    "earth mass": functions.before_unit("M🜨"),
    "earth radius": functions.before_unit("R🜨"),
    "subatomic particle": short_texts.particle,
    # laws, companies, teams, ships
    "in lang": short_texts.in_languages,
    "us patent": short_texts.patent,
    "unitedstatescode, usc": short_texts.code_of_law,
    "ushr": short_texts.district,
    "fb, fbw, cr, crw, ru, rut, bk, bkw, vb, vbw, ih, ihw, hb, hbw, wp, rl": short_texts.country,
    **{
        name.lower(): short_texts.exchange(name)
        for name in ("NYSE", "Nasdaq", "LSE", "TYO", "ASX", "TSX", "SEHK", "BSE")
    },
    "ship": functions.ship(""),
    "sclass, sclass-, sclass2, sclass2-": functions.ship_class,
}
_TABLE = toml_beside(__file__)
_TEXTS = {**_FUNCTIONS, **handlers_of(_TABLE, {"block": functions.block})}
_SHIP_PREFIXES = [
    "uss", "hms", "hmas", "hmcs", "hmnzs", "hmt", "hmy", "ss", "rms", "mv", "ms", "mt", "mts", "ts", "ps",
    "rrs", "rv", "sv", "usns", "uscgc", "usat", "usrc", "sms", "sas", "orp", "hnoms", "hdms", "hnlms",
    "hswms", "rfa", "css", "ara",
]  # fmt: skip
_GREEK = {
    **{"alpha": "α", "beta": "β", "gamma": "γ", "epsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ", "iota": "ι"},
    **{"kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "omicron": "ο", "pi": "π", "rho": "ρ"},
    **{"sigma": "σ", "tau": "τ", "upsilon": "υ", "phi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω"},
}

TEMPLATES: dict[str, Handler] = {
    **{prefix: functions.ship(prefix.upper()) for prefix in _SHIP_PREFIXES},
    **{name: Literal(letter) for name, letter in _GREEK.items()},
    **{name: handler for names, handler in _TEXTS.items() for name in case_variants(names.split(", "))},
}
"""From a template's folded name to the function that writes its text."""

BUILT_IN = Templates()
