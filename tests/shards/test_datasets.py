"""What the package `datasets` does with a build, and what it leaves in it."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from bertdata.finetune.settings import TaskConfig
from bertdata.finetune.task_shards import encode_task
from bertdata.loader import ShardExamples
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
from bertdata.shards.contents import finished_manifest, mark_finished
from bertdata.shards.phases import PhaseConfig, plan_phases, write_index
from bertdata.verify.build import verify
from tests.shards.build import TOKENIZER, write_build
from tests.shards.damage import disagreements

datasets = pytest.importorskip("datasets")


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", str(tmp_path / "cache"))


def test_a_build_that_datasets_filtered_is_still_verified(own_build: Path) -> None:
    dataset = datasets.load_from_disk(str(own_build))
    kept = dataset["train"].filter(lambda row: row["example_id"] % 2 == 0)
    assert 0 < len(kept) < len(dataset["train"])
    assert list((own_build / "train").glob("cache-*.arrow"))
    verify(own_build)
    assert len(datasets.load_from_disk(str(own_build))["train"]) == len(open_shards(own_build))
    shutil.copy(open_shards(own_build).paths[0], own_build / "train" / "cached.arrow")
    [line] = disagreements(own_build)
    assert line.startswith("train/cached.arrow: is not a shard that manifest.json names")


def test_load_dataset_opens_the_splits_beside_stages_and_caches(own_build: Path, tmp_path: Path) -> None:
    assert list((own_build / "stages").rglob("*.arrow"))
    shutil.copy(open_shards(own_build).paths[0], own_build / "train" / "cache-0123456789abcdef.arrow")
    dataset = datasets.load_dataset(str(own_build), cache_dir=str(tmp_path / "cache"))
    assert set(dataset) == {"train", "validation"}
    for split in dataset:
        expected = open_shards(own_build, split).table
        assert dataset[split]["example_id"][:] == expected["example_id"].to_pylist()
        assert dataset[split]["input_ids"][:] == expected["input_ids"].to_pylist()


def test_load_dataset_opens_each_length_of_a_build_of_several_by_its_name(tmp_path: Path) -> None:
    lengths = [PhaseConfig(ExamplesConfig(max_seq_length=length)) for length in (32, 64)]
    phases = plan_phases(str(tmp_path / "build"), lengths)
    for phase in phases:
        write_build(Path(phase.output), phase.config.examples)
    write_index(str(tmp_path / "build"), phases)
    for phase in phases:
        name = str(phase.config.examples.max_seq_length)
        dataset = datasets.load_dataset(str(tmp_path / "build"), name, cache_dir=str(tmp_path / "cache"))
        for split in ("train", "validation"):
            expected = open_shards(phase.output, split).table["example_id"].to_pylist()
            assert dataset[split]["example_id"][:] == expected
    verify(tmp_path / "build")


def task_shards(folder: Path, task: str) -> Path:
    """Encode a few labelled texts, or questions, which have columns of text and of places."""
    answer = {"question": "salt?", "context": "the salt water", "answers": {"text": ["salt"], "answer_start": [4]}}
    labelled: list[dict[str, Any]] = [{"text": "the salt", "label": label} for label in ("good", "bad")]
    lines = [
        json.dumps((answer if "question" in task else labelled[number % 2]) | {"id": f"é{number}"})
        for number in range(5)
    ]
    for split in ("train", "validation"):
        (folder / f"{split}.jsonl").write_text("\n".join(lines))
    TOKENIZER.save_pretrained(folder / "vocab")
    sources = {split: str(folder / f"{split}.jsonl") for split in ("train", "validation")}
    encode_task(folder / "task", str(folder / "vocab"), sources, TaskConfig(task=task))
    return folder / "task"


def made(folder: Path, kind: str) -> Path:
    """Write shards of a kind."""
    if kind in ("classification", "question-answering"):
        return task_shards(folder, kind)
    settings: dict[str, dict[str, Any]] = {
        "static": {"masking": "static", "dupe_factor": 2},
        "packed": {"pack": True, "pack_length": 100},
        "binned": {"bin_size": 8},
    }
    return write_build(folder / "build", ExamplesConfig(max_seq_length=32, **settings.get(kind, {})))


@pytest.mark.parametrize("kind", ["dynamic", "static", "packed", "binned", "classification", "question-answering"])
def test_load_dataset_gives_the_rows_columns_and_types_of_load_from_disk(kind: str, tmp_path: Path) -> None:
    build = made(tmp_path, kind)
    mapped = datasets.load_from_disk(str(build))
    loaded = datasets.load_dataset(str(build), cache_dir=str(tmp_path / "cache"))
    assert set(loaded) == set(mapped) == {"train", "validation"}
    for split, rows in mapped.items():
        assert loaded[split].features == rows.features
        assert loaded[split][:] == rows[:] == open_shards(build, split).table.to_pydict()
        assert len(rows) > 2
        [alone] = datasets.load_dataset(str(build), split=[split], cache_dir=str(tmp_path / "cache"))
        assert alone[:] == rows[:]


def test_load_dataset_of_several_lengths_names_them_where_none_is_given(tmp_path: Path) -> None:
    lengths = [PhaseConfig(ExamplesConfig(max_seq_length=length)) for length in (32, 64)]
    phases = plan_phases(str(tmp_path / "build"), lengths)
    for phase in phases:
        write_build(Path(phase.output), phase.config.examples)
    write_index(str(tmp_path / "build"), phases)
    with pytest.raises(ValueError, match=r"pick one among the available configs: \['32', '64'\]"):
        datasets.load_dataset(str(tmp_path / "build"), cache_dir=str(tmp_path / "cache"))
    loaded = datasets.load_dataset(str(tmp_path / "build"), "64", cache_dir=str(tmp_path / "cache"))
    mapped = datasets.load_from_disk(str(tmp_path / "build" / "64"))
    for split in ("train", "validation"):
        assert loaded[split].features == mapped[split].features
        assert loaded[split][:] == mapped[split][:]


_KILLED = """
import os, sys, datasets
rows = datasets.load_from_disk(sys.argv[1])
rows.map(lambda row, place: os.kill(os.getpid(), 9) if place > 20 else {"n": 1}, with_indices=True, writer_batch_size=5)
"""


@pytest.mark.costly
def test_what_datasets_keeps_beside_shards_is_no_part_of_a_build_and_verify_says_so_in_a_line(tmp_path: Path) -> None:
    for build in (write_build(tmp_path / "build"), task_shards(tmp_path, "classification")):
        mark_finished(str(build), "mark")
        before, rows = verify(build), list(ShardExamples(build)[0].items())
        train = datasets.load_from_disk(str(build))["train"]
        train.map(lambda row: {"tokens": len(row["input_ids"])})
        train.map(lambda row: {"two": 2}, num_proc=2)
        train.filter(lambda row: row["example_id"] % 2 == 0)
        train.shuffle(seed=1, indices_cache_file_name=str(build / "train" / "indices-1.arrow")).flatten_indices()
        (build / "train" / "cache-1.arrow.lock").touch()
        kept = [path for path in (build / "train").iterdir() if path.name.startswith(("cache-", "indices-"))]
        assert len(kept) > 5
        size = sum(path.stat().st_size for path in kept)
        line = ("kept by datasets", f"{len(kept)} files of {size:,} bytes, which may be deleted")
        assert verify(build) == [*before, line]
        assert finished_manifest(str(build), "mark") is not None
        assert len(ShardExamples(build)) == len(train)
        assert str(list(ShardExamples(build)[0].items())) == str(rows)
        assert len(datasets.load_dataset(str(build), cache_dir=str(tmp_path / build.name))["train"]) == len(train)


def test_a_map_that_was_killed_leaves_a_file_that_changes_nothing(own_build: Path) -> None:
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", _KILLED, str(own_build / "train")], check=False)
    assert done.returncode == -9
    [left] = (own_build / "train").glob("tmp*")
    assert verify(own_build)[-1] == (
        "kept by datasets",
        f"1 file of {left.stat().st_size:,} bytes, which may be deleted",
    )
