"""A local shard is compared with its SHA-256 before a row of it is read, once on a machine."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bertdata.errors import ConfigError, InputError
from bertdata.formats import export
from bertdata.io import digests
from bertdata.loader import ShardExamples
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import Shards, checked, open_shards
from tests.shards.build import write_build


@pytest.fixture(autouse=True)
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BERTDATA_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv(checked.VARIABLE, raising=False)
    monkeypatch.setattr(checked, "_whole", set())


@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were read to be compared."""
    problems: list[str] = []
    real = digests._problem

    def noted(path: str, digest: str) -> str:
        problems.append(path)
        return real(path, digest)

    monkeypatch.setattr(digests, "_problem", noted)
    return problems


def flip(path: str) -> None:
    """Flip a bit among the token ids of a shard, where nothing but its digest tells."""
    data = bytearray(Path(path).read_bytes())
    data[len(data) // 2] ^= 1
    Path(path).write_bytes(data)


def take_table(shards: Shards) -> object:
    return shards.table


def take_row(shards: Shards) -> object:
    return shards[0]


@pytest.mark.parametrize("use", [take_table, take_row, ShardExamples, lambda shards: shards.examples(0)])
def test_a_flipped_bit_is_an_error_that_names_the_shard_and_the_remedy(
    use: Callable[[Shards], object], own_build: Path
) -> None:
    shards = open_shards(own_build)
    flip(shards.paths[0])
    with pytest.raises(InputError, match=rf"{shards.paths[0]}: its SHA-256 is .*bertdata build.*{checked.VARIABLE}=0"):
        use(open_shards(own_build))


def test_an_export_of_a_damaged_shard_is_refused(own_build: Path, tmp_path: Path) -> None:
    flip(open_shards(own_build).paths[-1])
    with pytest.raises(InputError, match="its SHA-256 is"):
        export(str(own_build), "jsonl", str(tmp_path / "out"))


def test_each_shard_is_read_once_in_a_process_and_only_when_a_row_is_wanted(own_build: Path, read: list[str]) -> None:
    shards = open_shards(own_build)
    assert len(shards.paths) > 1
    assert read == []
    shards[-1]
    assert read == [shards.paths[-1]]
    ShardExamples(shards)
    ShardExamples(own_build)
    pickle.loads(pickle.dumps(shards)).table  # noqa: B018
    assert sorted(read) == sorted(shards.paths)


def test_what_was_whole_is_noted_for_other_processes_until_it_changes(own_build: Path, read: list[str]) -> None:
    paths = open_shards(own_build).paths
    code = f"from bertdata.loader import ShardExamples; ShardExamples({str(own_build)!r})"
    subprocess.run([sys.executable, "-c", code], check=True, env=dict(os.environ))
    ShardExamples(own_build)
    assert read == []
    data = Path(paths[1]).read_bytes()
    Path(paths[1]).write_bytes(data)
    checked._whole.clear()
    ShardExamples(own_build)
    assert read == [paths[1]]


def test_without_a_cache_that_can_be_written_each_process_compares(
    own_build: Path, read: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BERTDATA_CACHE", "/dev/null/nowhere")
    ShardExamples(own_build)
    ShardExamples(own_build)
    assert len(read) == len(set(read)) > 0
    flip(read[0])
    with pytest.raises(InputError, match="its SHA-256 is"):
        ShardExamples(own_build)


def test_a_damaged_shard_is_not_noted_as_whole_and_is_compared_each_time(own_build: Path, read: list[str]) -> None:
    paths = open_shards(own_build).paths
    flip(paths[0])
    for _ in range(2):
        with pytest.raises(InputError, match="its SHA-256 is"):
            ShardExamples(own_build)
        checked._whole.clear()
    assert sorted(read) == sorted([*paths, paths[0]])


def test_damaged_notes_cost_a_comparison_and_nothing_else(own_build: Path, read: list[str], tmp_path: Path) -> None:
    ShardExamples(own_build)
    [note] = (tmp_path / "cache" / "checked").iterdir()
    note.write_bytes(b"\xff\0\n" * 9)
    checked._whole.clear()
    ShardExamples(own_build)
    assert len(read) == 2 * len(set(read))


def test_it_can_be_turned_off(own_build: Path, read: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    flip(open_shards(own_build).paths[0])
    assert open_shards(own_build, check=False).table.num_rows > 0
    monkeypatch.setenv(checked.VARIABLE, "0")
    assert len(ShardExamples(own_build)) > 0
    assert read == []
    with pytest.raises(InputError, match="its SHA-256 is"):
        open_shards(own_build, check=True).check()
    monkeypatch.setenv(checked.VARIABLE, "no")
    with pytest.raises(ConfigError, match="BERTDATA_CHECK_SHARDS is 'no'"):
        open_shards(own_build)


def test_workers_do_not_compare_again_what_their_parent_has(own_build: Path, read: list[str], tmp_path: Path) -> None:
    examples: Any = ShardExamples(own_build)
    (tmp_path / "cache").rename(tmp_path / "gone")
    checked._whole.clear()
    there = pickle.loads(pickle.dumps(examples))
    assert len(there) == len(examples)
    assert len(read) == len(set(read))


@pytest.mark.parametrize("pack", [False, True])
def test_a_row_past_the_last_is_an_index_error_packed_or_not(pack: bool, tmp_path: Path) -> None:
    shards = open_shards(write_build(tmp_path / "build", ExamplesConfig(max_seq_length=32, pack=pack)))
    assert [example["example_id"] for example in shards.examples(-1)] == [
        example["example_id"] for example in shards.examples(len(shards) - 1)
    ]
    for index in (len(shards), -len(shards) - 1):
        with pytest.raises(IndexError):
            shards.examples(index)
