"""Pages of Wikipedia's sister projects, whose dumps are read as those of Wikipedia, become their prose."""

from __future__ import annotations

from pathlib import Path

import pytest

from bertdata import clean_wikitext
from bertdata.sources.download import wiki_name
from bertdata.sources.wikipedia.dump.siteinfo import read_siteinfo

PAGES = {
    "wiktionary": (
        "==English==\n===Noun===\n{{en-noun}}\n\n# A [[mineral]].\n\n====Usage notes====\nThe plural is rare.",
        "The plural is rare.",
    ),
    "wikivoyage": (
        "{{pagebanner|A.jpg}}\n'''Ostia''' is a [[Rome|Roman]] port.\n==See==\n* {{see|name=Theatre|lat=1}}",
        "Ostia is a Roman port.",
    ),
    "wikinews": (
        "{{date|May 5, 2020}}\n{{w|Ostia|The port of Ostia}} opened on Monday.\n== Sources ==\n*{{source|url=x}}",
        "May 5, 2020 The port of Ostia opened on Monday.",
    ),
    "wikibooks": ("{{BookTitle|Salt}}\nSalt is ''white''.\n{{BookCat}}\n[[Category:Book:Salt]]", "Salt is white."),
    "wikisource": (
        '{{header|title=Salt|author=Ann}}\n<pages index="Salt.djvu" from=1 to=5 />\n'
        "It was {{hws|cau|cautious}}\n{{hwe|tious|cautious}} men.{{nop}}\n<pagelist /><section begin=a />",
        "It was cautious men.",
    ),
    "wikiquote": ("'''Ann''' was a poet.\n== Quotes ==\n* Salt is white.\n** Letter", "Ann was a poet."),
}


@pytest.mark.parametrize("project", PAGES)
def test_a_page_becomes_its_prose(project: str) -> None:
    source, prose = PAGES[project]
    for compiled in (False, True):
        text = clean_wikitext(source, title="Salt", language="en", compiled=compiled)
        assert text is not None
        assert text.split() == prose.split()


@pytest.mark.parametrize("project", PAGES)
def test_a_wiki_has_its_name_and_its_language(project: str, tmp_path: Path) -> None:
    assert wiki_name(f"de{project}") == f"de{project}"
    path = tmp_path / "x.xml"
    path.write_text(f"<mediawiki><siteinfo><dbname>de{project}</dbname></siteinfo></mediawiki>")
    assert read_siteinfo(str(path)).content_language == "de"
