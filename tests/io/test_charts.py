"""The charts: bars in proportion, axes of round numbers, curves within their picture, every text escaped."""

from __future__ import annotations

import re
from xml.etree.ElementTree import Element

import pytest

from bertdata.io.charts import Curve, Panel, element, histogram, line_chart, markup, stacked_bar


def text_of(part: Element) -> str:
    return "".join(part.itertext())


def test_the_bars_of_a_figure_are_in_proportion() -> None:
    bins = [(1, 8, 10), (9, 16, 0), (17, 24, 40)]
    root = histogram("lengths", "tokens", bins)
    heights = [float(rect.get("height", "")) for rect in root.iter("rect")]
    assert heights[1] == 0
    assert heights[2] == pytest.approx(4 * heights[0])
    assert [text_of(rect) for rect in root.iter("rect")][2] == "17 to 24 tokens: 40 (80.0%)"
    bar = stacked_bar("parts", [("a", 30, "c0"), ("none", 0, "c1"), ("b <", 90, "d0")])
    widths = [float(rect.get("width", "")) for rect in bar.iter("rect")]
    assert len(widths) == 2
    assert (widths[1] + 1) / (widths[0] + 1) == pytest.approx(3)
    assert bar.get("aria-label") == "parts: a 30, none 0, b < 90"


@pytest.mark.parametrize(
    ("most", "ticks"),
    [(1, [0, 1]), (7, [0, 2, 4, 6, 8]), (10, [0, 2, 4, 6, 8, 10]), (11, [0, 5, 10, 15]), (26, [0, 10, 20, 30])],
)
def test_the_axis_of_a_histogram_has_round_numbers_up_to_the_highest_bar(most: int, ticks: list[int]) -> None:
    root = histogram("lengths", "tokens", [(1, 8, most), (9, 16, 0)])
    labels = [text for text in root.iter("text") if text.get("text-anchor") == "end"]
    assert [int(text.text or "") for text in labels] == ticks
    lines = [line for line in root.iter("line") if line.get("class") == "grid"]
    [axis] = [line for line in root.iter("line") if line.get("class") == "axis"]
    heights = [float(axis.get("y1", "")) - float(line.get("y1", "")) for line in lines]
    assert heights == pytest.approx([180 * tick / ticks[-1] for tick in ticks], abs=0.06)
    assert all(line.get("y1") == line.get("y2") and line.get("x1") != line.get("x2") for line in [*lines, axis])
    [bar, _] = root.iter("rect")
    assert float(bar.get("height", "")) == pytest.approx(180 * most / ticks[-1], abs=0.01)
    assert float(bar.get("y", "")) + float(bar.get("height", "")) == float(axis.get("y1", ""))
    for text, line in zip(labels, lines, strict=True):
        assert float(text.get("y", "")) == pytest.approx(float(line.get("y1", "")) + 4, abs=0.11)


def test_the_bars_of_a_histogram_fill_its_width_and_the_last_is_named() -> None:
    bins = [(8 * place + 1, 8 * place + 8, 5) for place in range(13)]
    root = histogram("lengths", "tokens", bins)
    lefts = [float(bar.get("x", "")) for bar in root.iter("rect")]
    rights = [float(bar.get("x", "")) + float(bar.get("width", "")) for bar in root.iter("rect")]
    assert lefts[0] == pytest.approx(57)
    assert rights[-1] == pytest.approx(479, abs=0.02)
    assert all(left - right == pytest.approx(2, abs=0.02) for right, left in zip(rights, lefts[1:], strict=False))
    [*names, caption] = [text for text in root.iter("text") if text.get("text-anchor") == "middle"]
    assert [name.text for name in names] == ["8", "32", "56", "80", "104"]
    middles = [(left + right) / 2 for left, right in zip(lefts, rights, strict=True)]
    assert [float(name.get("x", "")) for name in names] == pytest.approx(middles[::3], abs=0.1)
    assert caption.text == "up to so many tokens"
    _, _, width, height = (int(number) for number in root.get("viewBox", "").split())
    assert width == 480
    assert max(float(text.get("y", "")) for text in root.iter("text")) < height < 260


def test_the_parts_of_a_bar_lie_side_by_side_and_however_small_can_be_seen() -> None:
    bar = stacked_bar("parts", [("a", 1, "c0"), ("b", 1, "c1"), ("c", 4798, "d0")])
    rects = [(rect.get("class"), float(rect.get("x", "")), float(rect.get("width", ""))) for rect in bar.iter("rect")]
    assert rects == [("c0", 0.0, 0.75), ("c1", 0.1, 0.75), ("d0", 0.2, 478.8)]
    assert [text_of(rect) for rect in bar.iter("rect")] == ["a: 1 (0.0%)", "b: 1 (0.0%)", "c: 4,798 (100.0%)"]


def test_figures_of_nothing_are_drawn_empty() -> None:
    assert not len(stacked_bar("nothing", [("a", 0, "c0")]))
    assert not histogram("nothing", "tokens", []).findall("rect")
    assert "<polyline" not in markup(line_chart([], x_label="x"))


def test_curves_are_drawn_within_their_picture() -> None:
    curves = [Curve("a < b", [(0, 1.0), (10, 3.0)]), Curve("c", [(5, float("nan")), (7, 2.0)])]
    picture = markup(line_chart([Panel("y", curves)], x_label="x"))
    assert "a &lt; b" in picture
    points = [pair.split(",") for places in re.findall(r'points="([^"]*)"', picture) for pair in places.split()]
    assert len(points) == 3
    assert all(0 <= float(x) <= 720 and 0 <= float(y) <= 420 for x, y in points)


def test_texts_and_attributes_are_escaped_and_written_in_their_order() -> None:
    item = element("li", "a < b, ", element("i", class_="x"), "then ", ["c", element("b", "d"), "e"], title='"')
    assert markup(item) == '<li title="&quot;">a &lt; b, <i class="x"></i>then c<b>d</b>e</li>'
