"""Results for programs are JSON alone; --quiet is silent; tables fit a terminal; a build says what took long."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from bertdata.cli.build import time_rows
from bertdata.cli.main import dispatch
from bertdata.errors import ConfigError, VerificationError
from bertdata.io import console
from bertdata.shards import open_shards
from bertdata.verify.duplicates import count_duplicates
from tests.small_build import write_build


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_build(tmp_path_factory.mktemp("build"))


@pytest.mark.costly
def test_verify_gives_what_it_recounted_or_the_problems(build: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["verify", str(build), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    manifest = json.loads((build / "manifest.json").read_text())
    assert result["verified"] is True
    assert result["splits"] == {name: entry["counts"] for name, entry in manifest["splits"].items()}
    assert isinstance(result["splits"]["train"]["examples"], int)
    assert {k: v for k, v in result["rows"][0].items() if k != "value"} == {"name": "train: shards", "inner": False}
    assert "duplicates" not in result
    assert dispatch(["verify", str(build), "--duplicates", "--json"]) == 0
    duplicates = json.loads(capsys.readouterr().out)["duplicates"]
    shards = [open_shards(build, split) for split in manifest["splits"]]
    assert duplicates == {
        split.split: vars(copies) for split, copies in zip(shards, count_duplicates(shards), strict=True)
    }
    assert duplicates["train"]["exact"] > 0
    (build / "train" / "data-00009-of-00002.arrow").write_bytes(b"more")
    try:
        with pytest.raises(VerificationError):
            dispatch(["verify", str(build), "--json"])
    finally:
        (build / "train" / "data-00009-of-00002.arrow").unlink()
    result = json.loads(capsys.readouterr().out)
    assert result["verified"] is False
    assert any("data-00009" in problem for problem in result["problems"])


def test_verify_is_silent_where_it_is_to_be(build: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["verify", str(build), "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.costly
def test_bench_and_stats_give_json(build: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["bench", str(build), "--seconds", "0.01", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["tokens_per_second"] > 0
    assert dispatch(["stats", str(build), "--json"]) == 0
    assert set(json.loads(capsys.readouterr().out)) == {"manifest", "measured"}


@pytest.mark.costly
def test_a_build_gives_its_manifest_and_its_seconds_then_nothing_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "texts.txt").write_text("\n\n".join("The salt holds.\nThe lamp hides a stone." for _ in range(30)))
    flags = ["build", "--documents", str(tmp_path / "texts.txt"), "--vocab", "bertdata-30k-uncased", "--workers", "1"]
    flags += ["--output", str(tmp_path / "out"), "--quiet"]
    assert dispatch([*flags, "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert made["worked"] is True
    assert made["manifest"] == manifest
    assert made["seconds"] >= sum(step["seconds"] for step in made["steps"]) > 0
    assert dispatch(flags) == 0
    assert capsys.readouterr().out == ""
    assert dispatch([*flags, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["worked"] is False
    assert dispatch([*flags, "--json", "--dry-run"]) == 0
    assert json.loads(capsys.readouterr().out)["plan"][-1][0] == "nothing to do"
    with pytest.raises(ConfigError, match="--json is for the result of a build"):
        dispatch([*flags, "--json", "--save-recipe", str(tmp_path / "own.toml")])


def test_what_took_the_time_is_said_with_what_was_between_the_steps() -> None:
    steps = [("clean", 1.0), ("write", 5.04)]
    rows = [("seconds", "10.0"), ("  clean", "1.0"), ("  write", "5.0"), ("  start and checks", "4.0")]
    assert time_rows(steps, 10.0) == rows
    assert time_rows([], 2.0) == [("seconds", "2.0"), ("  start and checks", "2.0")]


def test_values_are_wrapped_at_words_on_a_terminal_and_never_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [("name", "word " * 40), ("path", "/x" * 60)]
    assert console.table(rows).count("\n") == 1
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    lines = console.table(rows).split("\n")
    assert all(len(line) <= 80 for line in lines[:-1])
    assert lines[0].startswith("name  word word")
    assert lines[1].startswith("      word")
    assert lines[-1] == f"path  {'/x' * 60}"
