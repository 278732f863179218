"""Any cut of any dump into ranges gives each page once, and a dump that is cut off says where."""

from __future__ import annotations

import bz2
import codecs
import gzip
import os
import time
from pathlib import Path

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

from bertdata.errors import InputError
from bertdata.sources.wikipedia.dump.ranges import DumpRange, plan_ranges, read_head
from bertdata.sources.wikipedia.dump.reader import BrokenPage, Page, read_pages, read_siteinfo
from tests.sources.wikipedia.dumps import (
    CUTS,
    HEAD,
    PLAIN,
    TAIL,
    WHOLE,
    contents,
    multistream,
    ranges_of,
    read,
    streams,
    write,
)


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


def test_a_head_without_an_end_is_read_for_a_megabyte(tmp_path: Path) -> None:
    path = write(tmp_path, "d.xml", b"<mediawiki>\n")
    os.truncate(path, 64 << 20)
    assert 1 << 20 <= len(read_head(path)[0]) < 4 << 20


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
