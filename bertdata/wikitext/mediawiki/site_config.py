"""What differs from wiki to wiki: the prefixes of links, sections without prose.

The names of namespaces are MediaWiki's, of the wiki's language. A dump names its own in `<siteinfo>`, one of each;
read those with `Namespaces.from_siteinfo`. The sections of `site_config.toml` are those of the larger Wikipedias.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from bertdata.io.package_data import toml_beside
from bertdata.wikitext.mediawiki import facts
from bertdata.wikitext.mediawiki.folding import case_variants, folded_prefixes

_TABLES: dict[str, str] = toml_beside(__file__)


_FILES, _TEMPLATES, _CATEGORIES = 6, 10, 14
_LONGEST = 20
"""No code of a wiki has so many characters."""


def _of_all_languages() -> frozenset[str]:
    return frozenset(facts.member(facts.ALL)["prefixes"])


@dataclass(frozen=True)
class Namespaces:
    """The folded prefixes of a wiki's links: `hidden` leave no text, those of files, categories and other languages.

    `templates` are what can be before the name of a template. Where nothing is said of the wiki, the names of all
    languages are understood.

    >>> "datei" in DEFAULT_NAMESPACES.hidden, "alien" in DEFAULT_NAMESPACES.hidden
    (True, False)
    """

    hidden: frozenset[str] = field(default_factory=_of_all_languages)
    templates: frozenset[str] = frozenset(["template"])

    @classmethod
    def of_language(cls, language: str, wiki: str = "") -> Namespaces:
        """Build the namespaces of a wiki from what MediaWiki knows of its language; "" or an unknown one is all.

        wiki: its name, as "ptwiki", for the names that Wikimedia sets for it; default: the language's Wikipedia.

        >>> wiki = Namespaces.of_language("pt")
        >>> "ficheiro" in wiki.hidden, "arquivo" in wiki.hidden, "image" in wiki.hidden, "datei" in wiki.hidden
        (True, True, True, False)
        """
        return _of_language(facts.code_of(language), wiki or language.lower().replace("-", "_") + "wiki")

    @classmethod
    def from_siteinfo(cls, names: Mapping[int, str | Iterable[str]], language: str = "", wiki: str = "") -> Namespaces:
        """Build the namespaces of a dump from its `<siteinfo>`: number to one name or several.

        To these come the other names that MediaWiki has for the wiki's language; without `language` those of all.

        >>> wiki = Namespaces.from_siteinfo({0: "", 6: "Attēls", 14: ["Kategorija", "K"]})
        >>> "attēls" in wiki.hidden, "image" in wiki.hidden, "k" in wiki.hidden
        (True, True, True)
        >>> talk = Namespaces.from_siteinfo({1: "Jam"})  # a name of the wiki's own comes before a language's code
        >>> "jam" in talk.hidden, "de" in talk.hidden
        (False, True)
        """
        standard = cls.of_language(language, wiki)

        def of(*numbers: int) -> frozenset[str]:
            values = [names.get(number, ()) for number in numbers]
            return folded_prefixes(name for value in values for name in ([value] if isinstance(value, str) else value))

        shown = of(*(number for number in names if number not in (_FILES, _CATEGORIES)))
        return cls((standard.hidden - shown) | of(_FILES, _CATEGORIES), standard.templates | of(_TEMPLATES))


@lru_cache(maxsize=64)
def _of_language(code: str, wiki: str) -> Namespaces:
    if not code:
        return DEFAULT_NAMESPACES
    namespaces, added = facts.member(code)["namespaces"], facts.aliases_of_wiki(wiki)

    def of(number: int) -> frozenset[str]:
        return folded_prefixes(name for name in [*namespaces[str(number)], *added.get(number, ())] if name)

    others = {name.lower() for number, names in namespaces.items() for name in names if name and len(name) < _LONGEST}
    languages = frozenset(facts.member(facts.WIKIS)["codes"]) - others
    return Namespaces(of(_FILES) | of(_CATEGORIES) | languages, of(_TEMPLATES))


DEFAULT_NAMESPACES = Namespaces()

SECTIONS_WITHOUT_PROSE = frozenset(
    case_variants(title.strip() for title in re.split("[;\n]", _TABLES["sections"]) if title.strip())
)
"""The folded titles of sections without prose, of all wikis together."""

SECTIONS_OF_NOTES = frozenset(case_variants(["notes", "note", "anmerkungen", "notas", "noter", "uwagi"]))
"""The titles among those of sections without prose under which there may be prose: of notes that are no footnotes."""
