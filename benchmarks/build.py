"""A whole build of the optional real data: seconds, the peak memory of every process, and whether the bytes agree.

Run: python benchmarks/build.py [--repeat N] [--run "FLAGS"]...
Each --run is one build with these flags; its shards are compared with those of the first. --repeat builds from N copies
of the data, each page and book under an id of its own. It needs the folder that BERTDATA_DATA names, or ../shared/data.
"""

from __future__ import annotations

import argparse
import bz2
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("BERTDATA_DATA") or ROOT.parent / "shared" / "data")
RUNS = (
    "--workers 1",
    "--workers 2",
    "--workers 1 -- --direct_runner_bundle_repeat=2",
    "-- --runner=PortableRunner --job_endpoint=embed --environment_type=LOOPBACK",
)
_PAGE_ID = re.compile(rb"(<page>.*?<id>)(\d+)(</id>)", re.S)


def main() -> None:
    """Build with each set of flags and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=1, metavar="N")
    parser.add_argument("--run", action="append", metavar="FLAGS", help="may be given again; default: four ways to run")
    parser.add_argument("--folder", help="where to build (default: a temporary folder, deleted at the end)")
    flags = parser.parse_args()
    dumps, books = (
        sorted((DATA / "wikipedia").glob("*-pages-articles*.xml.bz2")),
        sorted((DATA / "books").glob("*.txt")),
    )
    if not dumps or not books:
        sys.exit(f"no dump or no books below {DATA}; set BERTDATA_DATA to a folder with wikipedia/ and books/")
    work = Path(flags.folder or tempfile.mkdtemp(prefix="bertdata-benchmark-"))
    try:
        sources = sources_of(dumps, books, work / "sources", flags.repeat)
        print(f"{len(dumps)} dumps and {len(books)} books, {flags.repeat} times: {size(sources):,} bytes\n", flush=True)
        print("| flags | seconds | largest process | all processes | shards | sha256 of all shards |")
        print("|---|---:|---:|---:|---:|---|", flush=True)
        for run in flags.run or RUNS:
            print(measure(run, sources, work / "corpus"), flush=True)
    finally:
        if not flags.folder:
            shutil.rmtree(work)


def sources_of(dumps: list[Path], books: list[Path], folder: Path, copies: int) -> list[str]:
    """Return the flags that name the sources, copied under new ids where more than one copy is wanted."""
    if copies == 1:
        return ["--wikipedia", *map(str, dumps), "--books", *map(str, books)]
    for path in dumps:
        (folder / "wikipedia").mkdir(parents=True, exist_ok=True)
        text = bz2.decompress(path.read_bytes())
        for copy in range(copies):
            target = folder / "wikipedia" / f"{copy:03d}-{path.name.removesuffix('.bz2')}"
            target.write_bytes(_PAGE_ID.sub(partial(shifted, copy * 10**9), text))
    for path in books:
        for copy in range(copies):
            target = folder / "books" / f"{copy:03d}" / path.name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
    return ["--wikipedia", str(folder / "wikipedia"), "--books", str(folder / "books")]


def shifted(by: int, found: re.Match[bytes]) -> bytes:
    """Return the head of a page with another id."""
    return found[1] + str(int(found[2]) + by).encode() + found[3]


def size(sources: list[str]) -> int:
    """Return the bytes of all source files."""
    paths = [Path(source) for source in sources if not source.startswith("--")]
    inputs = (file for path in paths for file in ([path] if path.is_file() else path.rglob("*")))
    return sum(file.stat().st_size for file in inputs if file.is_file())


def measure(run: str, sources: list[str], output: Path) -> str:
    """Build once from nothing; returns one row of the table."""
    shutil.rmtree(output, ignore_errors=True)
    command = [sys.executable, "-m", "bertdata", "build", *sources, "--output", str(output), *shlex.split(run)]
    began = time.monotonic()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT)
        largest, together = watch(process)
        seconds = time.monotonic() - began
        if process.returncode:
            said.seek(0)
            sys.exit(f"{shlex.join(command)} failed:\n{said.read().decode()}")
    digest, shards = hashlib.sha256(), sorted(output.glob("*/data-*.arrow"))
    for shard in shards:
        digest.update(shard.read_bytes())
    cells = [f"{seconds:.1f}", megabytes(largest), megabytes(together), f"{len(shards)}", digest.hexdigest()[:16]]
    return f"| `{run}` | " + " | ".join(cells) + " |"


def watch(process: subprocess.Popen[bytes]) -> tuple[int, int]:
    """Wait for a process; returns the most memory that one process of its tree held, and all of them at once."""
    largest = together = 0
    root = psutil.Process(process.pid)
    while process.poll() is None:
        sizes = []
        try:
            for member in [root, *root.children(recursive=True)]:
                sizes.append(member.memory_info().rss)
        except psutil.NoSuchProcess:
            pass
        largest, together = max(largest, *sizes, 0), max(together, sum(sizes))
        time.sleep(0.05)
    return largest, together


def megabytes(number: int) -> str:
    """Return bytes as megabytes."""
    return f"{number / 1e6:,.0f} MB"


if __name__ == "__main__":
    main()
