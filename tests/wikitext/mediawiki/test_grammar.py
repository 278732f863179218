"""A word takes the case that MediaWiki's rules for the language give it."""

from __future__ import annotations

import pytest

from bertdata.wikitext.mediawiki.grammar import inflect
from bertdata.wikitext.mediawiki.language import language_of


@pytest.mark.parametrize(
    ("language", "case", "word", "written"),
    [
        ("he", "prefixed", "Wikipedia", "־Wikipedia"),
        ("he", "תחילית", "הארץ", "ארץ"),
        ("fi", "elative", "Helsinki", "Helsinkistä"),
        ("fi", "elative", "Turku", "Turkusta"),
        ("fi", "inessive", "Oslowiki", "Oslowikissä"),
        ("fi", "illative", "Paris", "Parisiin"),
        ("fi", "partitive", "Jyväskylä", "Jyväskylää"),
        ("hu", "rol", "Budapest", "Budapestról"),
        ("hu", "genitive", "Budapest", ""),
        ("dsb", "instrumental", "Chóśebuz", "wo z Chóśebuz"),
        ("sl", "mestnik", "Celje", "o Celje"),
        ("ru", "languageadverb", "русский", "по-русски"),
        ("nb", "genitive", "Paris", "Paris’"),
        ("nb", "genitive", "Oslo", "Oslos"),
        ("ru", "genitive", "", ""),
        ("de", "genitive", "Berlin", "Berlin"),
    ],
)
def test_a_word_takes_its_case(language: str, case: str, word: str, written: str) -> None:
    assert inflect(word, case, language_of(language).grammar) == written
