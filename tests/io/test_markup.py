"""Markup: every text and attribute is escaped."""

from __future__ import annotations

from bertdata.errors import printable
from bertdata.io.markup import element, markup


def test_texts_and_attributes_are_escaped_and_written_in_their_order() -> None:
    item = element("li", "a < b, ", element("i", class_="x"), "then ", ["c", element("b", "d"), "e"], title='"')
    assert markup(item) == '<li title="&quot;">a &lt; b, <i class="x"></i>then c<b>d</b>e</li>'


def test_control_and_bidi_characters_of_texts_and_attributes_become_escapes() -> None:
    hostile = "a\x1b[2J\x9b\u202eb\u2066\u200fc\ud800"
    escaped = r"a\x1b[2J\x9b\u202eb\u2066\u200fc\ud800"
    assert printable(hostile) == escaped
    item = element("li", hostile, element("i", hostile), hostile, title=hostile)
    assert markup(item) == f'<li title="{escaped}">{escaped}<i>{escaped}</i>{escaped}</li>'
    assert markup(element("pre", "one\ntwo")) == "<pre>one\ntwo</pre>"
