"""A Content File Export gives the documents of the legacy dump, however its files are cut, ordered and named."""

from __future__ import annotations

import bz2
from collections import Counter
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertdata.engine.parts import run_once
from bertdata.engine.stages import BuildState, Plan
from bertdata.errors import InputError
from bertdata.sources.formats import write_documents
from bertdata.sources.kinds import find_kind
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.stage import ReadSource
from bertdata.sources.wikipedia.dump import reader
from bertdata.sources.wikipedia.dump.ranges import DumpRange
from bertdata.sources.wikipedia.dump.reader import BrokenPage, Page, read_pages, read_split_page
from bertdata.sources.wikipedia.dump.revisions import keep_newest
from bertdata.sources.wikipedia.dump.siteinfo import read_siteinfo
from tests.growth import assert_linear
from tests.io.bzip2.blocks import in_blocks
from tests.sources.wikipedia.exports import (
    DATE,
    PAGES,
    SPLIT,
    Revision,
    WikiPage,
    export,
    export_file,
    legacy,
    write_export,
)


def plan(paths: list[Path], folder: Path, range_bytes: int = 1 << 20) -> Plan:
    """Plan the stage that reads dumps, given in this order."""
    config = CleaningConfig(range_bytes=range_bytes)
    source_of = dict.fromkeys(map(str, paths), "wikipedia")
    return ReadSource("wikipedia", source_of, str(folder), config).plan(BuildState())


def notes(folder: Path) -> list[str]:
    """What the plan says of a folder of dumps, but how they are cut."""
    said = plan([Path(path) for path in find_kind("wikipedia", [str(folder)])], folder.parent / "documents").notes
    return [note for note in said if "one worker" not in note]


def documents(paths: list[Path], folder: Path, range_bytes: int = 1 << 20) -> tuple[list[Any], dict[str, int], int]:
    """Return the documents of dumps by id, the drops by reason, and the number of pages."""
    tasks = plan(paths, folder, range_bytes).steps[0].tasks
    records = [run_once(task, write_documents) for task in tasks]
    rows = [row for task in tasks for row in pq.read_table(task.path).to_pylist()]
    drops = sum((Counter(record.drops) for record in records), Counter[str]())
    return (
        sorted(rows, key=lambda row: row["id"]),
        dict(drops),
        sum(record.counts.get("pages", 0) for record in records),
    )


def write_legacy(folder: Path) -> Path:
    path = folder / "xwiki-20260901-pages-articles-multistream.xml.bz2"
    path.write_bytes(legacy())
    return path


@pytest.mark.parametrize("range_bytes", [100, 300, 700, 1 << 20])
@pytest.mark.parametrize("backwards", [False, True])
def test_an_export_gives_the_documents_of_the_legacy_dump(tmp_path: Path, range_bytes: int, backwards: bool) -> None:
    folder = write_export(tmp_path / "export")
    paths = sorted(folder.glob("*.bz2"), reverse=backwards)
    rows_read, drops, pages = documents(paths, tmp_path / "new", range_bytes)
    assert (rows_read, drops, pages) == documents([write_legacy(tmp_path)], tmp_path / "old", range_bytes)
    assert [row["id"] for row in rows_read] == ["xwiki:1", "xwiki:6", "xwiki:9"]
    assert rows_read[2]["text"].startswith("The sea of now.")
    assert rows_read[0]["url"] == "https://x.example.org/wiki/Salt"
    assert pages == len(PAGES) == 9
    assert drops == {
        "redirect": 2,
        "not an article": 1,
        "deleted revision": 1,
        "content model json": 1,
        "no prose": 1,
    }  # fmt: skip


def test_a_file_that_holds_all_revisions_of_its_pages_gives_the_newest(tmp_path: Path) -> None:
    path = tmp_path / f"xwiki-{DATE}-p1p9.xml.bz2"
    path.write_bytes(export_file(*((page, page.revisions) for page in PAGES)))
    assert documents([path], tmp_path / "new") == documents([write_legacy(tmp_path)], tmp_path / "old")


@pytest.mark.costly
def test_a_long_history_is_read_in_the_memory_of_its_newest_revisions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    times = [2000 + 27 * n % 43 for n in range(43)]
    revisions = tuple(Revision(n, f"{time}-01-01T00:00:00Z", f"of {time} " * 20_000) for n, time in enumerate(times))
    long, after = WikiPage(1, "Long", revisions), replace(PAGES[0], id=2)
    path = tmp_path / "x.xml"
    path.write_bytes(bz2.decompress(export_file((long, revisions), (after, after.revisions))))
    held = []

    def noting(page: bytes) -> bytes:
        held.append(len(page))
        return keep_newest(page)

    monkeypatch.setattr(reader, "keep_newest", noting)
    monkeypatch.setattr(reader, "_LONG_PAGE", 300_000)
    size = path.stat().st_size
    pages = list(read_pages(DumpRange(str(path), 0, size), read_siteinfo(str(path))))
    assert [(page.id, page.text) for page in pages if isinstance(page, Page)] == [
        (1, "of 2042 " * 20_000),
        (2, PAGES[0].newest.text),
    ]
    assert held
    assert max(held) < size / 4


@given(chunk=st.integers(1, 400), long=st.integers(1, 3000))
def test_a_page_is_cut_alike_wherever_its_bytes_come_in_pieces(
    chunk: int, long: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / "pieces.xml"
    data = bz2.decompress(export_file(*((page, page.revisions) for page in (*PAGES, PAGES[0]))))
    path.write_bytes(data)
    span, site = DumpRange(str(path), 0, len(data)), read_siteinfo(str(path))
    whole = list(read_pages(span, site))
    pieces = [(start, data[start : start + chunk], True) for start in range(0, len(data), chunk)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(reader, "read_chunks", lambda _, compiled: iter(pieces))
        patch.setattr(reader, "_LONG_PAGE", long)
        assert list(read_pages(span, site)) == whole
    assert len(whole) == len(PAGES) + 1


def test_further_slots_never_stand_for_the_main_one(tmp_path: Path) -> None:
    slot = '<content><role>a</role><model>json</model><text sha1="0">slot</text></content>'
    page = bz2.decompress(export_file((PAGES[0], PAGES[0].revisions))).decode()
    main = page[page.index("<text") : page.index("</text>") + len("</text>")]
    before, without = page.replace("<model>", slot + "<model>"), page.replace(main, slot)
    path = tmp_path / "x.xml"
    for text, expected in ((before, PAGES[0].newest.text), (without, None)):
        path.write_text(text)
        [only_page] = read_pages(DumpRange(str(path), 0, len(text.encode())), read_siteinfo(str(path)))
        if expected is None:
            assert isinstance(only_page, reader.BrokenPage)
            assert only_page.reason == "no text"
        else:
            assert isinstance(only_page, Page)
            assert (only_page.text, only_page.model) == (expected, "wikitext")


@pytest.mark.parametrize("junk", ["<content>", "<content></content>", "<page><id>"])
def test_hostile_slots_and_beginnings_take_linear_time(tmp_path: Path, junk: str) -> None:
    page = bz2.decompress(export_file((PAGES[0], PAGES[0].revisions))).decode()
    fresh = count()

    def written(length: int) -> Path:
        folder = tmp_path / str(next(fresh))
        folder.mkdir()
        for name in ("a.xml", "b.xml"):
            text = page.replace("<text", junk * (length // len(junk)) + "<text").replace("<id>", "<i>")
            (folder / name).write_text(text)
        return folder

    def run(folder: Path) -> None:
        documents([folder / "a.xml", folder / "b.xml"], folder / f"documents-{next(fresh)}")

    assert_linear(run, written)


def test_a_split_page_with_a_foreign_page_in_its_files_is_refused(tmp_path: Path) -> None:
    spans = []
    for name, page in (("a.xml.bz2", SPLIT), ("b.xml.bz2", PAGES[0])):
        path = tmp_path / name
        path.write_bytes(export_file((page, page.revisions)))
        spans.append(DumpRange(str(path), 0, path.stat().st_size))
    with pytest.raises(InputError, match=r"b\.xml\.bz2.*page 'Salt'.*holds another page"):
        list(read_split_page(spans, read_siteinfo(spans[0].path)))


def test_a_split_page_with_a_damaged_part_is_lost_by_name_and_no_older_text_is_kept(tmp_path: Path) -> None:
    spans = []
    for name, revisions in (("a.xml.bz2", SPLIT.revisions[:1]), ("b.xml.bz2", SPLIT.revisions[1:])):
        data = export_file((SPLIT, revisions))
        if name == "b.xml.bz2":
            plain = bz2.decompress(data)
            whole = in_blocks([plain[:300], plain[300:]])
            data = whole[:-40] + bytes([whole[-40] ^ 1]) + whole[-39:]
        path = tmp_path / name
        path.write_bytes(data)
        spans.append(DumpRange(str(path), 0, path.stat().st_size))
    [page] = read_split_page(spans, read_siteinfo(spans[0].path))
    assert isinstance(page, BrokenPage)
    assert (page.reason, page.title) == ("damaged block", SPLIT.title)
    assert page.path == spans[1].path


def test_a_split_page_is_named_with_the_file_that_is_damaged(tmp_path: Path) -> None:
    paths = [tmp_path / f"xwiki-2026-09-01-p9r{first}r{first + 1}.xml.bz2" for first in (1, 3)]
    for path, revisions in zip(paths, (SPLIT.revisions[:1], SPLIT.revisions[1:]), strict=True):
        path.write_bytes(export_file((SPLIT, revisions)))
    plain = bz2.decompress(paths[1].read_bytes())
    whole = in_blocks([plain[:300], plain[300:]])
    paths[1].write_bytes(whole[:-40] + bytes([whole[-40] ^ 1]) + whole[-39:])
    [task] = plan(paths, tmp_path / "documents").steps[0].tasks
    record = run_once(task, write_documents)
    assert [(broken_page["path"], broken_page["title"]) for broken_page in record.details["broken"]] == [
        (str(paths[1]), SPLIT.title)
    ]


def test_a_split_page_whose_files_were_renamed_is_refused(tmp_path: Path) -> None:
    folder = write_export(tmp_path / "export")
    for path in folder.glob("*-p9r*"):
        path.rename(path.with_name(path.name.replace("-p9", "-renamed")))
    with pytest.raises(
        InputError, match=r"begins with page 9 of xwiki, as .* hold revisions of one page; .* under the name it was"
    ):
        plan(sorted(folder.glob("*.bz2")), tmp_path / "documents")


def test_two_exports_of_one_wiki_are_refused(tmp_path: Path) -> None:
    write_export(tmp_path / "both" / "new")
    older = {name.replace(DATE, "2026-08-01"): data for name, data in export().items()}
    write_export(tmp_path / "both" / "old", older)
    with pytest.raises(
        InputError, match=r"begins with page 1 of xwiki, as .* they are of two exports.*give one export"
    ):
        plan(sorted((tmp_path / "both").rglob("*.bz2")), tmp_path / "documents")


def test_a_legacy_dump_beside_an_export_is_noted(tmp_path: Path) -> None:
    folder = write_export(tmp_path / "export")
    write_legacy(folder)
    [note] = notes(folder)
    assert "begins with page 1 of xwiki, as " in note
    assert "leave one of them out" in note


def test_a_finished_folder_gives_its_dumps_alone_and_no_note(tmp_path: Path) -> None:
    folder = write_export(tmp_path / "export")
    assert find_kind("wikipedia", [str(folder)]) == [str(folder / name) for name in sorted(export())]
    assert notes(folder) == []


def test_a_folder_without_success_is_noted_with_the_files_it_lacks(tmp_path: Path) -> None:
    folder = write_export(tmp_path / "export", finished=False)
    name = f"xwiki-{DATE}-p9r903r904.xml.bz2"
    (folder / name).rename(folder / f"{name}.part")
    assert [str(folder / f"xwiki-{DATE}-p1p8.xml.bz2"), str(folder / f"xwiki-{DATE}-p9r901r902.xml.bz2")] == find_kind(
        "wikipedia", [str(folder)]
    )
    unfinished, missing = notes(folder)
    assert unfinished.startswith(f"{folder} has no _SUCCESS: this export may not be finished")
    assert missing == f"{folder}: 1 of the 3 files of this export are not read: {name}"


def test_of_many_missing_files_three_are_named(tmp_path: Path) -> None:
    folder = write_export(tmp_path / "export")
    lines = "".join(f"{'0' * 64}  xwiki-{DATE}-p{n}p{n}.xml.bz2\n" for n in range(20, 26))
    for number, ending in ((3, "p22p22.xml.bz2"), (4, "p22p22.xml.bz2 and 1 more")):
        (folder / "SHA256SUMS").write_text("\n".join(lines.split("\n")[:number]) + "\n")
        [note] = notes(folder)
        assert note.startswith(
            f"{folder}: {number} of the {number} files of this export are not read: xwiki-{DATE}-p20p20"
        )
        assert note.endswith(ending)


def test_an_empty_list_of_sums_says_nothing(tmp_path: Path) -> None:
    folder = write_export(tmp_path / "export")
    (folder / "SHA256SUMS").write_bytes(b"")
    assert notes(folder) == []


def test_a_damaged_dump_begins_with_no_page(tmp_path: Path) -> None:
    folder = write_export(tmp_path / "export")
    head = bz2.decompress(legacy()).partition(b"  <page>")[0]
    (folder / "damaged.xml.bz2").write_bytes(bz2.compress(head) + bz2.compress(b"x" * 1000)[:20] + bytes(60))
    assert notes(folder) == []


def test_another_file_of_a_split_page_makes_its_part_again(tmp_path: Path) -> None:
    folder = write_export(tmp_path / "export")
    paths = sorted(folder.glob("*-p9r*"))
    (before,) = plan(paths, tmp_path / "documents").steps[0].tasks
    paths[1].write_bytes(export_file((SPLIT, SPLIT.revisions[:1])))
    (after,) = plan(paths, tmp_path / "documents").steps[0].tasks
    assert before.weight != after.weight
    assert before.fingerprint != after.fingerprint
