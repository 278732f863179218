"""The archive has what MediaWiki says of its languages, and a language is found by the codes that wikis use."""

from __future__ import annotations

import subprocess
import sys

import pytest

from bertdata.wikitext.mediawiki import facts
from bertdata.wikitext.mediawiki.language import language_of
from tests.wikitext.mediawiki.names import languages


@pytest.mark.parametrize(
    ("code", "known"),
    [
        ("", ""),
        ("en", "en"),
        ("no", "nb"),
        ("simple", "en"),
        ("zh-min-nan", "nan"),
        ("be-x-old", "be-tarask"),
        ("be_x_old", "be-tarask"),
        ("pt-BR", "pt-br"),
        ("de-1901", "de"),
        ("no-such-code", "nb"),
        ("qqq", ""),
    ],
)
def test_a_code_is_that_of_a_language(code: str, known: str) -> None:
    assert facts.code_of(code) == known


def test_an_unknown_language_is_english() -> None:
    assert language_of("qqq").code == "en"
    assert language_of("qqq") is language_of("en")


def test_every_member_is_whole() -> None:
    for code in facts.codes():
        language = language_of(code)
        assert language.code == facts.code_of(code)
        assert language.functions.id_of("#if") == "if"
        assert {6, 10, 14} <= language.namespaces.keys()
        assert {kind: len(names) for kind, names in language.calendar.items() if kind != "genitive"} == {
            "months": 12,
            "short": 12,
            "days": 7,
            "short_days": 7,
            "iranian": 12,
            "hijri": 12,
            "hebrew": 14,
            "hebrew_genitive": 14,
        }


def test_the_archive_has_the_names_of_mediawiki() -> None:
    for code, facts_of in languages().items():
        spaces = language_of(code).namespaces
        for number, space in facts_of["namespaces"].items():
            names = {space["name"], *space.get("aliases", ())} - {None}
            assert names <= set(spaces[int(number)]), (code, number)


def test_a_page_of_one_language_reads_no_other() -> None:
    program = (
        "from bertdata.wikitext.mediawiki import facts\n"
        "from bertdata import clean_wikitext\n"
        "clean_wikitext('[[Datei:A.png|mini|x]] {{SEITENNAME}} ist alt.', title='Rom', language='de')\n"
        "print(facts.member.cache_info().currsize)"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert int(out) <= 4  # German, English, the wikis, what all have
