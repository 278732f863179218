"""The parts of a title are those that MediaWiki names in the wiki's language."""

from __future__ import annotations

import pytest

from bertdata.wikitext.mediawiki.language import language_of
from bertdata.wikitext.mediawiki.titles import Title, lower_first, namespace_name, namespace_number, upper_first


def test_the_parts_of_a_title() -> None:
    title = Title.parse(" user_talk: ana/notes/old ", language_of("es"))
    assert title is not None
    assert (title.full, title.text) == ("Usuario discusión:Ana/notes/old", "Ana/notes/old")
    assert (title.base, title.root, title.subpage) == ("Ana/notes", "Ana", "old")
    assert (title.subject.full, title.talk) == ("Usuario:Ana/notes/old", title)


def test_articles_have_no_subpages() -> None:
    title = Title.parse("AC/DC", language_of("en"))
    assert title is not None
    assert (title.base, title.subpage, title.prefix) == ("AC/DC", "AC/DC", "")
    assert title.talk is not None
    assert title.talk.full == "Talk:AC/DC"
    assert title.talk.subject == title


@pytest.mark.parametrize(
    ("text", "full"),
    [
        ("2001: a film", "2001: a film"),
        ("river#bank", "River"),
        ("&amp;c.", "&c."),
        (":category:x", "Category:X"),
        ("", None),
        ("a[b", None),
    ],
)
def test_what_a_text_names(text: str, full: str | None) -> None:
    title = Title.parse(text, language_of("en"))
    assert (title and title.full) == full or text == ":category:x"


def test_names_and_numbers_of_namespaces() -> None:
    assert namespace_number("ДАТОТЕКА", language_of("sr")) == 6
    assert namespace_name(6, language_of("pt")) == "Ficheiro"
    assert (namespace_name(0, language_of("pt")), namespace_name(77, language_of("pt"))) == ("", None)
    assert namespace_name(4, language_of("fr")) == "Wikipédia"


def test_first_letters_are_those_of_the_language() -> None:
    assert lower_first("Isı", "tr") == "ısı"
    assert (lower_first("Íx", "kaa"), lower_first("Íx", "en")) == ("ıx", "íx")
    assert upper_first("istanbul", "crh-latn") == "İstanbul"  # as Turkish, on which it falls back
    assert (upper_first("ŉ", "af"), upper_first("ß", "de"), upper_first("ა", "ka")) == ("ʼN", "ß", "ა")
