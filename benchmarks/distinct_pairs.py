"""Batches of pairs in which no text occurs twice, against sentence-transformers: processor seconds to plan an epoch.

Run: python benchmarks/distinct_pairs.py [--pairs 1000000] [--texts 300000] [--batch 8192] [--rounds 3]
The peers are NO_DUPLICATES, which reads each row of the data set when it tries it, and NO_DUPLICATES_HASHED, which
hashes all texts once (`datasets.map`) and then looks at the hashes. bertdata numbers the texts once (`text_numbers`)
and then plans by a kernel (`EpochBatchSampler(distinct=...)`). All go from the same Arrow table of strings to lists of
row numbers, each in a process of its own, in turns; the first epoch has what is done once. Before it measures, it
checks that `first_fit` makes the peer's batches out of the peer's order, and that our epoch has each row once and no
text twice in a batch. The texts are made up: 4 to 60 words; a third are anchors, and texts with low numbers are drawn
more often. The peer's environment is made in a cache folder.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

PEERS = ["torch", "datasets>=3", "sentence-transformers==6.2.0", "xxhash"]
WAYS = {
    "NO_DUPLICATES": "`NO_DUPLICATES`",
    "NO_DUPLICATES_HASHED": "`NO_DUPLICATES_HASHED`",
    "ours": "`EpochBatchSampler(distinct=...)`",
}
Epochs = Callable[[], list[list[int]]]


def main() -> None:
    """Check the batches, then measure all ways in turns, and print one table."""
    import _harness as harness

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--texts", type=int, default=300_000, help="distinct texts (default: 300,000)")
    parser.add_argument("--batch", type=int, default=8192)
    parser.add_argument("--rounds", type=int, default=3)
    flags = parser.parse_args()
    peers = harness.environment_of("sentence-transformers", PEERS)
    with tempfile.TemporaryDirectory(prefix="bertdata-benchmark-") as name:
        folder = Path(name)
        prepare(folder, flags.pairs, flags.texts)
        contestants = {
            way: harness.Contestant([python, __file__, "--work", name, way, str(flags.batch)], core=0)
            for way, python in zip(WAYS, (str(peers), str(peers), sys.executable), strict=True)
        }
        if len({contestant.first["batches"] for contestant in contestants.values()}) > 1:
            sys.exit(f"the batches differ: {[contestant.first for contestant in contestants.values()]}")
        said = harness.interleaved(contestants, flags.rounds)
        for contestant in contestants.values():
            contestant.end()
    seconds = {way: [harness.median(answers, epoch) for epoch in ("first", "next")] for way, answers in said.items()}
    rows = []
    for way, shown in WAYS.items():
        cells = [f"{value:,.2f}" for value in seconds[way]]
        ratios = [f"{value / own:,.1f}" for value, own in zip(seconds[way], seconds["ours"], strict=True)]
        rows.append([shown, cells[0], ratios[0], cells[1], ratios[1]])
    print(
        f"{flags.pairs:,} pairs of {flags.texts:,} texts, batches of {flags.batch:,}; one core of {harness.machine()}; "
        f"the median of {flags.rounds}.\n"
    )
    head = [
        "batches without equal texts",
        "first epoch, CPU s",
        "this / bertdata",
        "each further epoch, CPU s",
        "this / bertdata",
    ]
    print(harness.table(head, rows))


def prepare(folder: Path, pairs: int, texts: int) -> None:
    """Write the table of pairs."""
    draw = np.random.default_rng(0)
    words = np.array([f"{chr(97 + number % 26) * (1 + number % 5)}{number}" for number in range(5000)])
    lengths = draw.integers(4, 60, texts)
    made = np.array([f"{' '.join(words[draw.integers(0, 5000, length)])} {at}" for at, length in enumerate(lengths)])
    anchors = texts // 3
    drawn = [(draw.random(pairs) ** 1.5 * size).astype(np.int64) for size in (anchors, texts - anchors)]
    table = pa.table({"anchor": made[drawn[0]].tolist(), "positive": made[anchors + drawn[1]].tolist()})
    with pa.OSFile(str(folder / "pairs.arrow"), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
        writer.write_table(table, max_chunksize=100_000)


def cpu_seconds() -> float:
    """Return the processor seconds of this process and of those that it began and that ended."""
    return sum(os.times()[:4])


def work(folder: Path, way: str, batch: int) -> None:
    """Be a contestant: say a digest of the batches in the peer's order, then plan two epochs when a line comes."""
    start, first = ours(folder, batch) if way == "ours" else peer(folder, batch, hashed=way != "NO_DUPLICATES")
    print(json.dumps({"batches": digest(first)}), flush=True)
    for _ in sys.stdin:
        began = cpu_seconds()
        epochs = start()
        epochs()
        middle = cpu_seconds()
        epochs()
        print(json.dumps({"first": middle - began, "next": cpu_seconds() - middle}), flush=True)


def peer(folder: Path, batch: int, *, hashed: bool) -> tuple[Callable[[], Epochs], list[list[int]]]:
    """Return what makes a sampler of sentence-transformers, and the batches of its first epoch."""
    import datasets
    import torch
    from sentence_transformers.base.sampler import NoDuplicatesBatchSampler

    datasets.disable_progress_bars()
    datasets.disable_caching()
    table = datasets.Dataset.from_file(str(folder / "pairs.arrow"))
    np.save(folder / "order.npy", torch.randperm(len(table), generator=torch.Generator().manual_seed(0)).numpy())

    def start() -> Epochs:
        sampler = NoDuplicatesBatchSampler(
            table, batch, drop_last=False, generator=torch.Generator(), seed=0, precompute_hashes=hashed
        )
        return lambda: [list(map(int, rows)) for rows in sampler]

    return start, start()()


def ours(folder: Path, batch: int) -> tuple[Callable[[], Epochs], list[list[int]]]:
    """Return what makes our sampler, and the batches of `first_fit` for the peer's order."""
    from bertdata.loader import EpochBatchSampler, text_numbers
    from bertdata.loader.first_fit import first_fit

    with pa.memory_map(str(folder / "pairs.arrow")) as file:
        table = pa.ipc.open_stream(file).read_all()

    def start() -> Epochs:
        numbers = text_numbers([table["anchor"], table["positive"]])
        sampler: Any = EpochBatchSampler(range(len(table)), batch, distinct=numbers, with_epochs=False)
        return lambda: list(sampler)

    texts = text_numbers([table["anchor"], table["positive"]])
    epoch = start()()
    if sorted(row for rows in epoch for row in rows) != list(range(len(table))):
        sys.exit("our epoch does not have each row once")
    if any(len(np.unique(texts[rows])) < texts[rows].size for rows in epoch):
        sys.exit("a batch of ours has a text twice")
    order = np.load(folder / "order.npy")
    batch_of = first_fit(order, texts, batch)
    ends = np.cumsum(np.bincount(batch_of))[:-1]
    return start, [rows.tolist() for rows in np.split(order[np.argsort(batch_of, kind="stable")], ends)]


def digest(batches: Iterable[list[int]]) -> str:
    """Return a digest of batches of row numbers."""
    return hashlib.sha256(json.dumps(list(batches)).encode()).hexdigest()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]))
    else:
        main()
