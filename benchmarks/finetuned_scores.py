"""Scores of `bertdata finetune` beside those of transformers, for encoders of transformers.

Run: python benchmarks/finetuned_scores.py [--seeds 5] [--steps 600] [--kinds roberta ...]
         [--scripts TRANSFORMERS [--metrics EVALUATE]]
The sample corpus gives both tasks: is a sentence from Wikipedia or from a book, and which words of a sentence in small
letters had a capital one. Whole documents are held out. A small encoder of each type, with a tokenizer of the kind that
its published model has, is pretrained for so many steps. Then both sides fine-tune it with the same settings and seeds.
With `--scripts`, the folder of a checkout of transformers, that of transformers is its example script, unchanged
(run_classification.py, run_ner.py); it takes its metrics from the hub, or from a checkout of huggingface/evaluate.
Without, it is the `Trainer` in a few lines of this file that do the same. Seeds decide other draws on each side (the
order of rows, the new layer, dropout), so means are compared by their standard errors.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import transformers
from _example_scripts import check_checkout, score_of_script
from _harness import machine, table
from _word_tasks import LENGTHS, capitals
from pyarrow import parquet

from bertdata import SentenceSegmenter, build
from bertdata.finetune.settings import TaskConfig
from bertdata.finetune.task_shards import encode_task
from bertdata.io.console import counted
from bertdata.torch import pretrain
from bertdata.torch.training.finetune import finetune
from bertdata.torch.training.finetune_settings import FinetuneSettings
from bertdata.torch.training.settings import PretrainSettings

LENGTH, BATCH, RATE, WARM_UP, DECAY = 48, 16, 2e-3, 0.1, 0.01
BUILD: dict[str, Any] = {"objective": "full-sentences", "vocab_size": 2000, "max_seq_length": [LENGTH], "workers": 1}
SIZES = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 128}
KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "bert": ("wordpiece", {}),
    "roberta": ("bpe", {}),
    "xlm-roberta": ("unigram", {}),
    "deberta-v2": (
        "unigram",
        {"relative_attention": True, "position_biased_input": False, "pos_att_type": ["p2c", "c2p"]},
    ),
    "eurobert": ("bpe", {"num_key_value_heads": 2}),
}
"""The types: the model of the vocabulary, and what their configs have besides `SIZES`."""
LABELS = ("wikipedia", "books")


@dataclass(frozen=True)
class Task:
    """A task: the epochs it takes, its score, the Auto class, its labels, its examples by split and their files."""

    name: str
    epochs: int
    score: str
    auto: str
    labels: Sequence[str]
    rows: Mapping[str, Sequence[Mapping[str, Any]]]
    files: Mapping[str, Path]


def main() -> None:
    """Pretrain, fine-tune on both sides and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=600, help="of pretraining")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=[*KINDS])
    parser.add_argument("--scripts", type=Path, help="a checkout of transformers: its example scripts are run")
    parser.add_argument("--metrics", type=Path, help="a checkout of huggingface/evaluate, where there is no network")
    flags = parser.parse_args()
    if flags.scripts:
        flags.scripts, flags.metrics = flags.scripts.resolve(), flags.metrics and flags.metrics.resolve()
        check_checkout(flags.scripts, flags.metrics)
    os.environ["HF_HUB_OFFLINE"] = "1"
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    lines = []
    with tempfile.TemporaryDirectory(prefix="bertdata-benchmark-") as place:
        folder = Path(place)
        for vocabulary in dict.fromkeys(KINDS[kind][0] for kind in flags.kinds):
            build(output=folder / vocabulary, model=vocabulary, **BUILD)
        tasks = tasks_of_the_sample(folder, folder / KINDS[flags.kinds[0]][0])
        for kind in flags.kinds:
            corpus = folder / KINDS[kind][0]
            model = pretrained(kind, corpus, folder, flags.steps)
            for task in tasks:
                shards = encoded_task(task, corpus)
                ours, theirs = [], []
                for seed in range(flags.seeds):
                    ours.append(by_bertdata(task, shards, model, folder, seed))
                    if flags.scripts:
                        theirs.append(by_script(task, model, folder, seed, flags.scripts, flags.metrics))
                    else:
                        theirs.append(by_trainer(task, model, folder, seed))
                    print(f"{kind}, {task.name}: {ours[-1]:.4f} {theirs[-1]:.4f}", file=sys.stderr, flush=True)
                lines.append([kind, task.name, shown(ours), shown(theirs), *compared(ours, theirs)])
    print(f"{counted(flags.seeds, 'seed')}, on {machine()}; transformers {transformers.__version__}.\n")
    peer = "transformers' script" if flags.scripts else "Trainer"
    print(table(["type", "task", "bertdata", peer, "difference", "standard error"], lines))


def shown(scores: Sequence[float]) -> str:
    """Return the mean of scores and their standard deviation.

    >>> shown([0.8, 0.82, 0.84])
    '0.820 (sd 0.020)'
    """
    return f"{statistics.mean(scores):.3f} (sd {statistics.stdev(scores):.3f})"


def compared(ours: Sequence[float], theirs: Sequence[float]) -> tuple[str, str]:
    """Return the difference of two means, and its standard error.

    >>> compared([0.8, 0.84], [0.82, 0.82])
    ('+0.000', '0.020')
    """
    error = sum(statistics.variance(scores) / len(scores) for scores in (ours, theirs)) ** 0.5
    return f"{statistics.mean(ours) - statistics.mean(theirs):+.3f}", f"{error:.3f}"


def tasks_of_the_sample(folder: Path, corpus: Path) -> list[Task]:
    """Return both tasks, written to files of a folder; every fourth document of a corpus is held out."""
    segmenter = SentenceSegmenter.from_pretrained("english")
    sources: dict[str, list[dict[str, Any]]] = {"train": [], "validation": []}
    words: dict[str, list[dict[str, Any]]] = {"train": [], "validation": []}
    for label in LABELS:
        [part] = (corpus / "stages" / label).glob("*.parquet")
        for number, text in enumerate(parquet.read_table(part)["text"].to_pylist()):
            split = "validation" if number % 4 == 3 else "train"
            for sentence in segmenter.segment(text):
                sources[split].append({"text": sentence, "label": label})
                if len(sentence.split()) in LENGTHS:
                    tokens, tags = capitals(sentence.split())
                    words[split].append({"tokens": [token.lower() for token in tokens], "tags": tags})
    tags = sorted({tag for row in words["train"] for tag in row["tags"]})
    rows = {"classification": sources, "token-classification": words}
    files = {task: {split: folder / f"{task}-{split}.json" for split in of_task} for task, of_task in rows.items()}
    for task, of_task in rows.items():
        for split, examples in of_task.items():
            files[task][split].write_text("".join(json.dumps(row) + "\n" for row in examples))
    names = ("classification", "token-classification")
    autos = ("AutoModelForSequenceClassification", "AutoModelForTokenClassification")
    return [
        Task(name, epochs, score, auto, labels, rows[name], files[name])
        for name, epochs, score, auto, labels in zip(
            names, (2, 8), ("accuracy", "f1"), autos, (sorted(LABELS), tags), strict=True
        )
    ]


def encoded_task(task: Task, corpus: Path) -> Path:
    """Return the shards of a task for the tokenizer of a corpus."""
    output = corpus / task.name
    if not output.exists():
        config = TaskConfig(task=task.name, max_seq_length=LENGTH)
        files = {split: str(path) for split, path in task.files.items()}
        encode_task(output, str(corpus / "tokenizer"), files, config)
    return output


def pretrained(kind: str, corpus: Path, folder: Path, steps: int) -> Path:
    """Return the folder of a small encoder of a type, pretrained on a corpus."""
    config = folder / f"config-{kind}"
    config.mkdir()
    values = {"model_type": kind, "vocab_size": BUILD["vocab_size"], "pad_token_id": 0} | SIZES | KINDS[kind][1]
    values |= {"max_position_embeddings": 2 * LENGTH}
    (config / "config.json").write_text(json.dumps(values))
    settings = PretrainSettings(
        max_steps=steps, batch_size=32, learning_rate=2e-3, num_workers=0, device="cpu", eval_steps=0, save_steps=steps
    )
    pretrain(corpus, str(config), folder / kind, settings, library="transformers", quiet=True)
    return folder / kind


def by_bertdata(task: Task, shards: Path, model: Path, folder: Path, seed: int) -> float:
    """Return the score of a model that `finetune` trained."""
    settings = FinetuneSettings(
        epochs=task.epochs,
        batch_size=BATCH,
        learning_rate=RATE,
        warmup_ratio=WARM_UP,
        weight_decay=DECAY,
        seed=seed,
        device="cpu",
    )
    output = folder / "out" / f"{model.name}-{task.name}-{seed}"
    return float(finetune(shards, model, output, settings, library="transformers", quiet=True)[task.score])


def by_script(task: Task, model: Path, folder: Path, seed: int, scripts: Path, metrics: Path | None) -> float:
    """Return the score of a model that an example script of transformers trained, with `by_bertdata`'s settings."""
    flags = {
        "num_train_epochs": task.epochs,
        "per_device_train_batch_size": BATCH,
        "per_device_eval_batch_size": 64,
        "learning_rate": RATE,
        "warmup_steps": WARM_UP,
        "weight_decay": DECAY,
        "max_seq_length": LENGTH,
        "seed": seed,
    }
    output = folder / "scripts" / f"{model.name}-{task.name}-{seed}"
    output.parent.mkdir(exist_ok=True)
    return score_of_script(task.name, scripts, metrics, task.files, model, output, flags)


def by_trainer(task: Task, model: Path, folder: Path, seed: int) -> float:
    """Return the score of a model that the Trainer of transformers trained, on rows of transformers' own tokenizer."""
    tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    ids = {label: number for number, label in enumerate(task.labels)}
    transformers.set_seed(seed)
    auto: Any = getattr(transformers, task.auto)
    learner = auto.from_pretrained(model, num_labels=len(ids), id2label=dict(enumerate(task.labels)), label2id=ids)
    of_texts = task.name == "classification"
    rows = {
        split: [encoded(row, tokenizer, ids) if of_texts else encoded_words(row, tokenizer, ids) for row in examples]
        for split, examples in task.rows.items()
    }
    arguments = transformers.TrainingArguments(
        str(folder / "trainer"),
        num_train_epochs=task.epochs,
        per_device_train_batch_size=BATCH,
        per_device_eval_batch_size=64,
        learning_rate=RATE,
        warmup_steps=WARM_UP,
        weight_decay=DECAY,
        seed=seed,
        save_strategy="no",
        logging_strategy="no",
        report_to=[],
        disable_tqdm=True,
        use_cpu=True,
    )
    collator: Any = (
        transformers.DataCollatorWithPadding(tokenizer)
        if of_texts
        else transformers.DataCollatorForTokenClassification(tokenizer)
    )
    score: Callable[[Any], dict[str, float]] = accuracy if of_texts else f1_of(task.labels)
    trainer = transformers.Trainer(
        learner,
        arguments,
        collator,
        train_dataset=rows["train"],
        eval_dataset=rows["validation"],
        processing_class=tokenizer,
        compute_metrics=score,
    )
    trainer.train()
    return float(trainer.evaluate()["eval_score"])


def encoded(row: Mapping[str, Any], tokenizer: Any, ids: Mapping[str, int]) -> dict[str, Any]:
    """Return the features of a text and its class."""
    return {**tokenizer(row["text"], truncation=True, max_length=LENGTH), "label": ids[row["label"]]}


def encoded_words(row: Mapping[str, Any], tokenizer: Any, ids: Mapping[str, int]) -> dict[str, Any]:
    """Return the features of words, each with its tag at its first token."""
    features = tokenizer(row["tokens"], is_split_into_words=True, truncation=True, max_length=LENGTH)
    places, labels = features.word_ids(), []
    for before, place in zip([None, *places], places, strict=False):
        labels.append(-100 if place is None or place == before else ids[row["tags"][place]])
    return {**features, "labels": labels}


def accuracy(prediction: Any) -> dict[str, float]:
    """Return the share of the classes that are right."""
    return {"score": float((prediction.predictions.argmax(-1) == prediction.label_ids).mean())}


def f1_of(labels: Sequence[str]) -> Callable[[Any], dict[str, float]]:
    """Return what gives the F1 of whole entities, by seqeval."""
    from seqeval.metrics import f1_score

    def score(prediction: Any) -> dict[str, float]:
        names, known = np.array(labels, dtype=object), prediction.label_ids != -100
        chosen = prediction.predictions.argmax(-1)
        tags = [
            [list(names[row[at]]) for row, at in zip(rows, known, strict=True)]
            for rows in (prediction.label_ids, chosen)
        ]
        return {"score": float(f1_score(*tags))}

    return score


if __name__ == "__main__":
    main()
