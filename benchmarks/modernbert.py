"""ModernBERT beside transformers' `ModernBertForMaskedLM`: seconds of a training step on a CPU, one core, in turns.

Run: python benchmarks/modernbert.py [--lengths 128 512 1024] [--tokens 2048] [--rounds 3] [--config modernbert-mini]
Both have the same weights and get the same rows of the sample corpus (chunks of documents, 30% masked, in batches of
about so many tokens with padding); a step is forward, backward and AdamW. Before it measures, it checks that logits,
loss and the gradient's norm agree. transformers runs with its `sdpa` attention, once as it is and once with
`sparse_prediction`, which leaves out the logits of tokens that are not predicted, as bertdata always does. It has
packed rows only on CUDA (flash attention), so only bertdata's are packed here.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

WAYS = {
    "transformers, sdpa": "theirs",
    "transformers, sdpa, sparse_prediction": "sparse",
    "bertdata, padded": "padded",
    "bertdata, packed": "packed",
}
BATCHES = 2
"""Batches that the steps take in turns; the first is the one that is checked."""
TOLERANCE = 1e-4
"""How much logits may differ, and as a share the loss and the gradient's norm."""


def main() -> None:
    """Check and measure each length, and print one table."""
    from _harness import machine, table

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lengths", type=int, nargs="+", default=[128, 512, 1024])
    parser.add_argument("--tokens", type=int, default=2048, help="of a batch, padding included")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--config", default="modernbert-mini")
    flags = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory(prefix="bertdata-benchmark-") as folder:
        for length in flags.lengths:
            place = Path(folder, str(length))
            prepare(place, length, flags.config)
            rows += measured(place, length, max(flags.tokens // length, 1), flags.rounds)
    print(f"{flags.config}, float32, one core of {machine()}; processor time, the median of {flags.rounds} rounds.\n")
    head = ["rows of", "model", "ms a step", "tokens/s without padding", "times transformers", "with sparse_prediction"]
    print(table(head, rows))


def prepare(place: Path, length: int, config: str) -> None:
    """Build the sample corpus with rows of a length, and write a model with random weights for it."""
    from _fresh import write_fresh

    command = ["build", "--output", str(place / "corpus"), "--vocab", "bertdata-32k-bpe", "--objective", "doc-chunks"]
    command += ["--max-seq-length", str(length), "--masked-lm-prob", "0.3"]
    subprocess.run([sys.executable, "-m", "bertdata", *command], check=True, stdout=subprocess.DEVNULL)
    write_fresh(place / "corpus", config, place / "model", 0)


def measured(place: Path, length: int, batch: int, rounds: int) -> list[list[str]]:
    """Check the ways on one length, measure them in turns, and return their rows of the table."""
    from _harness import Contestant, interleaved, median

    command = [sys.executable, __file__, "--work", str(place), str(batch)]
    contestants = {name: Contestant([*command, way], core=0) for name, way in WAYS.items()}
    check({name: contestant.first for name, contestant in contestants.items()})
    said = interleaved(contestants, rounds)
    for contestant in contestants.values():
        contestant.end()
    spent = {name: median(answers, "seconds") for name, answers in said.items()}
    speeds = {name: contestants[name].first["tokens"] / seconds for name, seconds in spent.items()}
    as_it_is, sparse, *_ = spent
    return [
        [
            *(f"{length:,}", name, f"{1000 * seconds:,.0f}", f"{speeds[name]:,.0f}"),
            *(f"{spent[other] / seconds:.2f}" for other in (as_it_is, sparse)),
        ]
        for name, seconds in spent.items()
    ]


def check(first: Mapping[str, Mapping[str, Any]]) -> None:
    """End the run where a way has another loss, other logits or another gradient than the first."""
    import numpy as np

    (name, expected), *others = first.items()
    logits = np.load(expected["logits"])
    for other, compared in others:
        apart = float(np.abs(np.load(compared["logits"]) - logits).max())
        if apart > TOLERANCE:
            sys.exit(f"the logits of {other} are up to {apart:.2g} from those of {name}; no figure is worth printing")
        for figure in ("loss", "norm"):
            if abs(compared[figure] - expected[figure]) > TOLERANCE * expected[figure]:
                sys.exit(f"{figure} of {other} is {compared[figure]}, of {name} {expected[figure]}")


def work(place: Path, batch: int, way: str) -> None:
    """Be a contestant: write the logits of the first batch, and take a step on each batch when a line comes."""
    import numpy as np
    import torch

    torch.set_num_threads(1)
    model, predict = (ours if way in ("padded", "packed") else theirs)(place / "model", way)
    batches = list(rows_of(place / "corpus", batch, packing=way == "packed"))
    model.eval()
    with torch.no_grad():
        logits, _ = predict(batches[0])
    path = place / f"{way}.npy"
    np.save(path, logits.numpy())
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5)

    def step(tensors: Mapping[str, Any]) -> tuple[float, float]:
        optimizer.zero_grad(set_to_none=True)
        loss = predict(tensors)[1]
        loss.backward()
        norm = float(torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0))
        optimizer.step()
        return float(loss), norm

    loss, norm = step(batches[0])
    tokens = sum(int((tensors["input_ids"] != model.config.pad_token_id).sum()) for tensors in batches) / len(batches)
    print(json.dumps({"logits": str(path), "loss": loss, "norm": norm, "tokens": tokens}), flush=True)
    for _ in sys.stdin:
        began = time.process_time()
        for tensors in batches:
            step(tensors)
        print(json.dumps({"seconds": (time.process_time() - began) / len(batches)}), flush=True)


Predict = Callable[[Mapping[str, Any]], tuple[Any, Any]]
"""Returns the logits at the labelled tokens of a batch, in their order, and the loss."""


def ours(model: Path, _way: str) -> tuple[Any, Predict]:
    """Return bertdata's model, and what predicts with it."""
    from bertdata.torch import ModernBertForMaskedLM

    loaded = ModernBertForMaskedLM.from_pretrained(model)

    def predict(tensors: Mapping[str, Any]) -> tuple[Any, Any]:
        output = loaded(**tensors)
        return output.prediction_logits, output.loss

    return loaded, predict


def theirs(model: Path, way: str) -> tuple[Any, Predict]:
    """Return transformers' model of the same weights, and what predicts with it."""
    from transformers import AutoModelForMaskedLM

    sparse = way == "sparse"
    loaded = AutoModelForMaskedLM.from_pretrained(model, attn_implementation="sdpa", sparse_prediction=sparse)

    def predict(tensors: Mapping[str, Any]) -> tuple[Any, Any]:
        output = loaded(**{name: tensors[name] for name in ("input_ids", "attention_mask", "labels")})
        return output.logits if sparse else output.logits[tensors["labels"] != -100], output.loss

    return loaded, predict


def rows_of(corpus: Path, batch: int, *, packing: bool) -> Iterator[Mapping[str, Any]]:
    """Yield the first batches of an epoch, padded or packed, with the same masks either way."""
    from bertdata.torch import PretrainingCollator, ResumableBatchSampler, ShardDataset

    dataset = ShardDataset(corpus)
    collator, sampler = PretrainingCollator(dataset, packing=packing), ResumableBatchSampler(dataset, batch)
    for _, rows in zip(range(BATCHES), sampler, strict=False):
        yield collator(dataset.__getitems__(rows))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
    else:
        main()
