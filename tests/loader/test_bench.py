from __future__ import annotations

import argparse
import json
from pathlib import Path

import fsspec
import pytest

from bertdata.cli.bench import add_arguments
from bertdata.cli.main import dispatch
from bertdata.errors import ConfigError
from bertdata.loader import ShardExamples
from bertdata.loader.bench import measure
from tests.many_shards import bytes_in


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
        "cache": None,
        "cache_bytes": None,
        "shuffle_window": None,
        "by_pieces": False,
        "tokens_per_gpu": None,
    }


def test_the_word_loader_may_be_left_out(dynamic_build: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["bench", str(dynamic_build), "--batch-size", "8", "--seconds", "0.05"]) == 0
    assert "tokens per second" in capsys.readouterr().out


def test_of_streamed_shards_it_says_what_the_store_feeds_and_how_many_gpus(
    corpus: Path, shard_bytes: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    fsspec.filesystem("memory").put(str(corpus), "/bench-corpus", recursive=True)
    command = ["bench", "memory://bench-corpus/train", "--cache", str(tmp_path), "--cache-bytes", str(6 * shard_bytes)]
    command += ["--shuffle-window", "3", "--batch-size", "8", "--seconds", "0.3", "--json"]
    assert dispatch([*command, "--tokens-per-gpu", "1000"]) == 0
    measured = json.loads(capsys.readouterr().out)
    stored = sum(path.stat().st_size for path in (corpus / "train").iterdir())
    tokens = ShardExamples(corpus / "train").tokens
    ratio = measured["store_tokens_per_second"] / measured["store_bytes_per_second"]
    assert ratio == pytest.approx(tokens / stored, rel=0.01)
    both = measured["store_tokens_per_second"], measured["tokens_per_second"] * measured["cores"]
    assert measured["fed_tokens_per_second"] == pytest.approx(min(both), rel=0.01)
    assert measured["gpus"] == pytest.approx(measured["fed_tokens_per_second"] / 1000, rel=0.01)
    assert bytes_in(tmp_path) <= 6 * shard_bytes
    with pytest.raises(ConfigError, match="--tokens-per-gpu is 0"):
        dispatch([*command, "--tokens-per-gpu", "0"])
