"""`show`, `stats` and `report` say something useful of each kind of folder that bertdata writes."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from bertdata.cli.main import dispatch
from bertdata.errors import ConfigError, InputError
from bertdata.inspect.folders import describe
from bertdata.inspect.report import report_html
from tests.inspect.test_report import parsed, text_of
from tests.inspect.test_report_text import write_documents
from tests.small_build import tokenizer, write_build


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_build(tmp_path_factory.mktemp("build"))


@pytest.fixture(scope="module")
def task(build: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("task")
    rows = [{"text": f"the {noun} holds salt", "label": label} for noun, label in (("lamp", "a"), ("clock", "b"))] * 3
    (folder / "train.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows[:5]))
    names = ["--train", str(folder / "train.jsonl"), "--text-columns", "text", "--vocab", str(build)]
    assert dispatch(["encode-task", *names, "--output", str(folder / "task")]) == 0
    return folder / "task"


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    capsys.readouterr()
    assert dispatch(arguments) == 0
    return capsys.readouterr().out


def test_a_task_is_shown_with_its_labels(task: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = printed(capsys, "show", str(task), "--count", "2")
    assert "[CLS] the lamp holds salt [SEP]\n   label: a" in shown
    assert "label: b" in shown
    assert "example 4 of 5" in printed(capsys, "show", str(task), "--index", "4")


def test_the_figures_of_a_task_are_its_labels_and_lengths(task: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shown = " ".join(printed(capsys, "stats", str(task)).split())
    assert "label a 3 (60.0%)" in shown
    assert "label b 2 (40.0%)" in shown
    measured = json.loads(printed(capsys, "stats", str(task), "--json"))["measured"]["train"]
    assert (measured["rows"], measured["lengths"][6]) == (5, 5)


def test_a_task_has_a_report(task: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    printed(capsys, "report", str(task), "--output", str(tmp_path / "task.html"))
    shown = text_of(parsed((tmp_path / "task.html").read_text()))
    assert "a: 3 (60.0%)" in shown
    assert "the lamp holds salt" in shown


def folders(root: Path, build: Path) -> dict[str, Path]:
    """Write a folder of each kind, and return them by what they are called."""
    tokenizer().save_pretrained(root / "vocabulary")
    write_documents(root / "documents" / "part-00000.parquet")
    (root / "sentences").mkdir()
    (root / "sentences" / "abbrev_types.txt").write_text("dr\nprof\n")
    (root / "sentences" / "collocations.tab").touch()
    (root / "sentences" / "stages").mkdir()
    (root / "vocabulary" / "stages").mkdir()
    (root / "model").mkdir()
    (root / "model" / "config.json").write_text(json.dumps({"model_type": "bert", "hidden_size": 128}))
    (root / "run").mkdir()
    (root / "run" / "config.json").write_text(json.dumps({"model_type": "bert", "hidden_size": 128}))
    (root / "run" / "log.jsonl").write_text('{"step": 9, "loss": 7.5}\n')
    (root / "checkpoint").mkdir()
    (root / "checkpoint" / "state.json").write_text(json.dumps({"step": 1200, "settings": {"batch_size": 32}}))
    (root / "checkpoint" / "optimizer.pt").touch()
    assert dispatch(["export", str(build), "--to", "jsonl", "--output", str(root / "export")]) == 0
    return {path.name: path for path in root.iterdir()}


KINDS = {
    "vocabulary": ("a vocabulary", "WordPieceTokenizer"),
    "documents": ("documents", "12 | 34"),
    "sentences": ("sentence parameters", "dr prof"),
    "model": ("a model", "hidden size 128"),
    "run": ("a run of training", "last, loss 7.5"),
    "checkpoint": ("a checkpoint", "step 1,200"),
    "export": ("an export", "format jsonl"),
}


def test_every_kind_of_folder_is_described_and_has_a_report(
    build: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    written = folders(tmp_path, build)
    assert set(written) == set(KINDS)
    for name, (kind, figure) in KINDS.items():
        for verb in ("show", "stats"):
            shown = " ".join(printed(capsys, verb, str(written[name])).split())
            assert shown.startswith(f"{written[name]} {kind}"), name
            assert figure in shown, name
        page = tmp_path / "page.html"
        assert dispatch(["report", str(written[name]), "--output", str(page)]) == 0
        assert figure.rpartition(" ")[2] in text_of(parsed(page.read_text())), name
        assert json.loads(printed(capsys, "stats", str(written[name]), "--json"))["kind"].startswith(kind)


@pytest.fixture(scope="module")
def cleaned(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return documents of four books, of which a rule dropped one."""
    folder = tmp_path_factory.mktemp("cleaned")
    (folder / "books").mkdir()
    for number in range(4):
        kept = f"The lamp of the keeper number {number} shone over the grey water. " * 20
        (folder / "books" / f"{number}.txt").write_text("Lorem ipsum dolor sit amet. " * 40 if number == 3 else kept)
    rules = ["--filter", "gopher-quality", "--workers", "1", "--quiet"]
    assert dispatch(["clean-books", str(folder / "books"), "--output", str(folder / "documents"), *rules]) == 0
    return folder / "documents"


def test_the_report_of_documents_has_the_ledger_the_lengths_and_what_was_dropped(cleaned: Path) -> None:
    page = parsed(report_html(str(cleaned)))
    shown = text_of(page)
    assert [text_of(heading) for heading in page.iter("h2")] == [
        "From inputs to documents",
        "Documents",
        "Dropped documents",
        "The table",
        "Files and settings",
    ]
    assert "books to documents 4 books in adds up" in shown
    assert "Characters of all 3 documents" in shown
    assert "gopher_too_few_stop_words" in shown
    assert "Lorem ipsum dolor" in shown
    assert "Made by bertdata clean-books. Sources: books." in shown
    tiles = {text_of(cell[0]): text_of(cell[1]) for tiles in page.iter("dl") for cell in tiles}
    assert (tiles["documents"], tiles["dropped"]) == ("3", "1")


def test_documents_are_measured_with_a_vocabulary_that_is_named(cleaned: Path, build: Path) -> None:
    shown = text_of(parsed(report_html(str(cleaned), vocabulary=str(build))))
    assert "tokens per word" in shown
    assert "[UNK]" in shown.partition("From inputs")[0], "a warning stands on top"
    with pytest.raises(ConfigError, match=r"`vocab` was given, and .* holds shards"):
        report_html(str(build), vocabulary=str(build))
    with pytest.raises(ConfigError, match="holds a vocabulary; expected a folder of documents"):
        report_html(str(build / "tokenizer"), vocabulary=str(build))


def test_the_report_of_a_vocabulary_measures_the_words_it_was_trained_on(cleaned: Path, tmp_path: Path) -> None:
    wanted = ["--vocab-size", "2000", "--workers", "1", "--quiet"]
    assert dispatch(["train-vocab", "--documents", str(cleaned), "--output", str(tmp_path / "v"), *wanted]) == 0
    page = parsed(report_html(str(tmp_path / "v")))
    shown = text_of(page)
    headings = [text_of(heading) for heading in page.iter("h2")]
    assert headings == ["Warnings", "Tokens", "The words that it was trained on", "The table", "Settings"]
    assert "small vocabulary" in shown
    words = sum(len(re.findall(r"\w+|[^\w\s]", text)) for text in texts_of(cleaned))
    assert f"{words:,} words (" in shown
    shutil.rmtree(tmp_path / "v" / "stages")
    assert "report DOCUMENTS --vocab PATH" in text_of(parsed(report_html(str(tmp_path / "v"))))


def texts_of(documents: Path) -> list[str]:
    return [text for path in documents.glob("*.parquet") for text in pq.read_table(path)["text"].to_pylist()]


def test_builds_and_folders_of_others_are_not_described(build: Path, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    assert describe(str(build)) is None
    assert describe(str(build / "train")) is None
    assert describe(str(tmp_path)) is None
    with pytest.raises(InputError, match="holds no finished build"):
        dispatch(["stats", str(tmp_path)])


@pytest.mark.parametrize("verb", ["show", "stats", "report"])
@pytest.mark.parametrize("left", ["dataset_dict.json", "stages"])
def test_a_build_without_its_manifest_is_not_taken_for_a_vocabulary(
    build: Path, tmp_path: Path, verb: str, left: str
) -> None:
    shutil.copytree(build / "tokenizer", tmp_path / "build" / "tokenizer")
    assert describe(str(tmp_path / "build")) is not None, "a folder with a tokenizer alone is a vocabulary"
    (tmp_path / "build" / left).mkdir()
    with pytest.raises(InputError, match=r"holds no finished build: there is no manifest\.json"):
        dispatch([verb, str(tmp_path / "build")])


LIES: dict[str, list[bytes]] = {
    "export.json": [
        b"[1]",
        b"5",
        b"null",
        b"{",
        b"",
        b'{"splits": 5}',
        b'{"splits": {"train": 5}}',
        b'{"splits": {"train": [5]}}',
        b'{"splits": {"train": [{"rows": "x", "bytes": 1}]}}',
        b'{"splits": {"train": [{"rows": true}]}}',
    ],
    "state.json": [b"[1]", b'{"step": "x"}', b'{"step": null}', b'{"step": 1.5}', b'{"step": 1, "settings": 5}'],
    "log.jsonl": [b"x\n", b"[1]\n", b"5\n", b"[" * 100_000 + b"\n", b'{"loss"\n', b'{"loss": 1}\n\xff\n'],
    "config.json": [b"[1]", b"5", b'"x"', b"\xff", b"[" * 100_000],
}


@pytest.mark.parametrize(("name", "data"), [(name, data) for name, lies in LIES.items() for data in lies])
def test_a_folder_of_others_whose_files_hold_other_things_is_refused(name: str, data: bytes, tmp_path: Path) -> None:
    (tmp_path / "optimizer.pt").write_bytes(b"")
    (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError, match=rf"{re.escape(name)}: "):
        describe(str(tmp_path))


def test_abbreviations_that_are_not_utf_8_are_shown(tmp_path: Path) -> None:
    (tmp_path / "abbrev_types.txt").write_bytes(b"caf\xe9\nmr\n")
    shown = describe(str(tmp_path))
    assert shown is not None
    assert shown.shown == ["abbreviations: caf\ufffd mr"]


def test_a_run_is_described_by_its_last_whole_line(tmp_path: Path) -> None:
    (tmp_path / "log.jsonl").write_bytes(b'{"step": 1}\n{"step": 2}\n{"step": 3')
    shown = describe(str(tmp_path))
    assert shown is not None
    assert ("last, step", "2") in shown.rows
