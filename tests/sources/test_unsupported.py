"""Files that are not read are told by what they are, with what to do about them."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from bertdata import InputError
from bertdata.cli.main import dispatch
from bertdata.sources.formats import Request, SourceFile
from bertdata.sources.inputs import find_documents
from bertdata.sources.plain_text import PLAIN_TEXT
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.unsupported import left_out, what_it_is
from tests.sources.planned import plan_documents


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("rows.csv", b"%PDF-1.7\n", "is a PDF; expected text"),
        ("rows.tsv", b"\xef\xbb\xbf", "holds no lines; expected the names of columns"),
        ("rows.arrow", b"Salt, and more\n", "is not a whole Arrow file"),
        ("paper.pdf", b"%PDF-1.7\n", "is a PDF; expected text"),
        ("download", b"%PDF-1.7\n", "is a PDF; expected text"),
        ("page.html", b"<p>Salt</p>\n", "is HTML; expected text"),
        ("rows.jsonl", b"\xef\xbb\xbf<!DOCTYPE html>\n<html>", "is HTML; expected text"),
        ("rows.odd", b"\x1f\x8b\x08\0\0", r"is compressed by gzip, .* as in \.jsonl\.gz"),
        ("rows", b"BZh91AY", r"is compressed by bzip2, .* as in \.jsonl\.bz2"),
        ("rows", b"\x28\xb5\x2f\xfd\0", r"is compressed by zstd, .* as in \.jsonl\.zst"),
        ("notes.db", b"SQLite format 3\0\x10", r"is a binary file \(SQLite\)"),
        ("data.h5", b"\x89HDF\r\n\x1a\n\0", r"is a binary file \(HDF5\)"),
        ("data.odd", bytes(range(64)), "is a binary file .it begins with the bytes 00 01 02 03 04 05 06 07"),
        ("rows.feather", b"FEA1\0\0\0\0", "is Feather of version 1"),
        ("rows.feather", b"Salt, and more", "is not a whole Arrow file"),
        ("letter", b"{\\rtf1 Salt}\n", "is rich text; expected text"),
        ("page", b"  <html>\n", "is HTML; expected text"),
        ("wiki.xml", b"<mediawiki>\n", "a Wikipedia dump goes with `wikipedia`"),
        ("rows.json", b'[{"text": "Salt"}]', "is one JSON value; expected JSON lines"),
        ("rows.json", b'{"text": "Sal\n', "begins with a JSON object that does not end in its line"),
        ("rows.json", b'{\n "text": "Salt"\n}\n', r"does not end in its line; expected JSON lines.*: jq -c \. FILE"),
        (
            "rows.jsonl",
            b'{"text": "Salt"}{"text": "Sea"}',
            r"does not end in its line; .*: jq -c \. FILE > rows\.jsonl",
        ),
        (
            "rows.jsonl",
            b'{"text": "Salt"},\n{"text": "Sea"}\n',
            r"has a comma after the JSON object .*: sed 's/,\$//' FILE",
        ),
        (
            "rows.jsonl",
            b'\x1e{"text": "Salt"}\n',
            r"JSON text sequence, .*: tr -d '\\036' < FILE \| jq -c \. > rows\.jsonl",
        ),
        (
            "wiki_00",
            b'<doc id="1" url="u" title="Salt">\nSalt\n',
            "is articles as wikiextractor writes them, .* write JSON",
        ),
        ("rows.jsonl", b"{'text': 'Salt'}\n", r"an object in single quotes, as Python prints it; .*json\.dumps"),
        ("film.ass", b"[Script Info]\nTitle: Salt\n", "is subtitles, with a time at each line"),
        ("notes.odd", b"[Script Info]\nTitle: Salt\n", r"begins '\[Script Info\]'; expected JSON lines"),
        ("film.srt", b"1\n00:00:01,000 --> 00:00:02,500\nSalt\n", "is subtitles, with a time at each line"),
        ("film", b"WEBVTT\n\n1\n", "is subtitles, with a time at each line"),
        ("crawl.warc.wet.gz", gzip.compress(b"WARC/1.0\r\n", mtime=0), r"is a web archive .WARC.; expected text"),
        ("crawl", b"WARC/1.1\r\nWARC-Type: warcinfo\r\n", r"is a web archive .WARC.; expected text"),
        ("notes.markdown", b"# Salt\n", "is Markdown; expected plain text"),
        ("paper.tex", b"\\documentclass{article}\n", "is LaTeX; expected text"),
        ("rows.jsonl", b"\n \n", "holds no lines"),
        ("rows.jsonl", b"Salt\n", r"begins 'Salt'; expected JSON lines.* end the name of plain text in \.txt"),
    ],
)
def test_a_file_of_another_kind_is_told_by_it(name: str, content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=words):
        plan_documents([str(path)], str(tmp_path), 1 << 20)


@pytest.mark.parametrize("whole_files", [False, True])
@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b'{"text": "Salt", "id": 1}\n', "JSON lines: end the name of rows in .jsonl"),
        (b"WARC/1.0\r\nWARC-Type: warcinfo\r\n", "a web archive"),
        (b"\xef\xbb\xbf1\r\n00:00:01,000 --> 00:00:02,500\r\nSalt\r\n", "subtitles"),
        (b"WEBVTT\n\n00:01.000 --> 00:02.500\nSalt\n", "subtitles"),
        (b"<!DOCTYPE html>\n<p>Salt</p>\n", "HTML, with its tags"),
        (b"<?xml version='1.0'?>\n<p>Salt</p>\n", "XML, with its tags"),
        (b'<doc id="1" url="u" title="Salt">\nSalt\n', "articles as wikiextractor writes them"),
        (b'{Salt} and "sea": both.\n', ""),
        (b"1\nSalt\n", ""),
        (b"WARC is a format.\n", ""),
    ],
)
def test_plain_text_that_begins_as_text_with_marks_is_noted(
    content: bytes, words: str, whole_files: bool, tmp_path: Path
) -> None:
    for name in ("a.txt", "b.txt"):
        (tmp_path / name).write_bytes(content)
    sources = [SourceFile(str(tmp_path / name), name, "texts") for name in ("a.txt", "b.txt")]
    request = Request(str(tmp_path), 1 << 20, CleaningConfig(whole_files=whole_files))
    notes = [note for note in PLAIN_TEXT.plan(sources, request)[1] if "begins as" in note]
    assert notes == ([notes[0]] if words else [])
    assert not words or notes[0].startswith(f"a.txt and 1 more: read as plain text, and begins as {words}")


def test_json_lines_under_the_name_of_json_are_read(tmp_path: Path) -> None:
    (tmp_path / "rows.json").write_text('{"text": "Salt"}\n')
    assert len(plan_documents([str(tmp_path / "rows.json")], str(tmp_path), 1 << 20)) == 1


@pytest.mark.parametrize(
    ("names", "words"),
    [
        (["dataset_info.json", "state.json"], r"save_to_disk whose \.arrow files are missing"),
        (["dataset_dict.json"], r"save_to_disk whose \.arrow files are missing"),
        (["dataset_dict.json", "manifest.json"], "is a finished build"),
        (["a.pdf", "b.pdf", "notes"], r"holds 2 files ending in \.pdf; a file of these is a PDF"),
        (["wiki.json.tar.gz"], r"holds 1 file ending in \.tar\.gz; a file of these is an archive; unpack it"),
        (["a.html", "notes"], r"holds 1 file ending in \.html"),
        (["notes.odd"], r"holds no file ending in \.parquet"),
    ],
)
def test_a_folder_without_documents_is_told_by_what_is_in_it(names: list[str], words: str, tmp_path: Path) -> None:
    for name in names:
        (tmp_path / name).touch()
    with pytest.raises(InputError, match=words):
        find_documents([str(tmp_path)])


def test_files_of_a_folder_that_are_not_read_are_counted_by_kind(tmp_path: Path) -> None:
    for name in ("a.txt", "b.PDF", "c.pdf", "d.docx", "README.md", ".e.pdf", "state.json", "deep/f.pdf"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert f"{tmp_path}: files that --documents does not read are left out: 3 .pdf, 1 .docx (name" in left_out(
        str(tmp_path), [".txt"]
    )
    assert left_out(str(tmp_path), [".txt", ".pdf", ".docx"]) == ""
    assert left_out(str(tmp_path / "a.txt"), [".txt"]) == ""


def test_files_of_kinds_that_nobody_knows_and_notes_in_markdown_are_counted_too(tmp_path: Path) -> None:
    (tmp_path / "corpus" / "stages").mkdir(parents=True)
    (tmp_path / "corpus" / ".bertdata.json").write_text('{"kind": "build"}')
    names = ["a.txt", "b.eml", "b2.eml", "c.md", "c2.md", "d.json", "letter", "e.pptx", "f.log", "g.xls", "h.odd"]
    beside = ["README.md", "LICENSE", "Thumbs.db", "a.txt.md5", "_SUCCESS", "corpus/x.json", "corpus/stages/y.bin"]
    for name in [*names, *beside]:
        (tmp_path / name).touch()
    listed = left_out(str(tmp_path), [".txt"]).partition(" left out: ")[2].partition(" (")[0]
    assert listed == "2 .eml, 2 .md, 1 without an ending, 1 .json, 1 .log, 1 .odd and 2 more kinds"


def test_a_build_says_which_files_it_leaves_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.txt").write_text("Salt is white.\n")
    (tmp_path / "b.pdf").touch()
    flags = ["--vocab", "bertdata-30k-uncased", "--objective", "doc-sentences", "--output", str(tmp_path / "corpus")]
    assert dispatch(["build", "--documents", str(tmp_path), *flags, "--dry-run"]) == 0
    assert "left out: 1 .pdf" in " ".join(capsys.readouterr().out.split())


def test_an_office_document_is_not_taken_for_an_archive() -> None:
    assert "is a Word document" in str(what_it_is("letter.docx", b"PK\x03\x04"))
    assert "is an archive" in str(what_it_is("letter", b"PK\x03\x04"))
