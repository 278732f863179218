"""Charts in pages: the colours of the page's style, texts where the pointer is, the same bytes every time."""

from __future__ import annotations

import re
from xml.etree.ElementTree import tostring

import pytest

from bertdata.inspect.drawing import histogram, strip
from bertdata.inspect.report_style import COLORS

BINS = [(1, 5, 3), (6, 10, 0), (11, 15, 9)]
TEXTS = ["1 to 5: 3", "6 to 10: 0", "11 to 15: 9"]


def test_every_colour_is_a_variable_of_the_style() -> None:
    drawn = (
        tostring(histogram(BINS, TEXTS, "lengths")).decode()
        + tostring(strip([(name, 1, name) for name in COLORS])).decode()
    )
    assert set(re.findall(r"var\(--(\w+)\)", drawn)) == set(COLORS)
    assert not re.search(r"#[0-9a-f]{3,6}|url\(| id=|font-family", drawn)


def test_a_chart_says_what_it_shows_and_what_each_part_is() -> None:
    drawn = histogram(BINS, TEXTS, "<lengths>")
    assert (drawn.tag, drawn.get("role"), drawn.get("aria-label")) == ("svg", "img", "<lengths>")
    assert [title.text for title in drawn.iter("title")] == TEXTS
    shown = [text.text for text in drawn.iter("text")]
    assert shown[:3] == ["1", "6", "11"]


def test_a_chart_is_the_same_whatever_the_settings_of_matplotlib() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    before = tostring(histogram(BINS, TEXTS, "lengths"))
    with matplotlib.rc_context({"font.size": 30, "lines.linewidth": 9, "axes.facecolor": "red"}):
        assert tostring(histogram(BINS, TEXTS, "lengths")) == before


def test_nothing_and_one_bin_are_drawn() -> None:
    assert not list(strip([("none", 0, "c0")]).iter("title"))
    assert len(list(histogram([(0, 0, 0)], ["0: 0"], "none").iter("title"))) == 1
