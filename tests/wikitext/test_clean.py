"""Prose out of wikitext: one case a construct, broken markup, hostile input, properties, real files."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata import ConfigError
from bertdata.wikitext.clean import Namespaces, clean_utf8, clean_wikitext
from bertdata.wikitext.templates.table import templates_of
from tests.data import data_path
from tests.generated import examples
from tests.growth import assert_linear
from tests.sources.wikipedia.markup import MARKUP
from tests.wikitext.agreement import agree
from tests.wikitext.cases import (
    BLOCKS,
    BROKEN,
    LINKS_AND_QUOTES,
    NOTES,
    PLACEHOLDERS,
    REFERENCES_AND_TAGS,
    TEMPLATES,
)


def clean(source: str) -> str:
    return clean_wikitext(source) or ""


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        *LINKS_AND_QUOTES.items(),
        *REFERENCES_AND_TAGS.items(),
        *BLOCKS.items(),
        *NOTES.items(),
        *TEMPLATES.items(),
        *PLACEHOLDERS.items(),
    ],
)
def test_a_construct_becomes_what_a_reader_sees(source: str, expected: str) -> None:
    assert clean(source) == expected
    assert agree(source)


def test_ships_keep_the_prefix_that_is_the_name_of_their_template() -> None:
    merchant = "SS RMS MV MS MT MTS TS PS SV RV RRS"
    navies = "USS HMS HMAS HMCS HMNZS HMT HMY USNS USCGC USAT USRC SMS SAS ORP HNoMS HDMS HNLMS HSwMS RFA CSS ARA"
    prefixes = f"{merchant} {navies}".split()
    source = ", ".join(f"{{{{{prefix}|Hood}}}}" for prefix in prefixes)
    assert clean(source) == ", ".join(f"{prefix.upper()} Hood" for prefix in prefixes)


@pytest.mark.parametrize(("source", "expected"), BROKEN.items())
def test_the_paragraph_survives_broken_markup(source: str, expected: str) -> None:
    assert clean(source) == expected
    assert agree(source)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{{nowrap|" * 101 + "x" + "}}" * 101, "A x b."),
        ("{{nowrap|" * 102 + "x" + "}}" * 102, "A b."),
        ("[[a|" * 100 + "x|y" + "]]" * 100, "A x|y b."),
        ("[[a|" * 101 + "x|y" + "]]" * 101, "A a b."),
    ],
)
def test_calls_and_links_are_read_to_a_hundred_levels(source: str, expected: str) -> None:
    assert clean(f"A {source} b.") == expected
    assert agree(f"A {source} b.")


@pytest.mark.parametrize("sign", ["", " ", ",", ";", ":", "-", "/", "–", "—", " – ", ", "])
def test_signs_before_what_was_dropped_go_with_it(sign: str) -> None:
    for source, expected in {
        f"Lima (a{sign if sign.strip() in ',;:' else f' {sign.strip()} '}{{{{x}}}}) is.": "Lima (a) is.",
        f"Lima ({sign}{{{{x}}}}) is.": "Lima is.",
        f"Lima ({{{{x}}}}{sign} {{{{x}}}}) is.": "Lima is.",
    }.items():
        assert clean(source) == expected
        assert agree(source)


def test_dropped_pages_are_counted_with_their_reason() -> None:
    drops: Counter[str] = Counter()
    for source, title in [
        ("#REDIRECT [[B]]", "A"),
        ("#weiterleitung [[B]] {{x}}", "A"),
        (" #転送:[[B]]", "A"),
        ("'''A''' may be:\n* [[B]]\n{{Disambig}}", "A"),
        ("A is many things.\n{{Неоднозначность}}", "A"),
        ("A is many things.", "A (disambiguation)"),
        ("{{Infobox}}\n* only\n* lists", "A"),
        ("", "A"),
        ("{{Soft redirect|wikt:a}}", "A"),
        ("{{wi}}\nA word.", "A"),
        ("These are all.\n* Como\n* Lago Maggiore", "List of lakes"),
        ("Das sind alle.\n{|\n| Chiemsee || Ammersee\n|}", "Liste der Seen"),
        ("全部。\n# 琵琶湖", "湖の一覧"),
        ("Mercury may be a planet or a metal.\n__DISAMBIG__", "Mercury"),
    ]:
        assert clean_wikitext(source, title=title, drops=drops) is None
    assert drops == {"redirect": 3, "disambiguation": 4, "no prose": 2, "soft redirect": 2, "list": 3}


def test_pages_that_only_look_like_redirects_or_disambiguations_stay() -> None:
    assert clean("#redirects are a feature.\n\nProse.") == "Prose."
    assert clean("See [[Mercury (disambiguation)]].{{disambiguation needed}}") == "See Mercury (disambiguation)."
    assert clean_wikitext("Prose.", title="Disambiguation") == "Prose."
    assert clean_wikitext("Prose.", title="Listening") == "Prose."
    assert clean_wikitext("Prose.", title="Lista") == "Prose."
    assert clean("{{quote|{{soft redirect|x}}Prose.}}") == "Prose."


def test_a_dump_names_its_own_file_and_category_namespaces() -> None:
    source = "Uz [[Skice:A.png|thumb|x]] redzams [[Nodaļa:B]] kaķis."
    namespaces = Namespaces.from_siteinfo({6: ("Skice", "File"), 14: "Nodaļa"})
    assert clean_wikitext(source, namespaces=namespaces) == "Uz redzams kaķis."
    assert clean(source) == "Uz x redzams Nodaļa:B kaķis.".replace("x", "thumb|x")


def test_a_namespace_of_the_wiki_comes_before_the_code_of_a_language() -> None:
    source = "Kë [[Jam:Wun]] atɔ̈ [[de:Wun]] thïn."
    for namespaces in (Namespaces.of_language("din"), Namespaces.from_siteinfo({1: "Jam"}, "din")):
        assert clean_wikitext(source, namespaces=namespaces) == "Kë Jam:Wun atɔ̈ thïn."


def test_the_page_name_is_the_title() -> None:
    assert clean_wikitext("'''{{PAGENAME}}''' is a town.", title="Ely") == "Ely is a town."


HOSTILE: dict[str, Callable[[int], str]] = {
    "unclosed templates": lambda n: "{{x|" * n,
    "nested templates": lambda n: "{{nowrap|" * n + "x" + "}}" * n,
    "a run of braces": lambda n: "{" * n + "a" + "}" * n,
    "nested links": lambda n: "[[a|" * n + "x" + "]]" * n,
    "crossed brackets": lambda n: "{{[[" * n + "}}]]" * n,
    "unclosed tables": lambda n: "\n{|" * n,
    "nested tables": lambda n: "\n{|\n| a" * n + "\n|}" * n,
    "unclosed references": lambda n: "<ref>x " * n,
    "references without their end": lambda n: "<ref " * n,
    "references without their end on one line": lambda n: "<ref a=b " * n + "</ref>",
    "closing references without their end": lambda n: "<ref>x</ref " * n,
    "unclosed references with quotes": lambda n: '<ref name="a>b ' * n,
    "unclosed comments": lambda n: "<!-- " * n,
    "unclosed tags": lambda n: "<math><nowiki>" * n,
    "quote marks": lambda n: "a''' b'' " * n,
    "external links": lambda n: "[http://a [b " * n,
    "parentheses around a placeholder": lambda n: "(" * n + "{{x}}" + ")" * n,
    "placeholders": lambda n: "({{x}}, " * n,
    "verse": lambda n: "<poem>a\nb</poem>" * n,
    "a redirect without a target": lambda n: "#redirect" + " " * n,
    "a long quantity": lambda n: "{{convert|" + "1|to|" * n + "km}}",
    "a long fraction": lambda n: "{{convert|" + "9/" * n + "|km}}",
    "bars": lambda n: "{{x" + "|" * n + "}}",
    "equals signs in links": lambda n: "{{x|" + "[[=]]" * n + "}}",
    "headings": lambda n: "=" * n + "\n" + "= a\n" * n,
    "NUL bytes": lambda n: "\0" * n + "a",
    "entities": lambda n: "&#" * n + "&nbsp" * n,
    "switches": lambda n: "__" + "a" * n + "_" * n,
    "indented closings": lambda n: "\n" + " " * n + "|}" + "\n:" * n,
    "unclosed attributes": lambda n: "<div a='" * n + "<br " * n,
    "dashes after placeholders": lambda n: "({{x}}" + "–" * n + ")",
    "runs of closing brackets": lambda n: "[[a|[b" + "]" * n + " x]]]" * n,
    "lines of comments": lambda n: "\n<!--a-->" * n + "\n" + "<!--a--> " * n + "x\n<!-- " * n,
    "tags in values": lambda n: "<math a=\"<math b='<b <b" * n + "'\"" * n,
    "addresses": lambda n: "http://a " * n,
    "tags of blocks": lambda n: "\n <p>" * n + "<td>" * n,
}


@pytest.mark.costly
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_input_takes_linear_time(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bertdata.kernels.warmup.COMPILED_FROM", 1 << 60)  # not the compiler's time
    assert_linear(clean, lambda length: HOSTILE[name](length // 8))


@settings(max_examples=examples(300), deadline=None)
@given(MARKUP)
def test_any_markup_gives_none_or_clean_paragraphs(source: str) -> None:
    prose = clean_wikitext(source)
    if prose is not None:
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", prose)
        paragraphs = prose.split("\n\n")
        assert all(paragraph == paragraph.strip() and re.search(r"\w", paragraph) for paragraph in paragraphs)
        assert "  " not in prose


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_read_without_an_error(source: str) -> None:
    prose = clean_wikitext(source, title=source)
    assert prose is None or prose.strip() == prose


WORDS = st.sampled_from(["rain", "snow", "hail", "wind", "fog"])
BALANCED = st.recursive(
    WORDS,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=4).map(" ".join),
        st.tuples(WORDS, inner).map(lambda pair: f"[[{pair[0]}|{pair[1]}]]"),
        inner.map(lambda text: f"{{{{nowrap|{text}}}}}"),
        inner.map(lambda text: f"{{{{dropped|{text}}}}}"),
        st.tuples(WORDS, WORDS).map(lambda pair: f"'''{pair[0]}'''<ref>{pair[1]}</ref>"),
        inner.map(lambda text: f"\n{{|\n| {text}\n|}}\n"),
    ),
    max_leaves=12,
)


@settings(max_examples=examples(200), deadline=None)
@given(BALANCED)
def test_balanced_markup_leaves_only_words_in_their_order(source: str) -> None:
    prose = clean(f"start {source}\nend")
    left = iter(re.findall(r"\w+", source))
    words_left = prose.split()
    assert words_left[0] == "start"
    assert words_left[-1] == "end"
    assert all(word in left for word in words_left[1:-1])


def test_prose_without_markup_comes_back_as_it_is() -> None:
    prose = 'It rained (a lot), then stopped; 3.5 km off.\n\n"Yes," she said: it\'s over…'
    assert clean(prose) == prose


def test_the_known_constructs_become_their_ideal_text() -> None:
    with data_path("wikipedia", "wikitext-constructs.jsonl").open(encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    assert [row["id"] for row in rows if clean(row["wikitext"]).split() != row["ideal"].split()] == []


def test_the_prose_of_real_articles_is_found_whole() -> None:
    def words(text: str) -> str:
        return " ".join(re.findall(r"\w+", text.lower()))

    sentences_there = total = 0
    with data_path("wikipedia", "goodwiki-dev.jsonl").open(encoding="utf-8") as lines:
        for line in lines:
            row = json.loads(line)
            prose = f" {words(clean(row['wikitext']))} "
            sentences = [part for text in row["gold_prose"] for part in re.split(r"(?<=[.!?])\s+(?=[A-Z])", text)]
            total += len(sentences)
            sentences_there += sum(f" {words(sentence)} " in prose for sentence in sentences)
    assert sentences_there / total > 0.957


@pytest.mark.parametrize("value", [None, b"It rained.", 12, ["It rained."]])
def test_what_is_no_wikitext_is_refused(value: Any) -> None:
    with pytest.raises(ConfigError, match=rf"as str, found {type(value).__name__}"):
        clean_wikitext(value)
    if not isinstance(value, bytes):
        with pytest.raises(ConfigError, match=rf"as bytes, found {type(value).__name__}"):
            clean_utf8(value)


def test_a_language_gives_the_templates_of_its_wiki_and_is_not_given_beside_them() -> None:
    source = "Wien ({{lang-de|Wien}}) a {{formatnum:12345.6}} habitants."
    expected = clean_wikitext(source, templates=templates_of("fr"))
    assert clean_wikitext(source, language="fr") == expected != clean_wikitext(source)
    with pytest.raises(ConfigError, match="templates and language were both given; leave one out"):
        clean_wikitext(source, language="fr", templates=templates_of("de"))


@pytest.mark.parametrize("compiled", [True, False])
def test_a_list_that_a_call_writes_is_no_part_of_the_sentence_before_it(compiled: bool) -> None:
    text = "Rome is old. {{#if:x|* a list}}\n\nIt has {{#if:x|; or had}} walls."
    assert clean_wikitext(text, compiled=compiled) == "Rome is old.\n\nIt has ; or had walls."


def test_a_process_that_cleans_one_page_loads_nothing_that_it_does_not_use() -> None:
    code = "import sys; from bertdata import clean_wikitext; clean_wikitext('Rome is [[old]].'); print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    unused = {"asyncio", "numpy", "numba", "bertdata.io.files", "bertdata.wikitext.mediawiki.dates"}
    assert unused & set(modules) == set()
    assert "bertdata.wikitext.reference.variants" not in modules
