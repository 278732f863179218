"""Whole builds: processor seconds, the share of the process that was started, memory of every process, files, digests.

Run: python benchmarks/build.py [--gigabytes 0.1 1.5 10] [--workers 1 2] [--store local s3] [--pause 0.03] [--bz2]
    [--run "FLAGS"]... [--at-once N]
Without --gigabytes it builds the dumps and books of the folder that BERTDATA_DATA names, or ../shared/data, as they
are; with it, so many gigabytes of XML each: the pages of the dump again and again, each time under new ids and with one
word in fifty replaced by a new one, so that the vocabulary grows with the text. --bz2 compresses it, a stream for each
copy. With --store s3, which needs s3fs, input and output are in a local S3 (rclone) that answers each request after a
pause. Each --run is one build with these flags. --at-once adds a row of so many builds with one worker each that run at
the same time, which is as much as the cores allow. Shards of the same input are compared by their SHA-256.
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
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psutil
from _harness import DATA
from _large_dump import write_xml
from _s3 import KEY, S3

COLUMNS = (
    "XML, GB | store | flags | seconds | CPU-s | CPU-s for a GB | of these in the driver | largest process | driver"
)
COLUMNS += " | all processes | files | shards | sha256 of all shards"


def main() -> None:
    """Build each input with each set of flags, and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, nargs="+", default=[], metavar="N", help="of XML to be made")
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2], metavar="N")
    parser.add_argument("--store", nargs="+", choices=("local", "s3"), default=["local"])
    parser.add_argument("--pause", type=float, default=0.03, help="seconds that each request to the S3 takes")
    parser.add_argument("--bz2", action="store_true", help="compress the XML")
    parser.add_argument("--run", action="append", metavar="FLAGS", default=[], help="further flags; may be given again")
    parser.add_argument("--at-once", type=int, metavar="N", help="also run N builds with one worker at the same time")
    parser.add_argument(
        "--folder", help="where to build; the XML there is kept for later runs (default: a temporary folder)"
    )
    flags = parser.parse_args()
    dumps = sorted((DATA / "wikipedia").glob("*-pages-articles*.xml.bz2"))
    books = sorted((DATA / "books").glob("*.txt"))
    if not dumps or not books:
        sys.exit(f"no dump or no books below {DATA}; set BERTDATA_DATA to a folder with wikipedia/ and books/")
    work = Path(flags.folder or tempfile.mkdtemp(prefix="bertdata-benchmark-"))
    runs = [f"--workers {number} {more}".strip() for more in flags.run or [""] for number in flags.workers]
    print(f"| {COLUMNS} |\n|---:|---|---|" + "---:|" * 9 + "---|", flush=True)
    try:
        for gigabytes in flags.gigabytes or [0.0]:
            if gigabytes:
                path = work / f"wiki-{gigabytes:g}.xml{'.bz2' if flags.bz2 else ''}"
                sources = {"--wikipedia": [path]}
                if not path.exists():
                    write_xml(dumps[0], path, int(gigabytes * 1e9), compress=flags.bz2)
                size = gigabytes if flags.bz2 else path.stat().st_size / 1e9
            else:
                sources, size = {"--wikipedia": dumps, "--books": books}, sum(map(xml_size, [*dumps, *books])) / 1e9
            for store in flags.store:
                with Place(store, work, flags.pause) as place:
                    urls = {flag: [place.put(path) for path in paths] for flag, paths in sources.items()}
                    for run in runs:
                        print(measure(run, urls, place, size), flush=True)
                    if flags.at_once:
                        print(measure("--workers 1", urls, place, size, flags.at_once), flush=True)
    finally:
        if not flags.folder:
            shutil.rmtree(work)


def xml_size(path: Path) -> int:
    """Return the bytes of a dump, without its compression, or of another file."""
    return len(bz2.decompress(path.read_bytes())) if path.suffix == ".bz2" else path.stat().st_size


class Place:
    """Where a build reads and writes: a folder, or a bucket of a local S3 that answers after a pause."""

    def __init__(self, store: str, work: Path, pause: float) -> None:
        self.store, self.work, self.environment = store, work, dict(os.environ)
        self._server: S3 | None = None
        if store == "s3":
            self._serve(pause)

    def _serve(self, pause: float) -> None:
        import fsspec

        self._server = S3(self.work / "buckets", pause)
        self.environment |= {
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": KEY,
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_RESPONSE_CHECKSUM_VALIDATION": "when_required",  # rclone gives a range the checksum of the whole file
            "FSSPEC_S3_ENDPOINT_URL": self._server.url,
        }
        os.environ |= self.environment
        fsspec.config.conf["s3"] = {"endpoint_url": self._server.url}
        self.fs = fsspec.filesystem("s3", skip_instance_cache=True)
        self.fs.makedirs("corpora", exist_ok=True)

    def put(self, path: Path) -> str:
        """Return where a build finds a file."""
        if self.store == "local":
            return str(path)
        self.fs.put_file(str(path), f"corpora/in/{path.name}")
        return f"s3://corpora/in/{path.name}"

    @property
    def output(self) -> str:
        """The output of builds."""
        return str(self.work / "corpus") if self.store == "local" else "s3://corpora/out"

    def clear(self) -> None:
        """Remove the output."""
        if self.store == "local":
            shutil.rmtree(self.output, ignore_errors=True)
        elif self.fs.exists("corpora/out"):
            self.fs.rm("corpora/out", recursive=True)

    def files(self, output: str) -> list[str]:
        """Return the files of an output, sorted."""
        if self.store == "local":
            return sorted(str(path) for path in Path(output).rglob("*") if path.is_file())
        return sorted(self.fs.find(output))

    def read(self, path: str) -> bytes:
        """Return the bytes of one of them."""
        return Path(path).read_bytes() if self.store == "local" else self.fs.cat_file(path)

    def __enter__(self) -> Place:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()
        if self._server is not None:
            self._server.close()


@dataclass
class Used:
    """What the processes of a build took: processor seconds, those of the driver, and the most memory, in bytes."""

    seconds: float = 0.0
    driver_seconds: float = 0.0
    largest: int = 0
    driver: int = 0
    together: int = 0


def measure(run: str, sources: dict[str, list[str]], place: Place, gigabytes: float, at_once: int = 0) -> str:
    """Build once from nothing, or so often at the same time in folders of their own; returns one row of the table."""
    place.clear()
    outputs = [f"{place.output}/{number}" for number in range(at_once)] or [place.output]
    with ThreadPoolExecutor(len(outputs)) as pool:
        built = list(pool.map(partial(build, run, sources, place), outputs))
    [(shards, digest)] = {shards_of(place, output) for output in outputs}
    processor = sum(used.seconds for used, _ in built)
    memory = [[getattr(used, name) for used, _ in built] for name in ("largest", "driver", "together")]
    cells: Sequence[str] = [
        f"{gigabytes * len(built):.2f}",
        place.store,
        f"`{run}`" + (f", {at_once} builds at once" if at_once else ""),
        f"{max(seconds for _, seconds in built):.1f}",
        f"{processor:.1f}",
        f"{processor / gigabytes / len(built):.0f}",
        f"{sum(used.driver_seconds for used, _ in built) / processor:.1%}",
        *map(megabytes, (max(memory[0]), max(memory[1]), sum(memory[2]))),
        f"{len(place.files(place.output)):,}",
        f"{shards * len(built)}",
        digest[:10],
    ]
    return f"| {' | '.join(cells)} |"


def build(run: str, sources: dict[str, list[str]], place: Place, output: str) -> tuple[Used, float]:
    """Build in a process of its own; returns what it took, and the seconds until it ended."""
    named = [argument for flag, paths in sources.items() for argument in (flag, *paths)]
    command = [sys.executable, "-m", "bertdata", "build", *named, "--output", output, *shlex.split(run)]
    began = time.monotonic()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, env=place.environment)
        used, code = watch(process)
        seconds = time.monotonic() - began
        if code:
            said.seek(0)
            raise RuntimeError(f"{shlex.join(command)} failed:\n{said.read().decode()}")
    return used, seconds


def shards_of(place: Place, output: str) -> tuple[int, str]:
    """Return how many shards an output has, and the SHA-256 of all of them."""
    shards = [
        path for path in place.files(output) if re.search(r"/data-[^/]*\.arrow$", path) and "/stages/" not in path
    ]
    digest = hashlib.sha256()
    for shard in shards:
        digest.update(place.read(shard))
    return len(shards), digest.hexdigest()


def watch(process: subprocess.Popen[bytes]) -> tuple[Used, int]:
    """Wait for a process; returns what it and the processes it started took, and its exit code."""
    used, root = Used(), psutil.Process(process.pid)
    while True:
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            used.seconds = usage.ru_utime + usage.ru_stime
            return used, process.returncode
        sizes = []
        try:
            times = root.cpu_times()
            used.driver_seconds = times.user + times.system
            used.driver = max(used.driver, root.memory_info().rss)
            for member in [root, *root.children(recursive=True)]:
                sizes.append(member.memory_info().rss)
        except psutil.NoSuchProcess:
            pass
        used.largest, used.together = max(used.largest, *sizes, 0), max(used.together, sum(sizes))
        time.sleep(0.05)


def megabytes(number: int) -> str:
    """Return bytes as megabytes."""
    return f"{number / 1e6:,.0f} MB"


if __name__ == "__main__":
    main()
