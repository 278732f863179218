"""Pretraining on shards that are streamed has the losses of a run on the same shards on this machine."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import fsspec
import pytest

from bertdata.cli.main import main
from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.objectives.settings import ExamplesConfig
from bertdata.torch.training.pretrain import pretrain
from tests.many_shards import bytes_in, cut, write_pieces
from tests.torch.build import write_build
from tests.torch.training.small_runs import SETTINGS, SMALL, losses, stop_at

WINDOWED = replace(SETTINGS, shuffle_window=2, eval_steps=6)
ROOM = 60_000


@pytest.fixture(scope="module")
def many_shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of two phases of many shards, whose validation splits are some of their rows."""
    place = tmp_path_factory.mktemp("phases")
    for length in (16, 48):
        build = write_build(place / "whole" / str(length), ExamplesConfig(max_seq_length=length))
        manifest = cut(build, place / str(length), rows=12) / "manifest.json"
        values = files.read_json(str(manifest))
        values["splits"]["validation"] = {"shards": values["splits"]["train"]["shards"][:3]}
        files.write_json(str(manifest), values)
    files.write_json(str(place / "manifest.json"), {"phases": ["16", "48"]})
    return place


@pytest.fixture
def url(many_shards: Path) -> str:
    memory = fsspec.filesystem("memory")
    if not memory.exists("/streamed-training"):  # into a folder that is there it would be put one level deeper
        memory.put(str(many_shards), "/streamed-training", recursive=True)
    return "memory://streamed-training"


@pytest.mark.costly
@pytest.mark.parametrize("workers", [0, 2])
def test_phases_that_are_streamed_have_the_losses_of_local_ones_also_resumed(
    workers: int, url: str, many_shards: Path, tmp_path: Path
) -> None:
    settings, cache = replace(WINDOWED, num_workers=workers), tmp_path / "cache"
    pretrain(many_shards, SMALL, tmp_path / "local", WINDOWED)
    with pytest.raises(KeyboardInterrupt):
        pretrain(url, SMALL, tmp_path / "streamed", settings, cache=cache, cache_bytes=ROOM, report=stop_at(7))
    pretrain(url, SMALL, tmp_path / "streamed", settings, cache=cache, cache_bytes=ROOM)
    assert losses(tmp_path / "streamed") == losses(tmp_path / "local")
    assert 0 < bytes_in(cache) <= ROOM < sum(path.stat().st_size for path in many_shards.rglob("data-*.arrow"))


def test_the_command_streams_and_says_what_does_not_fit(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["pretrain", f"{url}/16", "--output", str(tmp_path / "out"), "--config", "tiny", "--max-steps", "3"]
    command += ["--batch-size", "8", "--num-workers", "0", "--device", "cpu", "--cache", str(tmp_path / "cache")]
    assert main([*command, "--cache-bytes", "2e5", "--shuffle-window", "2"]) == 0
    assert (tmp_path / "out/model.safetensors").exists()
    capsys.readouterr()
    assert main(command) == 1
    assert "streaming takes both --cache, a folder on a fast disk, and --cache-bytes" in capsys.readouterr().err
    assert main([*command, "--output", str(tmp_path / "other"), "--cache-bytes", "9000"]) == 1
    assert "give --shuffle-window, the shards that rows are mixed over at a time, or raise --cache-bytes" in (
        capsys.readouterr().err
    )


def test_a_run_is_resumed_with_the_window_that_it_began_with(url: str, tmp_path: Path) -> None:
    place: dict[str, Any] = {"cache": tmp_path / "cache", "cache_bytes": ROOM}
    with pytest.raises(KeyboardInterrupt):
        pretrain(url, SMALL, tmp_path / "out", WINDOWED, report=stop_at(6), **place)
    with pytest.raises(ConfigError, match="shuffle_window"):
        pretrain(url, SMALL, tmp_path / "out", replace(WINDOWED, shuffle_window=1), **place)


@pytest.mark.costly
def test_windows_of_pieces_of_large_shards_have_the_losses_of_local_ones_also_resumed(tmp_path: Path) -> None:
    large = write_pieces(cut(write_build(tmp_path / "whole"), tmp_path / "large", rows=60, batch_rows=6), 1500)
    settings = replace(SETTINGS, shuffle_window=3, by_pieces=True)
    place: dict[str, Any] = {"cache": tmp_path / "cache", "cache_bytes": 18_000}
    pretrain(large, SMALL, tmp_path / "local", settings)
    with pytest.raises(KeyboardInterrupt):
        pretrain(large, SMALL, tmp_path / "streamed", settings, report=stop_at(7), **place)
    with pytest.raises(ConfigError, match="by_pieces was True"):
        pretrain(large, SMALL, tmp_path / "streamed", replace(settings, by_pieces=False))
    pretrain(large, SMALL, tmp_path / "streamed", settings, **place)
    assert losses(tmp_path / "streamed") == losses(tmp_path / "local")
    assert 0 < bytes_in(tmp_path / "cache") <= 18_000
