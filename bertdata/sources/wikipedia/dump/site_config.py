"""What differs from wiki to wiki: namespace names and disambiguation pages.

The tables of `site_config.toml` cover the larger Wikipedias. A dump names its own namespaces in `<siteinfo>`; read
those with `Namespaces.from_siteinfo`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from bertdata.io.package_data import toml_beside

_TABLES: dict[str, str] = toml_beside(__file__)


def _names(table: str) -> frozenset[str]:
    return frozenset(name.strip() for name in re.split("[,\n]", _TABLES[table]) if name.strip())


_FILES, _CATEGORIES = 6, 14
_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_FOLD_PREFIX: dict[int, int | str] = {**_ASCII_LOWER, ord("_"): " "}
_FOLD_NAME: dict[int, int | str] = {**_FOLD_PREFIX, ord("\t"): " ", ord("\n"): " "}


def fold_title(title: str) -> str:
    """Return the title of a section as the tables spell it: ASCII letters in lower case."""
    return title.translate(_ASCII_LOWER)


def fold_prefix(prefix: str) -> str:
    """Return the prefix of a link as the tables spell it: ASCII letters in lower case, spaces for underscores.

    >>> fold_prefix(" User_Talk")
    'user talk'
    """
    return prefix.translate(_FOLD_PREFIX).strip(" \t\n\x7f")


@lru_cache(maxsize=4096)
def fold_name(name: str) -> str:
    """Return the name of a template as the tables spell it: a folded prefix with single spaces.

    >>> fold_name("Birth__date and\\nage")
    'birth date and age'
    """
    return " ".join(filter(None, name.translate(_FOLD_NAME).split(" ")))


def case_variants(names: Iterable[str]) -> Iterator[str]:
    """Yield lower-case names in each case that folding keeps: it changes the letters of ASCII alone.

    >>> sorted(case_variants(["datei", "файл"]))
    ['datei', 'ФАЙЛ', 'Файл', 'файл']
    """
    for name in names:
        yield from (
            {name} if name.isascii() else {fold_title(one) for one in (name, name.upper(), name[:1].upper() + name[1:])}
        )


DISAMBIGUATION_TITLE = re.compile(
    r"\((?:disambiguation|begriffsklärung|homonymie|desambiguación|disambigua|desambiguação|doorverwijspagina|"
    r"ujednoznacznienie|olika betydelser|значения|значення|пояснение|曖昧さ回避|消歧义|消歧義|توضيح)\)\s*\Z",
    re.IGNORECASE,
)

LANGUAGE_CODES = _names("languages")


@dataclass(frozen=True)
class Namespaces:
    """The folded prefixes of the links that leave no text: of files, categories and other languages.

    >>> "datei" in DEFAULT_NAMESPACES.hidden, "alien" in DEFAULT_NAMESPACES.hidden
    (True, False)
    """

    hidden: frozenset[str] = frozenset(case_variants(_names("files") | _names("categories") | LANGUAGE_CODES))

    @classmethod
    def from_siteinfo(cls, names: Mapping[int, str | Iterable[str]]) -> Namespaces:
        """Build the namespaces of a dump from its `<siteinfo>`: number to one name or several.

        The English names and those of the larger Wikipedias stay understood whatever the wiki's language.

        >>> wiki = Namespaces.from_siteinfo({0: "", 6: "Attēls", 14: ["Kategorija", "K"]})
        >>> "attēls" in wiki.hidden, "image" in wiki.hidden, "k" in wiki.hidden
        (True, True, True)
        """
        own: set[str] = set()
        for number in (_FILES, _CATEGORIES):
            value = names.get(number, ())
            own.update([value] if isinstance(value, str) else value)
        prefixes = {name.replace("_", " ").strip().lower() for name in own} - {""}
        return cls(DEFAULT_NAMESPACES.hidden | frozenset(case_variants(prefixes)))


DEFAULT_NAMESPACES = Namespaces()

SECTIONS_WITHOUT_PROSE = frozenset(
    case_variants(title.strip() for title in re.split("[;\n]", _TABLES["sections"]) if title.strip())
)
"""The folded titles of sections without prose, of all wikis together."""

SECTIONS_OF_NOTES = frozenset(case_variants(["notes", "note", "anmerkungen", "notas", "noter", "uwagi"]))
"""The titles among those of sections without prose under which there may be prose: of notes that are no footnotes."""

PAGE_KINDS: dict[str, str] = {
    **dict.fromkeys(case_variants(_names("soft_redirect")), "soft redirect"),
    **dict.fromkeys(case_variants(_names("disambiguation")), "disambiguation"),
}
"""From a template's folded name to why a page that calls it holds no article."""

LIST_TITLE = re.compile(
    r"(?:lists? of|index of|outline of|timeline of|liste (?:der|des|de|von|over|du)|listes? des?|"
    r"lista (?:de|di|das?|dos?|degli|dei|delle|del)|listas? de|lijst van|список|списък|lista|قائمة|"
    r"danh sách|seznam|lista över|luettelo) |.*(?:一覧|列表|목록)(?: \([^()]*\))?\Z",
    re.IGNORECASE,
)
