"""A page is a redirect exactly where MediaWiki takes it for one."""

from __future__ import annotations

import unicodedata

import pytest

from bertdata.wikitext.mediawiki.redirect_words import REDIRECT_WORDS, redirect_target


def target(text: str) -> str | None:
    return redirect_target(text.encode())


@pytest.mark.parametrize("word", sorted(REDIRECT_WORDS))
def test_each_word_of_the_table_begins_a_redirect(word: str) -> None:
    assert word == unicodedata.normalize("NFC", word)
    assert target(f"{word} [[Some page]]") == "Some page"
    assert target(f"{word.lower()}[[Some page]]") == "Some page" or "İ" in word
    assert target(f"{word} page") is None


def test_the_table_has_the_words_of_many_languages() -> None:
    assert len({word.casefold() for word in REDIRECT_WORDS}) > 150


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("#REDIRECT [[Rome]]", "Rome"),
        ("#redirect[[Rome]] {{R from move}}\ntext", "Rome"),
        (" \n\t\v#Redirect\n\n:  [[Rome]]", "Rome"),
        ("#REDIRECT [[Rome#History|its history]]", "Rome"),
        ("#REDIRECT [[:Category:Rome]]", "Category:Rome"),
        ("#REDIRECT [[ Caf%C3%A9 ]]", "Café"),
        ("#REDIRECT [[a|b|c]]", "a"),
        ("#yönlendir [[Roma]]", "Roma"),
        ("＃転送 [[ローマ]]", "ローマ"),
        ("#رجوع_مکرر [[روم]]", "روم"),
        ("#הפניה [[רומא]]", "רומא"),
        ("'#хьажайо' [[Рим]]", "Рим"),
        ("#ALIDIREKTI [[Romo]]", "Romo"),
        ("#REDIRECT [[#History]]", ""),
    ],
)
def test_a_redirect_leads_to_the_title_of_its_link(text: str, title: str) -> None:
    assert target(text) == title


@pytest.mark.parametrize(
    "text",
    [
        "",
        "#",
        "Rome",
        "REDIRECT [[Rome]]",
        "# REDIRECT [[Rome]]",
        "＃REDIRECT [[Rome]]",
        "#REDIRECT to [[Rome]]",
        "#REDIRECT :: [[Rome]]",
        "#REDIRECT\u00a0[[Rome]]",
        "#REDIRECT [[Rome",
        "#REDIRECT [[Ro\nme]]",
        "<!-- moved -->#REDIRECT [[Rome]]",
        "'''#REDIRECT''' [[Rome]]",
    ],
)
def test_what_mediawiki_shows_as_a_page_is_not_a_redirect(text: str) -> None:
    assert target(text) is None


def test_a_hostile_beginning_takes_no_time() -> None:
    for text in ("#REDIRECT [[" + "|" * 10**6, "#REDIRECT" + " " * 10**6, "\n" * 10**6, "#REDIRECT [[" + "]" * 10**6):
        assert target(text) in (None, "")
