"""A page is left out as a list or a disambiguation by the words of its own wiki, a list also by how it looks."""

from __future__ import annotations

from collections import Counter

import pytest

from bertdata import clean_wikitext
from bertdata.io.package_data import toml_beside
from bertdata.wikitext.mediawiki import page_kinds as page_kinds_module
from bertdata.wikitext.mediawiki.page_kinds import is_mostly_list, page_kinds, title_kind
from bertdata.wikitext.templates.table import templates_of

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


@pytest.mark.parametrize(
    ("language", "template"),
    [
        ("ca", "Desambiguació"),
        ("ceb", "giklaro"),
        ("cy", "Gwahaniaethu"),
        ("el", "αποσαφήνιση"),
        ("hy", "Երկիմաստ"),
        ("simple", "hndis"),
        ("sr", "вишезначна одредница"),
        ("zh-yue", "搞清楚"),
        ("be-tarask", "Неадназначнасць"),
    ],
)
@pytest.mark.parametrize("compiled", [False, True])
def test_the_words_of_further_wikis_hold_in_them_alone(language: str, template: str, compiled: bool) -> None:
    drops: Counter[str] = Counter()
    source = f"Salt is:\n* a salt\n\nSalt is here. {{{{{template}}}}}"
    assert clean_wikitext(source, language=language, drops=drops, compiled=compiled) is None
    assert drops == {"disambiguation": 1}
    assert language == "simple" or clean_wikitext(source, language="de", compiled=compiled) is not None


def test_no_further_name_is_one_of_a_template_that_carries_text_or_of_a_list_of_names() -> None:
    names = toml_beside(page_kinds_module.__file__, "disambiguation_names")["disambiguation"]
    assert len(names) > 120
    assert [
        (code, name) for code in names for name in names[code] if templates_of(code).locale.handlers.get(name)
    ] == []
    assert not {"surname", "given name", "sia"} & {name for listed in names.values() for name in listed}
    assert title_kind("Sol (rozlišovacia stránka)", "sk") == "disambiguation" != title_kind("Sol (desambiguació)", "sk")
