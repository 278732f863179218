"""What the package `datasets` does with a build, and what it leaves in it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
from bertdata.shards.phases import PhaseConfig, plan_phases, write_index
from bertdata.shards.verify.build import verify
from tests.shards.build import write_build
from tests.shards.damage import disagreements

datasets = pytest.importorskip("datasets")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))


def test_a_build_that_datasets_filtered_is_still_verified(own_build: Path) -> None:
    found = datasets.load_from_disk(str(own_build))
    kept = found["train"].filter(lambda row: row["example_id"] % 2 == 0)
    assert 0 < len(kept) < len(found["train"])
    assert list((own_build / "train").glob("cache-*.arrow"))
    verify(own_build)
    assert len(datasets.load_from_disk(str(own_build))["train"]) == len(open_shards(own_build))
    shutil.copy(open_shards(own_build).paths[0], own_build / "train" / "cached.arrow")
    [line] = disagreements(own_build)
    assert line.startswith("train/cached.arrow: is not a shard that manifest.json names")


def test_load_dataset_opens_the_splits_beside_stages_and_caches(own_build: Path, tmp_path: Path) -> None:
    assert list((own_build / "stages").rglob("*.arrow"))
    shutil.copy(open_shards(own_build).paths[0], own_build / "train" / "cache-0123456789abcdef.arrow")
    found = datasets.load_dataset(str(own_build), cache_dir=str(tmp_path / "cache"))
    assert set(found) == {"train", "validation"}
    for split in found:
        expected = open_shards(own_build, split).table
        assert found[split]["example_id"][:] == expected["example_id"].to_pylist()
        assert found[split]["input_ids"][:] == expected["input_ids"].to_pylist()


def test_load_dataset_opens_each_length_of_a_build_of_several_by_its_name(tmp_path: Path) -> None:
    lengths = [PhaseConfig(ExamplesConfig(max_seq_length=length)) for length in (32, 64)]
    phases = plan_phases(str(tmp_path / "build"), lengths)
    for phase in phases:
        write_build(Path(phase.output), phase.config.examples)
    write_index(str(tmp_path / "build"), phases)
    for phase in phases:
        name = str(phase.config.examples.max_seq_length)
        found = datasets.load_dataset(str(tmp_path / "build"), name, cache_dir=str(tmp_path / "cache"))
        for split in ("train", "validation"):
            expected = open_shards(phase.output, split).table["example_id"].to_pylist()
            assert found[split]["example_id"][:] == expected
    verify(tmp_path / "build")
