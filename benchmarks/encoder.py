"""A small BERT on real text, from dumps and books to a fine-tuned task: `python benchmarks/encoder.py --data DATA`.

1. Builds shards with static, with dynamic and with whole-word masks, of one vocabulary.
2. Pretrains the same model on each with `bertdata pretrain`; draws the losses side by side.
3. Measures each on the validation shards under one set of masks.
4. Makes two tasks of gold sentences (find the two neighbouring words that changed places; tell from uncased text which
   words were written with a capital letter), encodes them with `encode-task`, and fine-tunes the pretrained model and
   the same model from scratch, several seeds each.

Every step is left out where its result is there, so the command can be stopped and given again. It prints Markdown
tables and writes the pictures to `--pictures`. A core is used; the time is that of pretraining, about 0.2 s a step.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import torch
from _fresh import write_fresh as fresh_model
from _word_tasks import LENGTHS, TASKS, write_examples

from bertdata.counter_rng import bernoulli, bits, key, text_bits
from bertdata.finetune.settings import TaskConfig
from bertdata.finetune.task_shards import encode_task
from bertdata.shards import open_shards
from bertdata.torch import BertForPreTraining, PretrainingCollator, ShardDataset
from bertdata.torch.training.curves import draw, smoothed
from bertdata.torch.training.finetune import finetune
from bertdata.torch.training.finetune_settings import FinetuneSettings
from bertdata.torch.training.losses import Sums, count
from bertdata.torch.training.metrics_log import read

MASKS = {"dynamic": [], "whole-word": ["--mask-unit", "word"], "static": ["--masking", "static"]}
SHAPE = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
BUILD = ["--vocab-size", "2000", "--max-seq-length", "32", "64", "--validation-fraction", "0.05", "--workers", "1"]
PRETRAIN = ["--batch-size", "64", "--learning-rate", "2e-3", "--warmup-ratio", "0.05"]
LOG = ["--logging-steps", "20", "--save-steps", "500", "--num-workers", "0", "--device", "cpu"]
SENTENCES = ("ewt_dev_test.jsonl", "gum_dev_test.jsonl", "lines.jsonl")
TRAIN_SIZES = (1000, 4000)
FINETUNE = FinetuneSettings(epochs=5, batch_size=16, learning_rate=1e-3, device="cpu")


def bertdata(*arguments: str | Path) -> None:
    """Run the command on one core; ends this process where it fails."""
    environment = os.environ | dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    command = [sys.executable, "-m", "bertdata", *map(str, arguments)]
    print("$ bertdata", *arguments, file=sys.stderr, flush=True)
    if subprocess.run(command, env=environment, check=False).returncode:
        sys.exit(f"bertdata {arguments[0]} failed")


def build(data: Path, place: Path) -> None:
    """Build the corpus with each kind of masks: the dump, and books enough for a quarter of the text."""
    books = sorted((data / "books").glob("pg6*.txt"))
    for name, flags in MASKS.items():
        sources: list[str | Path] = ["--wikipedia", data / "wikipedia", "--books", *books]
        bertdata("build", *sources, *BUILD, "--output", place / name, *flags)


def pretrain(place: Path, steps: int) -> None:
    """Pretrain the same fresh model on each build, in rows of 32 and at last of 64."""
    fresh = write_fresh(place, 0)
    for name in MASKS:
        output = place / "models" / name
        flags: list[str | Path] = ["--config", fresh, "--output", output, "--max-steps", str(steps)]
        bertdata("pretrain", place / name, *flags, *PRETRAIN, *LOG)


def write_fresh(place: Path, seed: int) -> Path:
    """Write a model that has learned nothing, with the vocabulary of the builds, and return where."""
    output = place / "models" / f"fresh-{seed}"
    return fresh_model(place / "dynamic" / "32", "tiny", output, seed, SHAPE)


def draw_losses(place: Path, pictures: Path) -> None:
    """Draw the masked words' loss of each run, in means over 100 steps."""
    curves = {}
    for name in MASKS:
        records = read(place / "models" / name / "log.jsonl")
        points = [(record["step"], record["mlm_loss"]) for record in records]
        curves[f"{name} masks"] = smoothed(points, 5)
    (pictures / "encoder-masks.svg").write_bytes(draw({"loss of masked words": curves}, x_label="step"))


@dataclass(frozen=True)
class Validation:
    """A model on the validation shards: loss and accuracy of masked words and pairs; the training loss at its end."""

    name: str
    training: float
    scores: dict[str, float]


def validate(place: Path, length: str) -> list[Validation]:
    """Measure each model on the validation shards of a length with the same masks of tokens."""
    torch.set_num_threads(1)
    dataset = ShardDataset(open_shards(place / "dynamic" / length, "validation"))
    collator, validations = PretrainingCollator(dataset, seed=1), []
    for name in MASKS:
        model = BertForPreTraining.from_pretrained(model_of(place, name)).eval()
        sums, info = Sums(), dataset.info
        for start in range(0, len(dataset), 32):
            batch = collator(dataset.__getitems__(range(start, min(start + 32, len(dataset)))))
            with torch.no_grad():
                sums.add(model(**batch).terms, count(batch, info.label, info.pad_token_id))
        log = read(place / "models" / name / "log.jsonl")
        records = [record for record in log if str(record["max_seq_length"]) == length]
        training = statistics.fmean(record["mlm_loss"] for record in records[-10:])
        validations.append(Validation(name, training, sums.means()))
    return validations


def model_of(place: Path, name: str) -> Path:
    """Return where a run's model is: the finished one, else that of its last checkpoint."""
    output = place / "models" / name
    if (output / "model.safetensors").exists():
        return output
    return max((output / "checkpoints").iterdir())


def sentences(data: Path) -> Iterator[tuple[bool, list[str]]]:
    """Yield (held out, words) of sentences of 5 to 16 words, ordered and parted by hash; documents stay whole."""
    candidates = []
    for name in SENTENCES:
        for line in (data / "sentences" / name).read_text().splitlines():
            document = json.loads(line)
            held = bool(bernoulli(bits(key(0, "encoder task"), text_bits(document["doc"])), 0.25))
            rows = [sentence.split() for paragraph in document["paragraphs"] for sentence in paragraph]
            candidates += [(held, words) for words in rows if len(words) in LENGTHS]
    order = sorted(range(len(candidates)), key=lambda place: int(bits(key(0, "encoder task order"), place)))
    return (candidates[place] for place in order)


def encode(data: Path, place: Path) -> None:
    """Write the tasks with training sets of several sizes, and encode them."""
    parts: dict[bool, list[list[str]]] = {False: [], True: []}
    for held, words in sentences(data):
        parts[held].append(words)
    tokenizer = str(place / "dynamic" / "64" / "tokenizer")
    for name, task in TASKS.items():
        folder = place / "tasks" / name
        folder.mkdir(parents=True, exist_ok=True)
        validation = write_examples(folder / "validation.jsonl", map(task, parts[True][:500]))
        for size in TRAIN_SIZES:
            train = write_examples(folder / f"train-{size}.jsonl", map(task, parts[False][:size]))
            config = TaskConfig(task="token-classification", max_seq_length=32)
            encode_task(folder / str(size), tokenizer, {"train": train, "validation": validation}, config)


def tune(place: Path, seeds: int) -> dict[tuple[str, int, str], list[float]]:
    """Fine-tune the pretrained model and a fresh one, and return the F1s of each (task, training size, start)."""
    torch.set_num_threads(1)
    scores: dict[tuple[str, int, str], list[float]] = {}
    for task, size, seed in product(TASKS, TRAIN_SIZES, range(seeds)):
        for start, model in (("scratch", write_fresh(place, seed)), ("pretrained", model_of(place, "dynamic"))):
            output = place / "tuned" / f"{task}-{size}-{start}-{seed}"
            settings = FinetuneSettings(**{**vars(FINETUNE), "seed": seed})
            if not (output / "scores.json").exists():
                finetune(place / "tasks" / task / str(size), model, output, settings)
            result = json.loads((output / "scores.json").read_text())
            scores.setdefault((task, size, start), []).append(result["f1"])
            print(f"{task} {size} {start} {seed}: {result}", file=sys.stderr, flush=True)
    return scores


def main() -> None:
    """Do all steps and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("BERTDATA_DATA", "../shared/data")))
    parser.add_argument("--place", type=Path, default=Path("encoder-benchmark"), help="builds, models and tasks")
    parser.add_argument("--pictures", type=Path, default=Path(__file__).resolve().parents[1] / "docs")
    parser.add_argument("--steps", type=int, default=4000, help="of pretraining")
    parser.add_argument("--seeds", type=int, default=3, help="of fine-tuning")
    parser.add_argument("--only", nargs="+", choices=["build", "pretrain", "validate", "tune"], help="(default: all)")
    arguments = parser.parse_args()
    chosen, place = arguments.only or ["build", "pretrain", "validate", "tune"], arguments.place
    if "build" in chosen:
        build(arguments.data, place)
    if "pretrain" in chosen:
        pretrain(place, arguments.steps)
    if "validate" in chosen:
        draw_losses(place, arguments.pictures)
        print("| rows of | masks | training loss, last 200 steps | validation loss | accuracy | pairs |")
        print("|---:|---|---:|---:|---:|---:|")
        for length in ("32", "64"):
            for scored in validate(place, length):
                cells = f"{scored.training:.3f} | {scored.scores['mlm_loss']:.3f} | {scored.scores['mlm_accuracy']:.1%}"
                print(f"| {length} | {scored.name} | {cells} | {scored.scores['pair_accuracy']:.1%} |")
    if "tune" in chosen:
        encode(arguments.data, place)
        scores = tune(place, arguments.seeds)
        print("| task | sentences to learn from | from scratch, F1 | pretrained, F1 |")
        print("|---|---:|---:|---:|")
        for task, size in product(TASKS, TRAIN_SIZES):
            shown = [
                f"{statistics.fmean(values):.1%} ({min(values):.1%} to {max(values):.1%})"
                for values in (scores[task, size, "scratch"], scores[task, size, "pretrained"])
            ]
            print(f"| {task} | {size:,} | {shown[0]} | {shown[1]} |")


if __name__ == "__main__":
    main()
