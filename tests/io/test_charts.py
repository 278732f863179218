"""The charts: curves lie within their picture, and every text is escaped."""

from __future__ import annotations

import re

from bertdata.io.charts import element, line_chart, markup


def test_a_chart_without_curves_is_drawn_empty() -> None:
    assert "<polyline" not in markup(line_chart({}, x_label="x"))


def test_curves_are_drawn_within_their_picture() -> None:
    curves = {"a < b": [(0, 1.0), (10, 3.0)], "c": [(5, float("nan")), (7, 2.0)]}
    picture = markup(line_chart({"y": curves}, x_label="x"))
    assert "a &lt; b" in picture
    points = [pair.split(",") for places in re.findall(r'points="([^"]*)"', picture) for pair in places.split()]
    assert len(points) == 3
    assert all(0 <= float(x) <= 720 and 0 <= float(y) <= 420 for x, y in points)


def test_texts_and_attributes_are_escaped_and_written_in_their_order() -> None:
    item = element("li", "a < b, ", element("i", class_="x"), "then ", ["c", element("b", "d"), "e"], title='"')
    assert markup(item) == '<li title="&quot;">a &lt; b, <i class="x"></i>then c<b>d</b>e</li>'
