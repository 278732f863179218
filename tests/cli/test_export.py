"""`bertdata export`: what it writes and what it says of it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bertdata import __version__
from bertdata.cli.main import dispatch
from bertdata.formats import EXPORT_FORMATS
from bertdata.io.console import counted
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
from tests.small_build import write_build


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = ExamplesConfig(masking="static", max_seq_length=32, dupe_factor=2)
    return write_build(tmp_path_factory.mktemp("build"), config)


@pytest.mark.costly
def test_the_command_exports_all_splits_as_they_are(
    build: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert dispatch(["export", str(build), "--to", "jsonl", "--output", str(tmp_path / "out")]) == 0
    described = json.loads((tmp_path / "out" / "export.json").read_text())
    assert "settings" not in described
    assert described["bertdata"] == __version__
    lines = []
    for split, entries in described["splits"].items():
        rows, size = (sum(entry[name] for entry in entries) for name in ("rows", "bytes"))
        assert rows == len(open_shards(build, split))
        lines.append(f"{split:<10}  {counted(rows, 'row')} in {counted(len(entries), 'file')}, {size:,} bytes")
    assert capsys.readouterr().out.splitlines() == lines
    assert list(described["splits"]) == ["train", "validation"]


def test_the_command_says_what_it_wrote(build: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    flags = ["--to", "jsonl", "--output", str(tmp_path / "out"), "--split", "validation"]
    assert dispatch(["export", str(build), *flags]) == 0
    rows = len(open_shards(build, "validation"))
    assert f"validation  {rows} rows in 1 file" in capsys.readouterr().out


def test_help_describes_every_format(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "10000")
    with pytest.raises(SystemExit):
        dispatch(["export", "--help-all"])
    shown = capsys.readouterr().out
    for name in EXPORT_FORMATS:
        assert f"{name}: {EXPORT_FORMATS[name].help.replace('`', '')}" in shown


def test_the_room_for_predictions_is_that_of_the_flag(
    build: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    flags = ["--to", "tfrecord", "--output", str(tmp_path / "out"), "--max-predictions-per-seq", "17"]
    assert dispatch(["export", str(build), *flags]) == 0
    assert "room for 17 in a row" in capsys.readouterr().out
