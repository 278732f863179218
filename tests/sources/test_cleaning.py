"""Sources to documents: which files are taken, what becomes of each page and book, and what its document is."""

from __future__ import annotations

import bz2
import io
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

import pyarrow.parquet as pq
import pytest

from bertdata import InputError
from bertdata.engine.parts import Counters, PartMetadata, Task, run_once
from bertdata.sample import SAMPLE_BOOKS, SAMPLE_DUMP
from bertdata.sources.formats import write_documents
from bertdata.sources.kinds import find_kind
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.wikipedia.format import WIKIPEDIA
from bertdata.sources.wikipedia.words import count_words
from tests.sources.planned import plan_books, plan_wikipedia

PROSE = "Salt is a mineral of the sea and of the earth, and people have carried it over mountains for ages. " * 3


def dump(*pages: str, base: str = "https://en.example.org/wiki/Main_Page") -> bytes:
    head = f'<siteinfo><sitename>W</sitename><dbname>xwiki</dbname><base>{base}</base><namespaces><namespace key="0" />'
    head += '<namespace key="1">Talk</namespace></namespaces></siteinfo>'
    return f'<mediawiki version="0.11" xml:lang="en">{head}{"".join(pages)}</mediawiki>'.encode()


def page(number: int, title: str, text: str = PROSE, *, ns: int = 0, more: str = "") -> str:
    return (
        f"<page><title>{title}</title><ns>{ns}</ns><id>{number}</id>{more}<revision><id>9</id>"
        f"<text>{text}</text></revision></page>"
    )


def clean(path: Path) -> tuple[PartMetadata, list[dict[str, str]]]:
    tasks = plan_wikipedia([str(path)], str(path.parent / "out"), CleaningConfig())
    [record] = [run_once(task, write_documents) for task in tasks]
    return record, pq.read_table(tasks[0].path).to_pylist()


DUMPS = ["a.xml", "a.xml.bz2", "a.xml.gz", "a.xml.zst", "a.xml.xz", "pages-articles7.xml-p12p345.bz2"]


@pytest.mark.parametrize("name", DUMPS)
def test_a_folder_gives_its_dumps_by_any_name_dumps_have(name: str, tmp_path: Path) -> None:
    for file_name in (name, "notes.txt", "a-multistream-index.txt.bz2", ".hidden.xml"):
        (tmp_path / file_name).touch()
    assert find_kind("wikipedia", [str(tmp_path)]) == [str(tmp_path / name)]


def test_the_language_of_a_dump_decides_its_templates_and_is_in_the_record(tmp_path: Path) -> None:
    path = tmp_path / "a.xml"
    pages = page(1, "Соль", "Соль ({{lang-de|Salz}}) стара."), page(2, "x", "#REDIRECT [[Соль]]")
    path.write_bytes(dump(*pages).replace(b'xml:lang="en"', b'xml:lang="ru"'))
    record, [row] = clean(path)
    assert row["text"] == "Соль (нем. Salz) стара."
    assert record.details["languages"] == {"ru": 1}
    path.write_bytes(dump(*pages).replace(b' xml:lang="en"', b"").replace(b"xwiki", b"bgwiki"))
    record, [row] = clean(path)
    assert row["text"] == "Соль (на немски: Salz) стара."
    assert record.details["languages"] == {"bg": 1}


@pytest.mark.parametrize("index", ["x-multistream-index.txt.bz2", "x-multistream-index3.txt-p7p90.bz2"])
def test_an_index_beside_a_dump_is_left_out_of_a_glob(index: str, tmp_path: Path) -> None:
    for file_name in ("x-multistream.xml.bz2", index):
        (tmp_path / file_name).touch()
    assert find_kind("wikipedia", [str(tmp_path / "*.bz2")]) == [str(tmp_path / "x-multistream.xml.bz2")]
    with pytest.raises(InputError, match=r"index.*name the dump itself"):
        find_kind("wikipedia", [str(tmp_path / index)])


def test_every_page_is_a_document_or_dropped_under_a_reason(tmp_path: Path) -> None:
    redirect = page(2, "Table salt", "#REDIRECT [[Salt]]", more='<redirect title="Salt" />')
    pages = [page(1, "Salt"), redirect, page(3, "Talk:Salt", ns=1), page(4, "Nothing", "{{stub}}")]
    (tmp_path / "x.xml").write_bytes(dump(*pages))
    record, documents = clean(tmp_path / "x.xml")
    assert record.counts["pages"] == 4
    assert record.drops == {"redirect": 1, "not an article": 1, "no prose": 1}
    assert [document["id"] for document in documents] == ["xwiki:1"]
    assert documents[0]["text"] == PROSE.strip()


@pytest.mark.parametrize(
    ("base", "url"),
    [
        ("https://en.example.org/wiki/Main_Page", "https://en.example.org/wiki/Sea_salt"),
        ("https://example.org/w/index.php?title=Main_Page", "https://example.org/w/index.php?title=Sea_salt"),
    ],
)
def test_a_document_has_the_address_of_its_page(base: str, url: str, tmp_path: Path) -> None:
    (tmp_path / "x.xml").write_bytes(dump(page(1, "Sea salt"), base=base))
    assert [(page["title"], page["url"]) for page in clean(tmp_path / "x.xml")[1]] == [("Sea salt", url)]


def test_a_broken_page_is_dropped_and_named_and_its_neighbours_stay(tmp_path: Path) -> None:
    broken = page(2, "Broken").replace("<id>2</id>", "<id>two</id>")
    (tmp_path / "x.xml.bz2").write_bytes(bz2.compress(dump(page(1, "Salt"), broken, page(3, "Sea"))))
    record, documents = clean(tmp_path / "x.xml.bz2")
    assert [document["title"] for document in documents] == ["Salt", "Sea"]
    [named] = record.details["broken"]
    assert (named["path"], named["title"]) == (str(tmp_path / "x.xml.bz2"), "Broken")
    assert record.drops == {f"broken: {named['reason']}": 1}


def test_ranges_of_any_size_give_the_same_documents(tmp_path: Path) -> None:
    documents = []
    for size in (20_000, 1 << 20):
        tasks = plan_wikipedia([SAMPLE_DUMP], str(tmp_path / str(size)), CleaningConfig(range_bytes=size))
        for task in tasks:
            run_once(task, write_documents)
        documents.append([row for task in tasks for row in pq.read_table(task.path).to_pylist()])
    assert documents[0] == documents[1]
    assert len(documents[0]) > 60


def test_each_book_is_one_document_under_the_name_of_its_file(tmp_path: Path) -> None:
    tasks = plan_books([SAMPLE_BOOKS], str(tmp_path), CleaningConfig())
    records = [run_once(task, write_documents) for task in tasks]
    documents = [row for task in tasks for row in pq.read_table(task.path).to_pylist()]
    assert (
        sum(record.counts["books"] for record in records) == len(documents) == len(list(Path(SAMPLE_BOOKS).glob("*")))
    )
    assert len({document["id"] for document in documents}) == len(documents)
    assert all(document["source"] == "books" and document["title"] for document in documents)


def test_split_chapters_makes_a_document_of_each_chapter(tmp_path: Path) -> None:
    chapters = "".join(f"CHAPTER {number}\n\n{PROSE}\n\n\n" for number in ("I", "II", "III"))
    (tmp_path / "tale.txt").write_text(f"Title: A Tale\n\n*** START OF THIS EBOOK ***\n\n{chapters}")
    (tmp_path / "nothing.txt").write_text("CHAPTER I\n")
    documents = {}
    for split in (False, True):
        tasks = plan_books([str(tmp_path)], str(tmp_path / "out"), CleaningConfig(split_chapters=split))
        [record] = [run_once(task, write_documents) for task in tasks]
        assert record.drops == {"no prose": 1}
        assert record.counts["books"] == 2
        assert (record.counts.get("books_in_chapters", 0), record.counts.get("chapters", 0)) == (
            (1, 3) if split else (0, 0)
        )
        documents[split] = pq.read_table(tasks[0].path).to_pylist()
    assert [(page["id"], page["title"]) for page in documents[False]] == [("tale.txt:tale", "A Tale")]
    assert [(page["id"], page["title"]) for page in documents[True]] == [
        (f"tale.txt:tale:{place}", f"A Tale: CHAPTER {number}") for place, number in enumerate(("I", "II", "III"), 1)
    ]
    assert "\n\n".join(page["text"] for page in documents[True]) == documents[False][0]["text"]


def test_encodings_that_were_guessed_are_counted(tmp_path: Path) -> None:
    french = "Le café était fermé. Il pleuvait à verse sur la ville, et l'hôtel où il dînait fermait déjà. " * 40
    (tmp_path / "latin.txt").write_bytes(french.encode("latin-1"))
    (tmp_path / "utf8.txt").write_text(french)
    tasks = plan_books([str(tmp_path)], str(tmp_path / "out"), CleaningConfig())
    [record] = [run_once(task, write_documents) for task in tasks]
    assert {name: number for name, number in record.counts.items() if name.startswith("read as")} == {
        "read as cp1252": 1
    }
    assert record.counts["documents"] == 2


def test_stubs_are_dropped_and_the_dropped_are_named_on_request(tmp_path: Path) -> None:
    pages = [
        page(1, "Salt"),
        page(2, "Stub", "Salt is {{box|white}}."),
        page(3, "List of salts", "These are:\n* Halite\n* Sylvite"),
        page(4, "塩", "塩は白い。"),
    ]
    (tmp_path / "x.xml").write_bytes(dump(*pages, page(5, "Talk:Salt", ns=1)))
    (tmp_path / "own.txt").write_text("box = very {1}\n")
    written = set()
    for folder in ("first", "second"):
        config = CleaningConfig(min_words=4, templates=str(tmp_path / "own.txt"), rejects=str(tmp_path / "rejects"))
        tasks = plan_wikipedia([str(tmp_path / "x.xml")], str(tmp_path / folder), config)
        [record] = [run_once(task, write_documents) for task in tasks]
        assert record.counts["documents"] == 3
        assert record.drops == {"list": 1, "not an article": 1}
        [path] = (tmp_path / "rejects").iterdir()
        assert path.name == f"{tasks[0].name}.jsonl"
        written.add(path.read_bytes())
    [rejected] = written
    rows = [json.loads(line) for line in rejected.splitlines()]
    assert [(row["id"], row["title"], row["reason"]) for row in rows] == [
        (3, "List of salts", "list"),
        (5, "Talk:Salt", "not an article"),
    ]
    assert "Salt is very white." in [row["text"] for row in pq.read_table(tasks[0].path).to_pylist()]
    config = CleaningConfig(min_words=6)
    tasks = plan_wikipedia([str(tmp_path / "x.xml")], str(tmp_path / "third"), config)
    [record] = [run_once(task, write_documents) for task in tasks]
    assert record.drops == {"list": 1, "not an article": 1, "stub": 2}


def test_words_are_counted_as_far_as_they_are_needed() -> None:
    assert count_words("it 雨が降った", 2) == 2
    assert count_words("it rained 雨が降った", 4) == 7
    assert count_words("雨が降った", 4) == 5


def test_the_rejects_of_another_cut_go_and_other_files_stay(tmp_path: Path) -> None:
    (tmp_path / "x.xml").write_bytes(dump(page(1, "Salt")))
    folder = tmp_path / "rejects"
    folder.mkdir()
    for name in ("x.xml-00000.jsonl", "x.xml-00007.jsonl", "mine.jsonl"):
        (folder / name).write_text("{}\n")
    config = CleaningConfig(rejects=str(folder))
    tasks = plan_wikipedia([str(tmp_path / "x.xml")], str(tmp_path / "out"), config)
    WIKIPEDIA.prepare(tasks, config)
    assert sorted(path.name for path in folder.iterdir()) == ["mine.jsonl", "x.xml-00000.jsonl"]


def test_the_planned_work_chooses_the_engine_and_not_what_a_process_did_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.xml").write_bytes(dump(page(1, "Salt")))
    (tmp_path / "x.xml.bz2").write_bytes(bz2.compress(dump(page(1, "Salt"), *[page(2, f"{n}") for n in range(99)])))
    (tmp_path / "tale.txt").write_text(PROSE)

    def chosen(name: str) -> set[bool]:
        if name.endswith(".txt"):
            tasks = plan_books([str(tmp_path / name)], str(tmp_path / "out"), CleaningConfig())
        else:
            tasks = plan_wikipedia([str(tmp_path / name)], str(tmp_path / "out"), CleaningConfig())
        return {task.payload.compiled for task in tasks}

    names = ["x.xml", "x.xml.bz2", "tale.txt"]
    assert [chosen(name) for name in names] == [{False}] * 3
    for name in names:
        size = (tmp_path / name).stat().st_size * (4 if name.endswith(".bz2") else 1)
        monkeypatch.setattr("bertdata.kernels.warmup.COMPILED_FROM", size)
        assert chosen(name) == {True}
        monkeypatch.setattr("bertdata.kernels.warmup.COMPILED_FROM", size + 1)
        assert chosen(name) == {False}


@pytest.mark.parametrize("compiled", [False, True])
def test_the_engine_is_no_part_of_what_a_stage_is_made_from(compiled: bool, tmp_path: Path) -> None:
    (tmp_path / "x.xml").write_bytes(dump(page(1, "Salt"), page(2, "Sea", "It [[rain]]s. " * 40)))
    (tmp_path / "tale.txt").write_text(f"CHAPTER I\n\n{PROSE}\n")
    pages = plan_wikipedia([str(tmp_path / "x.xml")], str(tmp_path / "out"), CleaningConfig())
    books = plan_books([str(tmp_path / "tale.txt")], str(tmp_path / "out"), CleaningConfig())
    for [task], work in ((pages, write_documents), (books, write_documents)):
        chosen = replace(task, payload=replace(task.payload, compiled=compiled))
        assert run_once(chosen, work).fingerprint == task.fingerprint
        written = Path(task.path).read_bytes()
        assert written == made(replace(task, payload=replace(task.payload, compiled=not compiled)), work)
    [rain] = [row["text"] for row in pq.read_table(pages[0].path).to_pylist() if row["title"] == "Sea"]
    assert rain == ("It rains. " * 40).strip()


def made(task: Task, work: Callable[[Task, BinaryIO], Counters]) -> bytes:
    file = io.BytesIO()
    work(task, file)
    return file.getvalue()


def test_cleaning_little_text_loads_no_compiler() -> None:
    code = (
        "import sys, bertdata\n"
        "assert bertdata.clean_wikitext('It [[rain]]ed.') == bertdata.clean_book('It rained.') == 'It rained.'\n"
        "sys.exit('numba' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
