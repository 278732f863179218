"""External links and tags of every kind, in the reference and in the kernels."""

from __future__ import annotations

import pytest

from bertdata.sources.wikipedia.wikitext.reference.inline import resolve_inline
from tests.sources.wikipedia.wikitext.agreement import agree

PROTOCOLS = "http https ftp ftps irc ircs news gopher git mailto tel geo magnet urn"
BREAKS = "br wbr hr"
BLOCKS = "p div blockquote center li dd dt tr td th table ul ol dl"
FLAT = (
    "a abbr b bdi bdo big caption ce chem cite code col colgroup data del dfn em font gallery h1 h2 h3 h4 h5 h6 hiero "
    "i img includeonly ins kbd langconvert languages mark math nobr noinclude nowiki onlyinclude poem pre q rb ref "
    "references rp rt rtc ruby s samp section small source span strike strong sub sup syntaxhighlight tbody "
    "templatestyles tfoot thead time translate tt tvar u var"
)


@pytest.mark.parametrize("protocol", PROTOCOLS.split())
def test_of_a_link_to_elsewhere_the_label_stays(protocol: str) -> None:
    assert resolve_inline(f"a [{protocol}:x.org b] c") == "a b c"
    assert agree(f"a [{protocol}:x.org b] c")


def test_what_is_no_protocol_is_no_link() -> None:
    for text in ("a [gits:x b] c", "a [x b] c", "a [http b] c"):
        assert resolve_inline(text) == text
        assert agree(text)


@pytest.mark.parametrize(
    ("names", "shown"), [(BREAKS, "a b c"), (BLOCKS, "a\n\nb\n\nc"), (FLAT, "abc")], ids=["break", "block", "flat"]
)
def test_tags_end_a_line_a_paragraph_or_nothing(names: str, shown: str) -> None:
    for name in names.split():
        assert resolve_inline(f"a<{name}>b</{name}>c") == shown, name
        assert resolve_inline(f"a<{name.upper()} x=1>b</{name} >c") == shown, name
        assert agree(f"a <{name}> b </{name}> c")


def test_a_tag_that_html_does_not_have_is_text() -> None:
    for text in ("a<template>b", "a<bx>b", "a< p>b", "a<h7>b"):
        assert resolve_inline(text) == text
        assert agree(text)
