"""Readers of data sets larger than a disk beside each other: what each can do, and what it takes; each is really run.

Run: python benchmarks/streams.py [--features | --figures] [--shards 24]; it needs s3fs
The rows of the sample corpus, again and again with ids of their own, are written as shards, as MDS, as chunks of
litdata, as tar files and as ArrayRecord files, a file for each shard, and served as S3 on this machine: each request
waits 30 ms, and each answer has 1 Gbit/s. Each reader has a Python environment of its own, and one process.

Features are found by running: a row by its number; a run that is stopped inside an epoch and goes on in a new process,
beside one that was not stopped; one that goes on with two processes; the masks after that; the most bytes in the cache
folder; and of how many shards the rows of a batch are. Figures are of rows in padded, masked batches of 256, and of the
rows alone: processor time of all threads of the process after the first batches, the first batch from the constructor
on with nothing in the cache, and memory that is not of files, beyond that after the imports.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from _copies import write_copies
from _harness import environment_of, machine, processor_seconds, table
from _paced_store import PacedStore

from bertdata.cli.main import main as bertdata
from bertdata.shards import open_shards

PEERS = {
    "mosaicml-streaming": ["mosaicml-streaming==0.13.0"],
    "litdata": ["litdata==0.2.76"],
    "webdataset": ["webdataset==1.0.2"],
    "grain": ["grain==0.2.18"],
}
_BATCHES = ["torch==2.13.0", "transformers==4.57.6"]
"""What makes masked batches of the rows of peers."""
PAUSE, SPEED = 0.030, 125e6
WINDOW = 4
FORMATS = {
    "bertdata": "bertdata",
    "mosaicml-streaming": "mds",
    "litdata": "litdata",
    "webdataset": "webdataset",
    "grain": "grain",
}
FEATURES = (
    "a row by its number",
    "goes on inside an epoch",
    "the same on two processes, each row once",
    "masks after it went on",
    "each row once an epoch",
    "cache, at most",
    "shards that a batch of 64 rows is of, of 16",
    "packages it needs, those of torch left out",
)
ENDINGS = {"webdataset": "tar", "grain": "array_record"}


@dataclass
class Corpus:
    """One corpus in the formats of all readers, in a bucket of a store.

    ids: the example ids of each shard; shard_bytes: of bertdata's largest.
    """

    folder: Path
    name: str
    store: PacedStore
    shard_bytes: int = 0
    ids: list[list[int]] = field(default_factory=list)

    def place(self, peer: str) -> Path:
        """Return where the files of a format are."""
        return self.folder / self.name / FORMATS[peer]

    def size(self, peer: str) -> int:
        """Return the bytes of the files that a reader reads."""
        return sum(path.stat().st_size for path in self.place(peer).rglob("*") if path.is_file())


def main() -> None:
    """Print the table of features, and that of figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--features", action="store_true", help="the table of features alone")
    parser.add_argument("--figures", action="store_true", help="the table of figures alone")
    parser.add_argument("--shards", type=int, default=24, help="shards of 8.5 MB that figures are of (default: 24)")
    parser.add_argument("--steps", type=int, default=240, help="batches that figures are of (default: 240)")
    parser.add_argument("--peers", nargs="*", default=list(PEERS), help="default: all")
    parser.add_argument("--limit", type=int, default=240, help="seconds after which a reader is ended (default: 240)")
    parser.add_argument("--rounds", type=int, default=3, help="runs of each reader, of which the median counts")
    flags = parser.parse_args()
    pythons = {"bertdata": Path(sys.executable)}
    pythons |= {peer: environment_of(peer, [*PEERS[peer], *_BATCHES]) for peer in flags.peers}
    print(f"One process of {machine()}, a store of {PAUSE * 1000:.0f} ms and {SPEED / 125e6:.0f} Gbit/s an answer.\n")
    with tempfile.TemporaryDirectory(prefix="bertdata-streaming-") as work:
        folder = Path(work)
        store = PacedStore(folder / "buckets", PAUSE, SPEED)
        runs = Runs(folder, pythons, store, flags.limit)
        try:
            if not flags.figures:
                small = written(folder, "small", store, pythons, shards=16, rows=600)
                print(features(runs, small), flush=True)
            if not flags.features:
                large = written(folder, "large", store, pythons, shards=flags.shards, rows=0)
                print("\n" + figures(runs, large, flags.steps, flags.rounds), flush=True)
        finally:
            store.close()


def written(folder: Path, name: str, store: PacedStore, pythons: dict[str, Path], shards: int, rows: int) -> Corpus:
    """Write a corpus in all formats: so many shards, of so many rows each, 0: of all that the sample corpus has."""
    build = folder / "build"
    if not build.exists():
        command = ["build", "--output", str(build), "--max-seq-length", "512", "--dupe-factor", "40"]
        if bertdata([*command, "--objective", "doc-sentences", "--quiet"]):
            sys.exit("the corpus was not built")
    corpus = Corpus(folder / "buckets", name, store)
    place = write_copies(build, corpus.place("bertdata"), shards, rows)
    corpus.shard_bytes = max(path.stat().st_size for path in (place / "train").iterdir())
    arrays = folder / f"{name}-arrays"
    arrays.mkdir()
    whole = open_shards(place, "train")
    ends = np.concatenate([[0], np.cumsum(whole.shard_rows)])
    for number in range(shards):
        part = whole.table.slice(int(ends[number]), int(whole.shard_rows[number])).combine_chunks()
        example_ids = part["example_id"].to_numpy().view(np.uint64)
        corpus.ids.append(example_ids.tolist())
        lists = {column: part[column].combine_chunks() for column in ("input_ids", "token_type_ids")}
        np.savez(
            arrays / f"{number:05d}.npz",
            ids=lists["input_ids"].flatten().to_numpy(),
            types=lists["token_type_ids"].flatten().to_numpy(),
            ends=np.cumsum(lists["input_ids"].value_lengths().to_numpy()),
            example_ids=example_ids,
        )
    for peer, python in pythons.items():
        if peer == "mosaicml-streaming":
            command = ["export", str(place), "--to", "mds", "--output", str(corpus.place(peer))]
            if bertdata(command):
                sys.exit("no MDS was written")
        elif peer != "bertdata":
            job = {"peer": peer, "write": str(arrays), "output": str(corpus.place(peer))}
            command = [
                str(python),
                "-W",
                "ignore",
                str(Path(__file__).with_name("_stream_readers.py")),
                json.dumps(job),
            ]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return corpus


class Runs:
    """Runs readers, each in a cache folder of its own."""

    def __init__(self, folder: Path, pythons: dict[str, Path], store: PacedStore, limit: int) -> None:
        self.folder, self.pythons, self.store, self.limit, self._number = folder, pythons, store, limit, 0

    def run(self, corpus: Corpus, peer: str, ranks: int = 1, fits: bool = False, **more: Any) -> list[dict[str, Any]]:
        """Return what each process of a reader said; of one that fails or takes too long, why, as `error`."""
        self._number += 1
        place = self.folder / f"run-{self._number}"
        place.mkdir()
        window = WINDOW * len(corpus.ids[0])
        room = 1 << 40 if fits else int((2 * WINDOW + 1) * corpus.size(peer) / len(corpus.ids))
        job: dict[str, Any] = {
            "peer": peer,
            "url": f"s3://{corpus.name}/{FORMATS[peer]}",
            "folder": str(corpus.place(peer)),
            "tokenizer": str(corpus.place("bertdata") / "tokenizer"),
            "cache": str(place / "cache"),
            "cache_bytes": room,
            "window": window,
            "window_shards": WINDOW,
            "rows": 64,
            "masked": True,
            "steps": 1 << 30,
            "warm": 1,
            "watch": True,
        } | more
        if peer in ENDINGS:
            job["names"] = sorted(path.name for path in corpus.place(peer).glob(f"*.{ENDINGS[peer]}"))
        if peer == "webdataset":
            job["url"] = f"{self.store.url}/{corpus.name}/{FORMATS[peer]}"
        Path(job["cache"]).mkdir(exist_ok=True)
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | {
            "AWS_ACCESS_KEY_ID": "anything",
            "AWS_SECRET_ACCESS_KEY": "anything",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": self.store.url,
            "S3_ENDPOINT_URL": self.store.url,
            "AWS_ALLOW_HTTP": "true",
            "FSSPEC_S3_ENDPOINT_URL": self.store.url,
            "HF_HUB_OFFLINE": "1",
            "TOKENIZERS_PARALLELISM": "false",
            "OMP_NUM_THREADS": "1",
            "no_proxy": "127.0.0.1,localhost",
            "TMPDIR": str(place),
        }
        processes = []
        for rank in range(ranks):
            job["said"] = str(place / f"said-{rank}.json")
            ours = {"PYTHONPATH": str(Path(__file__).resolve().parents[1])}
            variables = environment | (ours if peer == "bertdata" else {})
            if ranks > 1:
                port = str(20_000 + os.getpid() % 20_000 + self._number)
                variables |= {"RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_RANK": str(rank)}
                variables |= {"LOCAL_WORLD_SIZE": str(ranks), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
            command = [str(self.pythons[peer]), "-W", "ignore", str(Path(__file__).with_name("_stream_readers.py"))]
            with (place / f"log-{rank}").open("wb") as log:
                processes.append(
                    subprocess.Popen([*command, json.dumps(job)], stdout=log, stderr=log, env=variables, cwd=place)
                )
        deadline, said = time.monotonic() + self.limit, []
        for rank, process in enumerate(processes):
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            answer = place / f"said-{rank}.json"
            last = (place / f"log-{rank}").read_text(errors="replace").strip().rpartition("\n")[2]
            said.append(
                json.loads(answer.read_text()) if answer.exists() else {"error": last or f"over {self.limit} s"}
            )
            if "error" in said[-1]:
                print(f"{peer}, process {rank}: {said[-1]['error']}", file=sys.stderr)
        return said


def features(runs: Runs, corpus: Corpus) -> str:
    """Return the table of what each reader can do."""
    every = Counter(chain.from_iterable(corpus.ids))
    shard_of = {item: number for number, ids in enumerate(corpus.ids) for item in ids}
    asked = len(corpus.ids[0]) * 3 + 5
    columns = []
    for peer in runs.pythons:
        saved = runs.folder / f"{peer}.state"
        [whole] = runs.run(corpus, peer, row=asked)
        if "error" in whole:
            columns.append(["an error"] * len(FEATURES))
            continue
        fixed: dict[str, Any] = {}
        if peer == "litdata":  # its state names the folder of its cache
            fixed["cache"] = str(runs.folder / "litdata-cache")
        [begun] = runs.run(corpus, peer, steps=20, save=str(saved), **fixed)
        ids = [list(map(int, batch)) for batch in whole["batches"]]
        complete = Counter(chain.from_iterable(ids)) == every
        column = ["yes" if whole.get("row") == corpus.ids[3][5] else "no"]
        if begun.get("saved"):
            [gone_on] = runs.run(corpus, peer, state=str(saved), **fixed)
            both = begun["batches"] + gone_on.get("batches", [])
            in_order, complete_again = both == whole["batches"], Counter(chain.from_iterable(both)) == every
            column.append("yes" if in_order else "in another order" if complete_again else "no")
            two = runs.run(corpus, peer, ranks=2, state=str(saved), **fixed)
            rest = [item for said in two for item in chain.from_iterable(said.get("batches", []))]
            elastic = Counter(chain.from_iterable(begun["batches"])) + Counter(rest) == every
            column.append("yes" if elastic else _why_not(two, begun, rest, every))
            masks = begun["digests"] + gone_on.get("digests", []) == whole["digests"]
            column.append("the same" if masks else "others")
        else:
            column += ["no", "no", ""]
        column.append("yes" if complete else f"no: {_counted(ids, every)}")
        limit = (2 * WINDOW + 1) * corpus.size(peer) // len(corpus.ids)
        column.append("no: local files" if peer == "grain" else f"{whole['most'] / limit:.0%} of its bound")
        mixed = np.mean([len({shard_of[item] for item in batch}) for batch in ids[:-1]])
        column.append(f"{mixed:.1f}")
        column.append(_dependencies(runs.pythons[peer], peer))
        columns.append(column)
        print(peer, *column, sep=" | ", file=sys.stderr, flush=True)
    rows = [[name, *(column[number] for column in columns)] for number, name in enumerate(FEATURES)]
    return table(["", *runs.pythons], rows).replace("---:", "---")


def _why_not(two: list[dict[str, Any]], begun: dict[str, Any], rest: list[int], every: Counter[int]) -> str:
    if any("error" in said for said in two):
        return "no: an error"
    seen = Counter(chain.from_iterable(begun["batches"])) + Counter(rest)
    missing, twice = ((counted - other).total() / every.total() for counted, other in ((every, seen), (seen, every)))
    return f"no: {missing:.0%} missing, {twice:.0%} twice"


def _counted(ids: list[list[int]], every: Counter[int]) -> str:
    seen = Counter(chain.from_iterable(ids))
    return f"{(every - seen).total():,} missing, {(seen - every).total():,} twice"


def _dependencies(python: Path, peer: str) -> str:
    """Return how many packages a package needs, without torch and what torch needs."""
    code = """
import importlib.metadata as m, re, sys
def needs(name, seen):
    name = re.sub("[-_.]+", "-", name).lower()
    if name in seen:
        return seen
    try:
        requires = m.requires(name) or []
    except m.PackageNotFoundError:
        return seen
    seen.add(name)
    from packaging.requirements import Requirement
    for one in map(Requirement, requires):
        if one.marker is None or one.marker.evaluate({"extra": ""}):
            needs(one.name, seen)
    return seen
print(len(needs(sys.argv[1], set()) - needs("torch", set()) - {sys.argv[1]}))
"""
    name = "bertdata-toolkit" if peer == "bertdata" else peer
    _, printed = processor_seconds([python, "-c", code, name], stdout=subprocess.PIPE)
    return printed.decode().strip()


def figures(runs: Runs, corpus: Corpus, steps: int, rounds: int) -> str:
    """Return the table of what each reader takes."""
    rows = []
    said: dict[tuple[str, bool], list[dict[str, Any]]] = {}
    fetched: dict[str, list[float]] = {}
    for _ in range(rounds):
        for peer in runs.pythons:
            for masked in (True, False):
                runs.store.counts()
                watch: dict[str, Any] = {"rows": 256, "steps": steps, "warm": 40, "watch": False}
                [answer] = runs.run(corpus, peer, masked=masked, **watch)
                said.setdefault((peer, masked), []).append(answer)
                sent = sum(size for name, size in runs.store.counts().items() if f"/{FORMATS[peer]}/" in name)
                fetched.setdefault(peer, []).append(sent / corpus.size(peer) * len(corpus.ids))
    best: dict[str, float] = {}
    for peer in runs.pythons:
        cells = [peer]
        for masked in (True, False):
            whole = [answer for answer in said[peer, masked] if "error" not in answer]
            speeds = [answer["tokens"] / answer["cpu"] / 1e6 for answer in whole]
            cells.append(f"{np.median(speeds):.2f}" if speeds else f"over {runs.limit} s")
            if masked and speeds:
                best[peer] = float(np.median(speeds))
        cells.append(f"{best['bertdata'] / best[peer]:.1f}" if peer in best else "")
        whole = [answer for answer in said[peer, True] if "error" not in answer]
        cells.append(f"{np.median([answer['first'] for answer in whole]):.2f}" if whole else "")
        cells.append(f"{max(answer['memory'] for answer in whole) / 1e6:.0f}" if whole else "")
        cells.append("local" if peer == "grain" else f"{np.median(fetched[peer]):.1f}")
        rows.append(cells)
    head = [
        "reader",
        "masked batches, million tokens a CPU second",
        "rows alone",
        "bertdata, times as many",
        "first batch, s",
        "memory, MB",
        "shards fetched",
    ]
    return table(head, rows)


if __name__ == "__main__":
    main()
