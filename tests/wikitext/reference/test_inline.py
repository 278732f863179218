"""External links and tags of every kind, in the reference and in the kernels."""

from __future__ import annotations

import pytest

from bertdata.wikitext.reference.inline import resolve_inline
from tests.wikitext.agreement import agree

PROTOCOLS = (
    "ftp ftps git gopher http https irc ircs mms nntp redis sftp ssh svn telnet worldwind "
    "bitcoin geo magnet mailto matrix news sip sips sms tel urn xmpp"
)
BREAKS = "br"
BLOCKS = "p div blockquote center hr li dd dt tr td th table ul ol dl"
FLAT = (
    "a abbr b bdi bdo big caption ce chem cite code col colgroup data del dfn em font gallery h1 h2 h3 h4 h5 h6 hiero "
    "i img includeonly ins kbd langconvert languages mark math nobr noinclude nowiki onlyinclude poem pre q rb ref "
    "references rp rt rtc ruby s samp section small source span strike strong sub sup syntaxhighlight tbody "
    "templatestyles tfoot thead time translate tt tvar u var wbr"
)


@pytest.mark.parametrize("protocol", PROTOCOLS.split())
def test_of_a_link_to_elsewhere_the_label_stays(protocol: str) -> None:
    assert resolve_inline(f"a [{protocol}:x.org b] c") == "a b c"
    assert agree(f"a [{protocol}:x.org b] c")


@pytest.mark.parametrize("space", ["\xa0", "\u1680", "\u2003", "\u202f", "\u205f", "\u3000"])
def test_an_address_ends_at_any_white_space(space: str) -> None:
    assert resolve_inline(f"a [http://x.org/é{space}b] c") == "a b c"
    assert agree(f"a [http://x.org/é{space}b] c [http://x.org{space}{space} b]")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a [http://[2001:DB8::1]/x b] c", "a b c"),
        ("a [//[::1] b] c", "a b c"),
        ("a [http://[] b] c", "a [] b c"),
        ("a [http://[x] b] c", "a [x] b c"),
        ("a [mailto:[::1] b] c", "a [::1] b c"),
    ],
)
def test_the_host_of_an_address_may_be_of_ipv6(text: str, shown: str) -> None:
    assert resolve_inline(text).replace("\x7f", "") == shown
    assert agree(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a__TOC__b__NOTOC__c", "abc"),
        ("a__notoc__b__NoToc__c__ForceTOC__", "abc"),
        ("a__БЕЗ_ОГЛ__b__без_огл__c＿＿目次＿＿d__雨__e__FEHLT_NICHT__", "abcd__雨__e__FEHLT_NICHT__"),
        ("a_HIDDENCAT_b___NOTOC__c__NOTOC____TOC__d_HIDDENCAT", "ab_cd_HIDDENCAT"),
        ("a __init__ b __AB__ c __No__ d __2TOC__", "a __init__ b __AB__ c __No__ d __2TOC__"),
        ("_" * 9 + " __INDEX__ __index__ " + "_" * 200, "_" * 9 + "  __index__ " + "_" * 200),
        ("__TOC_ __TOC __tocs__ __toc1__", "__TOC_ __TOC __tocs__ __toc1__"),
    ],
)
def test_behaviour_switches_leave_nothing(text: str, shown: str) -> None:
    assert resolve_inline(text) == shown
    assert agree(text)


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
