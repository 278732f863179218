"""A group of Ray Train's workers: each reads its part with a loader of ours, and Ray's own division is refused."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bertdata.loader import BatchCollator, EpochBatchSampler, ShardExamples
from tests.torch.build import write_build

pytestmark = pytest.mark.slow

JOB = """
import json, sys
from pathlib import Path

import ray
from ray.train import RunConfig, ScalingConfig
from ray.train.torch import TorchTrainer

def loop(config):
    import ray.train.torch
    from torch.utils.data import DataLoader
    from bertdata.torch import PretrainingCollator, ResumableBatchSampler, ResumableLoader, ShardDataset

    dataset = ShardDataset(config["build"])
    sampler, collator = ResumableBatchSampler(dataset, 8, seed=3, epochs=1), PretrainingCollator(dataset)
    loader, rows, error = ResumableLoader(dataset, sampler, collator), [], ""
    if config["divided"] == "by Ray":
        loader = ray.train.torch.prepare_data_loader(DataLoader(dataset, batch_sampler=sampler, collate_fn=collator))
    try:
        for batch in loader:
            rows += batch["input_ids"].where(batch["labels"] == -100, batch["labels"]).flatten(1).sum(1).tolist()
    except Exception as problem:
        error = str(problem)
    rank = ray.train.get_context().get_world_rank()
    Path(config["output"], f"{rank}.json").write_text(json.dumps([rows, error]))
    ray.train.report({})

build, output, divided = sys.argv[1:]
ray.init(num_cpus=3, include_dashboard=False, log_to_driver=False)
config = {"build": build, "output": output, "divided": divided}
run = RunConfig(storage_path=f"{output}/ray")
TorchTrainer(loop, train_loop_config=config, scaling_config=ScalingConfig(num_workers=2), run_config=run).fit()
"""


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build without masks."""
    return write_build(tmp_path_factory.mktemp("build"))


def group(build: Path, output: Path, divided: str) -> list[tuple[list[int], str]]:
    """Return the rows, by the sums of their ids, and the error of each of two workers."""
    pytest.importorskip("ray")
    job = output / "job.py"
    job.write_text(JOB, encoding="utf-8")
    subprocess.run([sys.executable, str(job), str(build), str(output), divided], check=True, capture_output=True)
    workers = [json.loads((output / f"{rank}.json").read_text(encoding="utf-8")) for rank in (0, 1)]
    return [(rows, error) for rows, error in workers]


def test_each_worker_of_a_group_reads_its_part_and_all_rows_are_read(build: Path, tmp_path: Path) -> None:
    examples = ShardExamples(build)
    collator = BatchCollator(examples)
    expected = []
    for pairs in EpochBatchSampler(examples, 8, seed=3, epochs=1):
        batch = collator(examples.__getitems__(pairs))
        expected += np.where(batch["labels"] == -100, batch["input_ids"], batch["labels"]).sum(1).tolist()
    (first, one_error), (second, other_error) = group(build, tmp_path, "by its sampler")
    assert (one_error, other_error) == ("", "")
    assert sorted(first + second) == sorted(expected)
    assert abs(len(first) - len(second)) <= 8


def test_a_loader_that_ray_would_divide_is_refused_on_each_worker(build: Path, tmp_path: Path) -> None:
    for rows, error in group(build, tmp_path, "by Ray"):
        assert rows == []
        assert "prepare_data_loader" in error
