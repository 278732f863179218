"""Files that are not read are told by what they are, with what to do about them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bertdata import InputError
from bertdata.sources.inputs import find_documents
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
        ("letter", b"{\\rtf1 Salt}\n", "is rich text; expected text"),
        ("page", b"  <html>\n", "is HTML; expected text"),
        ("wiki.xml", b"<mediawiki>\n", "a Wikipedia dump goes with `wikipedia`"),
        ("rows.json", b'[{"text": "Salt"}]', "is one JSON value; expected JSON lines"),
        ("rows.json", b'{"text": "Sal\n', "begins with a JSON object that does not end in its line"),
        ("rows.jsonl", b"\n \n", "holds no lines"),
        ("rows.jsonl", b"Salt\n", r"begins 'Salt'; expected JSON lines.* end the name of plain text in \.txt"),
    ],
)
def test_a_file_of_another_kind_is_told_by_it(name: str, content: bytes, words: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=words):
        plan_documents([str(path)], str(tmp_path), 1 << 20)


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
        (["wiki.json.tar.gz"], r"holds 1 file ending in \.tar; a file of these is an archive; unpack it"),
        (["a.html", "notes"], r"holds 1 file ending in \.html"),
        (["notes.odd"], r"holds no file ending in \.parquet"),
    ],
)
def test_a_folder_without_documents_is_told_by_what_is_in_it(names: list[str], words: str, tmp_path: Path) -> None:
    for name in names:
        (tmp_path / name).touch()
    with pytest.raises(InputError, match=words):
        find_documents([str(tmp_path)])
