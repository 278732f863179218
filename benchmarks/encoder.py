"""A small BERT on real text, from dumps and books to a fine-tuned task: `python benchmarks/encoder.py --data DATA`.

1. Builds shards with static, with dynamic and with whole-word masks, of one vocabulary.
2. Pretrains the same model on each with `bertdata pretrain`; draws the losses side by side.
3. Measures each on the validation shards under one set of masks.
4. Makes a task of gold sentences (which words were written with a capital letter, told from uncased text), encodes it
   with `encode-task`, and fine-tunes the pretrained model and the same model from scratch, several seeds each.

Every step is left out where its result is there, so the command can be stopped and given again. It prints Markdown
tables and writes the pictures to `--pictures`. A core is used; the time is that of pretraining, about 0.15 s a step.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import torch

from bertdata.draws import bits, happens, key, text_bits
from bertdata.encode_task import encode_task
from bertdata.examples.finetune.settings import TaskConfig
from bertdata.shards import open_shards
from bertdata.torch import BertConfig, BertForPreTraining, PretrainingCollator, ShardDataset
from bertdata.torch.curves import Curve, draw, smoothed
from bertdata.torch.finetune import FinetuneSettings, finetune
from bertdata.torch.journal import read
from bertdata.torch.measures import means_of, sums_of
from bertdata.wordpiece import WordPieceTokenizer

MASKS = {"dynamic": [], "whole-word": ["--mask-unit", "word"], "static": ["--masking", "static"]}
PRETRAIN = ["--config", "tiny", "--batch-size", "16", "--learning-rate", "1e-3", "--warmup", "0.05"]
LOG = ["--log-every", "20", "--checkpoint-every", "500", "--num-workers", "0", "--device", "cpu"]
SENTENCES = ("ewt_dev_test.jsonl", "gum_dev_test.jsonl", "lines.jsonl")
TAGS = ("O", "B-CAP", "I-CAP")
TRAIN_SIZES = (1000,)
FINETUNE = FinetuneSettings(epochs=3, batch_size=16, learning_rate=1e-3, device="cpu")


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
        sources: list[str | Path] = [
            "--wikipedia",
            data / "wikipedia",
            "--books",
            *books,
            "--validation-fraction",
            "0.05",
        ]
        bertdata("build", *sources, "--vocab-size", "8000", "--workers", "1", "--output", place / name, *flags)


def pretrain(place: Path, steps: int) -> None:
    """Pretrain on each build."""
    for name in MASKS:
        output = place / "models" / name
        bertdata("pretrain", place / name, "--output", output, "--steps", str(steps), *PRETRAIN, *LOG)


def draw_losses(place: Path, pictures: Path) -> None:
    """Draw the masked words' loss of each run, in means over 100 steps."""
    curves = []
    for name in MASKS:
        records = read(place / "models" / name / "log.jsonl")
        points = [(record["step"], record["mlm_loss"]) for record in records]
        curves.append(Curve(f"{name} masks", smoothed(points, 5)))
    picture = draw(curves, x_label="step", y_label="loss of masked words", title="Loss of static, dynamic, whole-word")
    (pictures / "encoder-masks.svg").write_text(picture)


@dataclass(frozen=True)
class Validation:
    """A model on the validation shards: loss and accuracy of masked words and pairs; the training loss at its end."""

    name: str
    steps: int
    training: float
    scores: dict[str, float]


def validate(place: Path) -> list[Validation]:
    """Measure each model on the validation shards with the same masks of tokens."""
    torch.set_num_threads(1)
    dataset = ShardDataset(open_shards(place / "dynamic", "validation"))
    collator, found = PretrainingCollator(dataset, seed=1), []
    for name in MASKS:
        model = BertForPreTraining.from_pretrained(model_of(place, name)).eval()
        sums: dict[str, float] = {}
        for start in range(0, len(dataset), 32):
            batch = collator(dataset.__getitems__(range(start, min(start + 32, len(dataset)))))
            with torch.no_grad():
                part = sums_of(model(**batch), batch, dataset.info.label)
            sums = {one: sums.get(one, 0.0) + float(value) for one, value in part.items()}
        records = read(place / "models" / name / "log.jsonl")
        training = statistics.fmean(record["mlm_loss"] for record in records[-10:])
        found.append(Validation(name, int(records[-1]["step"]), training, means_of(sums)))
    return found


def model_of(place: Path, name: str) -> Path:
    """Return where a run's model is: the finished one, else that of its last checkpoint."""
    output = place / "models" / name
    if (output / "model.safetensors").exists():
        return output
    return max((output / "checkpoints").iterdir())


def tagged(words: Sequence[str]) -> list[str]:
    """Return which words are written with a capital letter, as entities; not the first of a sentence, nor "I".

    >>> tagged("The town of New York and I .".split())
    ['O', 'O', 'O', 'B-CAP', 'I-CAP', 'O', 'O', 'O']
    """
    tags: list[str] = []
    for number, word in enumerate(words):
        bare = word.strip("\"'()[].,;:!?")
        capital = number > 0 and bare[:1].isupper() and bare.split("'")[0] != "I"
        tags.append(("I-CAP" if tags[-1] != "O" else "B-CAP") if capital else "O")
    return tags


def sentences(data: Path) -> Iterator[tuple[bool, list[str]]]:
    """Yield (held out, words) of sentences of 5 to 40 words, ordered and parted by hash; documents stay whole."""
    found = []
    for name in SENTENCES:
        for line in (data / "sentences" / name).read_text().splitlines():
            document = json.loads(line)
            held = bool(happens(bits(key(0, "encoder task"), text_bits(document["doc"])), 0.25))
            rows = [sentence.split() for paragraph in document["paragraphs"] for sentence in paragraph]
            found += [(held, words) for words in rows if 5 <= len(words) <= 40]
    order = sorted(range(len(found)), key=lambda place: int(bits(key(0, "encoder task order"), place)))
    return (found[place] for place in order)


def encode(data: Path, place: Path) -> None:
    """Write the task with training sets of several sizes, and encode it."""
    parts: dict[bool, list[str]] = {False: [], True: []}
    for held, words in sentences(data):
        parts[held].append(json.dumps({"tokens": words, "tags": tagged(words)}) + "\n")
    (place / "tasks").mkdir(exist_ok=True)
    (place / "tasks" / "validation.jsonl").write_text("".join(parts[True][:500]))
    for size in TRAIN_SIZES:
        source = place / "tasks" / f"train-{size}.jsonl"
        source.write_text("".join(parts[False][:size]))
        paths = {"train": str(source), "validation": str(place / "tasks" / "validation.jsonl")}
        config = TaskConfig(task="token-classification", max_seq_length=128)
        encode_task(place / "tasks" / str(size), str(place / "dynamic" / "tokenizer"), paths, config)


def tune(place: Path, seeds: int) -> dict[tuple[int, str], list[float]]:
    """Fine-tune the pretrained model and a fresh one, and return the F1 of each (training size, start)."""
    torch.set_num_threads(1)
    tokenizer = WordPieceTokenizer.load(place / "dynamic" / "tokenizer")
    scores: dict[tuple[int, str], list[float]] = {}
    for size in TRAIN_SIZES:
        for seed in range(seeds):
            fresh = place / "models" / f"fresh-{seed}"
            torch.manual_seed(seed)
            BertForPreTraining(BertConfig.tiny(vocab_size=tokenizer.vocab_size)).save_pretrained(fresh)
            tokenizer.save(fresh)
            for start, model in (("scratch", fresh), ("pretrained", model_of(place, "dynamic"))):
                output = place / "tuned" / f"{size}-{start}-{seed}"
                settings = FinetuneSettings(**{**vars(FINETUNE), "seed": seed})
                if not (output / "scores.json").exists():
                    finetune(place / "tasks" / str(size), model, output, settings)
                found = json.loads((output / "scores.json").read_text())
                scores.setdefault((size, start), []).append(found["f1"])
                print(f"{size} {start} {seed}: {found}", file=sys.stderr, flush=True)
    return scores


def main() -> None:
    """Do all steps and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("BERTDATA_DATA", "../shared/data")))
    parser.add_argument("--place", type=Path, default=Path("encoder-benchmark"), help="builds, models and tasks")
    parser.add_argument("--pictures", type=Path, default=Path(__file__).resolve().parents[1] / "docs")
    parser.add_argument("--steps", type=int, default=3000, help="of pretraining")
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
        print("| masks | steps | training loss, last 200 steps | validation loss | accuracy | pairs |")
        print("|---|---:|---:|---:|---:|---:|")
        for one in validate(place):
            cells = f"{one.training:.3f} | {one.scores['mlm_loss']:.3f} | {one.scores['mlm_accuracy']:.1%}"
            print(f"| {one.name} | {one.steps:,} | {cells} | {one.scores['pair_accuracy']:.1%} |")
    if "tune" in chosen:
        encode(arguments.data, place)
        scores = tune(place, arguments.seeds)
        print("| sentences to learn from | from scratch, F1 | pretrained, F1 |")
        print("|---:|---:|---:|")
        for size in TRAIN_SIZES:
            shown = [
                f"{statistics.fmean(values):.1%} ({min(values):.1%} to {max(values):.1%})"
                for values in (scores[size, "scratch"], scores[size, "pretrained"])
            ]
            print(f"| {size:,} | {shown[0]} | {shown[1]} |")


if __name__ == "__main__":
    main()
