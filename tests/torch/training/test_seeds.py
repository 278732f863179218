"""Fine-tuning with several seeds: scores and their spread, the model that is kept, and what is not done again."""

from __future__ import annotations

import argparse
import json
import statistics
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bertdata.cli import finetune as command
from bertdata.errors import ConfigError, OutputError
from bertdata.finetune.settings import TaskConfig
from bertdata.finetune.task_shards import encode_task
from bertdata.io import files
from bertdata.torch import ShardDataset
from bertdata.torch.models.heads import BertForSequenceClassification
from bertdata.torch.training import seeds as module
from bertdata.torch.training.finetune import finetune
from bertdata.torch.training.finetune_settings import FinetuneSettings
from bertdata.torch.training.optimization import choose_device
from bertdata.torch.training.seeds import finetune_seeds, summary
from bertdata.torch.training.tasks import evaluate
from tests.torch.training.small_models import saved
from tests.torch.training.small_runs import IDS, tokenizers_below

SETTINGS = FinetuneSettings(epochs=1, batch_size=8, learning_rate=3e-3, device="cpu")


@pytest.fixture
def model(tmp_path: Path) -> Path:
    return saved(tmp_path / "model", "bert")


@pytest.fixture
def task(tmp_path: Path, model: Path) -> Path:
    """Noisy labels, so that the scores of seeds differ."""
    generator = np.random.default_rng(0)
    paths = {}
    for split, number in (("train", 40), ("validation", 60)):
        rows = []
        for _ in range(number):
            words = generator.integers(0, 90, 5)
            label = "low" if words[0] + generator.integers(-40, 40) < 45 else "high"
            rows.append({"text": " ".join(f"w{word}" for word in words), "label": label})
        paths[split] = str(tmp_path / f"{split}.jsonl")
        Path(paths[split]).write_text("".join(json.dumps(row) + "\n" for row in rows))
    encode_task(tmp_path / "task", str(model), paths, TaskConfig(max_seq_length=16))
    return tmp_path / "task"


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The seeds that are trained, in their order."""
    seeds: list[int] = []

    def noted(*arguments: Any, **keywords: Any) -> dict[str, Any]:
        seeds.append(arguments[3].seed)
        return finetune(*arguments, **keywords)

    monkeypatch.setattr(module, "finetune", noted)
    return seeds


def test_scores_of_seeds_are_those_of_single_runs_with_mean_and_spread(tmp_path: Path, model: Path, task: Path) -> None:
    summary = finetune_seeds(task, model, tmp_path / "out", [3, 0, 1], SETTINGS)
    single = {
        seed: finetune(task, model, tmp_path / f"single-{seed}", replace(SETTINGS, seed=seed))["accuracy"]
        for seed in (3, 0, 1)
    }
    assert {seed: scores["accuracy"] for seed, scores in summary["scores"].items()} == {
        str(seed): score for seed, score in single.items()
    }
    scores = list(single.values())
    assert len(set(scores)) > 1
    assert summary["mean"]["accuracy"] == pytest.approx(sum(scores) / 3)
    assert summary["sd"]["accuracy"] == pytest.approx(statistics.stdev(scores))
    assert (summary["min"]["accuracy"], summary["max"]["accuracy"]) == (min(scores), max(scores))
    assert single[summary["saved_seed"]] == max(scores)
    written = files.read_json(str(tmp_path / "out" / "scores.json"))
    assert {name: written[name] for name in summary} == summary


def test_the_best_model_alone_is_kept_and_is_that_of_its_single_run(tmp_path: Path, model: Path, task: Path) -> None:
    summary = finetune_seeds(task, model, tmp_path / "out", [0, 1, 2], SETTINGS)
    assert [str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("model.safetensors")] == [
        "model.safetensors"
    ]
    best = summary["saved_seed"]
    finetune(task, model, tmp_path / "single", replace(SETTINGS, seed=best))
    for name in ("model.safetensors", "config.json", "tokenizer.json"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "single" / name).read_bytes()
    again = BertForSequenceClassification.from_pretrained(tmp_path / "out")
    scores = evaluate(again, ShardDataset(task, "validation"), 8, choose_device("cpu"))
    assert scores == summary["scores"][str(best)]
    assert (tmp_path / "out" / "seed-2" / "log.jsonl").exists()
    assert tokenizers_below(tmp_path / "out") == dict.fromkeys((".", "seed-0", "seed-1", "seed-2"), IDS)


def test_done_seeds_are_not_trained_again_and_others_can_be_added(
    tmp_path: Path, model: Path, task: Path, trained: list[int]
) -> None:
    first = finetune_seeds(task, model, tmp_path / "out", [0, 1], SETTINGS)
    more = finetune_seeds(task, model, tmp_path / "out", [0, 1, 2], SETTINGS)
    assert trained == [0, 1, 2]
    assert {seed: more["scores"][seed] for seed in ("0", "1")} == first["scores"]
    finetune_seeds(task, model, tmp_path / "out", [0, 1, 2], replace(SETTINGS, num_workers=1, seed=9))
    assert trained == [0, 1, 2]
    finetune_seeds(task, model, tmp_path / "out", [0], replace(SETTINGS, epochs=2))
    assert trained == [0, 1, 2, 0]


def test_what_is_trained_and_what_was_is_said(
    tmp_path: Path, model: Path, task: Path, trained: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    finetune_seeds(task, model, tmp_path / "out", [0], SETTINGS)
    assert capsys.readouterr().err.splitlines()[0] == "seed 0"
    finetune_seeds(task, model, tmp_path / "out", [0, 1], SETTINGS)
    assert capsys.readouterr().err.splitlines()[:2] == ["trained before: seed 0", "seed 1"]
    first = finetune_seeds(task, model, tmp_path / "out", [0, 1], SETTINGS)
    assert capsys.readouterr().err == "nothing to do: trained before: seed 0, seed 1\n"
    assert finetune_seeds(task, model, tmp_path / "out", [0, 1], SETTINGS, restart=True, quiet=True) == first
    assert trained == [0, 1, 0, 1]
    assert capsys.readouterr().err == ""


def test_an_interrupted_run_goes_on_with_its_seed(
    tmp_path: Path, model: Path, task: Path, trained: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = finetune_seeds(task, model, tmp_path / "whole", [0, 1, 2], SETTINGS)
    write, trained[:] = files.write_json, []

    def killed(path: str, value: Any) -> None:
        if path.endswith("seed-1/run.json"):
            raise KeyboardInterrupt
        write(path, value)

    monkeypatch.setattr(files, "write_json", killed)
    with pytest.raises(KeyboardInterrupt):
        finetune_seeds(task, model, tmp_path / "out", [0, 1, 2], SETTINGS)
    monkeypatch.setattr(files, "write_json", write)
    assert finetune_seeds(task, model, tmp_path / "out", [0, 1, 2], SETTINGS) == whole
    assert trained == [0, 1, 1, 2]
    for name in ("model.safetensors", "scores.json"):
        assert (tmp_path / "out" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


def test_of_fewer_seeds_the_best_is_trained_again_if_its_model_was_not_kept(
    tmp_path: Path, model: Path, task: Path, trained: list[int]
) -> None:
    summary = finetune_seeds(task, model, tmp_path / "out", [0, 1, 2, 3], SETTINGS)
    others = [seed for seed in range(4) if seed != summary["saved_seed"]]
    trained.clear()
    fewer = finetune_seeds(task, model, tmp_path / "out", others, SETTINGS)
    assert fewer["saved_seed"] in others
    assert fewer["saved_seed"] in trained
    again = BertForSequenceClassification.from_pretrained(tmp_path / "out")
    scores = evaluate(again, ShardDataset(task, "validation"), 8, choose_device("cpu"))
    assert scores == fewer["scores"][str(fewer["saved_seed"])]


def test_the_score_that_decides_and_equal_scores() -> None:
    scores = {4: {"accuracy": 0.9, "f1": 0.5}, 2: {"accuracy": 0.8, "f1": 0.6}, 3: {"accuracy": 0.9, "f1": 0.6}}
    assert (summary(scores)["saved_seed"], summary(scores)["chosen_by"]) == (4, "accuracy")
    assert (summary(scores, "f1")["saved_seed"], summary(scores, "f1")["chosen_by"]) == (2, "f1")
    assert summary({0: {"accuracy": 0.9}}, "f1")["sd"] == {"accuracy": 0.0}


def test_seeds_that_cannot_be_compared_are_refused(tmp_path: Path, model: Path, task: Path) -> None:
    with pytest.raises(ConfigError, match="the seeds 1 1 have one twice"):
        finetune_seeds(task, model, tmp_path / "out", [1, 1], SETTINGS)
    with pytest.raises(ConfigError, match="there are no seeds"):
        finetune_seeds(task, model, tmp_path / "out", [], SETTINGS)
    sources = {"train": str(tmp_path / "train.jsonl")}
    encode_task(tmp_path / "alone", str(model), sources, TaskConfig(max_seq_length=16))
    with pytest.raises(ConfigError, match="alone: has no validation split, so seeds cannot be compared; encode with"):
        finetune_seeds(tmp_path / "alone", model, tmp_path / "out", [0, 1], SETTINGS)
    finetune(task, model, tmp_path / "single", SETTINGS)
    with pytest.raises(OutputError, match="holds a fine-tuned model, and a fine-tuning of several seeds was to be"):
        finetune_seeds(task, model, tmp_path / "single", [0, 1], SETTINGS)


def test_the_command_takes_a_number_of_seeds_or_their_list(
    tmp_path: Path, model: Path, task: Path, trained: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    line = f"{task} --model {model} --epochs 1 --batch-size 8 --device cpu --output {tmp_path}/"
    summary = command.run(parser.parse_args([*f"{line}a --seeds 2 --seed 4".split()]))
    assert trained == [4, 5]
    assert "seed 4\n" in capsys.readouterr().err
    assert summary["seeds"] == "4 5"
    scores = files.read_json(str(tmp_path / "a" / "scores.json"))
    assert summary["accuracy"].startswith(f"{scores['mean']['accuracy']:.4g} (sd ")
    assert summary["saved_seed"] == f"{scores['saved_seed']}, the best by accuracy"
    command.run(parser.parse_args(f"{line}b --seed 0 7".split()))
    assert trained == [4, 5, 0, 7]
    single = command.run(parser.parse_args(f"{line}c --seed 7".split()))
    assert isinstance(single["accuracy"], float)
    for wrong, message in (
        ("--seeds 0", "`seeds` is 0; expected 1 or more"),
        ("--seed 1 2 --seeds 2", "`seed` 1 2 names the seeds; leave out `seeds`"),
        ("--seed 1 1", "`seed` 1 1 has a value twice"),
    ):
        with pytest.raises(ConfigError, match=message):
            command.run(parser.parse_args(f"{line}d {wrong}".split()))
