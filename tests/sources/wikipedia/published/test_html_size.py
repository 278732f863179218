"""Pages that would cost a parser of HTML too much time or memory are found; flat and broken ones are read."""

from __future__ import annotations

import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.sources.wikipedia.published import html_elements
from bertdata.sources.wikipedia.published.html_size import excess
from bertdata.sources.wikipedia.published.html_tokens import Tags
from bertdata.sources.wikipedia.published.open_elements import OpenElements
from bertdata.sources.wikipedia.published.well_formed import all_tags, is_well_formed

FLAT = {
    "p": "<p>x" * 5000,
    "li": "<ul>" + "<li>x" * 5000,
    "td": "<table><tr>" + "<td>x" * 5000,
    "tr": "<table>" + "<tr><td>x" * 5000,
    "dt and dd": "<dl>" + "<dt>x<dd>y" * 5000,
    "option": "<select>" + "<option>x" * 3000,
    "headings": "<h2>x" * 5000,
    "li in lists": "<ul><li>x<ul><li>y</ul></ul>" * 3000,
    "rt": "<ruby>" + "x<rt>y" * 5000,
    "p in table cells": "<table>" + "<tr><td><p>x<p>y" * 3000,
    "void elements": "<p>" + "x<br><img src=a>" * 5000,
    "images in SVG": "<svg>" + "<path d='M0'/>" * 5000,
    "MathML": "<p><math><mi>x</mi></math></p>" * 5000,
    "one element open in all paragraphs": "<b>" + "<p>x</p>" * 5000,
    "bold in each paragraph": "<p><b>x" * 3,
    "a few formatting elements not closed": "<font color=a><i>" + "<p>x" * 2000,
}


@pytest.mark.parametrize("name", FLAT)
def test_flat_pages_are_read_whatever_end_tags_they_leave_out(name: str) -> None:
    assert excess(FLAT[name]) == ""


SCRIPT = "<script><!--<script></script></div>--></script>"
HOSTILE = {
    "nested": ("<div>" * 3000, "nested too deep"),
    "with end tags of nothing": ("<div></x>" * 3000, "nested too deep"),
    "with end tags that are ignored": ("<div><object></div>" * 3000, "nested too deep"),
    "with end tags in attributes": ("<div a='</div>'>" * 3000, "nested too deep"),
    "with end tags in comments": ("<div><!--</div>-->" * 3000, "nested too deep"),
    "with end tags in scripts": (f"<div>{SCRIPT}" * 3000, "nested too deep"),
    "with end tags in titles": ("<div><title></div></title>" * 3000, "nested too deep"),
    "out of SVG": ("<svg><div></svg>" * 3000, "nested too deep"),
    "in SVG": ("<svg>" + "<g>" * 3000, "nested too deep"),
    "with slashes": ("<div/>" * 3000, "nested too deep"),
    "in templates": ("<template>" * 3000, "nested too deep"),
    "formatting": ("<i>x" * 3000, "nested too deep"),
    "reopened": (
        "<p>" + "".join(f"<b a{n}>" for n in range(1000)) + "<p>x" * 100,
        "too many unclosed elements",
    ),
    "reopened in cells": (
        "<p>" + "".join(f"<b a{n}>" for n in range(50)) + "<p><table><td></table>x" * 1000,
        "too many unclosed elements",
    ),
    "reopened with long attributes": (f"<p><b class='{'y' * 20_000}'>" + "<p>x" * 1000, "too many unclosed elements"),
    "closed out of blocks": (
        f"<b class='{'y' * 20_000}'>" + "<div>" * 1500 + "</b>" * 1000,
        "too many unclosed elements",
    ),
    "attributes": ("<p " + "".join(f"a{n} " for n in range(501)) + ">", "too many attributes"),
    "attributes of the root": ("".join(f"<html a{n}>" for n in range(501)), "too many attributes"),
    "options": ("<select>" + "<option>x" * 20_000, "too many options"),
    "options selected": ("<select>" + "<option selected>x" * 2000, "too many options"),
    "names": ("".join(f"<q{n}></q{n}>" for n in range(10_000)), "too many names of elements"),
    "names of attributes": ("".join(f"<p q{n}=1></p>" for n in range(10_000)), "too many names of elements"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_pages_that_cost_a_parser_too_much_are_found(name: str) -> None:
    html, reason = HOSTILE[name]
    assert excess(html) == reason


_SOME = """p div b i a span ul li ol table tbody tr td th caption dl dt dd h2 h3 font nobr em object form select option
optgroup button ruby rt rb rtc svg math mi g foreignobject title desc pre section br hr img small input address
blockquote style textarea script marquee col colgroup template
"""
NAMES = _SOME.split()
TAGS = [f"<{name}{more}>" for name in NAMES for more in ("", " a=1", " b")] + [f"</{name}>" for name in NAMES] * 2


def elements(html: str) -> int:
    """Return how many elements with content are in the body and the head that the parser makes."""
    parser = pytest.importorskip("selectolax.lexbor").LexborHTMLParser(html)
    number, nodes = -3, [parser.root]
    while nodes:
        node: Any = nodes.pop()
        while node is not None:
            number += not node.tag.startswith("-") and node.tag not in html_elements.VOID
            nodes.append(node.child)
            node = node.next
    return number


@settings(deadline=None)
@given(st.randoms(use_true_random=False))
def test_at_least_as_many_elements_are_counted_as_the_parser_opens(chance: random.Random) -> None:
    some = chance.sample(TAGS, 10)
    html = "".join(chance.choices([*some, "x"], k=30)) + "</end>"
    opened = html.count("</p>") + html.count("<col")  # elements that are closed at once
    with pytest.MonkeyPatch.context() as patch:
        counted = _counter(patch)
        patch.setattr("bertdata.sources.wikipedia.published.html_size.is_well_formed", lambda tags: False)
        assert excess(html) == ""
    assert elements(html) <= len(counted) + opened


def _counter(patch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the elements that are opened, and copied, from now on."""
    names: list[str] = []
    push, reopen_in = OpenElements.push, OpenElements._reopen_in

    def counting_push(self: OpenElements, name: str, *others: str) -> Any:
        names.append(name)
        return push(self, name, *others)

    def counting_reopen_in(self: OpenElements, *others: Any) -> None:
        before = self._may_reopen
        reopen_in(self, *others)
        names.extend(["copy"] * (before - self._may_reopen))

    patch.setattr(OpenElements, "push", counting_push)
    patch.setattr(OpenElements, "_reopen_in", counting_reopen_in)
    return names


@settings(deadline=None)
@given(st.randoms(use_true_random=False))
def test_the_tree_of_a_well_formed_page_is_the_nesting_of_its_tags(chance: random.Random) -> None:
    def nested(depth: int) -> str:
        pieces = []
        for name in chance.choices(NAMES, k=chance.randint(0, 3)):
            inside = nested(depth - 1) if depth else "x"
            pieces.append(f"<{name}>" if name in html_elements.VOID else f"<{name}>{inside}</{name}>")
        return "".join(pieces)

    html = nested(chance.randint(0, 3))
    if is_well_formed(all_tags(html)):
        tags = [name for end, name, _ in all_tags(html) if not end and name not in html_elements.VOID]
        implied = html.count("<tr") + html.count("<col")
        texts = sum(html.count(f"<{name}") for name in ("script", "style", "title"))
        assert len(tags) <= elements(html) <= len(tags) + implied + texts


@pytest.mark.parametrize(
    ("html", "names"),
    [
        ("<P a='>'/>x</p >", ["p", "/p"]),
        ("<!--<b>--><!--><i><!---><u>--!><a>", ["i", "u", "a"]),
        ("<?b <i>x</ <u><!doctype <a>>", []),
        ("<p a=<b><i =<u>", ["p", "i"]),
        ("<p><a href='<b>", ["p"]),
    ],
)
def test_tags_are_read_as_a_tokenizer_reads_them(html: str, names: list[str]) -> None:
    assert ["/" * is_end + name for name, is_end, _, _ in Tags(html)] == names
