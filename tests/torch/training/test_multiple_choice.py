"""Questions with choices: what is learnt, by which classes, and the folder that transformers opens."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers

from bertdata.errors import ConfigError
from bertdata.torch import BertForPreTraining, PretrainingCollator, ShardDataset
from bertdata.torch.models.configs import load_config
from bertdata.torch.models.heads import BertForMultipleChoice
from bertdata.torch.training.finetune import finetune
from bertdata.torch.training.finetune_settings import FinetuneSettings
from tests.torch.build import tokenizer_of
from tests.torch.training.test_finetune import CONFIG, encoded, words

SETTINGS = FinetuneSettings(batch_size=16, learning_rate=2e-3, device="cpu")


def questions(number: int, seed: int) -> str:
    """Three or four choices of two words, one of which has the word w5."""
    generator = np.random.default_rng(seed)
    rows = []
    for at in range(number):
        choices = [" ".join(words(generator)[:2]).replace("w5", "w6") for _ in range(3 + at % 2)]
        right = int(generator.integers(len(choices)))
        choices[right] = f"{choices[right].split()[0]} w5"
        rows.append({"question": "w7 w8", "choices": choices, "answer": right})
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.mark.costly
def test_choices_that_can_be_learned_are_learned_and_the_model_opens_in_transformers(tmp_path: Path) -> None:
    model = tmp_path / "model"
    with torch.random.fork_rng():
        torch.manual_seed(0)
        BertForPreTraining(CONFIG).save_pretrained(model)
    tokenizer_of().save_pretrained(model)
    shards = encoded(tmp_path / "task", "multiple-choice", questions, (200, 50))
    for library, epochs in (("bertdata", 8), ("transformers", 1)):
        out = tmp_path / library
        summary = finetune(shards, model, out, replace(SETTINGS, epochs=epochs), library=library, quiet=True)
        assert epochs == 1 or summary["accuracy"] > 0.9
        opened = transformers.AutoModelForMultipleChoice.from_pretrained(out).eval()
        dataset = ShardDataset(shards, "validation")
        batch = PretrainingCollator(dataset)([dataset[number] for number in range(8)])
        assert batch["input_ids"].shape[:2] == (8, 4)
        there = batch["attention_mask"].any(-1)
        assert not there.all()
        again = BertForMultipleChoice.from_pretrained(out).eval()
        with torch.no_grad():
            ours = again(**batch)
            theirs = opened(**{name: value[:1, :3] for name, value in batch.items() if name != "labels"})
        torch.testing.assert_close(ours.logits[:1, :3], theirs.logits)
        assert torch.equal(ours.logits.isinf(), ~there)
        expected = torch.nn.functional.cross_entropy(ours.logits, batch["labels"])
        torch.testing.assert_close(ours.loss, expected)


def test_a_type_whose_class_of_transformers_has_other_layers_is_refused_here(tmp_path: Path) -> None:
    config = {"model_type": "electra", "vocab_size": 20, "hidden_size": 8, "embedding_size": 8, "num_hidden_layers": 1}
    config |= {"num_attention_heads": 2, "intermediate_size": 8}
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ConfigError, match="no electra model for multiple choice here"):
        BertForMultipleChoice(load_config(tmp_path), ["0", "1"])
