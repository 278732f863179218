"""Pages are read as an XML parser reads them; broken ones are told and harm no other."""

from __future__ import annotations

import bz2
import contextlib
import os
import pickle
import re
import tracemalloc
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from hypothesis import given

from bertdata.errors import ConfigError, InputError
from bertdata.io.compression import open_decompressed
from bertdata.sources.wikipedia.dump.ranges import DumpRange, plan_ranges
from bertdata.sources.wikipedia.dump.reader import BrokenPage, Page, read_pages
from bertdata.sources.wikipedia.dump.siteinfo import read_siteinfo
from bertdata.wikitext.mediawiki.redirect_words import redirect_target
from tests.data import data_path
from tests.growth import assert_linear
from tests.sources.wikipedia.dumps import (
    CUTS,
    HEAD,
    PAGES,
    PLAIN,
    TAIL,
    WHOLE,
    broken,
    dump,
    one,
    page,
    ranges_of,
    read,
    write,
)


def test_siteinfo_tells_the_wiki_its_language_and_its_namespaces(tmp_path: Path) -> None:
    info = read_siteinfo(write(tmp_path, "d.xml", PLAIN))
    assert (info.dbname, info.language) == ("dewiki", "de")
    assert info.namespaces[10] == ("Vorlage", "Template")
    assert info.namespaces[0] == ("",)
    assert info.url("Straße (a b)?") == "https://de.wikipedia.org/wiki/Stra%C3%9Fe_(a_b)%3F"
    assert {pickle.loads(pickle.dumps(info))} == {info}


def test_a_dump_without_siteinfo_has_the_standard_namespaces(tmp_path: Path) -> None:
    info = read_siteinfo(write(tmp_path, "d.xml", dump(PAGES[0], head="<!-- a sample -->\n<mediawiki>\n")))
    assert (info.dbname, info.base_url, info.url("X")) == ("", "", "")
    assert info.namespace("template talk:X") == 11
    names = (
        "Media, Special, , Talk, User, User talk, Project, Project talk, File, File talk, MediaWiki, MediaWiki talk, "
        "Template, Template talk, Help, Help talk, Category, Category talk"
    )
    assert info.namespaces == {number: (name,) for number, name in enumerate(names.split(", "), -2)}


@pytest.mark.parametrize(
    ("title", "ns"),
    [
        ("Vorlage:X", 10),
        ("Template:X", 10),
        ("diskussion: x", 1),
        ("2001: A Space Odyssey", 0),
        ("Plain", 0),
        (":X", 0),
    ],
)
def test_a_missing_ns_comes_from_the_prefix_of_the_title(tmp_path: Path, title: str, ns: int) -> None:
    assert one(tmp_path, page(title, "x").replace("<ns>0</ns>", "")).ns == ns


def test_ns_wins_over_the_prefix(tmp_path: Path) -> None:
    assert one(tmp_path, page("Vorlage:X", "x")).ns == 0


def test_entities_are_unescaped_once(tmp_path: Path) -> None:
    only_page = one(
        tmp_path,
        page("A &amp; B", "&lt;ref&gt; &amp;nbsp; &amp;lt; &amp;#65; &#65;&#x42;&#10; &quot;&apos; &amp; &x; &#0;"),
    )
    assert only_page.title == "A & B"
    assert only_page.text == "<ref> &nbsp; &lt; &#65; AB\n \"' & &x; \ufffd"


def test_control_characters_are_no_part_of_a_title(tmp_path: Path) -> None:
    assert one(tmp_path, page("A\x01 \x85B&#127;", "x")).title == "A B"


def test_line_ends_are_line_feeds_as_xml_says(tmp_path: Path) -> None:
    assert one(tmp_path, page("A", "a\r\nb\rc&#13;d")).text == "a\nb\nc\rd"


@pytest.mark.parametrize("text", ['<text bytes="0" />', "<text/>", '<text deleted="deleted" />', "<text></text>"])
def test_an_empty_text_is_a_page(tmp_path: Path, text: str) -> None:
    assert one(tmp_path, page("A", "x").replace('<text xml:space="preserve">x</text>', text)).text == ""


def test_a_page_tag_with_attributes_is_a_page(tmp_path: Path) -> None:
    assert one(tmp_path, page("A", "x", attributes=' xmlns="http://www.mediawiki.org/"')).title == "A"


@pytest.mark.parametrize(
    ("redirect", "text", "target"),
    [
        ('<redirect title="X &amp; Y" />', "#REDIRECT [[Z]]", "X & Y"),
        ("<redirect />", "#REDIRECT [[Z#part|z]]", "Z"),
        ("<redirect/>", "#REDIRECT", ""),
        ("", "#WEITERLEITUNG [[Z]]", "Z"),
        ("", "#WEITERLEITUNG [[Z", None),
        ("", "text [[Z]]", None),
    ],
)
def test_a_redirect_has_its_target(tmp_path: Path, redirect: str, text: str, target: str | None) -> None:
    assert one(tmp_path, page("A", text).replace("<revision>", redirect + "<revision>")).redirect == target


def revision(text: str, time: str, model: str = "wikitext") -> str:
    return (
        f"<revision><id>9</id><timestamp>{time}</timestamp><origin>9</origin><model>{model}</model>"
        f'<text bytes="1" sha1="x">{text}</text><content><role>other</role><model>json</model>'
        '<text location="tt:1">slot</text></content></revision>'
    )


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (("2001", "2003", "2002"), "1"),
        (("2003", "2002", "2001"), "0"),
        (("2001", "2001", "2001"), "2"),
        (("", "", ""), "2"),
    ],
)
def test_the_newest_revision_wins_and_the_last_of_equals(tmp_path: Path, times: tuple[str, ...], expected: str) -> None:
    body = "".join(revision(str(n), time, f"m{n}") for n, time in enumerate(times))
    page = one(tmp_path, f"<page><title>A</title><ns>0</ns><id>5</id>{body}</page>")
    assert (page.text, page.model, page.id) == (expected, f"m{expected}", 5)


def test_a_model_behind_the_text_is_read_and_that_of_another_slot_is_not(tmp_path: Path) -> None:
    behind = page("A", "x").replace("</text>", "</text><sha1>1</sha1><model>css</model>")
    assert one(tmp_path, behind).model == "css"
    slot = page("A", "x").replace("</text>", "</text><content><model>json</model></content>")
    assert one(tmp_path, slot).model == "wikitext"


def test_broken_pages_are_told_with_their_reason_and_harm_no_other(tmp_path: Path) -> None:
    good = page("G", "g")
    assert broken(
        tmp_path,
        page("A", "x").replace("</page>", ""),
        good,
        page("B", "x").replace("<title>B</title>", ""),
        page("C", "x").replace("text", "texts"),
        good,
        page("D", "x").replace("<id>1</id>", ""),
        page("E", "x\udcff").encode("utf-8", "surrogateescape"),
        page("F\udcff", "x").encode("utf-8", "surrogateescape"),
        good,
        page("H", "x").replace("</text>", ""),
        page("I", "x").replace("</page>", ""),
    ) == [
        ("not closed", "A"),
        ("", "G"),
        ("no title", None),
        ("no text", "C"),
        ("", "G"),
        ("no id", "D"),
        ("bad utf-8", "E"),
        ("bad utf-8", "F\ufffd"),
        ("", "G"),
        ("no text", "H"),
        ("not closed", "I"),
    ]  # fmt: skip


@given(cuts=CUTS)
def test_a_page_that_is_not_closed_is_told_once_whatever_the_cut(
    cuts: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    data = PLAIN.replace(b"</page>", b"", 3)
    path = write(tmp_path_factory.getbasetemp(), "open.xml", data)
    pages = read(path, ranges_of(path, cuts))
    assert [item.title for item in pages] == [title for _, title, _ in WHOLE]
    assert [isinstance(item, BrokenPage) for item in pages] == [True] * 3 + [False] * 20


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.xml", b"", "empty"),
        ("a.xml", b"\x89PNG\r\n\x1a\n" + bytes(500), "not a MediaWiki XML dump"),
        ("a.xml", b"<!DOCTYPE html><html><body>404</body></html>", "not a MediaWiki XML dump"),
        ("a.xml", b"plain text\n" * 200_000 + b"<mediawiki>", "not a MediaWiki XML dump"),
        ("a.xml", bz2.compress(PLAIN), "it is bz2: name it so"),
        ("a.xml.bz2", b"<!DOCTYPE html><html>", r"begins with b'<!DOCTYPE html>"),
        ("a.xml.gz", b"<!DOCTYPE html><html>", r"begins with b'<!DOCTYPE html>"),
        ("a.xml.zst", b"<!DOCTYPE html><html>", r"begins with b'<!DOCTYPE html>"),
        ("a.xml.bz2", bz2.compress(b"hello"), "not a MediaWiki XML dump"),
        ("a.xml.bz2", bz2.compress(PLAIN)[:200], "cut off"),
        ("a.xml.7z", b"7z\xbc\xaf", r"\.7z files cannot be read; expected \.xml, \.xml\.bz2"),
        ("a.xml.zip", b"PK", r"\.zip files cannot be read"),
    ],
)
def test_a_file_that_is_no_dump_is_refused_with_its_path(tmp_path: Path, name: str, data: bytes, message: str) -> None:
    path = write(tmp_path, name, data)
    with pytest.raises(InputError, match=message) as caught:
        plan_ranges(path, 1000)
    assert path in str(caught.value)
    with pytest.raises(InputError, match=message):
        read_siteinfo(path)


def test_a_missing_dump_and_a_senseless_target_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        plan_ranges(str(tmp_path / "no.xml"), 1000)
    with pytest.raises(ConfigError, match="target_bytes is 0"):
        plan_ranges(write(tmp_path, "d.xml", PLAIN), 0)


def test_a_dump_of_no_pages_is_whole(tmp_path: Path) -> None:
    path = write(tmp_path, "d.xml", dump())
    assert read(path, ranges_of(path, range(0, 1000, 40))) == []


def test_pages_of_other_namespaces_are_passed_over_unread(tmp_path: Path) -> None:
    article = page("A", "&lt;b>").encode()
    other = page("Vorlage:B", "&lt;i>\xff").encode("latin-1").replace(b"<ns>0<", b"<ns>10<")
    unnumbered = page("Vorlage:C", "&lt;u>").encode().replace(b"<ns>0</ns>", b"")
    path = write(tmp_path, "d.xml", HEAD.encode() + article + other + unnumbered + TAIL.encode())
    span, info = DumpRange(path, 0, os.path.getsize(path)), read_siteinfo(path)
    for namespaces, expected in (
        ((0,), [(0, b"<b>"), (10, b""), (10, b"")]),
        ((10,), [(0, b""), "bad utf-8", (10, b"<u>")]),
        (None, [(0, b"<b>"), "bad utf-8", (10, b"<u>")]),
    ):
        pages = read_pages(span, info, namespaces=namespaces)
        assert [(page.ns, page.wikitext) if isinstance(page, Page) else page.reason for page in pages] == expected


def test_memory_is_one_page_one_block_and_buffers(tmp_path: Path) -> None:
    filler = b" " * 1_000_000
    body = b"".join(PAGES[n % 23].encode() + filler for n in range(24))
    path = write(tmp_path, "d.xml.bz2", bz2.compress(HEAD.encode() + body + TAIL.encode(), 1))
    info = read_siteinfo(path)
    tracemalloc.start()
    count = sum(1 for _ in read_pages(DumpRange(path, 0, os.path.getsize(path)), info))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 24
    assert peak < 24 << 20  # a block of spaces is 5 MB at level 1


@pytest.mark.parametrize(
    "junk", ["<page>", "<text ", "<redirect title=&quot;", "&", "</page>", "<revision>", "<title>"]
)
def test_hostile_repetition_takes_linear_time(tmp_path: Path, junk: str) -> None:
    def written(length: int) -> str:
        page = dump("<page><title>A</title><id>1</id>", junk * (length // len(junk)), "</page>")
        return write(tmp_path, "d.xml", page)

    assert_linear(read, written)


def test_a_base_address_with_a_query_keeps_it(tmp_path: Path) -> None:
    head = HEAD.replace("wikipedia.org/wiki/Wikipedia:Hauptseite", "wikipedia.org/w/index.php?title=Hauptseite")
    info = read_siteinfo(write(tmp_path, "d.xml", dump(head=head)))
    assert info.url("A b") == "https://de.wikipedia.org/w/index.php?title=A_b"


REAL = [
    "wikipedia/enwiki-dev-pages-articles-multistream.xml.bz2",
    *(
        f"wikipedia-other/{name}"
        for name in [
            "SoothingDuck_enwiki-test.xml.bz2",
            "arwiki.xml.bz2",
            "cyberzhg_zhwiki-broken-2.xml",
            "cyberzhg_zhwiki-test-pages.xml",
            "dewiki.xml.bz2",
            "dkpro_aawiki-20260101-pages-meta-current.xml.bz2",
            "gensim_bgwiki-shortened.xml.bz2",
            "gensim_enwiki-table-markup.xml.bz2",
            "itwiki_small-dump.xml.gz",
            "semanticize_nlwiki-20140927-sample.xml",
            "wp2txt_testdata_ja.xml.bz2",
        ]
    ),
]


def by_tree(path: str) -> list[tuple[int, int, str, str, bool]]:
    """Pages of a dump through an XML parser: the slow oracle."""
    rows = []
    cut_off = contextlib.suppress(ET.ParseError) if "testdata_ja" in path else contextlib.nullcontext()
    with cut_off, open_decompressed(path) as source:
        for _, element in ET.iterparse(source):
            if element.tag.rpartition("}")[2] != "page":
                continue
            elements = {child.tag.rpartition("}")[2]: child for child in element.iter()}
            numbers = [child.text for child in element if child.tag.endswith("id")]
            if numbers and "text" in elements:
                ns = int(elements["ns"].text or 0) if "ns" in elements else 0
                title = re.sub(r"[\x00-\x1f\x7f-\x9f]", "", elements["title"].text or "")
                text = elements["text"].text or ""
                redirect = "redirect" in elements or redirect_target(text.encode()) is not None
                rows.append((int(numbers[0] or 0), ns, title, text, redirect))
            element.clear()
    return rows


@pytest.mark.costly
@pytest.mark.parametrize("name", REAL)
def test_real_dumps_read_as_an_xml_parser_reads_them(name: str) -> None:
    path = str(data_path(*name.split("/")))
    info, rows = read_siteinfo(path), list[tuple[int, int, str, str, bool]]()
    cut_off = pytest.raises(InputError, match="cut off") if "testdata_ja" in path else contextlib.nullcontext()
    with cut_off:
        for span in plan_ranges(path, 1_000_000).ranges:
            for page in read_pages(span, info):
                if isinstance(page, Page):
                    rows.append((page.id, page.ns, page.title, page.text, page.redirect is not None))
    assert rows == by_tree(path)
    assert rows


@pytest.mark.parametrize(("number", "reason"), [(1, "no title"), (3, "no text")])
def test_real_broken_dumps_name_the_broken_page(number: int, reason: str) -> None:
    path = str(data_path("wikipedia-other", f"cyberzhg_zhwiki-broken-{number}.xml"))
    pages = read(path)
    assert [item.reason for item in pages if isinstance(item, BrokenPage)] == [reason]
    assert len(pages) == 3
