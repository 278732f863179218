"""Markup: every text and attribute is escaped."""

from __future__ import annotations

from bertdata.io.markup import element, markup


def test_texts_and_attributes_are_escaped_and_written_in_their_order() -> None:
    item = element("li", "a < b, ", element("i", class_="x"), "then ", ["c", element("b", "d"), "e"], title='"')
    assert markup(item) == '<li title="&quot;">a &lt; b, <i class="x"></i>then c<b>d</b>e</li>'
