"""A long run on more shards than its cache holds, killed again and again: is every row read once an epoch, and what is
fetched, held and used for that?

Run: python benchmarks/streamed_run.py [--bytes 20e9] [--cache-bytes 2e9] [--epochs 2] [--kills 5] [--folder FOLDER]
With --shard-bytes 1e9 shards are so large, and come in pieces, over which rows are mixed.
The rows of the sample corpus, with ids of their own, are written as so many bytes of shards. A process reads them
through a cache, batches of 4,096, and 50 times it writes the rows since the last time and its state, in one file that
takes its place at once. It is killed at random moments, and another one goes on from the last state. In the end each
row has to be in the files once for each epoch.
"""

from __future__ import annotations

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from _copies import write_copies
from _harness import machine, table

from bertdata.cli.main import main as bertdata
from bertdata.io import files
from bertdata.shards.pieces import PIECE_BYTES, read_pieces

ROWS, PARTS = 4096, 50
READER = """
import json, sys
from pathlib import Path
import numpy as np
from bertdata.loader import EpochBatchSampler, ShardExamples
corpus, cache, room, window, epochs, folder, every, rows, by_pieces = sys.argv[1:]
folder = Path(folder)
examples = ShardExamples(corpus + "/train", cache=cache, cache_bytes=float(room), by_pieces=by_pieces == "True")
sampler = EpochBatchSampler(examples, int(rows), epochs=int(epochs), seed=3, shuffle_window=int(window))
parts = sorted(folder.glob("part-*.npz"))
if parts:
    sampler.load_state_dict(json.loads(str(np.load(parts[-1])["state"])))
held, number = [], len(parts)

def memory():
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("RssAnon"))

def save():
    global held, number
    place = folder / f"part-{number:06d}"
    with open(f"{place}.writing", "wb") as file:
        pairs = np.concatenate(held)
        np.savez(file, pairs=pairs, state=json.dumps(sampler.state_dict()), memory=memory())
    Path(f"{place}.writing").rename(f"{place}.npz")
    held, number = [], number + 1

with sampler.counting():
    indices = iter(sampler)
for pairs in indices:
    ids = examples.__getitems__(pairs).numbers("example_id").view(np.uint64)
    held.append(np.column_stack([np.array(pairs, np.uint64), ids]))
    indices.use()
    if len(held) == int(every):
        save()
indices.finish()
if held:
    save()
(folder / "done").touch()
"""


def main() -> None:
    """Write shards, run and kill readers, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bytes", type=float, default=20e9, help="of shards (default: 20e9)")
    parser.add_argument("--shard-bytes", type=float, help="of each shard (default: 8.5e6, without pieces)")
    parser.add_argument("--cache-bytes", type=float, default=2e9, help="default: 2e9")
    parser.add_argument("--epochs", type=int, default=2, help="default: 2")
    parser.add_argument("--kills", type=int, default=5, help="default: 5")
    parser.add_argument("--folder", help="where the shards and the cache are (default: a temporary folder)")
    parser.add_argument("--corpus", help="shards that were written before (default: write them)")
    flags = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bertdata-streamed-", dir=flags.folder) as work:
        corpus = Path(flags.corpus) if flags.corpus else written(Path(work), flags.bytes, flags.shard_bytes)
        print(run(Path(work), corpus, flags.cache_bytes, flags.epochs, flags.kills))


def written(folder: Path, size: float, shard_size: float | None) -> Path:
    """Write so many bytes of shards, those of a size with digests of pieces, and return where they are."""
    build = folder / "build"
    command = ["build", "--output", str(build), "--max-seq-length", "512", "--dupe-factor", "40"]
    if bertdata([*command, "--objective", "doc-sentences", "--quiet"]):
        sys.exit("the corpus was not built")
    each = max(files.size(str(path)) for path in (build / "train").glob("*.arrow"))
    copies = max(1, round((shard_size or each) / each))
    number, cut_into = max(1, round(size / each / copies)), PIECE_BYTES if shard_size else 0
    return write_copies(build, folder / "corpus", number, copies=copies, piece_bytes=cut_into)


def run(folder: Path, corpus: Path, room: float, epochs: int, kills: int) -> str:
    """Return the table of one run."""
    entries = files.read_json(str(corpus / "manifest.json"))["splits"]["train"]["shards"]
    shards, each = len(entries), max(entry["bytes"] for entry in entries)
    total = sum(entry["bytes"] for entry in entries)
    print(f"{shards} shards of {total / 1e9:.1f} GB on {machine()}", file=sys.stderr, flush=True)
    pieces = [
        piece.size
        for of_shard in read_pieces(str(corpus), "train", files.read_json(str(corpus / "manifest.json"))).values()
        for piece in of_shard
    ]
    cache, parts = folder / "cache", folder / "parts"
    cache.mkdir()
    parts.mkdir()
    window = int(room / (max(pieces) if pieces else each) / 2) - 1
    every = max(1, epochs * shards * _rows_of(corpus) // ROWS // PARTS)
    arguments = [corpus, cache, room, window, epochs, parts, every, ROWS, bool(pieces)]
    command = [sys.executable, "-c", READER, *map(str, arguments)]
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).resolve().parents[1])}
    moments = sorted(random.Random(5).sample(range(1, PARTS - 2), kills))
    print(f"killed after {', '.join(map(str, moments))} of {PARTS} parts", file=sys.stderr, flush=True)
    most, began, before = 0, time.perf_counter(), os.times()
    for moment in [*moments, None]:
        process = subprocess.Popen(command, env=environment)
        while process.poll() is None:
            most = max(most, _bytes_in(cache))
            if moment is not None and len(list(parts.glob("*.npz"))) >= moment:
                time.sleep(random.Random(moment).random() / 10)
                process.send_signal(signal.SIGKILL)
                process.wait()
            time.sleep(0.05)
        if moment is not None and process.returncode != -signal.SIGKILL:
            sys.exit(f"a reader ended by itself ({process.returncode}) before it was killed")
    if not (parts / "done").exists():
        sys.exit("the last reader did not come to the end")
    seconds, after = time.perf_counter() - began, os.times()
    wrong, memory = _wrong_rows(parts, corpus, epochs)
    used = after.children_user + after.children_system - before.children_user - before.children_system
    lines = [
        ["shards", f"{shards:,}, {total / 1e9:.1f} GB"],
        ["cache, at most", f"{most / 1e9:.2f} of {room / 1e9:.2f} GB"],
        ["pieces of them, the largest", f"{len(pieces):,}, {max(pieces, default=0) / 1e6:.0f} MB"],
        ["pieces in a window" if pieces else "shards in a window", str(window)],
        ["epochs, kills", f"{epochs}, {kills}"],
        ["rows of an epoch", f"{shards * _rows_of(corpus):,}"],
        ["rows that are not there once in each epoch", f"{wrong:,}"],
        ["memory of the reader that is not of files, at most", f"{memory / 1e6:.0f} MB"],
        ["seconds, processor seconds of all readers", f"{seconds:,.0f}, {used:,.0f}"],
    ]
    shown = [line for line in lines if pieces or not line[0].startswith("pieces of")]
    return table(["run", "figure"], shown).replace("---:", "---")


def _rows_of(corpus: Path) -> int:
    """Return the rows of each shard."""
    manifest = files.read_json(str(corpus / "manifest.json"))
    return int(manifest["splits"]["train"]["shards"][0]["counts"]["examples"])


def _bytes_in(cache: Path) -> int:
    """Return the bytes of the shards of a cache, and of the places kept for those that are fetched.

    A shard that takes its place while this looks is counted once.
    """
    sizes: dict[str, int] = {}
    for entry in os.scandir(cache):
        if entry.name.endswith((".arrow", ".fetching")):
            try:
                sizes[entry.name.partition(".")[0]] = entry.stat().st_size
            except FileNotFoundError:
                continue
    return sum(sizes.values())


def _wrong_rows(parts: Path, corpus: Path, epochs: int) -> tuple[int, int]:
    """Return how many rows are not in the parts once in each epoch under their ids, and the most memory of a reader."""
    from bertdata.loader import ShardExamples

    examples = ShardExamples(str(corpus / "train"))
    number = len(examples)
    seen = np.zeros((epochs, number), np.uint8)
    ids = np.concatenate(examples.rows.every("example_id", lambda column: column.to_numpy().view(np.uint64)))
    wrong, memory = 0, 0
    for path in sorted(parts.glob("*.npz")):
        part = np.load(path)
        epoch, row, example_id = part["pairs"].T
        wrong += int((ids[row.astype(np.int64)] != example_id).sum())
        np.add.at(seen, (epoch.astype(np.int64), row.astype(np.int64)), 1)
        memory = max(memory, int(part["memory"]))
    return wrong + int((seen != 1).sum()), memory


if __name__ == "__main__":
    main()
