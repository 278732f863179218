"""Scores of `bertdata finetune` beside those of the Trainer of transformers, for encoders of transformers.

Run: python benchmarks/finetuned_scores.py [--seeds 5] [--steps 600] [--kinds roberta ...]
The sample corpus gives both tasks: is a sentence from Wikipedia or from a book, and which words of an uncased sentence
had a capital letter. Whole documents are held out. A small encoder of each type is pretrained for so many steps. Then
both sides fine-tune it with the same settings and seeds. That of transformers does what its example scripts do: its
own tokenizer, padding by batch, an Auto class, `Trainer`, accuracy or seqeval. Seeds decide other draws on each side
(the order of rows, the new layer, dropout), so means are compared by their standard errors.
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
from _harness import machine, table
from _word_tasks import LENGTHS, capitals, write_examples
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
KINDS: dict[str, dict[str, Any]] = {
    "bert": {},
    "roberta": {},
    "deberta-v2": {"relative_attention": True, "position_biased_input": False, "pos_att_type": ["p2c", "c2p"]},
    "eurobert": {"num_key_value_heads": 2},
}
"""The types, and what their configs have besides `SIZES`."""
LABELS = ("wikipedia", "books")


@dataclass(frozen=True)
class Task:
    """A task: the epochs it takes, its score, the Auto class, its labels, and its examples by split."""

    name: str
    epochs: int
    score: str
    auto: str
    labels: Sequence[str]
    rows: Mapping[str, Sequence[Mapping[str, Any]]]


def main() -> None:
    """Pretrain, fine-tune on both sides and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--steps", type=int, default=600, help="of pretraining")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=[*KINDS])
    flags = parser.parse_args()
    os.environ["HF_HUB_OFFLINE"] = "1"
    transformers.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    lines = []
    with tempfile.TemporaryDirectory(prefix="bertdata-benchmark-") as place:
        folder = Path(place)
        build(output=folder / "corpus", **BUILD)
        tasks = tasks_of_the_sample(folder)
        for kind in flags.kinds:
            model = pretrained(kind, folder, flags.steps)
            for task in tasks:
                ours, theirs = [], []
                for seed in range(flags.seeds):
                    ours.append(by_bertdata(task, model, folder, seed))
                    theirs.append(by_trainer(task, model, folder, seed))
                    print(f"{kind}, {task.name}: {ours[-1]:.4f} {theirs[-1]:.4f}", file=sys.stderr, flush=True)
                lines.append([kind, task.name, shown(ours), shown(theirs), *compared(ours, theirs)])
    print(f"{counted(flags.seeds, 'seed')}, on {machine()}; transformers {transformers.__version__}.\n")
    print(table(["type", "task", "bertdata", "Trainer", "difference", "standard error"], lines))


def shown(scores: Sequence[float]) -> str:
    """Return the mean of scores, the lowest and the highest.

    >>> shown([0.8, 0.82, 0.84])
    '0.820 (0.800 to 0.840)'
    """
    return f"{statistics.mean(scores):.3f} ({min(scores):.3f} to {max(scores):.3f})"


def compared(ours: Sequence[float], theirs: Sequence[float]) -> tuple[str, str]:
    """Return the difference of two means, and its standard error.

    >>> compared([0.8, 0.84], [0.82, 0.82])
    ('+0.000', '0.020')
    """
    error = sum(statistics.variance(scores) / len(scores) for scores in (ours, theirs)) ** 0.5
    return f"{statistics.mean(ours) - statistics.mean(theirs):+.3f}", f"{error:.3f}"


def tasks_of_the_sample(folder: Path) -> list[Task]:
    """Return both tasks, encoded below a folder; every fourth document is held out."""
    segmenter = SentenceSegmenter.from_pretrained("english")
    sources: dict[str, list[dict[str, Any]]] = {"train": [], "validation": []}
    words: dict[str, list[dict[str, Any]]] = {"train": [], "validation": []}
    for label in LABELS:
        [part] = (folder / "corpus" / "stages" / label).glob("*.parquet")
        for number, text in enumerate(parquet.read_table(part)["text"].to_pylist()):
            split = "validation" if number % 4 == 3 else "train"
            for sentence in segmenter.segment(text):
                sources[split].append({"text": sentence, "label": label})
                if len(sentence.split()) in LENGTHS:
                    tokens, tags = capitals(sentence.split())
                    words[split].append({"tokens": tokens, "tags": tags})
    tags = sorted({tag for row in words["train"] for tag in row["tags"]})
    tasks = [
        Task("classification", 2, "accuracy", "AutoModelForSequenceClassification", sorted(LABELS), sources),
        Task("token-classification", 8, "f1", "AutoModelForTokenClassification", tags, words),
    ]
    for task in tasks:
        paths = {split: folder / f"{task.name}-{split}.jsonl" for split in task.rows}
        for split, path in paths.items():
            if task.name == "classification":
                path.write_text("".join(json.dumps(row) + "\n" for row in task.rows[split]))
            else:
                write_examples(path, [(row["tokens"], row["tags"]) for row in task.rows[split]])
        config = TaskConfig(task=task.name, max_seq_length=LENGTH)
        tokenizer, files = folder / "corpus" / "tokenizer", {split: str(path) for split, path in paths.items()}
        encode_task(folder / task.name, str(tokenizer), files, config)
    return tasks


def pretrained(kind: str, folder: Path, steps: int) -> Path:
    """Return the folder of a small encoder of a type, pretrained on the sample."""
    config = folder / f"config-{kind}"
    config.mkdir()
    values = {"model_type": kind, "vocab_size": BUILD["vocab_size"], "pad_token_id": 0} | SIZES | KINDS[kind]
    values |= {"max_position_embeddings": 2 * LENGTH}
    (config / "config.json").write_text(json.dumps(values))
    settings = PretrainSettings(
        max_steps=steps, batch_size=32, learning_rate=2e-3, num_workers=0, device="cpu", eval_steps=0, save_steps=steps
    )
    pretrain(folder / "corpus", str(config), folder / kind, settings, library="transformers", quiet=True)
    return folder / kind


def by_bertdata(task: Task, model: Path, folder: Path, seed: int) -> float:
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
    return float(finetune(folder / task.name, model, output, settings, library="transformers", quiet=True)[task.score])


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
