"""One large bz2 stream made into documents by one worker and by two, by the clock.

Run: python benchmarks/workers.py [--copies 60 540] [--rounds 3]
For each number `bertdata clean-wikipedia` reads one bz2 stream of so many copies of the pages of the dump of
`BERTDATA_DATA`, else of ../shared/data, with one worker and with two in turns; the kernels are compiled before. 60
copies are 1.1 GB of XML, 540 are 10 GB, as a file of English Wikipedia has. The documents are compared.
"""

from __future__ import annotations

import argparse
import hashlib
import statistics
import sys
import tempfile
import time
from pathlib import Path

import _harness as harness
import dump


def main() -> None:
    """Clean each stream, and print a table for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--copies", type=int, nargs="+", default=[60, 540], metavar="N")
    parser.add_argument("--rounds", type=int, default=3)
    flags = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bertdata-benchmark-") as folder:
        clean(dump.stream(folder, 3), 2)
        for copies in flags.copies:
            print(workers(dump.stream(folder, copies), flags.rounds), end="\n\n", flush=True)
    print(f"{flags.rounds} rounds on {harness.machine()}")


def workers(path: Path, rounds: int) -> str:
    """Return the table of one worker and of two, by the clock, whose documents are compared."""
    said: dict[int, list[tuple[float, float]]] = {1: [], 2: []}
    digests = set()
    for _ in range(rounds):
        for count, figures_said in said.items():
            seconds, processor, digest = clean(path, count)
            figures_said.append((seconds, processor))
            digests.add(digest)
    if len(digests) > 1:
        sys.exit("two workers write other documents than one")
    base = statistics.median(seconds for seconds, _ in said[1])
    rows = []
    for count, figures_said in said.items():
        seconds, processor = (statistics.median(column) for column in zip(*figures_said, strict=True))
        size = f"{path.stat().st_size / 1e9:.2f}"
        rows.append([size, str(count), f"{seconds:.1f}", f"{seconds / base:.2f}", f"{processor:.1f}"])
    return harness.table(["bz2, GB", "workers", "seconds", "seconds / those of one", "processor seconds"], rows)


def clean(path: Path, count: int) -> tuple[float, float, str]:
    """Make documents of a dump by a command; returns its seconds, processor seconds, and the digest of its parts."""
    with tempfile.TemporaryDirectory(dir=path.parent) as output:
        command = [sys.executable, "-m", "bertdata", "clean-wikipedia", str(path), "--output", f"{output}/out"]
        began = time.perf_counter()
        processor, _ = harness.processor_seconds([*command, "--workers", str(count), "--quiet"])
        seconds = time.perf_counter() - began
        digest = hashlib.sha256()
        for part in sorted(Path(output).rglob("*.parquet")):
            digest.update(hashlib.sha256(part.read_bytes()).digest())
        return seconds, processor, digest.hexdigest()


if __name__ == "__main__":
    main()
