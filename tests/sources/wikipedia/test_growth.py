"""The time of what reads wikitext, templates and published forms grows as the text does, whatever repeats in it."""

from __future__ import annotations

import pytest

from bertdata.sources.wikipedia.published.html_size import excess
from bertdata.sources.wikipedia.published.markdown import prose_of_markdown
from bertdata.sources.wikipedia.published.sections import section_paragraphs
from bertdata.wikitext.clean import clean_wikitext
from bertdata.wikitext.templates.convert import convert
from bertdata.wikitext.templates.parser_functions import (
    FUNCTIONS,
    UNKNOWN,
    render_parser_function,
)
from tests.growth import assert_linear, repeated

UNITS = [
    "&amp;",
    "&#",
    "|a",
    "1x",
    "1 ",
    "<",
    "(",
    "''",
    "[[",
    "{{",
    "{|\n",
    "<b>",
    "<!--",
    "-{",
    "**a ",
    "__a **b ",
    "\n",
    "=",
]


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("compiled", [False, True])
def test_wikitext(unit: str, compiled: bool) -> None:
    assert_linear(lambda text: clean_wikitext(text, compiled=compiled), repeated(unit, after="It rained. "))


WRITTEN = {**UNKNOWN.functions.folded, **UNKNOWN.functions.written}
NAMES = {meaning: name for name, meaning in WRITTEN.items() if meaning in FUNCTIONS}
"""A name of each function, as it is written on a page."""


@pytest.mark.parametrize("name", sorted(NAMES.values()))
def test_parser_functions(name: str) -> None:
    def run(text: str) -> object:
        half = len(text) // 2
        return render_parser_function(f"{name}:{text[:half]}", text[half:].split("|"), "")

    assert_linear(run, lambda length: "&amp;" * (length // 10) + "|a" * (length // 4))


def test_every_function_is_run() -> None:
    assert NAMES.keys() == FUNCTIONS.keys() - {"="}, "= is a variable alone, which takes nothing"
    texts = {name: render_parser_function(f"{name}:1", ["2 May 2020"], "A") for name in NAMES.values()}
    assert [name for name, text in texts.items() if text is None] == []


@pytest.mark.parametrize("unit", ["# a ", "#", " ", "**a ", "__a **b ", "$a$1", "[a](", "![", "```\n"])
@pytest.mark.parametrize("before", ["", "# a", "# "])
def test_markdown(unit: str, before: str) -> None:
    def run(text: str) -> object:
        return list(prose_of_markdown(text, formulas=True))

    assert_linear(run, repeated(unit, after=before, before="x"))


@pytest.mark.parametrize("kind", ["sections", "paragraphs", "nested", "one text"])
def test_sections(kind: str) -> None:
    def parts_of(length: int) -> object:
        paragraph = {"type": "paragraph", "value": "It rained."}
        if kind == "one text":
            return [{"type": "paragraph", "value": "a\n" * (length // 2)}]
        if kind == "paragraphs":
            return [{"type": "section", "name": "A", "has_parts": [paragraph] * (length // 8)}]
        nested = {"type": "section", "name": "A", "has_parts": [paragraph]}
        for _ in range(20 if kind == "nested" else 0):
            nested = {"type": "section", "name": "A", "has_parts": [nested, paragraph]}
        return [nested] * (length // (160 if kind == "nested" else 8))

    assert_linear(lambda parts: list(section_paragraphs(parts)), parts_of)


@pytest.mark.parametrize("unit", ["1x", "1 ", "1/", "1,", "\n1"])
def test_convert(unit: str) -> None:
    assert_linear(lambda text: convert({"1": text, "2": "m"}), repeated(unit, before="1\n1"))


@pytest.mark.parametrize(
    "unit", ["<p>x", "<b>", "<div>", "</x>", "<a b='", "<!--", "<option>x", "<svg>", "<p a ", "<b><p>"]
)
def test_html(unit: str) -> None:
    assert_linear(excess, repeated(unit, after="<select>" * unit.startswith("<option")))
