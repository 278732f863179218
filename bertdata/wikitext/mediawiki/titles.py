"""Titles of pages: their namespace and name, as a wiki of a language writes them, `{{PAGENAME}}` and its relatives."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from bertdata.wikitext.character_references import undo_character_references
from bertdata.wikitext.mediawiki import facts
from bertdata.wikitext.mediawiki.language import Language

PROJECT, PROJECT_TALK = 4, 5
_WITH_SUBPAGES = frozenset([1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 15])
"""The namespaces in which a slash parts a page from its subpages, where a wiki's settings say nothing else."""
_NOT_IN_TITLES = re.compile(r"[\0-\x1f\x7f<>\[\]{}|\ufffd]")
_UPPER_FIRST = {"tr": {"i": "İ", "ı": "I"}, "az": {"i": "İ"}, "kaa": {"ı": "Í"}}
_LOWER_FIRST = {"tr": {"İ": "i", "I": "ı"}, "kaa": {"Í": "ı"}}
"""Where a language, and those that fall back on it, have other first letters than Unicode says."""


def upper_first(text: str, language: str) -> str:
    """Return a text whose first letter is a capital, as the language writes it.

    >>> upper_first("ısı", "tr"), upper_first("izmir", "tr"), upper_first("izmir", "en"), upper_first("ß", "de")
    ('Isı', 'İzmir', 'Izmir', 'ß')
    >>> upper_first("თბილისი", "ka"), upper_first("ǆep", "hr")  # as in a title: no capitals of their own, a digraph
    ('თბილისი', 'ǅep')
    """
    first = text[:1]
    upper = _UPPER_FIRST.get(_cased_as(language), {}).get(first, first.title())
    return (first if first == "ß" else upper) + text[1:]


def lower_first(text: str, language: str) -> str:
    """Return a text whose first letter is small."""
    return _LOWER_FIRST.get(_cased_as(language), {}).get(text[:1], text[:1].lower()) + text[1:]


@lru_cache(maxsize=512)
def _cased_as(language: str) -> str:
    """Return the language whose first letters are those of a language: itself or one that it falls back on."""
    codes = [language, *facts.member(language)["fallback"]] if language in facts.codes() else []
    return next((code for code in codes if code in _UPPER_FIRST), "")


@dataclass(frozen=True)
class Title:
    """The number of a namespace, and the name of a page in it."""

    namespace: int
    text: str
    language: Language

    @classmethod
    def parse(cls, text: str, language: Language, *, as_it_is: bool = False) -> Title | None:
        """Return what a text names, None where it cannot be a title; its first letter becomes a capital.

        as_it_is: leave that letter, as in the title of a page that exists.

        >>> from bertdata.wikitext.mediawiki.language import language_of
        >>> Title.parse("category:big_towns", language_of("es")).full
        'Categoría:Big towns'
        """
        text = " ".join(undo_character_references(text).replace("_", " ").split()).partition("#")[0].strip()
        number, prefix, name = 0, *_split(text)
        if prefix:
            number = namespace_number(prefix, language) or 0
            text = name if number else text
        elif text.startswith(":"):
            text = name
        if not text or _NOT_IN_TITLES.search(text):
            return None
        return cls(number, text if as_it_is else upper_first(text, language.code), language)

    @property
    def full(self) -> str:
        """The title with the name of its namespace."""
        return f"{self.prefix}:{self.text}" if self.namespace else self.text

    @property
    def prefix(self) -> str:
        """The name of the namespace, "" for that of articles."""
        return namespace_name(self.namespace, self.language) or ""

    @property
    def base(self) -> str:
        """The name without that of the lowest subpage."""
        return self.text.rpartition("/")[0] if self._is_subpage else self.text

    @property
    def root(self) -> str:
        """The name of the page above all of its subpages."""
        return self.text.partition("/")[0] if self._is_subpage else self.text

    @property
    def subpage(self) -> str:
        """The name of the lowest subpage."""
        return self.text.rpartition("/")[2] if self._is_subpage else self.text

    @property
    def talk(self) -> Title | None:
        """The page of talk about it."""
        return None if self.namespace < 0 else Title(self.namespace | 1, self.text, self.language)

    @property
    def subject(self) -> Title:
        """The page that it is talk about, or itself."""
        return Title(self.namespace & ~1, self.text, self.language) if self.namespace > 0 else self

    @property
    def _is_subpage(self) -> bool:
        return self.namespace in _WITH_SUBPAGES and "/" in self.text


def _split(text: str) -> tuple[str, str]:
    prefix, colon, name = text.partition(":")
    return (prefix.strip(), name.strip()) if colon else ("", text)


def namespace_number(name: str, language: Language) -> int | None:
    """Return the number of the namespace of a name, in any case, None where there is none.

    >>> from bertdata.wikitext.mediawiki.language import language_of
    >>> namespace_number("FICHEIRO", language_of("pt")), namespace_number("Rome", language_of("pt"))
    (6, None)
    """
    wanted = name.replace("_", " ").strip().lower()
    return next(
        (
            number
            for number, names in language.namespaces.items()
            if any(wanted == alias.replace("_", " ").lower() for alias in names)
        ),
        None,
    )


def namespace_name(number: int, language: Language) -> str | None:
    """Return the name of a namespace, "" for that of articles, None where there is no such namespace."""
    if number == 0:
        return ""
    names = language.namespaces.get(number)
    return names[0].replace("$1", "Wikipedia") if names else None
