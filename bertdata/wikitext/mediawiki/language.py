"""A language as MediaWiki knows it: the names by which its wikis call functions, and how they write their text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

from bertdata.wikitext.mediawiki import facts
from bertdata.wikitext.mediawiki.grammar import Rules
from bertdata.wikitext.mediawiki.numbers import Numbers

if TYPE_CHECKING:
    from bertdata.wikitext.mediawiki.dates import Calendar

SWITCH, REDIRECT, HASH_FUNCTION = "switch", "redirect", "#function"
_OF_EXTENSIONS = ("__DISAMBIG__", "__NOTALK__", "__ARCHIVEDTALK__", "__NOGLOBAL__", "__EXPECTED_UNCONNECTED_PAGE__")
"""Switches of extensions that Wikimedia's wikis run: Disambiguator, DiscussionTools, GlobalUserPage, Wikibase."""
_VARIABLES = frozenset(["variable", "variable and function"])
_FUNCTIONS = frozenset(["function", HASH_FUNCTION, "variable and function"])


@dataclass(frozen=True)
class Names:
    """Magic words by what they stand for: `exact` as they are written, `folded` in any case, given in lower case.

    >>> language_of("de").variables.id_of("SEITENNAME"), language_of("de").variables.id_of("Seitenname")
    ('pagename', None)
    >>> language_of("de").functions.id_of("zahlenformat"), language_of("nl").functions.id_of("#als")
    ('formatnum', 'if')
    """

    exact: Mapping[str, str]
    folded: Mapping[str, str]
    written: Mapping[str, str] = field(default_factory=dict)
    """All of them as MediaWiki lists them: a capital may have no small letter that is one character."""

    def id_of(self, name: str) -> str | None:
        """Return what a name stands for."""
        return self.exact.get(name) or self.folded.get(name.lower())

    def items(self) -> Iterator[tuple[str, str]]:
        """Yield each name, and what it stands for."""
        yield from self.exact.items()
        yield from self.folded.items()


class Language:
    """One language, with those that it falls back on; "" is English, with the switches of all languages.

    >>> language_of("hi").numbers.format("1234567"), language_of("pt").namespaces[6][:3]
    ('12,34,567', ('Ficheiro', 'Imagem', 'Arquivo'))
    """

    def __init__(self, code: str) -> None:
        self.code = code

    @cached_property
    def _chain(self) -> tuple[dict[str, Any], ...]:
        """The facts of the language and of those that it falls back on, read when they are first asked for."""
        return facts.chain(self.code or "en")

    @cached_property
    def numbers(self) -> Numbers:
        """How numbers are written."""
        return Numbers.of(self._chain[0]["numbers"])

    @cached_property
    def plural_rules(self) -> Sequence[str]:
        """The conditions of the forms of a word, in their order."""
        return tuple(self._chain[0]["plural"])

    @cached_property
    def grammar(self) -> Rules:
        """The rules for the cases of a word."""
        return dict(self._chain[0].get("grammar", {}))

    @cached_property
    def calendar(self) -> Calendar:
        """The names of months and days."""
        return {kind: names for entry in reversed(self._chain) for kind, names in entry["calendar"].items()}

    @property
    def month_names(self) -> Sequence[str]:
        """The names of months as they stand in a date."""
        return self.calendar.get("genitive") or self.calendar["months"]

    @cached_property
    def namespaces(self) -> dict[int, tuple[str, ...]]:
        """The names of each namespace, the one that a dump lists first."""
        return {
            int(number): tuple(dict.fromkeys(name for name in names if name))
            for number, names in self._chain[0]["namespaces"].items()
        }

    @cached_property
    def variants(self) -> Mapping[str, Any]:
        """The variants of the language, as `facts` has them; nothing where it has none."""
        return dict(self._chain[0].get("variants", {}))

    def words(self, name: str) -> list[str]:
        """Return the words for one thing: the language's own, then those of the languages that it falls back on."""
        return list(dict.fromkeys(word for entry in self._chain for word in entry["words"].get(name, ())))

    @cached_property
    def variables(self) -> Names:
        """The names of what is called without arguments."""
        return self._names(_VARIABLES)

    @cached_property
    def functions(self) -> Names:
        """The names of functions, those of extensions with their number sign."""
        return self._names(_FUNCTIONS)

    def is_option(self, name: str, text: str) -> bool:
        """Tell whether a text is a word for an option, as `NOSEP` is for `nocommafysuffix`."""
        exact, folded = self._options(name)
        return text in exact or text.lower() in folded

    @lru_cache(maxsize=512)  # noqa: B019  (languages are few, and stay)
    def _options(self, name: str) -> tuple[frozenset[str], frozenset[str]]:
        """Return the words for an option that are read as they are written, and those of any case, in lower case."""
        words = self.words(name)
        if _kinds()[name][1]:
            return frozenset(words), frozenset()
        return frozenset(), frozenset(map(str.lower, words))

    def _names(self, kinds: frozenset[str]) -> Names:
        exact: dict[str, str] = {}
        folded: dict[str, str] = {}
        listed: dict[str, str] = {}
        for name, (kind, case) in _kinds().items():
            if kind not in kinds:
                continue
            names = exact if case else folded
            for word in self.words(name):
                written = word.removesuffix(":")
                written = "#" + written if kind == HASH_FUNCTION else written
                names.setdefault(written if case else written.lower(), name)
                listed[written] = name
        return Names(exact, folded, listed)

    @cached_property
    def switches(self) -> Names:
        """The behaviour switches, as `__NOTOC__`."""
        exact: dict[str, str] = {}
        folded: dict[str, str] = {}
        listed: dict[str, str] = {}
        for name, (kind, case) in _kinds().items():
            if kind == SWITCH:
                for word in self.words(name):
                    (exact if case else folded)[word if case else word.lower()] = name
                    listed.update({} if case else {word: name})
        if not self.code:
            as_written, in_any_case = facts.member(facts.ALL)["switches"]
            exact = dict.fromkeys(as_written, SWITCH)
            listed = dict.fromkeys(in_any_case, SWITCH)
            folded = {word.lower(): SWITCH for word in in_any_case}
        listed |= dict.fromkeys(_OF_EXTENSIONS, SWITCH)
        return Names(exact, folded, listed)


def _kinds() -> Mapping[str, tuple[str, int]]:
    """Return the kind of each magic word, and whether it is read only as it is written."""
    return dict(facts.member("en")["kinds"])


@lru_cache(maxsize=64)
def language_of(code: str) -> Language:
    """Return the language of a wiki by its code, as `xml:lang` or the name of the wiki has it.

    >>> language_of("zh-classical").code, language_of("").code
    ('lzh', '')
    """
    nearest_code = facts.code_of(code)
    if nearest_code == code:
        return Language(code)
    return language_of(nearest_code or ("en" if code else ""))
