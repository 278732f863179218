"""Sentence parameters trained on Beam: the same as in one process and as NLTK's, on any number of workers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bertdata.cli.main import run_verb
from bertdata.cli.train_sentences import read_abbreviations
from bertdata.engine.origin import ORIGIN
from bertdata.errors import InputError
from bertdata.sentences import PunktSettings, load_parameters, train_punkt
from tests.sentences.story import STORY, by_nltk

STORIES = [STORY.replace("Brown", name) * 9 for name in ("Lee", "Orr", "Poe")]


def documents(folder: Path, texts: list[str]) -> str:
    path = folder / "documents.jsonl"
    rows = [json.dumps({"id": str(number), "text": text}) for number, text in enumerate(texts)]
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


def train(folder: Path, texts: list[str], *flags: str) -> Path:
    output = folder / ("output" + "".join(flags).replace("/", ""))[:40]
    arguments = ["--documents", documents(folder, texts), "--output", str(output), "--workers", "1", *flags]
    assert run_verb("train-sentences", arguments) == 0
    return output


def test_one_document_gives_the_parameters_of_nltks_trainer(tmp_path: Path) -> None:
    text = "\n\n".join(STORIES)
    trained = load_parameters(str(train(tmp_path, [text])))
    assert trained == by_nltk(text, card=trained.card)
    assert trained.abbrev_types
    assert trained.ortho_context


def test_documents_give_what_one_process_gives_with_a_card_that_says_how(tmp_path: Path) -> None:
    (tmp_path / "given.txt").write_text("Prf.\n\nq\n", encoding="utf-8")
    flags = ["--abbreviations", str(tmp_path / "given.txt"), "--min-ortho-count", "3", "--lower-case-starters"]
    output = train(tmp_path, STORIES, *flags, "--drop-idle-context")
    settings = PunktSettings(
        abbreviations=frozenset({"prf", "q"}), min_ortho_count=3, lower_case_starters=True, drop_idle_context=True
    )
    trained = load_parameters(str(output))
    assert trained.fingerprint == train_punkt(STORIES, settings).fingerprint
    assert trained.card["settings"]["abbreviations"] == ["prf", "q"]
    assert trained.card["given_abbreviations_not_learned"] == ["prf", "q"]
    assert trained.card["counts"]["documents"] == len(STORIES)


def files_in(output: Path) -> dict[str, bytes]:
    """Return the files in a folder but for the note of what it was made from, which holds the time of that file."""
    return {path.name: path.read_bytes() for path in output.iterdir() if path.is_file() and path.name != ORIGIN}


def test_a_second_run_does_no_work_and_gives_the_same_bytes(tmp_path: Path) -> None:
    output = train(tmp_path, STORIES)
    before = files_in(output)
    made = (output / "stages" / "parameters" / "parameters.punkt").stat().st_mtime_ns
    assert train(tmp_path, STORIES) == output
    assert files_in(output) == before
    assert (output / "stages" / "parameters" / "parameters.punkt").stat().st_mtime_ns == made


@pytest.mark.slow
def test_two_workers_and_replayed_bundles_give_the_same_bytes(tmp_path: Path) -> None:
    tables = []
    for number, flags in enumerate((["--workers", "1"], ["--workers", "2"], ["--", "--direct_runner_bundle_repeat=2"])):
        output = tmp_path / str(number)
        run_verb("train-sentences", ["--documents", documents(tmp_path, STORIES), "--output", str(output), *flags])
        tables.append(files_in(output))
    assert tables[0] == tables[1] == tables[2]


def test_abbreviations_that_are_not_utf_8_are_refused_with_the_place(tmp_path: Path) -> None:
    (tmp_path / "given.txt").write_bytes(b"mr\n\xff\n")
    with pytest.raises(InputError, match=r"given\.txt, byte 3"):
        read_abbreviations(str(tmp_path / "given.txt"))
