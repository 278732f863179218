"""The rows of the tables that the tutorial shows are those that the commands print, without running the whole page."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bertdata.cli.main import dispatch
from tests.docs import pages

BUILD = ("build", "--vocab", "bertdata-30k-uncased", "--objective", "full-sentences", "--max-seq-length", "32")
PRETRAIN = ("--config", "tiny", "--max-steps", "2", "--batch-size", "8", "--num-workers", "0", "--device", "cpu")
ROW = re.compile(r"^( *[a-z][a-z ,]*[a-z])  +\S", re.MULTILINE)


def labels(printed: str) -> set[str]:
    """Return what stands before the values of a table; the steps of a build, its last rows, depend on its settings."""
    return {match.strip() for match in ROW.findall(printed.partition("\nseconds  ")[0])}


@pytest.mark.costly
def test_the_tutorial_shows_the_rows_of_a_build_and_of_a_training(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = str(tmp_path / "corpus")
    assert dispatch([*BUILD, "--validation-fraction", "0.1", "--workers", "1", "--output", corpus]) == 0
    printed = {"build": labels(capsys.readouterr().out)}
    model = str(tmp_path / "model")
    assert dispatch(["pretrain", corpus, *PRETRAIN, "--eval-steps", "2", "--output", model]) == 0
    printed["pretrain"] = labels(capsys.readouterr().out)
    shown = pages.blocks((pages.ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8"))
    compared = 0
    for verb, rows in printed.items():
        for block in shown:
            if f"bertdata {verb} " in block.body and block.shown:
                assert labels(block.shown) <= rows, verb
                compared += len(labels(block.shown))
    assert compared > 20
