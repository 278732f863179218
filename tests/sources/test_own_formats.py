"""Source formats of one build: functions, objects and classes, by name or handed over."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import bertdata
from bertdata.cli.main import dispatch
from bertdata.documents import DocumentWriter
from bertdata.engine.parts import Counters
from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.sources import SOURCE_FORMATS
from bertdata.sources.formats import FileRange, RangeFormat
from bertdata.sources.names import InputCount
from bertdata.sources.own_formats import own_format
from tests.shards.build import text_of

SETTINGS: dict[str, Any] = {"vocab": "bertdata-30k-uncased", "workers": 1, "max_seq_length": 64}


def parted(path: str) -> Iterator[str]:
    """Yield texts between lines of ==."""
    yield from Path(path).read_text().split("\n==\n")


def rows(path: str) -> Iterator[dict[str, Any]]:
    for number, text in enumerate(parted(path)):
        yield {"id": f"row {number}", "body": text if number else None, "score": number}


def failing(path: str) -> Iterator[str]:
    yield "Salt."
    raise ValueError("no more salt")


def numbers(path: str) -> list[int]:
    return [1]


class Lines(RangeFormat):
    """A document a line, for files that plain text would be."""

    name = "lines"
    suffixes = (".txt",)

    def ranges(self, path: str, target_bytes: int, text_column: str) -> Iterator[tuple[int, int, int]]:
        yield 0, 1, files.size(path)

    def read(self, chosen: FileRange, writer: DocumentWriter, counters: Counters) -> None:
        for number, line in enumerate(Path(chosen.path).read_text().splitlines()):
            counters.add(InputCount.ROWS)
            writer.add(f"{chosen.label}:{number}", "documents", "", "", line)


LINES = Lines()


def test_the_revision_of_a_function_is_another_one_where_its_code_is() -> None:
    assert own_format("rows", rows).revision == own_format("others", rows).revision
    assert own_format("rows", rows).revision != own_format("rows", parted).revision


def mixed_rows(path: str) -> list[Any]:
    return ["a text about a body and a score", 7, None, {"id": "row 1"}, ["title"], {"id": "row 2", "url": "here"}]


def test_a_column_is_that_of_a_row_and_not_a_word_of_a_text() -> None:
    form = own_format("mixed_rows", mixed_rows)
    assert form.columns_of("texts") == ["id", "url"]
    assert [name for name in ("id", "url", "body", "score", "title") if form.has_column("texts", name)] == ["id", "url"]


def own(name: str) -> str:
    return f"{__name__}:{name}"


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    path = tmp_path / "texts.custom"
    path.write_text("\n==\n".join(text_of(number) for number in range(40)))
    return path


def test_a_function_reads_the_files_of_any_name(texts: Path, tmp_path: Path) -> None:
    corpus = bertdata.build(tmp_path / "corpus", documents=texts, source_format=parted, **SETTINGS)
    assert corpus["sources"]["documents"]["counts"]["documents"] == 40
    command = ["build", "--documents", str(texts), "--source-format", own("parted"), "--max-seq-length", "64"]
    flags = ["--vocab", "bertdata-30k-uncased", "--output", str(tmp_path / "corpus")]
    before = (tmp_path / "corpus" / "manifest.json").stat().st_mtime_ns
    assert dispatch([*command, *flags]) == 0
    assert (tmp_path / "corpus" / "manifest.json").stat().st_mtime_ns == before
    folder = bertdata.build(tmp_path / "other", documents=tmp_path / "*.custom", source_format=parted, **SETTINGS)
    assert folder["splits"] == corpus["splits"]


def test_rows_have_ids_texts_and_columns_as_those_of_a_table(texts: Path, tmp_path: Path) -> None:
    corpus = bertdata.build(
        tmp_path / "corpus", documents=texts, source_format=rows, text_column="body", where="score < 10", **SETTINGS
    )
    assert corpus["sources"]["documents"]["drops"] == {"no text": 1}
    assert sum(split["counts"]["documents"] for split in corpus["splits"].values()) == 9
    with pytest.raises(ConfigError, match=r"the column 'scor'.* did you mean 'score'"):
        bertdata.build(
            tmp_path / "other", documents=texts, source_format=rows, text_column="body", where="scor < 3", **SETTINGS
        )


@pytest.mark.slow
def test_a_format_of_a_build_comes_before_those_that_are_registered(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("".join(f"{text_of(number)}\n" for number in range(40)))
    given: dict[str, Any] = {"documents": tmp_path / "a.txt", "objective": "doc-sentences", **SETTINGS}
    made = {"of an object": LINES, "of a class": Lines, "by name": own("LINES")}
    counts = {
        name: bertdata.build(tmp_path / name, source_format=source_format, **given)["sources"]["documents"]["counts"][
            "rows"
        ]
        for name, source_format in made.items()
    }
    assert counts == dict.fromkeys(made, 40)
    plain = bertdata.build(tmp_path / "of an object", **given)
    assert plain["sources"]["documents"]["counts"]["rows"] == 1
    assert own("LINES") not in list(SOURCE_FORMATS)


def test_a_function_of_no_module_is_handed_over_and_its_documents_made_again_with_its_code(
    texts: Path, tmp_path: Path
) -> None:
    def build(begin: str) -> list[str]:
        corpus = bertdata.build(
            tmp_path / "corpus",
            documents=texts,
            source_format=lambda path: (begin + text for text in Path(path).read_text().split("\n==\n")),
            **SETTINGS,
        )
        return [shard["sha256"] for shard in corpus["splits"]["train"]["shards"]]

    first = build("")
    assert build("") == first
    assert build("Once. ") != first


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("failing", r"texts.custom: the source format .*:failing raised ValueError: no more salt, after row 0"),
        ("numbers", r"texts.custom: the source format .*:numbers yielded int as row 0; expected a dict, or a text"),
        ("SETTINGS", r"the source format '.*:SETTINGS' is of the type dict; expected SourceFormat"),
    ],
)
def test_what_yields_no_rows_is_named(name: str, message: str, texts: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=message):
        bertdata.build(tmp_path / "corpus", documents=texts, source_format=own(name), **SETTINGS)


def test_a_format_without_documents_and_one_of_another_kind_are_refused(texts: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="`source_format` has no effect: it is for `documents`, and there is none"):
        bertdata.build(tmp_path / "corpus", wikipedia=texts, source_format=parted, **SETTINGS)
    with pytest.raises(ConfigError, match="`source_format` books is of `books`; expected one of `documents`"):
        bertdata.build(tmp_path / "corpus", documents=texts, source_format="books", **SETTINGS)
    with pytest.raises(ConfigError, match="no source format 'parted@00'"):
        bertdata.build(tmp_path / "corpus", documents=texts, source_format="parted@00", **SETTINGS)
