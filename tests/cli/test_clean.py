"""Prose is printed of the wikitext of one page and of a book; another input is told what it is."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from bertdata.cli.main import dispatch
from bertdata.errors import InputError

PAGE = "'''Rome''' is a [[city]].<ref>x</ref>\n\n== History ==\nIt is {{convert|20|km|mi}} from the sea."
BOOK = "CHAPTER I\n\nIt was _late_;[1] the clock had\nstruck--twice.\n\n[Illustration]\n"


def test_wikitext_and_books_are_told_apart_and_cleaned(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text, prose in (
        (PAGE, "Rome is a city.\n\nIt is 20 kilometres (12 mi) from the sea.\n"),
        (BOOK, "It was late; the clock had struck—twice.\n"),
    ):
        path = tmp_path / "text"
        path.write_text(text)
        assert dispatch(["clean", str(path)]) == 0
        assert capsys.readouterr().out == prose


def test_standard_input_is_read_for_a_hyphen(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(PAGE.encode())))
    assert dispatch(["clean", "-"]) == 0
    assert capsys.readouterr().out.startswith("Rome is a city.")


def test_the_language_of_templates_is_that_of_the_wiki(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "seite").write_text("Der Ort hat {{formatnum:12345.6}} Einwohner.")
    assert dispatch(["clean", str(tmp_path / "seite"), "--language", "de"]) == 0
    assert capsys.readouterr().out == "Der Ort hat 12.345,6 Einwohner.\n"


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"#REDIRECT [[Rome]]", "has no prose, read as wikitext: the page is a redirect; --kind"),
        (b"== [[Rome]] ==", "has no prose, read as wikitext; --kind"),
        (b"%PDF-1.4", "is a PDF"),
        (b"<!DOCTYPE html><p>Salt", "is HTML"),
        (b"<mediawiki><page/></mediawiki>", "use `bertdata clean-wikipedia`"),
        (b"caf\xe9", "is not UTF-8"),
    ],
)
def test_what_has_no_prose_is_refused_with_the_reason(data: bytes, message: str, tmp_path: Path) -> None:
    (tmp_path / "text").write_bytes(data)
    with pytest.raises(InputError, match=message):
        dispatch(["clean", str(tmp_path / "text")])
