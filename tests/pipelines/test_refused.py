"""What cannot be built is refused before any work, with the remedy, and nothing is left behind."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bertdata.cli.main import run_verb
from bertdata.errors import BertDataError, ConfigError


def documents(path: Path, number: int) -> str:
    path.write_text(
        "".join(json.dumps({"id": str(n), "text": f"It rains in {n}. It stops."}) + "\n" for n in range(number))
    )
    return str(path)


@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (["--mask-token-prob", "0.8", "--random-token-prob", "0.3"], "add up to 1.1; expected two shares"),
        (["--masked-lm-prob", "1"], "--masked-lm-prob is 1.0; expected more than 0 and less than 1, as 0.15"),
        (["--max-seq-length", "4"], "--max-seq-length is 4; expected 8 to 65536"),
        (["--bin-size", "32", "--pack"], "but packed rows are all of about one length"),
        (["--pack-length", "512"], "expected 0, or with --pack"),
        (["--mix", "books=1"], "--mix names books, but the sources of this build are: documents"),
        (["--mix", "documents"], "is not a source and its weight; expected as wikipedia=3"),
        (["--decontaminate-action", "cut"], "no test data is given by --decontaminate"),
        (["--decontaminate-ngram", "9"], "no test data is given by --decontaminate"),
        (["--vocab", "no-such-vocabulary"], "no-such-vocabulary"),
    ],
)
def test_settings_that_cannot_be_met_are_refused_before_any_work(flags: list[str], reason: str, tmp_path: Path) -> None:
    output = tmp_path / "corpus"
    source = documents(tmp_path / "rows.jsonl", 40)
    with pytest.raises(Exception, match=reason) as raised:
        run_verb("build", ["--documents", source, "--output", str(output), "--workers", "1", *flags])
    assert isinstance(raised.value, ConfigError) or "no such" in str(raised.value)
    assert not output.exists()


@pytest.mark.parametrize("objective", ["nsp", "sentence-pair-nsp"])
def test_an_objective_that_needs_two_documents_is_refused_before_one_is_tokenized(
    objective: str, tmp_path: Path
) -> None:
    output = tmp_path / "corpus"
    flags = ["--documents", documents(tmp_path / "rows.jsonl", 1), "--output", str(output), "--workers", "1"]
    with pytest.raises(ConfigError, match="the corpus has 1; add documents, or choose --objective sop"):
        run_verb("build", [*flags, "--vocab", "bertdata-30k-uncased", "--objective", objective])
    assert not (output / "stages" / "tokens").exists()
    assert not (output / "manifest.json").exists()


def test_sentence_order_without_two_sentences_is_refused_before_a_vocabulary_is_trained(tmp_path: Path) -> None:
    source, output = tmp_path / "rows.jsonl", tmp_path / "corpus"
    source.write_text("".join(json.dumps({"text": f"It rains in {n}."}) + "\n" for n in range(30)))
    with pytest.raises(ConfigError, match="none of the 30 documents has two"):
        run_verb("build", ["--documents", str(source), "--output", str(output), "--workers", "1", "--objective", "sop"])
    assert not (output / "stages" / "vocabulary").exists()
    assert not (output / "stages" / "tokens").exists()
    assert not (output / "manifest.json").exists()


def test_documents_of_a_word_each_make_no_pairs_and_are_refused_as_such(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text("".join(json.dumps({"text": f"word{n}"}) + "\n" for n in range(20)))
    flags = ["--documents", str(tmp_path / "rows.jsonl"), "--output", str(tmp_path / "corpus"), "--workers", "1"]
    with pytest.raises(ConfigError, match="for --objective nsp there are too few with two words of this vocabulary"):
        run_verb("build", [*flags, "--vocab", "bertdata-30k-uncased"])


def test_a_build_that_is_refused_leaves_the_output_as_it_was(tmp_path: Path) -> None:
    source, output = documents(tmp_path / "rows.jsonl", 40), tmp_path / "corpus"
    flags = ["--documents", source, "--output", str(output), "--workers", "1", "--objective", "doc-sentences"]
    wrong = [*flags, "--where", "score > 3"]
    with pytest.raises(ConfigError, match="names the column 'score', which these documents do not have"):
        run_verb("build", wrong)
    assert not output.exists()
    assert run_verb("build", [*flags, "--vocab", "bertdata-30k-uncased"]) == 0
    before = {path: path.stat().st_mtime_ns for path in output.rglob("*") if path.is_file()}
    for force in ([], ["--force"]):
        with pytest.raises(ConfigError, match="names the column 'score'"):
            run_verb("build", [*wrong, *force])
    assert {path: path.stat().st_mtime_ns for path in output.rglob("*") if path.is_file()} == before


def test_other_commands_that_are_refused_leave_no_output(tmp_path: Path) -> None:
    (tmp_path / "rows.jsonl").write_text("no rows")
    output = tmp_path / "out"
    for verb in ("train-vocab", "train-sentences"):
        with pytest.raises(BertDataError):
            run_verb(verb, ["--documents", str(tmp_path / "rows.jsonl"), "--output", str(output), "--text-column", "x"])
        assert not output.exists()
