"""Predictions of test splits, as files: of the model that the scores of the same rows are of."""

from __future__ import annotations

import csv
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from bertdata.finetune.settings import TaskConfig
from bertdata.finetune.task_shards import encode_task
from bertdata.torch.training import finetune
from tests.torch.build import tokenizer_of
from tests.torch.training.test_finetune import SETTINGS, model, questions, tagged, texts

ONCE = replace(SETTINGS, epochs=1)
__all__ = ["model"]


def encoded(folder: Path, task: str, train: str, test: str, validation: str = "") -> Path:
    """Encode a train and a test split, and a validation split if there is one."""
    ending = "json" if task == "question-answering" else "jsonl"
    paths = {}
    for split, content in (("train", train), ("validation", validation), ("test", test)):
        if content:
            (folder / f"{split}.{ending}").write_text(content)
            paths[split] = str(folder / f"{split}.{ending}")
    tokenizer_of().save_pretrained(folder / "vocab")
    config = TaskConfig(task=task, max_seq_length=24 if task == "question-answering" else 32, doc_stride=4)
    encode_task(folder / "shards", str(folder / "vocab"), paths, config)
    return folder / "shards"


def without(text: str, *names: str) -> str:
    rows = [json.loads(line) for line in text.splitlines()]
    return "".join(json.dumps({name: row[name] for name in row if name not in names}) + "\n" for row in rows)


def logits_of_transformers(folder: Path, content: str) -> tuple[Any, torch.Tensor]:
    """Return the model that transformers loads from a folder, and its outputs for the texts of JSON lines."""
    peer = transformers.AutoModelForSequenceClassification.from_pretrained(folder).eval()
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    inputs = tokenizer([json.loads(line)["text"] for line in content.splitlines()], padding=True, return_tensors="pt")
    with torch.no_grad():
        return peer, peer(**inputs).logits.float()


def test_labels_of_a_test_file_without_labels_are_those_that_transformers_gives(tmp_path: Path, model: Path) -> None:
    content = texts(30, 5)
    shards = encoded(tmp_path, "classification", texts(40, 0), without(content, "label"))
    summary = finetune.finetune(shards, model, tmp_path / "out", ONCE)
    path = tmp_path / "out" / "predictions_test.tsv"
    assert summary["predictions"] == str(path)
    header, *rows = csv.reader(path.read_text().splitlines(), delimiter="\t")
    assert header == ["index", "prediction"]
    assert [int(index) for index, _ in rows] == list(range(30))
    peer, logits = logits_of_transformers(tmp_path / "out", content)
    labels = logits.argmax(-1).tolist()
    assert [label for _, label in rows] == [peer.config.id2label[label] for label in labels]
    assert finetune.finetune(shards, model, tmp_path / "out", ONCE) == summary


def test_numbers_of_a_regression_are_written(tmp_path: Path, model: Path) -> None:
    rows = [{"text": f"w{number % 80 + 10}", "label": number / 7} for number in range(40)]
    content = "".join(json.dumps(row) + "\n" for row in rows)
    shards = encoded(tmp_path, "regression", content, without(content, "label"))
    finetune.finetune(shards, model, tmp_path / "out", ONCE)
    _, *predicted = csv.reader((tmp_path / "out" / "predictions_test.tsv").read_text().splitlines(), delimiter="\t")
    _, logits = logits_of_transformers(tmp_path / "out", content)
    assert [float(number) for _, number in predicted] == pytest.approx(logits.squeeze(-1).tolist(), abs=1e-3)


def test_tags_of_words_are_written_where_words_are_known(
    tmp_path: Path, model: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("seqeval")
    content = tagged(30, 5)
    shards = encoded(tmp_path, "token-classification", tagged(40, 0), content, content)
    summary = finetune.finetune(shards, model, tmp_path / "out", ONCE)
    lines = (tmp_path / "out" / "predictions_test.txt").read_text().splitlines()
    pairs = [
        (tag, guess)
        for row, line in zip(content.splitlines(), lines, strict=True)
        for tag, guess in zip(json.loads(row)["tags"], line.split(" "), strict=True)
    ]
    assert summary["accuracy"] == pytest.approx(np.mean([tag == guess for tag, guess in pairs]))
    (tmp_path / "other").mkdir()
    shards = encoded(tmp_path / "other", "token-classification", tagged(40, 0), without(content, "tags"))
    summary = finetune.finetune(shards, model, tmp_path / "out", ONCE, quiet=False)
    assert "predictions" not in summary
    assert not (tmp_path / "out" / "predictions_test.txt").exists()
    assert "give each word any tag, as O, and encode again" in capsys.readouterr().err


def test_answers_to_questions_are_written_by_their_ids(tmp_path: Path, model: Path) -> None:
    content = questions(30, 5)
    shards = encoded(tmp_path, "question-answering", questions(60, 0), content, content)
    summary = finetune.finetune(shards, model, tmp_path / "out", ONCE)
    predicted = json.loads((tmp_path / "out" / "predictions_test.json").read_text())
    asked: list[dict[str, Any]] = [
        question for paragraph in json.loads(content)["data"][0]["paragraphs"] for question in paragraph["qas"]
    ]
    equal = [
        predicted[question["id"]] == (question["answers"][0]["text"] if question["answers"] else "")
        for question in asked
    ]
    assert len(predicted) == 30
    assert summary["exact_match"] == pytest.approx(np.mean(equal))


def test_without_a_test_split_nothing_is_predicted(tmp_path: Path, model: Path) -> None:
    shards = encoded(tmp_path, "classification", texts(40, 0), "", texts(10, 1))
    assert "predictions" not in finetune.finetune(shards, model, tmp_path / "out", ONCE)
    assert not list((tmp_path / "out").glob("predictions*"))
