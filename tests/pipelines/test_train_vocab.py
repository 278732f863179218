"""Documents to a vocabulary, and to shards, by the commands of one step: duplicates left out, the rarest words, too."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bertdata.cli.main import run_verb
from bertdata.errors import ConfigError
from bertdata.tokenizers.loading import load_tokenizer
from bertdata.tokenizers.training.partitions import PARTITIONS
from bertdata.tokenizers.wordpiece import WordPieceTokenizer

FABLE = "The fox saw the grapes. The grapes were sour, said the fox. Sour grapes are no grapes for a fox."


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    texts = [FABLE, FABLE, *(f"Number {n} stands by itself. It has a second sentence as well." for n in range(30))]
    path = tmp_path / "documents.jsonl"
    path.write_text("".join(json.dumps({"id": f"{n:02d}", "text": text}) + "\n" for n, text in enumerate(texts)))
    return path


def words_said(capsys: pytest.CaptureFixture[str]) -> str:
    return next(line for line in capsys.readouterr().out.splitlines() if line.startswith("words")).split(None, 1)[1]


def test_words_of_duplicates_are_counted_once(
    documents: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    said = {}
    for dedup in ("none", "exact"):
        output = tmp_path / dedup
        flags = ["--documents", str(documents), "--output", str(output), "--vocab-size", "150", "--dedup", dedup]
        assert run_verb("train-vocab", [*flags, "--workers", "1"]) == 0
        said[dedup] = int(words_said(capsys).split()[0])
    assert said["none"] - said["exact"] == 24
    assert WordPieceTokenizer.from_pretrained(tmp_path / "exact").vocab_size <= 150


def test_a_small_source_gets_tokens_by_a_power_of_its_share(documents: Path, tmp_path: Path) -> None:
    small = tmp_path / "small.jsonl"
    small.write_text(json.dumps({"text": "zyx zyx wvu"}))
    held = {}
    for temperature in ("1", "0"):
        output = tmp_path / temperature
        flags = ["--documents", f"en={documents}", f"xx={small}", "--output", str(output), "--vocab-size", "80"]
        assert run_verb("train-vocab", [*flags, "--vocab-temperature", temperature, "--workers", "1"]) == 0
        held[temperature] = "zyx" in WordPieceTokenizer.from_pretrained(output).get_vocab()
    assert held == {"1": False, "0": True}


def test_the_command_says_that_words_were_left_out(
    documents: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--documents", str(documents), "--output", str(tmp_path / "vocabulary"), "--workers", "1"]
    assert run_verb("train-vocab", [*flags, "--max-words", "20", "--vocab-size", "100"]) == 0
    said = capsys.readouterr().out
    assert "rarest words (--max-words): too few words for the 100 asked for" in said


def test_a_run_that_failed_to_train_goes_on_from_the_sums(documents: Path, tmp_path: Path) -> None:
    output = tmp_path / "vocabulary"
    flags = ["--documents", str(documents), "--output", str(output), "--workers", "1"]
    with pytest.raises(ConfigError, match="vocab_size is 12"):
        run_verb("train-vocab", [*flags, "--vocab-size", "12"])
    kept = {path: path.stat().st_mtime_ns for path in output.glob("stages/*words/*")}
    assert len(kept) == 2 + 2 * PARTITIONS
    assert run_verb("train-vocab", [*flags, "--vocab-size", "150"]) == 0
    assert {path: path.stat().st_mtime_ns for path in output.glob("stages/*words/*")} == kept


def test_shards_leave_duplicates_out(documents: Path, tmp_path: Path) -> None:
    vocabulary, output = tmp_path / "vocabulary", tmp_path / "corpus"
    common = ["--documents", str(documents), "--workers", "1"]
    assert run_verb("train-vocab", [*common, "--output", str(vocabulary), "--vocab-size", "150"]) == 0
    flags = ["--vocab", str(vocabulary), "--output", str(output), "--dedup", "exact", "--max-seq-length", "32"]
    assert run_verb("build-shards", [*common, *flags]) == 0
    sources = json.loads((output / "manifest.json").read_text())["sources"]
    assert [source["drops"] for source in sources.values()] == [{"exact duplicate": 1}]


@pytest.mark.costly
@pytest.mark.parametrize(
    ("model", "others"), [("bpe", "1"), ("unigram", "2"), pytest.param("bpe", "2", marks=pytest.mark.slow)]
)
def test_other_models_are_trained_alike_however_often_and_by_however_many(
    model: str, others: str, documents: Path, tmp_path: Path
) -> None:
    if model == "unigram":
        pytest.importorskip("sentencepiece")
    flags = ["--documents", str(documents), "--model", model, "--vocab-size", "300", "--pad-to-multiple-of", "8"]
    flags += ["--add-tokens", "grapes", "vine", "--special-tokens", "[ENT]"]
    for output, workers in (("first", "1"), ("second", others)):
        assert run_verb("train-vocab", [*flags, "--output", str(tmp_path / output), "--workers", workers]) == 0
    tokenizer = load_tokenizer(tmp_path / "first")
    assert tokenizer == load_tokenizer(tmp_path / "second")
    assert tokenizer.vocab_size % 8 == 0
    assert "[ENT]" in tokenizer.special_tokens
    assert len(tokenizer.encode(" vine")) == 1
    for name in ("tokenizer.json", "tokenizer_config.json"):
        assert (tmp_path / "first" / name).read_bytes() == (tmp_path / "second" / name).read_bytes()


def test_another_model_counts_and_trains_anew(documents: Path, tmp_path: Path) -> None:
    flags = ["--documents", str(documents), "--output", str(tmp_path / "out"), "--workers", "1", "--vocab-size", "300"]
    for model in ("wordpiece", "bpe"):
        assert run_verb("train-vocab", [*flags, "--model", model, "--force"]) == 0
    tokenizer = load_tokenizer(tmp_path / "out")
    assert tokenizer.tokenize("It stands")[1][:2] == "Ġs"
    assert not (tmp_path / "out" / "vocab.txt").exists()


def test_unused_slots_stand_behind_the_special_tokens(documents: Path, tmp_path: Path) -> None:
    flags = ["--documents", str(documents), "--output", str(tmp_path / "out"), "--vocab-size", "150", "--workers", "1"]
    assert run_verb("train-vocab", [*flags, "--unused-tokens", "2"]) == 0
    tokenizer = WordPieceTokenizer.from_pretrained(tmp_path / "out")
    assert tokenizer.tokens[4:8] == ("[MASK]", "[unused0]", "[unused1]", ",")
    assert tokenizer.vocab_size <= 150
