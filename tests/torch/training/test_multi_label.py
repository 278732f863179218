"""Texts with any number of labels: what is learnt, the scores of scikit-learn, the folder that transformers opens."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers
from sklearn.metrics import accuracy_score, f1_score  # type: ignore[import-untyped]

from bertdata.torch import BertForPreTraining, PretrainingCollator, ShardDataset
from bertdata.torch.models.heads import BertForMultiLabelClassification
from bertdata.torch.training.finetune import finetune
from bertdata.torch.training.finetune_settings import FinetuneSettings
from bertdata.torch.training.metrics import set_scores
from bertdata.torch.training.multi_label import predicted_sets
from bertdata.torch.training.tasks import evaluate
from tests.torch.build import tokenizer_of
from tests.torch.training.test_finetune import CONFIG, encoded, words

SETTINGS = FinetuneSettings(batch_size=16, learning_rate=2e-3, device="cpu")


def several(number: int, seed: int) -> str:
    """Texts of 6 words; the labels say which of w5 and w6 are among them."""
    generator = np.random.default_rng(seed)
    rows = []
    for _ in range(number):
        text, labels = words(generator), [name for name in ("w5", "w6") if generator.integers(2)]
        text[: len(labels)] = labels
        generator.shuffle(text)
        rows.append({"text": " ".join(text), "labels": labels})
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.costly
def test_labels_that_can_be_learned_are_learned_and_the_model_opens_in_transformers(tmp_path: Path) -> None:
    model = tmp_path / "model"
    with torch.random.fork_rng():
        torch.manual_seed(0)
        BertForPreTraining(CONFIG).save_pretrained(model)
    tokenizer_of().save_pretrained(model)
    shards = encoded(tmp_path / "task", "multi-label-classification", several, (600, 100))
    for library, epochs in (("bertdata", 12), ("transformers", 1)):
        out = tmp_path / library
        settings = replace(SETTINGS, epochs=epochs)
        summary = finetune(shards, model, out, settings, library=library, quiet=True)
        assert epochs == 1 or summary["micro_f1"] > 0.95
        opened = transformers.AutoModelForSequenceClassification.from_pretrained(out).eval()
        assert opened.config.problem_type == "multi_label_classification"
        assert opened.config.id2label == {0: "w5", 1: "w6"}
        dataset = ShardDataset(shards, "validation")
        batch = PretrainingCollator(dataset)([dataset[number] for number in range(32)])
        assert batch["labels"].shape == (32, 2)
        again = BertForMultiLabelClassification.from_pretrained(out).eval()
        with torch.no_grad():
            theirs, ours = opened(**batch), again(**batch)
        torch.testing.assert_close(ours.logits, theirs.logits, atol=1e-5, rtol=1e-4)
        torch.testing.assert_close(ours.loss, theirs.loss)
        scores = evaluate(again, dataset, 7, torch.device("cpu"))
        assert scores == pytest.approx({name: summary[name] for name in scores})
        lines = predicted_sets(again, dataset, 7, torch.device("cpu")).splitlines()
        expected = [
            [opened.config.id2label[place] for place in row.nonzero()[:, 0].tolist()] for row in theirs.logits > 0
        ]
        assert lines[:33] == [
            "index\tprediction",
            *(f"{place}\t{json.dumps(row)}" for place, row in enumerate(expected)),
        ]


def test_scores_are_those_of_scikit_learn() -> None:
    generator = np.random.default_rng(0)
    for number, labels in ((1, 2), (7, 3), (200, 12)):
        truth, predicted = (generator.random((number, labels)) < 0.3 for _ in range(2))
        scores = set_scores(truth, predicted)
        assert scores["micro_f1"] == pytest.approx(f1_score(truth, predicted, average="micro", zero_division=0))
        assert scores["macro_f1"] == pytest.approx(f1_score(truth, predicted, average="macro", zero_division=0))
        assert scores["exact_match"] == pytest.approx(accuracy_score(truth, predicted))
