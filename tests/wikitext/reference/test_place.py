"""Where a call of an unknown template prints its argument: inside a sentence; in the reference and in the kernels."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.wikitext.clean import clean_wikitext
from tests.generated import examples
from tests.wikitext.agreement import agree

INSIDE = {
    "It is a {{hue|deep|x=y}} blue.": "It is a deep blue.",
    "It ({{hue|deep}}) is.": "It (deep) is.",
    "It is ''{{hue|deep}}''.": "It is deep.",
    'It is "{{hue|deep}}".': 'It is "deep".',
    "It is, {{hue|deep}}, and well-{{hue|lit}}.": "It is, deep, and well-lit.",
    "It said: {{hue|Deep.}}<ref>x</ref> It went.": "It said: Deep. It went.",
    "From *{{hue|dubro}}, deep.": "From *dubro, deep.",
    "It is {{hue|a [[deep]] {{nowrap|and ''dark''}}}} blue.": "It is a deep and dark blue.",
    "It is {{nowrap|{{hue|deep}}}} and [[blue|{{hue|dark}}]] and {{lang|de|2={{hue|c}}}}.": (
        "It is deep and dark and c."
    ),
    # after the end of a sentence, where another goes on
    "It rained. {{hue|Deep}} blue, it was.": "It rained. Deep blue, it was.",
    "{{hue|Deep}}, {{hue|dark}}.": "Deep, dark.",
    "{{hue|Deep}}'s end.": "Deep's end.",
    "{{hue|a [[b]]}} is.": "a b is.",
    "It rained.\n{{hue|Deep}} blue came.": "It rained. Deep blue came.",
}

NOWHERE = {
    "It rained.{{hue|deep}} It went.": "It rained. It went.",
    "It rained.''{{hue|deep}} It went.": "It rained. It went.",
    "It rained. {{hue|deep}} It went.": "It rained. It went.",
    "It rained {{hue|deep}}": "It rained deep",
    "It rained.\n{{hue|deep}}\nIt went.": "It rained.\n\nIt went.",
    "{{hue|deep}} It went.": "It went.",
    "{{hue|a [[b]]}} It went.": "It went.",
    "{{hue|{{hue|a}}}} It went.": "It went.",
    "It rained.\n== {{hue|x}} Notes ==\nIt went.": "It rained.",
    "It rained.\n* {{hue|deep}} water": "It rained.",
    "The sum = {{hue|deep}}.": "The sum =.",
    "{{hue|a|" + " " * 16 + "{{hue|b}}}} It went.": "It went.",
}


@pytest.mark.parametrize(("source", "prose"), INSIDE.items())
def test_an_unknown_template_inside_a_sentence_prints_its_argument(source: str, prose: str) -> None:
    assert clean_wikitext(source) == prose
    assert agree(source)


@pytest.mark.parametrize(("source", "prose"), NOWHERE.items())
def test_an_unknown_template_elsewhere_prints_nothing(source: str, prose: str) -> None:
    assert clean_wikitext(source) == prose
    assert agree(source)


CALLS = [
    *("{{hue|deep}}", "{{hue|", "{{hue|[[a]] b|", "{{CO2}}", "{{nowrap|", "{{sfn|a}}", "{{#if:", "{{lang-de|", "{{x:"),
    *("{{disambig}}", "{{hue|a||c}}", "{{hue|red|c}}", "{{hue|a|date=b}}", "{{hue|a\n}}", "}}", "}}", "|", "=", "[[a|"),
    *(
        "]]",
        " ",
        " " * 15,
        "\n",
        "''",
        '"',
        "word",
        "Word",
        ". ",
        "!",
        ", ",
        "(",
        "–",
        "-",
        "*",
        "é",
        "“",
        "…",
        "\ud800",
    ),
    *("<ref>x</ref>", "<table>", "</table>", "\n{|\n", "\n|}\n", "{{" + "n" * 47 + "|a}}", "{{" + "é" * 49 + "|a}}"),
]


@settings(max_examples=examples(500), deadline=None)
@given(st.lists(st.sampled_from(CALLS), max_size=20).map("".join))
def test_calls_anywhere_are_written_as_the_reference_writes_them(source: str) -> None:
    assert agree(source)


def test_calls_that_begin_sentences_in_each_other_are_written_as_the_reference_writes_them() -> None:
    for times in (3, 99, 101, 5_000):
        assert agree("{{hue|[[a]] " * times + "}} b" * times)
