"""The same small model with masks at 15%, at 30%, at rates that fall, and at rates drawn for each row.

Run: python benchmarks/mask_rates.py [--steps 1500] [--seeds 2]; it needs the folder that BERTDATA_DATA names, or
../shared/data. All runs read the same rows of books in the same order, begin with the same weights and put [MASK] in
the place of every predicted token; only the rates differ. It prints the loss of masked words of the validation split at
each of several rates, and the F1 of a task that each model was fine-tuned on: which words had a capital letter.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from _fresh import write_fresh
from _harness import DATA, machine, table
from _word_tasks import capitals, write_examples
from encoder import sentences

from bertdata import build
from bertdata.finetune.settings import TaskConfig
from bertdata.finetune.task_shards import encode_task
from bertdata.masking.settings import MaskingConfig
from bertdata.torch import ModernBertForMaskedLM, ShardDataset, pretrain
from bertdata.torch.models.dropout import Draws
from bertdata.torch.training.finetune import finetune
from bertdata.torch.training.finetune_settings import FinetuneSettings
from bertdata.torch.training.losses import Sums, chosen_rows, count
from bertdata.torch.training.settings import PretrainSettings

ALWAYS_MASK: dict[str, Any] = {"mask_token_prob": 1.0, "random_token_prob": 0.0}
WAYS: dict[str, dict[str, Any]] = {
    "15%": {"masked_lm_prob": 0.15},
    "30%": {"masked_lm_prob": 0.3},
    "30% to 15%": {"mask_schedule": ["0=0.3", "1=0.15"]},
    "drawn, uniform": {"mask_rate_draw": "uniform"},
    "drawn, bell": {"mask_rate_draw": "bell"},
}
RATES = (0.05, 0.15, 0.3, 0.5, 0.7, 0.9)
BUILD: dict[str, Any] = {
    "objective": "full-sentences",
    "max_seq_length": [64],
    "split_chapters": True,
    "validation_fraction": 0.05,
    "vocab_size": 1000,
    "workers": 1,
}
SHAPE = {"hidden_size": 64, "num_hidden_layers": 3, "num_attention_heads": 2, "intermediate_size": 96}
PRETRAIN = PretrainSettings(
    batch_size=16,
    learning_rate=3e-3,
    warmup_ratio=0.05,
    eval_steps=0,
    logging_steps=100,
    save_steps=100_000,
    num_workers=0,
    device="cpu",
)
FINETUNE = FinetuneSettings(epochs=6, batch_size=16, learning_rate=2e-3, device="cpu")
VALIDATION_ROWS, LABELLED = 500, 1000


def losses(model: Path, corpus: Path) -> list[float]:
    """Return the loss of masked words of the validation split at each rate, the same masks for every model."""
    dataset, encoder = ShardDataset(corpus, "validation"), ModernBertForMaskedLM.from_pretrained(model).eval()
    info, draws, means = dataset.info, Draws(), []
    for rate in RATES:
        masking = MaskingConfig(masked_lm_prob=rate, **ALWAYS_MASK)
        collator = encoder.collator(dataset, tokenizer=dataset.shards.tokenizer(), masking=masking)
        sums, rows = Sums(), chosen_rows(len(dataset), VALIDATION_ROWS)
        for start in range(0, len(rows), 50):
            batch = collator(dataset.__getitems__([(0, number) for number in rows[start : start + 50]]))
            draws.begin(batch, 0, 0)
            with torch.no_grad():
                sums.add(encoder(**batch).terms, count(batch, info.label, info.pad_token_id))
        means.append(sums.means()["mlm_loss"])
    return means


def encode_task_of(data: Path, corpus: Path, folder: Path) -> Path:
    """Write the task, to tell from uncased text which words had a capital letter, as shards, and return where."""
    held: dict[bool, list[list[str]]] = {False: [], True: []}
    for in_validation, words in sentences(data):
        held[in_validation].append(words)
    folder.mkdir(parents=True)
    files = {
        "train": write_examples(folder / "train.jsonl", map(capitals, held[False][:LABELLED])),
        "validation": write_examples(folder / "validation.jsonl", map(capitals, held[True][:500])),
    }
    config = TaskConfig(task="token-classification", max_seq_length=32)
    encode_task(folder / "shards", str(corpus / "tokenizer"), files, config)
    return folder / "shards"


def tuned(model: Path, task: Path, folder: Path, seeds: int) -> str:
    """Return the mean F1 of a fine-tuned model, with those of the seeds."""
    scores = []
    for seed in range(seeds):
        finetune(task, model, folder / str(seed), replace(FINETUNE, seed=seed))
        scores.append(json.loads((folder / str(seed) / "scores.json").read_text())["f1"])
    return f"{statistics.fmean(scores):.1%} ({', '.join(f'{score:.1%}' for score in scores)})"


def main() -> None:
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="the folder with books and sentences")
    parser.add_argument("--books", type=int, default=12)
    parser.add_argument("--steps", type=int, default=1500, help="of pretraining")
    parser.add_argument("--seeds", type=int, default=2, help="of fine-tuning")
    flags = parser.parse_args()
    torch.set_num_threads(1)
    rows = []
    with tempfile.TemporaryDirectory(prefix="bertdata-benchmark-") as folder:
        place = Path(folder)
        books = [str(book) for book in sorted((flags.data / "books").glob("*.txt"))[: flags.books]]
        for way, settings in WAYS.items():
            build(books=books, output=place / way, **BUILD, **ALWAYS_MASK, **settings)
        first = place / next(iter(WAYS))
        fresh = write_fresh(first, "modernbert-tiny", place / "fresh", 0, SHAPE)
        task = encode_task_of(flags.data, first, place / "task")
        size = len(ShardDataset(first))
        for way in WAYS:
            output = place / f"model {way}"
            pretrain(place / way, str(fresh), output, replace(PRETRAIN, max_steps=flags.steps), quiet=True)
            score = tuned(output, task, place / f"tuned {way}", flags.seeds)
            rows.append([way, *(f"{loss:.3f}" for loss in losses(output, first)), score])
            print(rows[-1], file=sys.stderr, flush=True)
        rows.append(["not pretrained", *[""] * len(RATES), tuned(fresh, task, place / "tuned fresh", flags.seeds)])
    print(f"{size:,} rows, {flags.steps:,} steps of {PRETRAIN.batch_size} rows; one core of {machine()}.\n")
    print(table(["trained at", *(f"loss at {rate:.0%}" for rate in RATES), "capitals, F1"], rows))


if __name__ == "__main__":
    main()
