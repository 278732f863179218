"""Regression and GLUE's tasks: what is learnt, the metrics of each, and that transformers gives the same scores."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from bertdata.errors import ConfigError, InputError
from bertdata.finetune import TASKS
from bertdata.finetune.settings import Columns, TaskConfig
from bertdata.finetune.task_shards import encode_task
from bertdata.io import files
from bertdata.torch import PretrainingCollator, ShardDataset
from bertdata.torch.models.heads import BertForSequenceClassification
from bertdata.torch.training.finetune import finetune
from bertdata.torch.training.finetune_settings import FinetuneSettings
from bertdata.torch.training.tasks import evaluate
from tests.torch.training.small_models import FAMILIES, saved

SETTINGS = FinetuneSettings(epochs=10, batch_size=16, learning_rate=3e-3, device="cpu")
CPU = torch.device("cpu")


def scored(number: int, seed: int) -> str:
    """Pairs whose score is how many of four words of the second text are w7."""
    generator = np.random.default_rng(seed)
    rows = []
    for _ in range(number):
        score = int(generator.integers(5))
        words = ["w7"] * score + [f"w{word}" for word in generator.integers(10, 90, 4 - score)]
        rows.append({"sentence1": "w1 w2", "sentence2": " ".join(words), "score": float(score)})
    return "".join(json.dumps(row) + "\n" for row in rows)


def encoded(folder: Path, task: str, texts: dict[str, str], model: Path, ending: str = "jsonl") -> Path:
    paths = {split: str(folder / f"{split}.{ending}") for split in texts}
    for split, text in texts.items():
        Path(paths[split]).write_text(text)
    encode_task(folder / "shards", str(model), paths, TaskConfig(task=task, max_seq_length=16))
    return folder / "shards"


@pytest.mark.costly
@pytest.mark.parametrize("family", FAMILIES)
def test_transformers_gives_the_same_scores_for_a_regression(tmp_path: Path, family: str) -> None:
    model = saved(tmp_path / "model", family)
    texts = {"train": scored(300, 0), "validation": scored(60, 1)}
    shards = encoded(tmp_path, "regression", texts, model)
    summary = finetune(shards, model, tmp_path / "out", SETTINGS)
    assert summary["pearson"] > 0.9
    assert summary["spearman"] > 0.9
    config = files.read_json(str(tmp_path / "out" / "config.json"))
    assert (config["problem_type"], config["id2label"]) == ("regression", {"0": "LABEL_0"})
    theirs, notes = transformers.AutoModelForSequenceClassification.from_pretrained(
        tmp_path / "out", output_loading_info=True
    )
    assert not notes["missing_keys"]
    assert not notes["unexpected_keys"]
    assert theirs.config.num_labels == 1
    held = ShardDataset(shards, "validation")
    batch = PretrainingCollator(held)(held.__getitems__(range(60)))
    ours = BertForSequenceClassification.from_pretrained(tmp_path / "out").eval()
    if family == "modernbert":
        batch.pop("token_type_ids")
    with torch.no_grad():
        expected, output = theirs.eval()(**batch), ours(**batch)
    assert torch.allclose(expected.logits, output.logits, atol=1e-5)
    assert expected.loss.item() == pytest.approx(output.loss.item(), rel=1e-4)
    assert evaluate(ours, held, SETTINGS.batch_size, CPU) == pytest.approx(
        {name: summary[name] for name in ("pearson", "spearman")}
    )


def test_the_loss_of_a_regression_is_the_mean_squared_error(tmp_path: Path) -> None:
    model = BertForSequenceClassification.from_pretrained(saved(tmp_path / "model", "bert"), ["x"]).eval()
    labels = torch.tensor([1.5, -2.0])
    result = model(torch.tensor([[2, 7, 3], [2, 9, 3]]), labels)
    assert result.logits.shape == (2, 1)
    expected = ((result.logits[:, 0] - labels) ** 2).mean().item()
    assert result.loss is not None
    assert result.loss.item() == pytest.approx(expected)


def test_scores_outside_a_declared_range_are_refused_with_their_line(tmp_path: Path) -> None:
    model = saved(tmp_path / "model", "bert")
    path = tmp_path / "a.csv"
    path.write_text("text,score\nw1,1\nw2,6\n")
    config = TaskConfig(task="regression", max_seq_length=16, score_range=("0", "5"))
    with pytest.raises(InputError, match=r"a\.csv: line 3 has the label '6'; expected a number from 0 to 5"):
        encode_task(tmp_path / "out", str(model), {"train": str(path)}, config)
    path.write_text("text,score\nw1,1\nw2,high\n")
    with pytest.raises(InputError, match="line 3 has the label 'high'"):
        encode_task(tmp_path / "out", str(model), {"train": str(path)}, TaskConfig(task="regression"))
    for wrong in (("5", "0"), ("0",), ("low", "5"), ("nan", "5"), ("0", "inf")):
        with pytest.raises(ConfigError, match="expected the lowest and the highest score, as 0 5"):
            TaskConfig(task="regression", score_range=wrong)
    with pytest.raises(ConfigError, match="`score_range` is for tasks with scores, as regression, and `task` is cla"):
        TaskConfig(score_range=("0", "5"))


def test_settings_from_before_the_range_are_stored_as_they_were(tmp_path: Path) -> None:
    model = saved(tmp_path / "model", "bert")
    (tmp_path / "a.csv").write_text("text,similarity\nw1,1\nw2,6\n")
    columns = Columns(label_column="similarity")
    for given in ((), ("0", "6")):
        config = TaskConfig(task="regression", score_range=given)
        manifest = encode_task(tmp_path / "out", str(model), {"train": str(tmp_path / "a.csv")}, config, columns)
        assert ("score_range" in manifest["settings"]) == bool(given)


PAIRS = ["w1\tw7 w8", "w1\tw9 w6"]
"""Two pairs of texts, of which the first is alike, entailed, and acceptable."""


@pytest.mark.costly
@pytest.mark.parametrize(
    ("task", "names", "header", "labels"),
    [
        ("cola", ["matthews_correlation"], "", ["1", "0"]),
        ("mrpc", ["accuracy", "f1"], "#1 String\t#2 String\tQuality\n", ["1", "0"]),
        ("stsb", ["pearson", "spearman"], "sentence1\tsentence2\tscore\n", ["5.0", "0.0"]),
        (
            "mnli",
            ["accuracy", "mismatched_accuracy"],
            "sentence1\tsentence2\tgold_label\n",
            ["entailment", "neutral"],
        ),
    ],
)
def test_a_task_of_glue_has_its_own_metrics(
    tmp_path: Path, task: str, names: list[str], header: str, labels: list[str]
) -> None:
    model = saved(tmp_path / "model", "bert")
    rows = [f"{pair}\t{label}\n" for pair, label in zip(PAIRS, labels, strict=True)]
    if task == "cola":
        rows = [f"s\t{label}\t\t{pair.split(chr(9))[1]}\n" for pair, label in zip(PAIRS, labels, strict=True)]
    splits = ["train", "validation", *(["validation_mismatched"] if task == "mnli" else [])]
    shards = encoded(tmp_path, f"glue/{task}", dict.fromkeys(splits, header + "".join(rows * 64)), model, "tsv")
    settings = replace(SETTINGS, epochs=10)
    summary = finetune(shards, model, tmp_path / "out", settings)
    scores = files.read_json(str(tmp_path / "out" / "scores.json"))
    assert scores == {name: pytest.approx(1.0) for name in names}
    assert list(summary)[-len(names) :] == names


def test_a_task_from_outside_with_a_known_head_is_trained(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = saved(tmp_path / "model", "bert")
    rows = [f"{pair}\t{label}\n" for pair, label in zip(PAIRS, "10", strict=True)]
    texts = dict.fromkeys(["train", "validation"], "".join(["sentence1\tsentence2\tlabel\n", *rows * 8]))
    shards = {}
    for metric in ("matthews_correlation", "bleu"):
        monkeypatch.setitem(TASKS._items, f"toy-{metric}", replace(TASKS["classification"], metrics=(metric,)))
        (tmp_path / metric).mkdir()
        shards[metric] = encoded(tmp_path / metric, f"toy-{metric}", texts, model, "tsv")
    settings = replace(SETTINGS, epochs=1)
    summary = finetune(shards["matthews_correlation"], model, tmp_path / "out", settings)
    assert -1 <= summary["matthews_correlation"] <= 1
    with pytest.raises(ConfigError, match="the task toy-bleu has the metric 'bleu'; expected some of accuracy, f1"):
        finetune(shards["bleu"], model, tmp_path / "other", settings)


def test_a_split_without_labels_is_not_measured(tmp_path: Path) -> None:
    model = saved(tmp_path / "model", "bert")
    texts = {"train": scored(20, 0), "validation": scored(20, 1), "test": '{"sentence1": "w1", "sentence2": "w2"}\n'}
    shards = encoded(tmp_path, "regression", texts, model)
    ours = BertForSequenceClassification.from_pretrained(model, ["x"])
    with pytest.raises(ConfigError, match="the split test has no labels; expected a split with labels"):
        evaluate(ours, ShardDataset(shards, "test"), 8, CPU)
