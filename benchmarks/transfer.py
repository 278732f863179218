"""Another vocabulary for a small model, its rows from pieces and drawn anew: `python benchmarks/transfer.py`.

An English model is trained on books. It gets a vocabulary trained on text of another language by `bertdata transfer`;
once more with all its rows drawn, as in a fresh model, and all other weights kept; and there is a fresh model. Each is
trained on that text in the same batches. It prints the validation loss at the start, after a tenth of the steps, and at
the end. The text is French books, or `--documents`, JSON lines of any language, with its `--sentences`.

With `--focus` the rows are also those of FOCUS (Dobler and de Melo 2023), by its authors' package deepfocus, whose
auxiliary embeddings fastText learns from the same text. FOCUS makes embeddings alone, so the bias of the decoder is
that of `bertdata transfer`, as all other weights.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from _harness import DATA, environment_of, machine, table

from bertdata import build
from bertdata.tokenizers import load_tokenizer
from bertdata.tokenizers.matching import KINDS, NONE, Matches
from bertdata.torch import BertForMaskedLM, ShardDataset, pretrain
from bertdata.torch.models import transfer as module
from bertdata.torch.models.configs import resolve_config
from bertdata.torch.models.dropout import Draws
from bertdata.torch.models.weight_files import WEIGHTS, read_weights, save_tensors
from bertdata.torch.training.arithmetic import autocast
from bertdata.torch.training.losses import Sums, count
from bertdata.torch.training.settings import PretrainSettings

FOCUS = ["deepfocus==1.0.1", "transformers<5"]
WORDS = "bert.embeddings.word_embeddings.weight"
SETTINGS = PretrainSettings(
    max_steps=1000,
    batch_size=32,
    learning_rate=1e-3,
    warmup_ratio=0.05,
    eval_steps=100,
    logging_steps=100,
    save_steps=10_000,
    validation_rows=512,
    num_workers=0,
    device="cpu",
)
SHAPE = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
BUILD: dict[str, Any] = {
    "objective": "full-sentences",
    "max_seq_length": [64],
    "split_chapters": True,
    "validation_fraction": 0.1,
    "vocab_size": 8000,
    "workers": 1,
}
ENGLISH_BOOKS = 12


def loss_of(folder: Path, corpus: Path) -> float:
    """Return the validation loss of a model before it is trained."""
    dataset, model = ShardDataset(corpus, "validation"), BertForMaskedLM.from_pretrained(folder).eval()
    collator, sums = model.collator(dataset, tokenizer=dataset.shards.tokenizer()), Sums()
    info, draws = dataset.info, Draws()
    for start in range(0, min(len(dataset), SETTINGS.validation_rows), 32):
        numbers = range(start, min(start + 32, len(dataset)))
        batch = collator(dataset.__getitems__([(0, number) for number in numbers]))
        draws.begin(batch, 0, 0)
        with torch.no_grad(), autocast(SETTINGS, torch.device("cpu")):
            sums.add(model(**batch).terms, count(batch, info.label, info.pad_token_id))
    return sums.means()["mlm_loss"]


def drawn(old: Any, new: Any) -> Matches:
    """Return matches of a new vocabulary of which no token is matched."""
    return Matches.of([(NONE, [])] * new.vocab_size, old.vocab_size)


def trained(start: Path, corpus: Path, output: Path, steps: int) -> dict[int, float]:
    """Train a model, and return its validation losses by step."""
    losses: dict[int, float] = {}

    def report(record: Mapping[str, float]) -> None:
        if "validation_loss" in record:
            losses[int(record["step"])] = record["validation_loss"]

    settings = replace(SETTINGS, max_steps=steps, eval_steps=max(1, steps // 10))
    pretrain(corpus, str(start), output, settings, report=report)
    return losses


def with_focus(start: Path, english: Path, text: Path, output: Path) -> None:
    """Write a transferred model again, with the embeddings that FOCUS makes of those of the English one."""
    shutil.copytree(start, output)
    python = environment_of("deepfocus", FOCUS)
    made = output.with_suffix(".npy")
    script = Path(__file__).with_name("_focus.py")
    subprocess.run([python, script, english, output, text, made], check=True)
    rows, weights = torch.from_numpy(np.load(made)), read_weights(str(output))
    save_tensors(str(output / WEIGHTS), {**weights, WORDS: rows.to(weights[WORDS].dtype)})


def text_of(path: Path, output: Path) -> None:
    """Write the texts of JSON lines as one text, a line for each of their lines."""
    with path.open() as documents, output.open("w") as lines:
        for document in documents:
            lines.write(json.loads(document)["text"] + "\n")


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=DATA, help="the folder with books and books-french")
    parser.add_argument("--english-steps", type=int, default=3000, help="steps of the English model")
    parser.add_argument("--steps", type=int, default=1000, help="steps on the other language")
    parser.add_argument("--documents", type=Path, help="JSON lines with `text`, in place of French books")
    parser.add_argument("--sentences", default="english", help="of --documents, as `bertdata build` takes it")
    parser.add_argument("--focus", action="store_true", help="also FOCUS, from --documents")
    flags = parser.parse_args()
    if flags.focus and not flags.documents:
        parser.error("--focus learns from --documents; give them")
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory(prefix="bertdata-benchmark-") as folder:
        place = Path(folder)
        books = sorted((flags.data / "books").glob("*.txt"))[:ENGLISH_BOOKS]
        build(books=[str(book) for book in books], output=place / "en", **BUILD)
        if flags.documents:
            documents: dict[str, Any] = {"documents": [str(flags.documents)], "sentences": flags.sentences}
            of_texts = {name: value for name, value in BUILD.items() if name != "split_chapters"}
            build(output=place / "other", **documents, **of_texts)
        else:
            build(books=[str(flags.data / "books-french/*.txt")], output=place / "other", **BUILD)
        english = replace(SETTINGS, max_steps=flags.english_steps, eval_steps=0)
        pretrain(place / "en", "tiny", place / "english", english, config_overrides=SHAPE, quiet=True)
        starts = {name: place / name for name in ("from pieces", "drawn anew", "all weights fresh")}
        made = module.transfer(place / "english", place / "other", starts["from pieces"])
        with patch.object(module, "match_tokens", drawn):
            module.transfer(place / "english", place / "other", starts["drawn anew"])
        if flags.focus:
            text_of(flags.documents, place / "other.txt")
            starts["FOCUS"] = place / "FOCUS"
            with_focus(starts["from pieces"], place / "english", place / "other.txt", starts["FOCUS"])
        torch.manual_seed(0)
        info = ShardDataset(place / "other").shards.expect_pretraining()
        fresh: Any = resolve_config("tiny", info, SHAPE)
        BertForMaskedLM(fresh).save_pretrained(starts["all weights fresh"])
        lines = []
        for name, start in starts.items():
            losses = {0: loss_of(start, place / "other")} | trained(
                start, place / "other", place / f"trained {name}", flags.steps
            )
            lines.append([name, *(f"{losses[step]:.2f}" for step in (0, max(1, flags.steps // 10), flags.steps))])
        shares = [f"{int((made.matches.kinds == kind).sum()):,} {name}" for kind, name in enumerate(KINDS)]
        size = load_tokenizer(place / "other").vocab_size
        print(f"BERT-tiny, {size:,} tokens: {', '.join(shares)}; one core of {machine()}.\n")
        heads = (f"{step:,} steps" for step in (0, max(1, flags.steps // 10), flags.steps))
        print(table(["rows of the new vocabulary", *heads], lines))


if __name__ == "__main__":
    main()
