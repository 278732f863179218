"""The templates whose text belongs to the prose, by name.

One table from names to the functions of `templates/functions`. Hatnotes, boxes, citations, cleanup notes, coordinates
and pronunciations are left out on purpose. What a template leaves that is in no table is for `templates/unknown` to
say. A user's own table, read by `own_templates`, takes precedence.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache

from bertdata.errors import InputError
from bertdata.io import compression
from bertdata.sources.wikipedia.dump.site_config import case_variants, fold_name
from bertdata.sources.wikipedia.templates import factories, functions, short_texts
from bertdata.sources.wikipedia.templates.convert import Arguments, convert, cvt
from bertdata.sources.wikipedia.templates.factories import Handler, Kept, Literal, Wrapped, get, joined, positional
from bertdata.sources.wikipedia.templates.functions import block, money
from bertdata.sources.wikipedia.templates.locales.locale import ENGLISH, Locale, locale_of


class Templates:
    """The templates that carry text: those of this module, those of the wiki's language, and `own` ones.

    Of two of one name the later in this order counts.

    >>> templates = Templates({"my box": lambda arguments: arguments["1"] + "!"})
    >>> templates.render("my box", {"1": "It rained"}), templates.render("lang-fr", {"1": "Paris"})
    ('It rained!', 'French: Paris')
    >>> templates.carries_text("citation needed")
    False
    """

    def __init__(self, own: Mapping[str, Handler] | None = None, locale: Locale = ENGLISH) -> None:
        self.own = dict(own or {})
        self.locale = locale

    @cached_property
    def handlers(self) -> Mapping[str, Handler]:
        """From a template's folded name to the function that writes its text."""
        more = {**self.locale.handlers, **self.own}
        return {**TEMPLATES, **more} if more else TEMPLATES

    def carries_text(self, name: str) -> bool:
        """Tell whether a call of this template can leave text, so that its arguments are worth reading."""
        return name in self.handlers or name.startswith("lang-")

    def render(self, name: str, arguments: Arguments) -> str | None:
        """Return the prose a template call stands for; None if it has none.

        `name` is folded (`site_config.fold_name`); `arguments` are numbered as MediaWiki does, and already rendered.
        """
        handler = self.handlers.get(name)
        return handler(arguments) if handler is not None else self.locale.foreign(name[5:], arguments)


@lru_cache(maxsize=64)
def templates_of(language: str, path: str = "", sha256: str = "") -> Templates:
    """Return the templates of a wiki's language, as `xml:lang` names it, with those of a user's table if there is one.

    A table is read once for each `sha256` that is given with it.

    >>> templates_of("fr").render("lang-de", {"1": "Wien"}), templates_of("") is BUILT_IN
    ('en allemand : Wien', True)
    """
    locale = locale_of(language)
    own = own_templates(path).own if path else {}
    return Templates(own, locale) if own or locale is not ENGLISH else BUILT_IN


def own_templates(path: str) -> Templates:
    """Read a user's table of templates; raises InputError, with the line, where one is not `name, name = text`.

    In the text, {1} is an argument, {1|text} the first of two that is not blank; with no text the template leaves
    nothing. Blank lines and lines that begin with # say nothing.

    >>> from bertdata.io.files import write_bytes
    >>> write_bytes("memory://own.txt", b"# heights\\nelevation, altitude = {1} m\\n")
    >>> own_templates("memory://own.txt").render("altitude", {"1": "12"})
    '12 m'
    """
    own: dict[str, Handler] = {}
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
        own.update(dict.fromkeys(case_variants(folded), factories.pattern(text)))
    return Templates(own)


_TEXT: dict[str, Handler] = {
    # text passed through
    "nowrap, nobr, nobreak, no break, nwr, small, smaller, smalldiv, big, larger, large, center, centre": Kept("1"),
    "huge, serif, sans-serif, abbrlink, stn, rws, stnlnk, qi, by, baseball year, mlby, nfly": Kept("1"),
    "em, strong, italics correction, nobold, noitalic, smallcaps, sc, small caps, sc1, sc2, aut, allcaps": Kept("1"),
    "var, mono, code, codett, kbd, samp, tt, sub, sup, overline, underline, unicode, polytonic, iast": Kept("1"),
    "math, mvar, tmath, bigmath": Kept("1"),
    "not a typo, notatypo, typo, as written, proper name, ins, midsize, mxt, xt, tq": Kept("1"),
    "visible anchor, vanchor": Kept("text", "1"),
    # the arguments before the text, if any, are a size, a script, a link's target or colours
    "resize, script, w, no redirect, station link, stl": Kept("2", "1"),
    "font": Kept("text", "1"),
    "font color, font colour, fontcolor, fontcolour": Kept("3", "2", "text"),
    "citation needed span, cn-span, clarify span, vague span, disputed inline span": Kept("text", "1"),
    # cleanup notes that carry, as text=, the very words they complain about
    "clarify, vague, which, who, whom, when, where, specify, elucidate, dubious, explain, what, quantify": Kept("text"),
    "according to whom, by whom, weasel inline, peacock inline, jargon inline": Kept("text"),
    "abbr, abbrv, tooltip, hover title, define, kanji, nihongo2, species, langr, nq, angle, block indent": Kept(
        "1", "text"
    ),
    "flag, flagcountry, flagu, flag+link, country, flaglink": Kept("1"),
    "lang, wikt-lang, rtl-lang, color, colour, colored text, bg, highlight": Kept("2", "text"),
    "script/hebrew, script/arabic, script/greek, script/latin, script/cyrillic, script/armenian": joined(),
    "script/devanagari, script/nastaliq, script/coptic, script/tibetan, script/mongolian, script/gothic": joined(),
    "hebrew, hayeren, linktext, gaps, chem2": joined(),
    "hlist, flatlist, cslist, comma separated entries": joined(", "),
    "transl, translit, transliteration, tlit": functions.transliteration,
    "langx": functions.langx,
    "nihongo, nihongo foot, nihongo title": functions.nihongo,
    "nihongo3": functions.nihongo3,
    "ill, interlanguage link, interlanguage link multi, illm, link-interwiki, iw2": Kept("lt", "display", "1"),
    "sortname": joined(" ", most=2),
    "post-nominals, postnominals, post nominals": lambda arguments: get(arguments, "list") or joined(" ")(arguments),
    "keypress, key press, key, keys": joined("+"),
    "nee, née": Wrapped("née "),
    "ne, né": Wrapped("né "),
    "lit, lit., literal, literal translation": functions.glosses("lit. "),
    "gloss": functions.glosses(""),
    "sic": functions.sic,
    "angbr, angle bracket, gph, grapheme": Wrapped("⟨", "⟩"),
    "equationnote, equationref, eqnref": Wrapped("(", ")"),
    "ussc, scotus": functions.supreme_court,
    "harvtxt, harvcoltxt": functions.textual_citation,
    "bibleverse, bibleref, bibleref2": joined(" ", most=2),
    # quotations
    "quote, blockquote, cquote, quotation, bquote, bq, quotetext, centered quote, long quote, block quote": block,
    "zitat, cita, citation bloc, cytat, citaat": block,
    "poemquote, poem quote": functions.poem_quote,
    # spaces and dashes
    "nbsp, space, spaces, sp, thinsp, thin space, hair space, hairsp, hsp, ensp, emsp, pad, nnbsp, nbs": Literal(" "),
    "break, br, crlf": Literal(" "),
    "pb, paragraph break, parabr": Literal("\n\n"),
    "shy, wbr, zwsp, zwj, zwnj, lrm, rlm, soft hyphen, wj": Literal(""),
    "nowrap begin, nobr begin, nowrap end, nobr end, nowrapbegin, nowrapend, end nowrap": Literal(""),
    "ndash, en dash, endash, –": Literal("–"),
    "mdash, em dash, emdash, —": Literal("—"),
    "snd, spnd, sndash, spnds, snds, spaced ndash, spaced en dash, spaced en dash space, nbnd, nbndash": Literal(" – "),
    "ndashb, dash, dashb": Literal(" – "),
    "mdashb, snmd, spaced mdash, spaced em dash, nbmdash": Literal(" — "),
    "hyphen, hyp, nbh, nbhyph, nbhyphen, non-breaking hyphen, nb hyphen": Literal("-"),
    "·, middot, dot, ·w, •, bull, bullet, •w": Literal(" · "),
    # marks; apostrophes as entities, so that they never join a run of quote marks
    "', apos, apostrophe": Literal("&#39;"),
    "-'": Literal("&#39;"),
    "'s": Literal("&#39;s"),
    "\"'": Literal('"&#39;'),
    "'\"": Literal('&#39;"'),
    "\" '": Literal('" &#39;'),
    "' \"": Literal('&#39; "'),
    "=": Literal("&#61;"),
    "minus": Literal("−"),
    "times": Literal("×"),
    "okina": Literal("ʻ"),
    "hamza": Literal("ʾ"),
    "ayin": Literal("ʿ"),
    "asterisk": Literal("&#42;"),
    "hash": Literal("&#35;"),
    "dagger, extinct": Literal("†"),
    "ell": Literal("ℓ"),
    "tag": short_texts.tag,
    "unichar": short_texts.code_point,
    "music": functions.music,
    # numbers and quantities
    "convert, conv": convert,
    "cvt": cvt,
    "val": functions.value,
    "frac, fraction": functions.fraction("⁄"),
    "sfrac": functions.fraction("/"),
    "1/2, half": Literal("1⁄2"),
    "e": Wrapped("×10"),
    "10^": Wrapped("10"),
    "±, +-": lambda arguments: "±" + get(arguments, "1"),
    "su": functions.sub_and_superscript,
    "ratio": joined(":"),
    "us$, usd": money("US$"),
    "a$, aud, au$": money("A$"),
    "ca$, cad, c$, can$": money("CA$"),
    "nz$, nzd": money("NZ$"),
    "hk$, hkd": money("HK$"),
    "s$, sgd": money("S$"),
    "gbp, £": money("£"),
    "eur, euro, €": money("€"),
    "jpy, yen, ¥": money("¥"),
    "cny, cn¥, rmb": money("CN¥"),
    "inr, indian rupee, ₹": money("₹"),
    "krw, south korean won": money("₩"),
    "chf": money("CHF "),
    "php, philippine peso": money("₱"),
    "currency": short_texts.currency,
    "inrconvert": short_texts.rupees,
    "height": functions.height,
    "plural": functions.plural,
    "formatprice, format price, nts, number table sorting": lambda arguments: (
        functions.format_number(get(arguments, "1")) or None
    ),
    "ordinal": functions.ordinal,
    "track gauge, railgauge, rail gauge": Kept("1"),
    # dates
    "birth date, birth-date, birth date and age, birth date and age2, bda": functions.date,
    "death date, death-date, start date, start date and age, end date, end date and age, film date": functions.date,
    "death date and age, dda": functions.death_date_and_age,
    "birth year and age, birth based on age as of date, dts, date, formatdate, start-date, end-date": Kept("1"),
    "circa, ca, c.": functions.circa,
    "floruit, fl., fl": functions.years("fl."),
    "reign, r.": functions.years("r."),
    "born, b.": functions.years("b."),
    "died, d.": functions.years("d."),
    "married, m.": functions.years("m."),
    "as of, asof": functions.as_of,
    "oldstyledate, oldstyledatedy, old style date": functions.old_style_date,
    "oldstyledateny": lambda arguments: functions.old_style_date({**arguments, "2": "", "3": get(arguments, "2")}),
    "nbay, nba year, abay": short_texts.season("NBA"),
    "nhly, nhl year": short_texts.season("NHL"),
    "age": short_texts.age,
    "marriage": short_texts.marriage,
    "dash year": joined("–", most=2),
    # science
    "chem, chem/link": functions.chemistry,
    "ce": Kept("1"),
    "delta": lambda arguments: "δ" + "".join(positional(arguments)[:2]),
    "nuclide": joined("-", most=2),
    "jupiter mass": lambda arguments: f"{get(arguments, '1')} MJ".strip(),
    "solar mass": lambda arguments: f"{get(arguments, '1')} M☉".strip(),
    "solar radius": lambda arguments: f"{get(arguments, '1')} R☉".strip(),
    "solar luminosity": lambda arguments: f"{get(arguments, '1')} L☉".strip(),
    "earth mass": lambda arguments: f"{get(arguments, '1')} M🜨".strip(),
    "earth radius": lambda arguments: f"{get(arguments, '1')} R🜨".strip(),
    "subatomic particle": short_texts.particle,
    "mp": joined(),
    "sqrt": Wrapped("√"),
    "open-closed": Wrapped("(", "&#93;"),
    "closed-open": Wrapped("&#91;", ")"),
    "open-open": Wrapped("(", ")"),
    "closed-closed": Wrapped("&#91;", "&#93;"),
    # words, laws, companies, teams
    "in lang": short_texts.in_languages,
    "plural form": Wrapped("pl.: "),
    "us patent": short_texts.patent,
    "unitedstatescode, usc": short_texts.code_of_law,
    "isbn": Wrapped("ISBN "),
    "issn": Wrapped("ISSN "),
    "oclc": Wrapped("OCLC "),
    "ushr": short_texts.district,
    "fb, fbw, cr, crw, ru, rut, bk, bkw, vb, vbw, ih, ihw, hb, hbw, wp, rl": short_texts.country,
    **{
        name.lower(): short_texts.exchange(name)
        for name in ("NYSE", "Nasdaq", "LSE", "TYO", "ASX", "TSX", "SEHK", "BSE")
    },
    # ships
    "ship": functions.ship(""),
    "sclass, sclass-, sclass2, sclass2-": functions.ship_class,
    "smu": Wrapped("SM "),
    # other large Wikipedias: numbers, dates, links to other wikis, foreign words
    "unité, tmp": joined(" ", most=2),
    "langue": Kept("2", "texte"),
    "date-": Kept("1"),
    "heure": lambda arguments: " h ".join(positional(arguments)[:2]) or None,
    "incise": Wrapped("– ", " –"),
    "citazione necessaria, chiarire, 要出典範囲, 要検証範囲, en, maiuscoletto": Kept("1"),
    "m s.l.m., m s.l.m": Literal("m s.l.m."),
    '"': Wrapped("„", "“"),
    "höhe": lambda arguments: f"{get(arguments, '1')} m" if get(arguments, "1") else None,
    "tsl": Kept("4", "3", "2"),
    "nombre": lambda arguments: functions.format_number(get(arguments, "1")).replace(",", " ") or None,
    "japonais": functions.nihongo,
    "lien": Kept("texte", "trad", "1", "fr"),
    "仮リンク, le, link-en, internal link helper": Kept("1"),
    "нп, нп3, нп4, нп5, не переведено, не переведено 3, не переведено 5": Kept("2", "1"),
}

_SHIP_PREFIXES = [
    "uss", "hms", "hmas", "hmcs", "hmnzs", "hmt", "hmy", "ss", "rms", "mv", "ms", "mt", "mts", "ts", "ps",
    "rrs", "rv", "sv", "usns", "uscgc", "usat", "usrc", "sms", "sas", "ins", "orp", "hnoms", "hdms", "hnlms",
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
    **{name: handler for names, handler in _TEXT.items() for name in case_variants(names.split(", "))},
}
"""From a template's folded name to the function that writes its text."""

BUILT_IN = Templates()
