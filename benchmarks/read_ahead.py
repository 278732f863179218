"""Whether reading ahead hides a store: the loader on streamed shards beside the loader on local ones, in one process.

Run: python benchmarks/read_ahead.py [--shards 32] [--window 8] [--rounds 3]; it needs s3fs
The rows of the sample corpus, with ids of their own, are served as S3 on this machine: each request waits 30 ms, and
each answer has 1 Gbit/s. Two loaders, one on the files and one that streams them through a cache of two windows, make
batches of 256 in turns, 16 at a time. Batches are compared first. `waited` is the share of the time of the streamed
batches, after the first, small windows, in which the thread that makes them waited for the store, and how often it did.
The store runs on the same cores, and so may other processes: they change `share by the clock`, of tokens a second.
`share` takes the processor time of the thread that makes batches and what it waited for the store, of the local ones
its processor time.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from _copies import write_copies
from _harness import machine, table
from _paced_store import PacedStore

TURN, ROWS = 16, 256
PAUSE, SPEED = 0.030, 125e6


def main() -> None:
    """Write the corpus, and print a table of rounds in processes of their own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shards", type=int, default=32, help="of 8.5 MB (default: 32)")
    parser.add_argument("--window", type=int, default=8, help="shards that rows are mixed over (default: 8)")
    parser.add_argument("--rounds", type=int, default=3)
    flags = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bertdata-ahead-") as work:
        folder = Path(work)
        build = folder / "build"
        command = ["build", "--output", str(build), "--max-seq-length", "512", "--dupe-factor", "40", "--quiet"]
        subprocess.run([sys.executable, "-m", "bertdata", *command, "--objective", "doc-sentences"], check=True)
        corpus = write_copies(build, folder / "buckets" / "corpora" / "corpus", flags.shards)
        store = PacedStore(folder / "buckets", PAUSE, SPEED)
        keys = {"AWS_ACCESS_KEY_ID": "anything", "AWS_SECRET_ACCESS_KEY": "anything", "AWS_DEFAULT_REGION": "us-east-1"}
        keys |= {"AWS_ENDPOINT_URL": store.url, "FSSPEC_S3_ENDPOINT_URL": store.url, "no_proxy": "127.0.0.1,localhost"}
        rows = []
        for number in range(flags.rounds):
            arguments = [str(corpus), str(folder / f"cache-{number}"), str(flags.window), store.url]
            done = subprocess.run(
                [sys.executable, __file__, "--work", *arguments],
                env=os.environ | keys,
                check=True,
                stdout=subprocess.PIPE,
                text=True,
            )
            rows.append(done.stdout.split())
        store.close()
    print(f"{machine()}, a store of {PAUSE * 1000:.0f} ms and 1 Gbit/s an answer; windows of {flags.window} shards.\n")
    head = [
        "round",
        "local, million tokens/s",
        "streamed",
        "share by the clock",
        "share",
        "waited",
        "times",
        "first batch, s",
        "two shards, s",
    ]
    lines = [[str(number), *cells] for number, cells in enumerate(rows, 1)]
    print(table(head, lines))
    print(f"\nThe lowest share: {min(float(cells[3].rstrip('%')) for cells in rows):.0f}%.")
    print(f"The longest wait: {max(float(cells[4].rstrip('%')) for cells in rows):.1f}% of the time.")


def work(corpus: str, cache: str, window: int, store: str) -> None:
    """Be a round: print what the table has of it."""
    import numpy as np

    from bertdata.loader import BatchCollator, EpochBatchSampler, ShardExamples
    from bertdata.shards.streaming import CacheFolder

    waits: list[float] = []
    fetch = CacheFolder.fetch

    def timed(folder: CacheFolder, *arguments: Any) -> bool:
        if threading.current_thread() is not threading.main_thread():  # one that reads ahead
            return fetch(folder, *arguments)
        asked = time.perf_counter()
        try:
            return fetch(folder, *arguments)
        finally:
            waits.append(time.perf_counter() - asked)

    CacheFolder.fetch = timed  # type: ignore[assignment, method-assign]
    local = ShardExamples(f"{corpus}/train")
    files = sorted(Path(corpus, "train").glob("*.arrow"))[:2]
    room = (2 * window + 1) * max(path.stat().st_size for path in files)
    two = 0.0
    for path in files:
        began = time.perf_counter()
        with urllib.request.urlopen(f"{store}/corpora/corpus/train/{path.name}") as answer:
            answer.read()
        two += time.perf_counter() - began

    def batches(examples: ShardExamples) -> Iterator[Any]:
        sampler = EpochBatchSampler(examples, ROWS, seed=2, shuffle_window=window)
        collator = BatchCollator(examples)
        return (collator.arrays(examples.__getitems__(pairs)) for pairs in sampler)

    next(batches(local))  # kernels are loaded
    began = time.perf_counter()
    streamed = batches(ShardExamples("s3://corpora/corpus/train", cache=cache, cache_bytes=room))
    batch = next(streamed)
    first = time.perf_counter() - began
    other = batches(local)
    if any(not np.array_equal(batch[name], values) for name, values in next(other).items()):
        sys.exit("the batches differ")
    spent, used, tokens = {"local": 0.0, "streamed": 0.0}, {"local": 0.0, "streamed": 0.0}, 0
    steps = len(local) // ROWS - 1
    for turn in range(steps // TURN):
        sums = []
        for name, shard_set in (("local", other), ("streamed", streamed)):
            if turn == steps // TURN // 8:
                waits.clear()
            began, before = time.perf_counter(), time.thread_time()
            total = sum(int(next(shard_set)["attention_mask"].sum()) for _ in range(TURN))
            sums.append(total)
            if turn >= steps // TURN // 8:  # from when the first, small windows are over
                spent[name] += time.perf_counter() - began
                used[name] += time.thread_time() - before
                tokens += total if name == "local" else 0
        if sums[0] != sums[1]:
            sys.exit("the batches differ")
    speeds = [tokens / seconds / 1e6 for seconds in spent.values()]
    alone = used["local"] / (used["streamed"] + sum(waits))
    share = f"{speeds[1] / speeds[0]:.0%} {alone:.0%} {sum(waits) / spent['streamed']:.1%} {len(waits)}"
    print(f"{speeds[0]:.2f} {speeds[1]:.2f} {share} {first:.2f} {two:.2f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--work"]:
        work(sys.argv[2], sys.argv[3], int(sys.argv[4]), sys.argv[5])
    else:
        main()
