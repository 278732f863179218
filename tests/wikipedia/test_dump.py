from __future__ import annotations

import bz2
import codecs
import contextlib
import gzip
import itertools
import os
import pickle
import time
import tracemalloc
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.errors import ConfigError, InputError
from bertdata.files import open_decompressed
from bertdata.wikipedia.dump import BrokenPage, Page, read_pages, read_siteinfo
from bertdata.wikipedia.ranges import DumpRange, plan_ranges
from tests.data import data_path

HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.10/" version="0.10" xml:lang="de">
  <siteinfo>
    <sitename>Wikipedia</sitename>
    <dbname>dewiki</dbname>
    <base>https://de.wikipedia.org/wiki/Wikipedia:Hauptseite</base>
    <case>first-letter</case>
    <namespaces>
      <namespace key="0" case="first-letter" />
      <namespace key="1" case="first-letter">Diskussion</namespace>
      <namespace key="10" case="first-letter">Vorlage</namespace>
    </namespaces>
  </siteinfo>
"""
TAIL = "</mediawiki>\n"


def page(title: str, text: str, *, number: int = 1, attributes: str = "") -> str:
    return (
        f"  <page{attributes}>\n    <title>{title}</title>\n    <ns>0</ns>\n    <id>{number}</id>\n    <revision>\n"
        f'      <timestamp>2020-01-01T00:00:00Z</timestamp>\n      <text xml:space="preserve">{text}</text>\n'
        "    </revision>\n  </page>\n"
    )


def dump(*pages: str, head: str = HEAD, tail: str = TAIL) -> bytes:
    return (head + "".join(pages) + tail).encode()


def ranges_of(path: str, cuts: Sequence[int]) -> list[DumpRange]:
    whole = os.path.getsize(path)
    edges = [0, *sorted({cut % whole for cut in cuts} - {0}), whole]
    return [DumpRange(path, start, end) for start, end in itertools.pairwise(edges)]


def read(path: str, ranges: Sequence[DumpRange] | None = None) -> list[Page | BrokenPage]:
    info = read_siteinfo(path)
    return [found for span in ranges or plan_ranges(path, 1 << 30).ranges for found in read_pages(span, info)]


def write(folder: Path, name: str, data: bytes) -> str:
    target = folder / name
    target.write_bytes(data)
    return str(target)


def one(folder: Path, body: str, head: str = HEAD) -> Page:
    (found,) = read(write(folder, "one.xml", dump(body, head=head)))
    assert isinstance(found, Page)
    return found


def broken(folder: Path, *pages: str | bytes) -> list[tuple[str, str | None]]:
    body = b"".join(part if isinstance(part, bytes) else part.encode() for part in pages)
    found = read(write(folder, "broken.xml", HEAD.encode() + body + TAIL.encode()))
    return [(item.reason, item.title) if isinstance(item, BrokenPage) else ("", item.title) for item in found]


PAGES = [page(f"T{n}", "&amp;" * n + "Straße " * (n % 5) + "x" * (37 * n % 211), number=n) for n in range(1, 24)]
PLAIN = dump(*PAGES)
WHOLE = [(n, f"T{n}", "&" * n + "Straße " * (n % 5) + "x" * (37 * n % 211)) for n in range(1, 24)]


def contents(found: Sequence[Page | BrokenPage]) -> list[tuple[int, str, str]]:
    return [(item.id, item.title, item.text) for item in found if isinstance(item, Page)]


def streams(data: bytes, cuts: Sequence[int]) -> bytes:
    edges = [0, *sorted({cut % len(data) for cut in cuts} - {0}), len(data)]
    return b"".join(bz2.compress(data[start:end]) for start, end in itertools.pairwise(edges))


CUTS = st.lists(st.integers(0, 1 << 20), max_size=25)


@given(cuts=CUTS)
def test_any_cut_of_a_plain_file_gives_a_page_once(cuts: list[int], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = write(tmp_path_factory.getbasetemp(), "any.xml", PLAIN)
    assert contents(read(path, ranges_of(path, cuts))) == WHOLE


@given(cuts=CUTS, parts=CUTS)
@settings(deadline=None)
def test_any_cut_of_any_streams_gives_each_page_once(
    cuts: list[int], parts: list[int], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = write(tmp_path_factory.getbasetemp(), "any.xml.bz2", streams(PLAIN, parts))
    assert contents(read(path, ranges_of(path, cuts))) == WHOLE


@given(at=st.integers(len(HEAD), len(PLAIN) - len(TAIL)), cuts=CUTS, parts=CUTS, bzip=st.booleans())
@settings(deadline=None)
def test_a_cut_off_dump_gives_its_whole_pages_and_one_error(
    at: int, cuts: list[int], parts: list[int], bzip: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    data = PLAIN[:at]
    path = write(
        tmp_path_factory.getbasetemp(), "cut.xml.bz2" if bzip else "cut.xml", streams(data, parts) if bzip else data
    )
    info, found, errors = read_siteinfo(path), list[Page | BrokenPage](), list[str]()
    for span in ranges_of(path, cuts):
        try:
            for item in read_pages(span, info):
                found.append(item)
        except InputError as error:
            errors.append(str(error))
    assert contents(found) == WHOLE[: data.count(b"</page>")]
    assert len(errors) == 1
    assert "cut off" in errors[0]
    assert f"byte {os.path.getsize(path)}" in errors[0]


def test_a_last_tag_split_between_streams_is_no_cut_off_dump(tmp_path: Path) -> None:
    path = write(tmp_path, "d.xml.bz2", streams(PLAIN, [len(PLAIN) - 5]))
    second = len(bz2.compress(PLAIN[: len(PLAIN) - 5]))
    assert contents(read(path, ranges_of(path, [second]))) == WHOLE


def test_a_stream_cut_in_the_middle_names_its_first_byte(tmp_path: Path) -> None:
    data = streams(PLAIN, [1000, 2000])
    starts = [at for at in range(len(data)) if data.startswith(b"BZh91AY&SY", at)]
    path = write(tmp_path, "d.xml.bz2", data[:-20])
    for cuts in ([], [starts[2]], [starts[1], starts[2] + 1]):
        with pytest.raises(InputError, match=rf"byte {starts[2]}: .*cut off"):
            read(path, ranges_of(path, cuts))


@pytest.mark.parametrize("cuts", [[], [0], [-1], [1], [7]])
def test_a_corrupt_stream_is_never_passed_over(tmp_path: Path, cuts: list[int]) -> None:
    data = bytearray(streams(PLAIN, range(0, len(PLAIN), 1000)))
    starts = [at for at in range(len(data)) if data.startswith(b"BZh91AY&SY", at)]
    bad = starts[4]
    data[bad + 60] ^= 0x55
    path = write(tmp_path, "d.xml.bz2", bytes(data))
    with pytest.raises(InputError, match=rf"byte {bad}: .*corrupt"):
        read(path, ranges_of(path, [bad + cut for cut in cuts]))


def test_a_stream_start_that_does_not_decompress_is_not_taken_for_one(tmp_path: Path) -> None:
    data = streams(PLAIN, [3000])
    second = data.index(b"BZh91AY&SY", 1)
    path = write(tmp_path, "d.xml.bz2", data[: second - 30] + b"BZh91AY&SY" + data[second - 20 :])
    info = read_siteinfo(write(tmp_path, "good.xml", PLAIN))
    found = list(read_pages(DumpRange(path, second - 30, len(data)), info))
    assert contents(found) == WHOLE[-len(found) :]
    assert found


def test_ranges_of_a_plain_file_cover_it_without_reading_it(tmp_path: Path) -> None:
    path = write(tmp_path, "huge.xml", PLAIN)
    os.truncate(path, 1 << 40)
    began = time.process_time()
    plan = plan_ranges(path, 1 << 36)
    assert time.process_time() - began < 1
    assert [span.weight for span in plan.ranges] == [1 << 36] * 16
    assert plan.ranges[-1].end == 1 << 40
    assert plan.notes == ()


def multistream(folder: Path, titles: str = "Talk: a: b") -> tuple[str, str, list[int]]:
    pieces = [HEAD.encode(), *("".join(PAGES[n : n + 4]).encode() for n in range(0, 23, 4)), TAIL.encode()]
    offsets = [0, *itertools.accumulate(len(bz2.compress(piece)) for piece in pieces)]
    path = write(folder, "x-multistream.xml.bz2", b"".join(bz2.compress(piece) for piece in pieces))
    lines = [f"{offset}:{n}:{titles}\n" for offset in offsets[1:-2] for n in range(120)]
    index = write(folder, "x-multistream-index.txt.bz2", bz2.compress("".join(lines).encode()))
    return path, index, offsets


def test_an_index_cuts_ranges_at_stream_starts(tmp_path: Path) -> None:
    path, _, offsets = multistream(tmp_path)
    plan = plan_ranges(path, 400)
    assert plan.notes == ()
    assert len(plan.ranges) > 3
    assert {span.start for span in plan.ranges} <= set(offsets)
    assert contents(read(path, plan.ranges)) == WHOLE


def test_a_plain_index_serves_too(tmp_path: Path) -> None:
    path, index, offsets = multistream(tmp_path)
    write(tmp_path, "x-multistream-index.txt", bz2.decompress(Path(index).read_bytes()))
    Path(index).unlink()
    assert {span.start for span in plan_ranges(path, 400).ranges} <= set(offsets)


@pytest.mark.parametrize("damage", ["stale", "cut", "empty", "text", "falling"])
def test_a_stale_or_damaged_index_is_noted_and_harmless(tmp_path: Path, damage: str) -> None:
    path, index, _ = multistream(tmp_path)
    data = Path(index).read_bytes()
    damaged = {
        "stale": bz2.compress(b"".join(b"%d:1:a:b\n" % n for n in range(1, 3000))),
        "cut": data[:40],
        "empty": b"",
        "text": b"<html>" * 99,
        "falling": bz2.compress(b"".join(b"%d:1:a%s\n" % (n, b"x" * 5000) for n in (3, 2, 1))),
    }
    Path(index).write_bytes(damaged[damage])
    plan = plan_ranges(path, 400)
    assert "index is not used" in plan.notes[0]
    assert len(plan.ranges) > 3
    assert contents(read(path, plan.ranges)) == WHOLE


def test_the_index_of_a_numbered_part_is_found(tmp_path: Path) -> None:
    path, index, offsets = multistream(tmp_path)
    part = str(tmp_path / "x-multistream1.xml-p1p41.bz2")
    Path(path).rename(part)
    Path(index).rename(tmp_path / "x-multistream-index1.txt-p1p41.bz2")
    assert {span.start for span in plan_ranges(part, 400).ranges} <= set(offsets)


@pytest.mark.parametrize(
    ("name", "data", "note"),
    [
        ("d.xml.bz2", bz2.compress(PLAIN), "single bz2 stream"),
        ("d.xml.gz", gzip.compress(PLAIN), "gz file"),
        ("d.xml.zst", zstandard.compress(PLAIN), "zst file"),
        ("d.xml", codecs.BOM_UTF16_LE + PLAIN.decode().encode("utf-16-le"), "UTF-16"),
        ("e.xml", codecs.BOM_UTF16_BE + PLAIN.decode().encode("utf-16-be"), "UTF-16"),
        ("e.xml.bz2", streams(PLAIN.decode().encode("utf-16"), [1, 333, 1001]), "UTF-16"),
    ],
)
def test_a_file_that_cannot_be_cut_is_one_range_and_says_so(tmp_path: Path, name: str, data: bytes, note: str) -> None:
    path = write(tmp_path, name, data)
    plan = plan_ranges(path, 100)
    assert len(plan.ranges) == 1
    assert note in plan.notes[0]
    assert contents(read(path, plan.ranges)) == WHOLE


def test_offsets_point_at_the_page_or_its_stream(tmp_path: Path) -> None:
    plain = write(tmp_path, "d.xml", PLAIN)
    for found in read(plain, ranges_of(plain, [1500, 4000])):
        assert PLAIN[found.offset :].startswith(b"<page>\n    <title>%s<" % (found.title or "").encode())
    path, _, offsets = multistream(tmp_path)
    assert [found.offset for found in read(path)] == [offsets[1 + n // 4] for n in range(23)]


def test_siteinfo_tells_the_wiki_its_language_and_its_namespaces(tmp_path: Path) -> None:
    info = read_siteinfo(write(tmp_path, "d.xml", PLAIN))
    assert (info.dbname, info.sitename, info.language, info.version) == ("dewiki", "Wikipedia", "de", "0.10")
    assert info.namespaces[10] == ("Vorlage", "Template")
    assert info.namespaces[0] == ("",)
    assert info.url("Straße (a b)?") == "https://de.wikipedia.org/wiki/Stra%C3%9Fe_(a_b)%3F"
    assert pickle.loads(pickle.dumps(info)) == info


def test_a_dump_without_siteinfo_has_the_standard_namespaces(tmp_path: Path) -> None:
    info = read_siteinfo(write(tmp_path, "d.xml", dump(PAGES[0], head="<!-- a sample -->\n<mediawiki>\n")))
    assert (info.dbname, info.base_url, info.url("X")) == ("", "", "")
    assert info.namespace("template talk:X") == 11


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
    found = one(
        tmp_path,
        page("A &amp; B", "&lt;ref&gt; &amp;nbsp; &amp;lt; &amp;#65; &#65;&#x42;&#10; &quot;&apos; &amp; &x; &#0;"),
    )
    assert found.title == "A & B"
    assert found.text == "<ref> &nbsp; &lt; &#65; AB\n \"' & &x; \ufffd"


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
    found = one(tmp_path, f"<page><title>A</title><ns>0</ns><id>5</id>{body}</page>")
    assert (found.text, found.model, found.id) == (expected, f"m{expected}", 5)


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
    found = read(path, ranges_of(path, cuts))
    assert [item.title for item in found] == [title for _, title, _ in WHOLE]
    assert [isinstance(item, BrokenPage) for item in found] == [True] * 3 + [False] * 20


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("a.xml", b"", "empty"),
        ("a.xml", b"\x89PNG\r\n\x1a\n" + bytes(500), "no MediaWiki XML dump"),
        ("a.xml", b"<!DOCTYPE html><html><body>404</body></html>", "no MediaWiki XML dump"),
        ("a.xml", b"plain text\n" * 200_000 + b"<mediawiki>", "no MediaWiki XML dump"),
        ("a.xml", bz2.compress(PLAIN), "it is bz2: name it so"),
        ("a.xml.bz2", b"<!DOCTYPE html><html>", r"begins with b'<!DOCTYPE html>"),
        ("a.xml.gz", b"<!DOCTYPE html><html>", r"begins with b'<!DOCTYPE html>"),
        ("a.xml.zst", b"<!DOCTYPE html><html>", "corrupt"),
        ("a.xml.bz2", bz2.compress(b"hello"), "no MediaWiki XML dump"),
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


def test_memory_is_one_page_and_buffers(tmp_path: Path) -> None:
    filler = b" " * 1_000_000
    body = b"".join(PAGES[n % 23].encode() + filler for n in range(24))
    path = write(tmp_path, "d.xml.bz2", bz2.compress(HEAD.encode() + body + TAIL.encode(), 1))
    info = read_siteinfo(path)
    tracemalloc.start()
    count = sum(1 for _ in read_pages(DumpRange(path, 0, os.path.getsize(path)), info))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert count == 24
    assert peak < 16 << 20


@pytest.mark.parametrize(
    "junk", ["<page>", "<text ", "<redirect title=&quot;", "&", "</page>", "<revision>", "<title>"]
)
def test_hostile_repetition_takes_linear_time(tmp_path: Path, junk: str) -> None:
    path = write(tmp_path, "d.xml", dump("<page><title>A</title><id>1</id>", junk * 200_000, "</page>"))
    began = time.process_time()
    read(path)
    assert time.process_time() - began < 3


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
    source = open_decompressed(path)
    try:
        for _, element in ET.iterparse(source):
            if element.tag.rpartition("}")[2] != "page":
                continue
            found = {child.tag.rpartition("}")[2]: child for child in element.iter()}
            numbers = [child.text for child in element if child.tag.endswith("id")]
            if numbers and "text" in found:
                ns = int(found["ns"].text or 0) if "ns" in found else 0
                title = found["title"].text or ""
                rows.append((int(numbers[0] or 0), ns, title, found["text"].text or "", "redirect" in found))
            element.clear()
    except ET.ParseError:
        assert "testdata_ja" in path
    return rows


@pytest.mark.parametrize("name", REAL)
def test_real_dumps_read_as_an_xml_parser_reads_them(name: str) -> None:
    path = str(data_path(*name.split("/")))
    info, rows = read_siteinfo(path), list[tuple[int, int, str, str, bool]]()
    cut_off = pytest.raises(InputError, match="cut off") if "testdata_ja" in path else contextlib.nullcontext()
    with cut_off:
        for span in plan_ranges(path, 300_000).ranges:
            for found in read_pages(span, info):
                if isinstance(found, Page):
                    rows.append((found.id, found.ns, found.title, found.text, found.redirect is not None))
    assert rows == by_tree(path)
    assert rows


@pytest.mark.parametrize(("number", "reason"), [(1, "no title"), (3, "no text")])
def test_real_broken_dumps_name_the_broken_page(number: int, reason: str) -> None:
    path = str(data_path("wikipedia-other", f"cyberzhg_zhwiki-broken-{number}.xml"))
    found = read(path)
    assert [item.reason for item in found if isinstance(item, BrokenPage)] == [reason]
    assert len(found) == 3
