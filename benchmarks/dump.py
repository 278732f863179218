"""A bz2 dump decoded, and made into documents: processor time against `bzip2 -dc`, and two workers against one.

Run: python benchmarks/dump.py [--rounds 5] [--copies 3] [--workers-copies 0] The dump of `BERTDATA_DATA`, else of
../shared/data, is compressed as single bz2 streams of the largest blocks: once, and in so many copies. The first table
has the processor seconds, in turns on one core, in which each tool decodes the stream of one copy, whose bytes are
compared first: `bzip2 -dc`, `lbzip2 -n1 -dc` where it is installed, Python's bz2, indexed_bzip2 in an environment of
its own, and `bertdata.io.compression.decompress` by kernels. The second has those from the stream of --copies to a part
of documents, which has the articles of one copy that often. With --workers-copies `bertdata clean-wikipedia` makes
documents of one stream of so many copies, with one worker and with two in turns, by the clock; the kernels are on disk
before.
"""

from __future__ import annotations

import argparse
import bz2
import hashlib
import importlib
import io
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import _harness as harness

DATA = Path(os.environ.get("BERTDATA_DATA") or harness.ROOT.parent / "shared" / "data")
DUMP = DATA / "wikipedia" / "enwiki-dev-pages-articles-multistream.xml.bz2"
END = b"</mediawiki>"
PEER = "indexed_bzip2==1.7.0"


def main() -> None:
    """Compare, measure in turns, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--copies", type=int, default=3)
    parser.add_argument("--workers-copies", type=int, default=0)
    flags = parser.parse_args()
    if not DUMP.exists():
        sys.exit(f"no {DUMP}; set BERTDATA_DATA to a folder with wikipedia/")
    os.sched_setaffinity(0, {0})
    with tempfile.TemporaryDirectory(prefix="bertdata-benchmark-") as folder:
        print(decoding(stream(folder, 1), flags.rounds), end="\n\n")
        print(documents(stream(folder, flags.copies), flags.rounds), end="\n\n")
        if flags.workers_copies:
            os.sched_setaffinity(0, {0, 1})
            print(workers(stream(folder, flags.workers_copies), flags.rounds), end="\n\n")
    print(f"{flags.rounds} rounds on {harness.machine()}")


def stream(folder: str, copies: int) -> Path:
    """Write a dump whose pages are those of the data's dump so often, as one bz2 stream; returns its path."""
    path = Path(folder) / f"{copies}-pages-articles.xml.bz2"
    text = bz2.decompress(DUMP.read_bytes())
    first, last = text.index(b"<page>"), text.rindex(END)
    if not path.exists():
        with bz2.open(path, "wb") as file:
            file.write(text[:first] + text[first:last] * copies + text[last:])
    return path


def decoding(path: Path, rounds: int) -> str:
    """Return the table of decoders."""
    commands: dict[str, list[str | Path]] = {"`bzip2 -dc`": ["bzip2", "-dc", path]}
    if shutil.which("lbzip2"):
        commands["`lbzip2 -n1 -dc`"] = ["lbzip2", "-n1", "-dc", path]
    runs: dict[str, Callable[[], float]] = {
        name: lambda command=command: of_command(command)  # type: ignore[misc]
        for name, command in commands.items()
    }
    text = bz2.decompress(path.read_bytes())
    expected = hashlib.sha256(text).hexdigest()
    if hashlib.sha256(b"".join(ours(path))).hexdigest() != expected:
        sys.exit("the kernels decode other bytes than bz2")
    runs["Python's bz2"] = lambda: of_call(lambda: [None for _ in bz2_pieces(path)])
    peer = None
    try:
        python = harness.environment_of("indexed_bzip2", [PEER])
        peer = harness.Contestant([python, __file__, "--peer", path], core=0)
        if peer.first["sha256"] != expected:
            sys.exit("indexed_bzip2 decodes other bytes than bz2")
        runs["indexed_bzip2 1.7, one thread"] = lambda: float(peer.round()["seconds"])
    except subprocess.CalledProcessError as error:
        print(f"indexed_bzip2 is left out: its environment cannot be made ({error})", file=sys.stderr)
    runs["bertdata"] = lambda: of_call(lambda: [None for _ in ours(path)])
    seconds = in_turns(runs, rounds)
    if peer:
        peer.end()
    base = seconds["`bzip2 -dc`"]
    rows = [[name, f"{len(text) / 1e6 / s:.0f}", f"{s / base:.2f}"] for name, s in seconds.items()]
    return harness.table(["decoder", "MB/s", "times the time of bzip2 -dc"], rows)


def documents(path: Path, rounds: int) -> str:
    """Return the table of the way from a dump to documents."""
    from bertdata.sources.formats import Request, SourceFile
    from bertdata.sources.settings import CleaningConfig
    from bertdata.sources.wikipedia.format import WIKIPEDIA

    size = path.stat().st_size

    def write() -> None:
        config = CleaningConfig(range_bytes=size)
        tasks, _ = WIKIPEDIA.plan([SourceFile(str(path), path.name, "wikipedia")], Request("", size, config))
        for task in tasks:
            WIKIPEDIA.write(task, io.BytesIO())

    seconds = in_turns({"bzip2": lambda: of_command(["bzip2", "-dc", path]), "ours": lambda: of_call(write)}, rounds)
    rows = [
        ["`bzip2 -dc`", f"{seconds['bzip2']:.2f}", "1.00"],
        ["bertdata, dump to documents", f"{seconds['ours']:.2f}", f"{seconds['ours'] / seconds['bzip2']:.2f}"],
    ]
    return harness.table(["", "processor seconds", "times the time of bzip2 -dc"], rows)


def workers(path: Path, rounds: int) -> str:
    """Return the table of one worker and of two, by the clock."""

    processor: dict[int, list[float]] = {1: [], 2: []}

    def clean(count: int) -> float:
        with tempfile.TemporaryDirectory(dir=path.parent) as output:
            command = [sys.executable, "-m", "bertdata", "clean-wikipedia", str(path), "--output", f"{output}/out"]
            began = time.perf_counter()
            processor[count].append(of_command([*command, "--workers", str(count)]))
            return time.perf_counter() - began

    seconds = in_turns({str(count): partial(clean, count) for count in processor}, rounds)
    rows = [
        [str(count), f"{seconds[str(count)]:.1f}", f"{seconds[str(count)] / seconds['1']:.2f}", f"{of:.1f}"]
        for count, of in ((count, statistics.median(said[1:])) for count, said in processor.items())
    ]
    return harness.table(["workers", "seconds", "times those of one", "processor seconds"], rows)


def in_turns(runs: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """Return the median of what each run says, of rounds in which they alternate, after one that does not count."""
    said: dict[str, list[float]] = {name: [] for name in runs}
    for number in range(rounds + 1):
        for name, run in runs.items():
            seconds = run()
            if number:
                said[name].append(seconds)
    return {name: statistics.median(seconds) for name, seconds in said.items()}


def of_command(command: Sequence[str | Path]) -> float:
    """Return the processor seconds of a command."""
    before = os.times()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = os.times()
    return after.children_user + after.children_system - before.children_user - before.children_system


def of_call(call: Callable[[], object]) -> float:
    """Return the processor seconds of a call."""
    began = time.process_time()
    call()
    return time.process_time() - began


def ours(path: Path) -> list[bytes]:
    """Return the pieces of a decoded file, as the kernels give them."""
    from bertdata.io.compression import decompress

    with path.open("rb") as raw:
        return [data for _, data in decompress(raw, "bz2", str(path), compiled=True)]


def bz2_pieces(path: Path) -> list[bytes]:
    """Return the pieces of a decoded file, as Python's bz2 gives them."""
    with bz2.open(path, "rb") as file:
        return list(iter(lambda: file.read(1 << 20), b""))


def contest(path: str) -> None:
    """Be indexed_bzip2: say the digest of what it decodes, then the processor seconds of each round."""
    indexed_bzip2 = importlib.import_module("indexed_bzip2")

    def pieces() -> list[bytes]:
        with indexed_bzip2.open(path, parallelization=1) as file:
            return list(iter(lambda: file.read(1 << 20), b""))

    print(json.dumps({"sha256": hashlib.sha256(b"".join(pieces())).hexdigest()}), flush=True)
    for _ in sys.stdin:
        print(json.dumps({"seconds": of_call(pieces)}), flush=True)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--peer"]:
        contest(sys.argv[2])
    else:
        main()
