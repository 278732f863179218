"""A build with the vocabulary of a model and the default rows says which rows continue the model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bertdata.cli import command_line
from bertdata.cli.main import parser_of
from bertdata.corpus.requests import settings_of_request
from bertdata.tokenizers.wordpiece import SPECIAL_TOKENS

NOTE = "rows are the default ones, nsp of 128 tokens; to continue the model of "


def said(model: Path, capsys: pytest.CaptureFixture[str], *flags: str) -> str:
    parsed = command_line.parse(parser_of("build"), ["--output", "no-such", "--vocab", str(model), *flags])
    settings_of_request(parsed)
    return capsys.readouterr().err


@pytest.fixture
def model(tmp_path: Path) -> Path:
    (tmp_path / "vocab.txt").write_text("\n".join([*SPECIAL_TOKENS, "salt", "water"]) + "\n")
    (tmp_path / "tokenizer_config.json").write_text(json.dumps({"model_max_length": 512, "do_lower_case": True}))
    return tmp_path


def test_the_default_rows_of_a_models_vocabulary_are_said(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    expected = f"{NOTE}{model}, give --objective full-sentences --max-seq-length 512 (docs/howto/continue.md)\n"
    assert said(model, capsys) == expected


@pytest.mark.parametrize("flags", [["--objective", "nsp"], ["--max-seq-length", "128"], ["--quiet"]], ids=" ".join)
def test_who_chooses_rows_or_wants_quiet_is_not_told(
    flags: list[str], model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert NOTE not in said(model, capsys, *flags)


def test_a_vocabulary_of_bertdata_is_no_models(capsys: pytest.CaptureFixture[str]) -> None:
    assert NOTE not in said(Path("bertdata-30k-uncased"), capsys)
