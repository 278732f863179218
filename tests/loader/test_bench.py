from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from bertdata.cli.main import dispatch
from bertdata.errors import ConfigError
from bertdata.loader.bench import add_arguments, measure


def test_the_command_prints_tokens_per_second(dynamic_build: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["bench", "loader", str(dynamic_build), "--batch-size", "8", "--seconds", "0.05"]) == 0
    shown = dict(line.split(maxsplit=1)[:2] for line in capsys.readouterr().out.replace(" per ", "_per_").splitlines())
    assert {"examples", "tokens_per_second", "batches_per_second"} <= set(shown)


def test_what_is_measured_is_what_batches_hold(dynamic_build: Path) -> None:
    padded, packed = (measure([str(dynamic_build)], 16, packing, 0.05) for packing in (False, True))
    assert padded["rows_per_batch"] == packed["rows_per_batch"] == 16
    assert 0 < packed["padding_share"] < 0.05 < padded["padding_share"] < 0.9
    assert padded["tokens_per_second"] > padded["batches_per_second"] * 16 * 5


def test_a_time_of_nothing_is_refused(dynamic_build: Path) -> None:
    with pytest.raises(ConfigError, match="--seconds is 0"):
        dispatch(["bench", "loader", str(dynamic_build), "--seconds", "0"])


def test_what_is_not_given_is_as_the_help_says() -> None:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    given = vars(parser.parse_args(["corpus"]))
    assert given == {
        "shards": ["corpus"],
        "batch_size": 256,
        "bins": None,
        "max_tokens": None,
        "seconds": 3.0,
        "packing": False,
        "json": False,
    }


def test_the_word_loader_may_be_left_out(dynamic_build: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["bench", str(dynamic_build), "--batch-size", "8", "--seconds", "0.05"]) == 0
    assert "tokens per second" in capsys.readouterr().out
