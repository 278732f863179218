"""Scores of minimal pairs, `bertdata score` beside minicons: python benchmarks/scoring.py [--pairs N] [--python PATH]

A BERT with random weights scores sentence pairs that differ in a word, made of a few words of each kind. minicons gets
the ids of --batch-size sentences at a time, for with transformers 5 it does not take texts; its time has those of
AutoTokenizer in it. One core, rounds in turn. The table has processor seconds and the largest difference of a score.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import sys
import tempfile
from pathlib import Path
from typing import Any

import _harness as harness

REQUIREMENTS = ["minicons==0.3.39", "transformers==5.24.0"]
SHAPES = {"mini": (4, 256, 4), "base": (12, 768, 12)}
"""Layers, width and heads."""
MINICONS = """
import json, sys, time
from minicons.scorer import MaskedLMScorer
model, sentences, size, metric = sys.argv[1], json.load(open(sys.argv[2])), int(sys.argv[3]), sys.argv[4]
scorer = MaskedLMScorer(model)
print(json.dumps({}), flush=True)
for _ in sys.stdin:
    begun, scores = time.process_time(), []
    for start in range(0, len(sentences), size):
        encoded = scorer.tokenizer(sentences[start : start + size], padding=True, return_tensors="pt")
        scores += scorer.sequence_score(encoded, reduction=lambda one: one.sum(0).item(), PLL_metric=metric)
    print(json.dumps({"seconds": time.process_time() - begun, "scores": scores}), flush=True)
"""
OURS = """
import json, sys, time
from bertdata.torch.scoring.likelihood import PseudoLikelihood
from bertdata.torch.scoring.settings import ScoreSettings
model, sentences, library, metric = sys.argv[1], json.load(open(sys.argv[2])), sys.argv[3], sys.argv[4]
scorer = PseudoLikelihood(model, ScoreSettings(metric=metric, device="cpu"), library=library)
print(json.dumps({}), flush=True)
for _ in sys.stdin:
    begun = time.process_time()
    scores = scorer.scores(sentences).tolist()
    print(json.dumps({"seconds": time.process_time() - begun, "scores": scores}), flush=True)
"""


def sentences_of(pairs: int) -> list[str]:
    """Return the sentences of pairs, the good one first; no two pairs are alike."""
    subjects = [("The teacher", "sees", "see"), ("The old sailors", "see", "sees"), ("My sister", "knows", "know")]
    objects = ["the grey harbour", "a remarkably small lighthouse", "every unanswered letter", "the salt merchants"]
    ends = ["", " in the morning", " before anybody else does", " although the weather is unbelievably bad"]
    beginnings = ["", "In fact, ", "As the newspapers said, ", "Whenever it rains, ", "To nobody's surprise, "]
    names = [f" near the {kind} of {place}" for kind in ("mill", "bridge", "church") for place in ("York", "Bath")]
    made = [
        [f"{first}{who} {verb} {what}{where}{end}." for verb in verbs]
        for first, (who, *verbs), what, where, end in itertools.product(
            beginnings, subjects, objects, ["", *names], ends
        )
    ]
    random.Random(0).shuffle(made)
    if pairs > len(made):
        sys.exit(f"there are {len(made)} pairs; give fewer")
    return [sentence for pair in made[:pairs] for sentence in pair]


def save_model(folder: Path, shape: str) -> None:
    """Save a BERT of a shape with random weights, and the vocabulary that ships."""
    import torch

    from bertdata.tokenizers import load_tokenizer
    from bertdata.torch import BertConfig, BertForMaskedLM

    layers, width, heads = SHAPES[shape]
    tokenizer = load_tokenizer("bertdata-30k-uncased")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=tokenizer.vocab_size,
        num_hidden_layers=layers,
        hidden_size=width,
        num_attention_heads=heads,
        intermediate_size=4 * width,
    )
    BertForMaskedLM(config).save_pretrained(folder)
    tokenizer.save_pretrained(str(folder))


def main() -> None:
    """Print a table with a line for each way and metric."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=200)
    parser.add_argument("--shape", choices=SHAPES, default="mini")
    parser.add_argument("--batch-size", type=int, default=32, help="sentences that minicons gets at a time")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument(
        "--python", default="", metavar="PATH", help="a Python that has minicons (default: one is made)"
    )
    flags = parser.parse_args()
    peer = flags.python or harness.environment_of("minicons", REQUIREMENTS)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save_model(folder / "model", flags.shape)
        (folder / "sentences.json").write_text(json.dumps(sentences := sentences_of(flags.pairs)))
        rows = []
        for metric in ("original", "within-word-l2r"):
            place = [folder / "model", folder / "sentences.json"]
            contestants = {
                "minicons 0.3.39": harness.Contestant(
                    [peer, "-c", MINICONS, *place, str(flags.batch_size), metric.replace("-", "_")], 0
                ),
                "bertdata, its own BERT": harness.Contestant([sys.executable, "-c", OURS, *place, "", metric], 0),
                "bertdata, BERT of transformers": harness.Contestant(
                    [sys.executable, "-c", OURS, *place, "transformers", metric], 0
                ),
            }
            said = harness.interleaved(contestants, flags.rounds)
            for contestant in contestants.values():
                contestant.end()
            rows += rows_of(metric, said, len(sentences))
    layers, width, _ = SHAPES[flags.shape]
    print(
        f"{len(sentences):,} sentences, {layers} layers of {width}, one core of {harness.machine()}; the median of "
        f"{flags.rounds}, by processor time.\n"
    )
    print(harness.table(["metric", "way", "sentences/s", "ratio", "largest difference"], rows))


def rows_of(metric: str, said: dict[str, list[dict[str, Any]]], number: int) -> list[list[str]]:
    """Return the rows of a metric: sentences a second, the ratio to the first way, the largest difference to it."""
    [first, *_] = said.values()
    base = harness.median(first, "seconds")
    rows = []
    for name, answers in said.items():
        seconds = harness.median(answers, "seconds")
        pairs = zip(answers[0]["scores"], first[0]["scores"], strict=True)
        difference = max(abs(ours - other) for ours, other in pairs)
        rows.append([metric, name, f"{number / seconds:,.1f}", f"{base / seconds:.2f}", f"{difference:.1e}"])
    return rows


if __name__ == "__main__":
    main()
