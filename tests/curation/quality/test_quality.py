"""Rules with thresholds: how they are written, that kernels do what is written, and what lines are left out."""

from __future__ import annotations

import math
from types import ModuleType

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.curation.filters import filtered, parse_filter
from bertdata.curation.quality import fineweb, gopher, repetition
from bertdata.curation.quality.thresholds import Thresholds, parse_thresholds
from bertdata.engine.parts import Counters
from bertdata.errors import ConfigError
from bertdata.sources.settings import CleaningConfig
from tests.curation.quality.documents import documents, hostile, repeating
from tests.curation.quality.test_peers import judge

TEXTS = [*documents(80, seed=3), *repeating(5), *filter(str.strip, hostile(80, seed=3)), "a", ".", "\n", " \n\n "]


@pytest.mark.costly
@pytest.mark.parametrize("arguments", ["", "blank_lines:on", "min_words:off,max_words:9,min_stop_words:1"])
def test_the_kernel_of_gopher_quality_is_its_reference(arguments: str) -> None:
    limits = parse_thresholds(arguments, gopher.RULES)
    assert judge(f"gopher-quality={arguments}", TEXTS).reasons.to_pylist() == [
        gopher.reference(text, limits) for text in TEXTS
    ]


@pytest.mark.costly
@pytest.mark.parametrize(
    "arguments", ["", "max_top_2_gram:off,max_top_3_gram:off,max_top_4_gram:off,max_duplicate_lines:off"]
)
def test_the_kernel_of_gopher_repetition_is_its_reference(arguments: str) -> None:
    limits = parse_thresholds(arguments, repetition.RULES)
    assert judge(f"gopher-repetition={arguments}", TEXTS).reasons.to_pylist() == [
        repetition.reference(text, limits) for text in TEXTS
    ]


@pytest.mark.parametrize("arguments", ["", "blank_lines:on,short_line:9", "min_line_punctuation:off,max_newlines:2"])
def test_the_kernel_of_fineweb_is_its_reference(arguments: str) -> None:
    limits = parse_thresholds(arguments, fineweb.RULES)
    assert judge(f"fineweb-quality={arguments}", TEXTS).reasons.to_pylist() == [
        fineweb.reference(text, limits) for text in TEXTS
    ]


@pytest.mark.costly
@pytest.mark.parametrize("quality", [gopher, repetition, fineweb], ids=lambda module: module.__name__.split(".")[-1])
def test_what_a_kernel_measured_is_what_its_reference_measures(quality: ModuleType) -> None:
    limits = parse_thresholds("", quality.RULES)
    codes, figures = quality.judge(pa.array(TEXTS), limits)
    dropped = [row for row, code in enumerate(codes) if code >= 0]
    names = {row: quality.RULES[codes[row]].name for row in dropped}
    assert len(dropped) > 20
    assert {row: figures[row] for row in dropped} == {
        row: dict(quality.measure(TEXTS[row], limits))[names[row]] for row in dropped
    }


@settings(max_examples=40, deadline=None)
@given(st.lists(st.text("a b\n.xy", min_size=1, max_size=60), min_size=1, max_size=4))
def test_short_texts_that_recur_are_judged_as_by_the_reference(texts: list[str]) -> None:
    limits = parse_thresholds("", repetition.RULES)
    assert judge("gopher-repetition", texts).reasons.to_pylist() == [
        repetition.reference(text, limits) for text in texts
    ]


def require_figures_of_the_reference(texts: list[str], *, blank_lines: bool) -> None:
    """Compare the figure of each of Gopher's rules, made the only one and to drop all, with that of the reference."""
    names = [rule.name for rule in gopher.RULES if rule.reason]
    joined = "".join(texts).encode()
    ends = np.cumsum([0, *(len(text.encode()) for text in texts)], dtype=np.int32)
    exact = pa.StringArray.from_buffers(len(texts), pa.py_buffer(ends), pa.py_buffer(joined))
    for name in names:
        limit = math.inf if name.startswith("min") else -1.0
        values = [limit if other == name else math.nan for other in names] + [1.0 if blank_lines else math.nan]
        limits = Thresholds(gopher.RULES, tuple(values))
        codes, figures = gopher.judge(exact, limits)
        assert [
            {gopher.RULES[code].name: figure} if code >= 0 else {}
            for code, figure in zip(codes.tolist(), figures.tolist(), strict=True)
        ] == [{key: figure for key, figure in gopher.measure(text, limits) if key == name} for text in texts], name


@pytest.mark.costly
@pytest.mark.parametrize("blank_lines", [True, False])
def test_each_figure_of_gopher_quality_is_that_of_the_reference(blank_lines: bool) -> None:
    require_figures_of_the_reference([text for text in TEXTS if text.strip()], blank_lines=blank_lines)
    for size in range(56, 72):
        texts = [
            f"{'x' * size}...\n- the…#\u2028\u2022 been\r\n\n\n\x85of—and\u0939\u093f....",
            "naïve ünïöäßéà the\nto",
        ]
        require_figures_of_the_reference(texts, blank_lines=blank_lines)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(
        st.text("a b\n\r.…#-•é—\x0b\x1c\x85\u2028\u00a0हि", min_size=1, max_size=150).filter(str.strip),
        min_size=1,
        max_size=3,
    ),
    st.booleans(),
)
def test_figures_of_gopher_quality_are_those_of_the_reference(texts: list[str], blank_lines: bool) -> None:
    require_figures_of_the_reference(texts, blank_lines=blank_lines)


@pytest.mark.costly
def test_a_slice_is_judged_as_the_texts_it_has() -> None:
    for name in ("gopher-quality", "gopher-repetition", "fineweb-quality", "c4-quality"):
        chosen, argument = parse_filter(name)
        assert chosen.judge is not None
        sliced = chosen.judge(pa.array(["x" * 99, *TEXTS]).slice(5, 20), argument)
        assert sliced.reasons.to_pylist() == judge(name, TEXTS[4:24]).reasons.to_pylist()
        assert len(chosen.judge(pa.array([], pa.string()), argument).reasons) == 0


def test_blank_lines_between_paragraphs_count_only_where_they_are_to() -> None:
    text = "\n\n".join(f"- the sea and the ship {number} have been to harbours of note" for number in range(20))
    assert judge("gopher-quality", [text]).reasons.to_pylist() == ["gopher_too_many_bullet_lines"]
    assert judge("gopher-quality=blank_lines:on", [text]).reasons.to_pylist() == [None]
    assert judge("gopher-quality=max_bullet_lines:off", [text]).reasons.to_pylist() == [None]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "gopher-quality=max_bullet_line:0.8",
            "there is no rule 'max_bullet_line'; expected one of min_words, .*, did ",
        ),
        ("gopher-quality=min_words", "min_words is given without a value; expected each rule once, as min_words:50"),
        ("gopher-quality=min_words:1,min_words:2", "min_words is given twice"),
        (
            "gopher-quality=min_words:many",
            "min_words is 'many'; expected a number of 0 or more or off, as min_words:50",
        ),
        ("gopher-quality=min_words:-1", "min_words is '-1'; expected a number of 0 or more"),
        ("gopher-quality=min_words:nan", "min_words is 'nan'; expected a number"),
        ("fineweb-quality=short_line:off", "short_line is 'off'; expected a number of 0 or more, as short_line:30"),
        ("c4-quality=javascript:3", "javascript is '3'; expected on or off"),
        ("gopher-qualty", "there is no filter 'gopher-qualty'; .* did you mean 'gopher-quality'"),
    ],
)
def test_a_rule_that_is_not_there_or_fits_not_is_refused_before_any_work(text: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        CleaningConfig(filter=(text,))


PAGE = """Home page
The sea is deep and wide.[12] It has salt in it.
It rained all day on the island in the south. Nobody went out.
We use cookies to know you better.
Please switch JavaScript on to see this page.
Short one.
The ships came in late at night. They had been to the north."""


def test_c4_goes_on_after_a_blank_line() -> None:
    text = "One two three. Four five six.\n\nSeven eight nine. Ten one two. Three four five."
    assert judge("c4-quality=min_sentences:5", [text]).reasons.to_pylist() == [None]


def test_c4_leaves_lines_out_and_counts_them_by_rule() -> None:
    texts, reasons = filtered(
        pa.array([PAGE, "Lorem ipsum is here.\nOne two three."]), ["c4-quality"], counters := Counters()
    )
    assert reasons.to_pylist() == [None, "c4_lorem_ipsum"]
    assert texts[0].as_py() == (
        "The sea is deep and wide. It has salt in it.\n\n"
        "It rained all day on the island in the south. Nobody went out.\n\n"
        "The ships came in late at night. They had been to the north."
    )
    assert counters.counts == {
        "judged by c4-quality": 2,
        "dropped by c4-quality": 1,
        "bytes judged by c4-quality": 309,
        "bytes dropped by c4-quality": 35,
        "lines left out, c4_line_does_not_end": 1,
        "lines left out, c4_policy": 1,
        "lines left out, c4_javascript": 1,
        "lines left out, c4_short_line": 1,
        "changed by c4-quality": 1,
    }


def test_a_filter_sees_what_those_before_it_left() -> None:
    filters = ["c4-quality", "min-characters=200"]
    assert filtered(pa.array([PAGE]), filters, Counters())[1].to_pylist() == ["filter min-characters=200"]
    assert filtered(pa.array([PAGE]), filters[::-1], Counters())[1].to_pylist() == [None]


def test_a_document_without_a_line_left_is_dropped_also_where_sentences_are_not_counted() -> None:
    verdict = judge("c4-quality=min_sentences:off", ["Home page\nAbout us"])
    assert verdict.reasons.to_pylist() == ["c4_no_line_left"]
