"""Scores of fine-tuning are those of the Trainer of transformers on the same examples, within what seeds make."""

from __future__ import annotations

import json
import statistics
from dataclasses import replace
from pathlib import Path

import pytest
import torch
import transformers

from bertdata.torch.training.seeds import finetune_seeds
from tests.torch.training.peer_models import saved_peer
from tests.torch.training.test_finetune import encoded, texts
from tests.torch.training.test_finetune_transformers import SETTINGS

RATE, EPOCHS, SEEDS = 2e-3, 3, range(5)


def by_trainer(model: Path, folder: Path, seed: int) -> float:
    """Return the accuracy on the validation examples of a run of the Trainer, as its text classification script."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    rows = {}
    for split in ("train", "validation"):
        examples = [json.loads(line) for line in (folder / f"{split}.jsonl").read_text().splitlines()]
        rows[split] = [
            dict(tokenizer(example["text"])) | {"label": int(example["label"] == "without")} for example in examples
        ]
    transformers.set_seed(seed)
    arguments = transformers.TrainingArguments(
        output_dir=str(folder / "trainer"),
        learning_rate=RATE,
        num_train_epochs=EPOCHS,
        per_device_train_batch_size=16,
        weight_decay=0.01,
        warmup_steps=0.1,
        seed=seed,
        save_strategy="no",
        report_to="none",
        disable_tqdm=True,
        use_cpu=True,
    )
    trainer = transformers.Trainer(
        model=transformers.AutoModelForSequenceClassification.from_pretrained(model, num_labels=2),
        args=arguments,
        train_dataset=rows["train"],
        data_collator=transformers.DataCollatorWithPadding(tokenizer),
    )
    trainer.train()
    guesses = torch.tensor(trainer.predict(rows["validation"]).predictions).argmax(-1)
    truth = torch.tensor([row["label"] for row in rows["validation"]])
    return float((guesses == truth).float().mean())


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["deberta-v2", "eurobert"])
def test_accuracies_are_those_of_the_trainer_within_what_seeds_make(kind: str, tmp_path: Path) -> None:
    pytest.importorskip("accelerate")
    model = saved_peer(tmp_path / "model", kind, hidden_size=32)
    shards = encoded(tmp_path / "task", "classification", texts, (300, 200))
    settings = replace(SETTINGS, epochs=EPOCHS, learning_rate=RATE)
    summary = finetune_seeds(shards, model, tmp_path / "out", [*SEEDS], settings, quiet=True)
    ours = [scores["accuracy"] for scores in summary["scores"].values()]
    theirs = [by_trainer(model, tmp_path / "task", seed) for seed in SEEDS]
    noise = (statistics.variance(ours) / len(ours) + statistics.variance(theirs) / len(theirs)) ** 0.5
    print(kind, "bertdata", ours, "Trainer", theirs)
    assert abs(statistics.fmean(ours) - statistics.fmean(theirs)) <= 3 * noise + 0.01
