"""Cleaners: what they make of texts, what is counted, and when documents are written again."""

from __future__ import annotations

import json
import unicodedata
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bertdata.cli.main import dispatch
from bertdata.curation import CLEANERS
from bertdata.curation.cleaners import Cleaner, cleaned
from bertdata.curation.document_rules import rules_of
from bertdata.engine.parts import Counters, run_once
from bertdata.engine.stages import BuildState
from bertdata.errors import ConfigError
from bertdata.options.option import stored_values
from bertdata.sources.formats import write_documents
from bertdata.sources.settings import CleaningConfig
from bertdata.sources.stage import ReadSource
from tests.sources.test_cleaning import dump, page

ROOT = Path(__file__).parents[2]


def without_digits(text: str) -> str:
    return "".join(letter for letter in text if not letter.isdigit())


def failing(text: str) -> str:
    return str(1 / len(text.strip("x")))


def ending(text: str) -> str:
    raise SystemExit(text[:0])


def without_result(text: str) -> None:
    pass


def lines(text: str) -> str:
    return text.replace(" ", "\n")


def surrogates(text: str) -> str:
    return text + "\ud800"


LOWER = Cleaner(help="lower case", clean=pc.utf8_lower)
SHORT = Cleaner(help="one text too few", clean=lambda texts: texts[1:])
NULLS = Cleaner(help="nulls", clean=lambda texts: pa.nulls(len(texts), pa.string()))
LARGE = Cleaner(help="another type", clean=lambda texts: texts.cast(pa.large_string()))
LIST: Any = Cleaner(help="a list", clean=lambda texts: texts.to_pylist())


def own(name: str) -> str:
    return f"{__name__}:{name}"


def clean(texts: list[str], *names: str) -> tuple[list[str], list[str | None], dict[str, int]]:
    counters = Counters()
    texts_left, reasons = cleaned(pa.array(texts, pa.string()), names, counters)
    return texts_left.to_pylist(), reasons.to_pylist(), counters.counts


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), min_size=1).map(str.strip)))
def test_nfc_composes_characters(texts: list[str]) -> None:
    composed, _, counts = clean(texts, "nfc")
    expected = [unicodedata.normalize("NFC", text) for text in texts]
    changed = [place for place, text in enumerate(texts) if text != expected[place]]
    assert counts == {"changed by nfc": len(changed)}
    assert [text for place, text in enumerate(composed) if place not in changed] == [
        text for place, text in enumerate(expected) if place not in changed
    ]


def test_functions_and_objects_are_applied_in_turn_and_counted() -> None:
    texts = ["Salt 12.", "2024", "sea"]
    cleaned_texts, reasons, counts = clean(texts, own("without_digits"), own("LOWER"))
    assert cleaned_texts == ["salt .", "", "sea"]
    assert reasons == [None, f"emptied by {own('without_digits')}", None]
    assert counts == {f"changed by {own('without_digits')}": 2, f"changed by {own('LOWER')}": 1}
    assert clean(["A1"], own("LOWER"), own("without_digits"))[0] == ["a"]


def test_what_changed_has_paragraphs_and_what_did_not_keeps_its_bytes() -> None:
    texts = ["One two.", "One\ntwo"]
    assert clean(texts, own("lines"))[0] == ["One\n\ntwo.", "One\ntwo"]
    assert clean(["Salt"], own("surrogates"))[0] == ["Salt\ufffd"]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("failing", r"raised ZeroDivisionError: division by zero, for the text that begins 'xx'; correct it"),
        ("ending", r"raised SystemExit: , for the text that begins 'Salt'; correct it"),
        ("without_result", r"returned NoneType for the text that begins 'Salt'; expected str"),
        ("SHORT", r"returned 1 values of type string, 0 of them null, for 2 texts; expected a string for each"),
        ("NULLS", r"returned 2 values of type string, 2 of them null"),
        ("LARGE", r"returned 2 values of type large_string"),
        ("LIST", r"returned 2 values of type no, no of them null"),
        ("ROOT", r"is of the type PosixPath; expected Cleaner, as in bertdata.curation.cleaners"),
    ],
)
def test_a_cleaner_that_does_not_return_a_text_for_each_is_named(name: str, message: str) -> None:
    with pytest.raises(ConfigError, match=rf"the cleaner '?{own(name)}'? {message}"):
        clean(["Salt", "xx"], own(name))


def test_an_unknown_cleaner_is_refused_before_any_work() -> None:
    with pytest.raises(ConfigError, match="there is no cleaner 'nfx'"):
        CleaningConfig(clean=("nfx",))


def test_filters_see_the_cleaned_text_and_rejects_name_the_emptied(tmp_path: Path) -> None:
    (tmp_path / "x.xml").write_bytes(dump(page(1, "Salt"), page(2, "Year", "2024"), page(3, "Short", "Sea 1234.")))
    config = CleaningConfig(
        clean=(own("without_digits"),), filter=("min-characters=8",), rejects=str(tmp_path / "rejects")
    )
    stage = ReadSource("wikipedia", {str(tmp_path / "x.xml"): ""}, str(tmp_path / "out"), config)
    [task] = stage.plan(BuildState()).steps[0].tasks
    record = run_once(task, write_documents)
    emptied = f"emptied by {own('without_digits')}"
    assert record.drops == {emptied: 1, "filter min-characters=8": 1}
    assert record.counts[f"changed by {own('without_digits')}"] == 2
    assert [row["title"] for row in pq.read_table(task.path).to_pylist()] == ["Salt"]
    [path] = (tmp_path / "rejects").iterdir()
    rejected = {(row["title"], row["reason"]) for row in map(json.loads, path.read_text().splitlines())}
    assert rejected == {("Year", emptied), ("Short", "filter min-characters=8")}


def test_fingerprints_name_cleaners_and_their_revision_only_where_there_are_any(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "x.xml").write_bytes(dump(page(1, "Salt")))

    def mark(*names: str) -> str:
        stage = ReadSource("wikipedia", {str(tmp_path / "x.xml"): ""}, "out", CleaningConfig(clean=names))
        [task] = stage.plan(BuildState()).steps[0].tasks
        assert rules_of(task).cleaners == names
        return task.fingerprint

    marks = [mark(), mark("nfc"), mark(own("LOWER")), mark("nfc", own("LOWER")), mark(own("LOWER"), "nfc")]
    monkeypatch.setitem(CLEANERS._items, "nfc", replace(CLEANERS["nfc"], revision=2))
    marks.append(mark("nfc"))
    assert len(set(marks)) == len(marks)
    function = CLEANERS[own("without_digits")]
    before = mark(own("without_digits"))
    monkeypatch.setitem(CLEANERS._found, own("without_digits"), replace(function, revision="other code"))
    assert mark(own("without_digits")) != before
    assert "clean" not in stored_values(CleaningConfig())


def test_documents_that_are_written_already_are_not_cleaned_in_silence(tmp_path: Path) -> None:
    (tmp_path / "x.xml").write_bytes(dump(page(1, "Salt")))
    flags = ["--clean", "nfc", "--output"]
    assert dispatch(["clean-wikipedia", str(tmp_path / "x.xml"), *flags, str(tmp_path / "out")]) == 0
    with pytest.raises(ConfigError, match="these documents are written already, and --clean is for where they are"):
        dispatch(["build", "--documents", str(tmp_path / "out"), *flags, str(tmp_path / "build")])
