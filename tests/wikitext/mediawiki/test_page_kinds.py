"""A page is left out as a list or a disambiguation by the words of its own wiki, a list also by how it looks."""

from __future__ import annotations

from collections import Counter

import pytest

from bertdata import clean_wikitext
from bertdata.wikitext.mediawiki.page_kinds import is_mostly_list, page_kinds, title_kind

PROSE = "It is a thing. It was made in 1990 by a man."
ITEMS = "These are the salts.\n* [[Halite]] of the sea\n* [[Sylvite]] of the desert\n* Borax"


@pytest.mark.parametrize(
    ("title", "language"),
    [
        ("Index of coincidence", "en"),
        ("List of Adrian Messenger", "en"),
        ("Lista Schindlera", "pl"),
        ("Список Шиндлера", "ru"),
        ("Liste de Swadesh", "fr"),
        ("قائمة شندلر", "ar"),
        ("Seznam Otto", "cs"),
    ],
)
@pytest.mark.parametrize("known", [True, False])
def test_an_article_whose_title_begins_as_that_of_a_list_stays(title: str, language: str, known: bool) -> None:
    drops: Counter[str] = Counter()
    code = language if known else ""
    assert clean_wikitext(PROSE, title=title, language=code, drops=drops) == PROSE
    assert clean_wikitext(ITEMS, title=title, language=code, drops=drops) is None
    assert drops == {"list": 1}
    kept = clean_wikitext(ITEMS, title=title, language=code, keep_lists=True, compiled=True)
    assert kept == "These are the salts."


def test_the_words_are_those_of_the_wiki() -> None:
    assert clean_wikitext(ITEMS, title="Lista soli", language="en") == "These are the salts."
    assert clean_wikitext(ITEMS, title="Lista soli", language="pl") is None
    assert clean_wikitext("A {{des|x}} b.", language="es") is None
    assert clean_wikitext("A {{des|x}} b.", language="nl") == "A x b."
    assert "disambig" in page_kinds("sv").keys() & page_kinds("").keys()
    assert title_kind("Salt (olika betydelser)", "sv") == "disambiguation"
    assert title_kind("塩の一覧", "ja") == title_kind("塩の一覧 (日本)", "") == "list"


@pytest.mark.parametrize(
    ("wikitext", "listed"),
    [
        ("{| class=x\n! a\n|-\n| b\n|}\nAll.", True),
        ("{{Infobox\n| name = a\n| born = 1900\n}}\nIt is a film.", False),
        ("; a\n: b\n# c", True),
        ("", True),
        ("== Heading ==\n[[File:A.jpg|thumb|x]]\nIt.", False),
        ("* {| \n| in a list\n|}\nIt is longer than the table.", False),
    ],
)
def test_how_a_list_looks(wikitext: str, listed: bool) -> None:
    assert is_mostly_list(wikitext.encode()) is listed
