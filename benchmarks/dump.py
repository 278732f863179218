"""A bz2 dump decoded, and made into documents: processor time against `bzip2 -dc`.

Run: python benchmarks/dump.py [--rounds 5] [--copies 3]
The dump of `BERTDATA_DATA`, else of ../shared/data, is compressed as single bz2 streams of blocks of 880,000 bytes:
once, and in so many copies. The first table has the processor seconds, in turns on one core, in which each tool decodes
the stream of one copy, whose bytes are compared first: `bzip2 -dc`, `lbzip2 -n1 -dc` where it is installed, Python's
bz2, indexed_bzip2 in an environment of its own, and `bertdata.io.compression.decompress` by kernels. The second has
those from the stream of --copies to a part of documents, which has the articles of one copy that often.
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
from pathlib import Path
from typing import BinaryIO

import _harness as harness

from bertdata.io.bzip2.stream_layout import CHECKSUM_BITS, END_BITS, END_MARK, HEADER_BITS, MARK_BITS

DUMP = harness.DATA / "wikipedia" / "enwiki-dev-pages-articles-multistream.xml.bz2"
END = b"</mediawiki>"
PEER = "indexed_bzip2==1.7.0"
BLOCK = 880_000
"""Bytes of text in a block: about the 900,000 at most, of which repeated bytes take a few more."""


def main() -> None:
    """Compare, measure in turns, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--copies", type=int, default=3)
    flags = parser.parse_args()
    if not DUMP.exists():
        sys.exit(f"no {DUMP}; set BERTDATA_DATA to a folder with wikipedia/")
    os.sched_setaffinity(0, {0})
    with tempfile.TemporaryDirectory(prefix="bertdata-benchmark-") as folder:
        print(decoding(stream(folder, 1), flags.rounds), end="\n\n")
        print(documents(stream(folder, flags.copies), flags.rounds), end="\n\n")
    print(f"{flags.rounds} rounds on {harness.machine()}")


def stream(folder: str, copies: int) -> Path:
    """Write a dump whose pages are those of the data's dump so often, as one bz2 stream; returns its path."""
    path = Path(folder) / f"{copies}-pages-articles.xml.bz2"
    if not path.exists():
        text = bz2.decompress(DUMP.read_bytes())
        first, last = text.index(b"<page>"), text.rindex(END)
        pages = blocks(text[first:last])
        with path.open("wb") as file:
            write_stream(file, [*blocks(text[:first]), *(pages * copies), *blocks(text[last:])])
    return path


def blocks(text: bytes) -> list[tuple[int, int, int]]:
    """Return the bz2 blocks of a text, each as a number, its length in bits and its checksum."""
    blocks_read = []
    for begin in range(0, len(text), BLOCK):
        data = bz2.compress(text[begin : begin + BLOCK])
        bits = 8 * len(data)
        whole = int.from_bytes(data) & (1 << bits - HEADER_BITS) - 1
        [padding] = [count for count in range(8) if whole >> count + CHECKSUM_BITS & (1 << MARK_BITS) - 1 == END_MARK]
        ending = padding + CHECKSUM_BITS + MARK_BITS
        blocks_read.append((whole >> ending, bits - HEADER_BITS - ending, whole >> padding & (1 << CHECKSUM_BITS) - 1))
    return blocks_read


def write_stream(file: BinaryIO, parts: Sequence[tuple[int, int, int]]) -> None:
    """Write blocks as one stream: they follow each other at any bit, and its checksum is of all of theirs."""
    file.write(b"BZh9")
    held, count, checksum = 0, 0, 0
    for block, length, own in parts:
        held, count = held << length | block, count + length
        rest = count % 8
        file.write((held >> rest).to_bytes(count // 8))
        held, count = held & (1 << rest) - 1, rest
        checksum = (checksum << 1 | checksum >> 31) & (1 << CHECKSUM_BITS) - 1 ^ own
    held, count = held << END_BITS | END_MARK << CHECKSUM_BITS | checksum, count + END_BITS
    file.write((held << -count % 8).to_bytes(-(-count // 8)))


def decoding(path: Path, rounds: int) -> str:
    """Return the table of decoders."""
    commands: dict[str, list[str | Path]] = {"`bzip2 -dc`": ["bzip2", "-dc", path]}
    if shutil.which("lbzip2"):
        commands["`lbzip2 -n1 -dc`"] = ["lbzip2", "-n1", "-dc", path]
    runs: dict[str, Callable[[], float]] = {
        name: lambda command=command: harness.processor_seconds(command)[0]  # type: ignore[misc]
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

    seconds = in_turns(
        {"bzip2": lambda: harness.processor_seconds(["bzip2", "-dc", path])[0], "ours": lambda: of_call(write)}, rounds
    )
    rows = [
        ["`bzip2 -dc`", f"{seconds['bzip2']:.2f}", "1.00"],
        ["bertdata, dump to documents", f"{seconds['ours']:.2f}", f"{seconds['ours'] / seconds['bzip2']:.2f}"],
    ]
    return harness.table(["", "processor seconds", "times the time of bzip2 -dc"], rows)


def in_turns(runs: dict[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """Return the median of what each run says, of rounds in which they alternate, after one that does not count."""
    said: dict[str, list[float]] = {name: [] for name in runs}
    for number in range(rounds + 1):
        for name, run in runs.items():
            seconds = run()
            if number:
                said[name].append(seconds)
    return {name: statistics.median(seconds) for name, seconds in said.items()}


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
