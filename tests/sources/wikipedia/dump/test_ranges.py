"""Any cut of any dump into ranges gives each page once, and a dump that is cut off says where."""

from __future__ import annotations

import bz2
import codecs
import gzip
import itertools
import lzma
import os
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.errors import InputError
from bertdata.sources.wikipedia.dump.ranges import DumpRange, plan_ranges, read_head
from bertdata.sources.wikipedia.dump.reader import BrokenPage, Page, read_pages
from bertdata.sources.wikipedia.dump.siteinfo import read_siteinfo
from tests.generated import examples
from tests.io.bzip2.blocks import blocks_of, flip, in_blocks, noise
from tests.sources.wikipedia.dumps import (
    CUTS,
    HEAD,
    PAGES,
    PLAIN,
    TAIL,
    WHOLE,
    contents,
    dump,
    multistream,
    page,
    ranges_of,
    read,
    streams,
    write,
)

LETTERS = bytes(range(97, 123)) + bytes(230)


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
    info, pages, errors = read_siteinfo(path), list[Page | BrokenPage](), list[str]()
    for span in ranges_of(path, cuts):
        try:
            for item in read_pages(span, info):
                pages.append(item)
        except InputError as error:
            errors.append(str(error))
    assert contents(pages) == WHOLE[: data.count(b"</page>")]
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


def pieces_of(data: bytes, cuts: Sequence[int]) -> list[bytes]:
    """Return data in pieces, the first of which is the head of a dump."""
    edges = [0, len(HEAD), *sorted({len(HEAD) + cut % (len(data) - len(HEAD)) for cut in cuts}), len(data)]
    return [data[start:end] for start, end in itertools.pairwise(dict.fromkeys(edges))]


@given(cuts=CUTS, parts=CUTS, compiled=st.booleans())
@settings(max_examples=examples(100), deadline=None)
def test_any_cut_of_a_single_stream_of_any_blocks_gives_each_page_once(
    cuts: list[int], parts: list[int], compiled: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = write(tmp_path_factory.getbasetemp(), "any.xml.bz2", in_blocks(pieces_of(PLAIN, parts)))
    assert contents(read(path, ranges_of(path, cuts), compiled=compiled)) == WHOLE


def test_pages_longer_than_a_block_are_read_whole_whatever_the_ranges(tmp_path: Path) -> None:
    pages = [page(f"P{n}", noise(150_000 * (n % 3), 26, n).translate(LETTERS).decode(), number=n) for n in range(1, 9)]
    data = dump(*pages)
    path = write(tmp_path, "d.xml.bz2", bz2.compress(data, 1))
    whole = read(write(tmp_path, "d.xml", data))
    for count in (1, 2, 7, 30):
        size = os.path.getsize(path)
        pages_read = read(path, ranges_of(path, [size * n // count for n in range(count)]), compiled=True)
        assert contents(pages_read) == contents(whole)
        assert len(pages_read) == 8


@given(parts=CUTS, bits=st.lists(st.integers(0, 1 << 20), min_size=1, max_size=3), cuts=CUTS, compiled=st.booleans())
@settings(deadline=None)
def test_damaged_blocks_cost_the_pages_they_have_a_part_of_and_are_named_once_whatever_the_ranges(
    parts: list[int], bits: list[int], cuts: list[int], compiled: bool, tmp_path_factory: pytest.TempPathFactory
) -> None:
    pieces = pieces_of(PLAIN, parts)
    data = in_blocks(pieces)
    places = blocks_of(data)
    lost = {1 + bit % (len(places) - 1) for bit in bits}
    for number in lost:
        data = flip(data, places[number][1] + 48 + bits[0] % 32)
    path = write(tmp_path_factory.getbasetemp(), "damaged.xml.bz2", data)
    pages_read = read(path, ranges_of(path, []), compiled=compiled)
    ends = list(itertools.accumulate(map(len, pieces)))
    page_ends = list(itertools.accumulate((len(source.encode()) for source in PAGES), initial=len(HEAD)))
    pages = [(begin + len("  "), end - len("\n")) for begin, end in itertools.pairwise(page_ends)]
    assert contents(pages_read) == [
        row
        for row, (begin, end) in zip(WHOLE, pages, strict=True)
        if not any(ends[number - 1] < end and begin < ends[number] for number in lost)
    ]
    broken = [item for item in pages_read if isinstance(item, BrokenPage)]
    assert {item.reason for item in broken} == {"damaged block"}
    assert any(item.title is None for item in broken)
    assert read(path, ranges_of(path, cuts), compiled=compiled) == pages_read


def test_a_page_that_a_damaged_block_cuts_off_is_named_by_its_title(tmp_path: Path) -> None:
    middle = PLAIN.index(b"T9<") + 20
    after = PLAIN.index(b"T11<")
    data = in_blocks([PLAIN[:middle], PLAIN[middle:after], PLAIN[after:]])
    first, second = blocks_of(data)[:2]
    path = write(tmp_path, "d.xml.bz2", flip(data, second[1] + 60))
    pages = read(path)
    assert contents(pages) == [*WHOLE[:8], *WHOLE[11:]]
    assert pages[8:10] == [BrokenPage("damaged block", "T9", 0), BrokenPage("damaged block", None, second[1] // 8)]
    assert first[1] == 32


@pytest.mark.parametrize("cuts", [[], [0], [-1], [1], [7]])
def test_a_damaged_stream_costs_its_pages(tmp_path: Path, cuts: list[int]) -> None:
    path, offsets = multistream(tmp_path)
    data = bytearray(Path(path).read_bytes())
    data[offsets[3] + 60] ^= 0x55
    Path(path).write_bytes(data)
    pages = read(path, ranges_of(path, [offsets[3] + cut for cut in cuts]))
    assert contents(pages) == [*WHOLE[:8], *WHOLE[12:]]
    assert pages[8] == BrokenPage("damaged block", None, offsets[3])


def test_a_damaged_last_block_is_no_cut_off_dump(tmp_path: Path) -> None:
    data = in_blocks([PLAIN[:3000], PLAIN[3000:]])
    path = write(tmp_path, "d.xml.bz2", flip(data, blocks_of(data)[1][1] + 60))
    *whole, page_cut, rest = read(path)
    assert contents(whole) == WHOLE[: len(whole)]
    assert [page.reason for page in (page_cut, rest) if isinstance(page, BrokenPage)] == ["damaged block"] * 2


def test_a_dump_whose_head_is_damaged_is_not_read(tmp_path: Path) -> None:
    data = in_blocks([PLAIN[:3000], PLAIN[3000:]])
    with pytest.raises(InputError, match=r"byte 0: the bz2 block .* is corrupt, and has the head of the dump"):
        read(write(tmp_path, "d.xml.bz2", flip(data, 100)))


def test_a_damaged_block_of_utf_16_is_an_error(tmp_path: Path) -> None:
    text = PLAIN.decode().encode("utf-16")
    data = in_blocks([text[:3000], text[3000:]])
    place = blocks_of(data)[1][1]
    with pytest.raises(InputError, match=rf"byte {place // 8}: the bz2 block that starts here is corrupt"):
        read(write(tmp_path, "d.xml.bz2", flip(data, place + 60)))


def test_a_stream_start_that_does_not_decompress_is_not_taken_for_one(tmp_path: Path) -> None:
    data = streams(PLAIN, [3000])
    second = data.index(b"BZh91AY&SY", 1)
    path = write(tmp_path, "d.xml.bz2", data[: second - 30] + b"BZh91AY&SY" + data[second - 20 :])
    info = read_siteinfo(write(tmp_path, "good.xml", PLAIN))
    pages = list(read_pages(DumpRange(path, second - 30, len(data)), info))
    assert contents(pages) == WHOLE[-len(pages) :]
    assert pages


def test_ranges_of_a_plain_file_cover_it_without_reading_it(tmp_path: Path) -> None:
    path = write(tmp_path, "huge.xml", PLAIN)
    os.truncate(path, 1 << 40)
    began = time.process_time()
    plan = plan_ranges(path, 1 << 36)
    assert time.process_time() - began < 60  # reading it takes minutes
    assert [span.weight for span in plan.ranges] == [1 << 36] * 16
    assert plan.ranges[-1].end == 1 << 40
    assert plan.notes == ()


def test_a_head_without_an_end_is_read_for_a_megabyte(tmp_path: Path) -> None:
    path = write(tmp_path, "d.xml", b"<mediawiki>\n")
    os.truncate(path, 64 << 20)
    assert 1 << 20 <= len(read_head(path)[0]) < 4 << 20


@pytest.mark.parametrize("data", [bz2.compress(PLAIN), streams(PLAIN, range(0, len(PLAIN), 700))])
def test_a_bz2_file_is_cut_whether_it_has_one_stream_or_many(tmp_path: Path, data: bytes) -> None:
    path = write(tmp_path, "d.xml.bz2", data)
    plan = plan_ranges(path, 200)
    assert plan.notes == ()
    assert len(plan.ranges) == -(-len(data) // 200)
    assert contents(read(path, plan.ranges)) == WHOLE


@pytest.mark.parametrize(
    ("name", "data", "note"),
    [
        ("d.xml.gz", gzip.compress(PLAIN, mtime=0), "gz file"),
        ("d.xml.zst", zstandard.compress(PLAIN), "zst file"),
        ("d.xml.xz", lzma.compress(PLAIN), "xz file"),
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


def test_offsets_point_at_the_page_or_its_stream_or_block(tmp_path: Path) -> None:
    plain = write(tmp_path, "d.xml", PLAIN)
    for pages in read(plain, ranges_of(plain, [1500, 4000])):
        assert PLAIN[pages.offset :].startswith(b"<page>\n    <title>%s<" % (pages.title or "").encode())
    path, offsets = multistream(tmp_path)
    assert [page.offset for page in read(path)] == [offsets[1 + n // 4] for n in range(23)]
    data = in_blocks([HEAD.encode(), *(page.encode() for page in PAGES), TAIL.encode()])
    path = write(tmp_path, "d.xml.bz2", data)
    assert [page.offset for page in read(path)] == [begin // 8 for _, begin, _ in blocks_of(data)[1:24]]
