"""The loader against `datasets` with transformers' collator: tokens a second into padded, masked int64 batches.

Run: python benchmarks/loader.py [--shards BUILD] [--batch-size 256] [--rounds 7] [--large 512]
Both read the same shards in a shuffled order and draw new masks, in one process each, on one core, in turns. Before it
measures, it checks that both give the same rows with the masks taken off, and the share of tokens that is predicted.
Without --shards it builds the sample corpus with rows of 512 twice: in ten copies, two megabytes that stay in the
processor's cache, and in so many that their rows come from memory, as those of a real corpus do. Each has a table. The
peer's environment is made in a cache folder.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PEERS = ["torch", "transformers>=4.50", "datasets>=3"]
CHECKED, STEPS = 200, 8
WAYS = {
    "bertdata.torch": "ours",
    "bertdata.torch, length bins": "bins",
    "bertdata.loader (NumPy)": "numpy",
    "datasets + DataCollatorForLanguageModeling": "peer",
    "the same, with_format('numpy')": "peer-numpy",
}


def main() -> None:
    """Check that all ways give the same rows, then measure them in turns and print one table."""
    import _harness as harness

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--shards", help="a finished build with dynamic masks (default: the sample corpus, rows of 512)"
    )
    parser.add_argument("--batch-size", type=int, default=256)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--large", type=int, default=512, help="megabytes of the shards that fit in no cache")
    flags = parser.parse_args()
    peers = harness.environment_of("loader", PEERS)
    print(f"Batches of {flags.batch_size} rows, one core of {harness.machine()}; the median of {flags.rounds} rounds.")
    with tempfile.TemporaryDirectory(prefix="bertdata-benchmark-") as work:
        for build in [flags.shards] if flags.shards else samples(Path(work), flags.large << 20):
            print(f"\n{shards_size(build) / (1 << 20):,.0f} MB of shards:\n")
            print(measured(build, peers, flags.batch_size, flags.rounds), flush=True)


def measured(build: str, peers: Path, batch_size: int, rounds: int) -> str:
    """Measure all ways on one build in turns, and return their table."""
    import _harness as harness

    command = [__file__, "--work", build, str(batch_size)]
    contestants = {
        name: harness.Contestant([peers if way.startswith("peer") else sys.executable, *command, way], core=0)
        for name, way in WAYS.items()
    }
    check({name: contestant.first for name, contestant in contestants.items()})
    said = harness.interleaved(contestants, rounds)
    for contestant in contestants.values():
        contestant.end()
    speeds = {name: harness.median(answers, "tokens_per_second") for name, answers in said.items()}
    peer = speeds["datasets + DataCollatorForLanguageModeling"]
    rows = [
        [name, f"{speed / 1e6:.2f}", f"{speed / peer:.1f}", f"{contestants[name].first['first_batch_seconds']:.2f}"]
        for name, speed in speeds.items()
    ]
    return harness.table(["loader", "million tokens/s", "ratio", "first batch, seconds from start"], rows)


def samples(folder: Path, large: int) -> list[str]:
    """Build the sample corpus with rows of 512 tokens in ten copies, and in as many as `large` bytes take."""
    few, many = str(folder / "few"), str(folder / "many")
    sample(few, 10)
    sample(many, -(-large * 10 // shards_size(few)))
    return [few, many]


def sample(build: str, copies: int) -> None:
    """Build the sample corpus with rows of 512 tokens, each document in so many copies."""
    command = ["build", "--output", build, "--max-seq-length", "512", "--dupe-factor", str(copies)]
    subprocess.run([sys.executable, "-m", "bertdata", *command], check=True, stdout=subprocess.DEVNULL)


def shards_size(build: str) -> int:
    """Return the bytes of the shards to train on."""
    return sum(path.stat().st_size for path in Path(build, "train").glob("*.arrow"))


def check(first: dict[str, dict[str, Any]]) -> None:
    """End the run where two ways give other rows or other shares of predicted tokens."""
    rows = {answer["rows"] for answer in first.values()}
    if len(rows) > 1:
        sys.exit(f"the rows differ: {first}")
    for name, answer in first.items():
        if not 0.14 < answer["predicted"] < 0.16:
            sys.exit(f"{name} predicts {answer['predicted']:.3f} of the tokens; expected 0.15")


def work(build: str, batch_size: int, way: str) -> None:
    """Be a contestant: say what the first rows are, then make batches whenever a line comes."""
    began = time.perf_counter()
    first, batches = (peer if way.startswith("peer") else ours)(build, batch_size, way)
    next(batches)
    said = {"first_batch_seconds": time.perf_counter() - began, **first()}
    print(json.dumps(said), flush=True)
    for _ in sys.stdin:
        began, tokens = time.perf_counter(), 0
        for _ in range(STEPS):
            tokens += int(next(batches)["attention_mask"].sum())
        print(json.dumps({"tokens_per_second": tokens / (time.perf_counter() - began)}), flush=True)


def ours(build: str, batch_size: int, way: str) -> Any:
    """Return a function that says what the first rows are, and endless batches, from our loader."""
    from bertdata.loader import BatchCollator, EpochBatchSampler, ShardExamples

    examples = ShardExamples(build)
    bins = (64, 128, 256, 512) if way == "bins" else None
    if way == "numpy":
        collator: Any = BatchCollator(examples)
        sampler = EpochBatchSampler(examples, batch_size, epochs=None, bins=bins)
        batches = (collator(examples.__getitems__(pairs)) for pairs in sampler)
    else:
        from bertdata.torch import PretrainingCollator, ResumableBatchSampler, ResumableLoader, ShardDataset

        dataset = ShardDataset(build)
        collator = PretrainingCollator(dataset)
        loader = ResumableLoader(dataset, ResumableBatchSampler(dataset, batch_size, epochs=None, bins=bins), collator)
        batches = iter(loader)
    special = [examples.info.cls_token_id, examples.info.sep_token_id]
    checked = [(0, number) for number in range(CHECKED)]
    return lambda: described(collator(examples.__getitems__(checked)), special), batches


def peer(build: str, batch_size: int, way: str) -> Any:
    """Return a function that says what the first rows are, and endless batches, from datasets and transformers."""
    import datasets
    from torch.utils.data import DataLoader
    from transformers import AutoTokenizer, DataCollatorForLanguageModeling

    tokenizer = AutoTokenizer.from_pretrained(f"{build}/tokenizer")
    rows = datasets.load_from_disk(build)["train"].remove_columns(["example_id"])
    if way == "peer-numpy":
        rows = rows.with_format("numpy")
    collator = DataCollatorForLanguageModeling(tokenizer, mlm_probability=0.15, pad_to_multiple_of=8)

    def batches() -> Any:
        while True:
            yield from DataLoader(rows, batch_size=batch_size, shuffle=True, collate_fn=collator)

    special = [tokenizer.cls_token_id, tokenizer.sep_token_id]
    return lambda: described(collator(rows.__getitems__(list(range(CHECKED)))), special), batches()


def described(batch: Any, special: list[int]) -> dict[str, Any]:
    """Return a digest of the rows with their masks taken off, and the share of ordinary tokens that is predicted."""
    import numpy as np

    arrays = {name: np.asarray(batch[name]) for name in ("input_ids", "token_type_ids", "attention_mask", "labels")}
    ids = np.where(arrays["labels"] == -100, arrays["input_ids"], arrays["labels"])
    taken = arrays["attention_mask"] == 1
    digest = hashlib.sha256(ids[taken].tobytes() + arrays["token_type_ids"][taken].tobytes()).hexdigest()[:16]
    ordinary = taken & ~np.isin(ids, special)
    return {"rows": digest, "predicted": float((arrays["labels"][ordinary] != -100).mean())}


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2], int(sys.argv[3]), sys.argv[4])
    else:
        main()
