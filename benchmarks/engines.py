"""Whole builds on engines of this machine, two workers each: time, processor time, memory, bytes shuffled, digests.

Run: python benchmarks/engines.py [--gigabytes 0.25] [--rounds 1] [--engines local flink spark prism dask] [--folder F]
Each engine is a cluster of `scripts/engines NAME --cached`, locally it is `--workers 2`. On each the sample is built,
which is a start and hardly more, and then so many gigabytes of XML: the pages of a dump of the folder that
BERTDATA_DATA names again and again, each time under new ids and with one word in fifty replaced. What an engine takes
"beyond" is the second build less the first, of each the quickest of all rounds. A local build before, which is not
measured, compiles the kernels. Processor time and memory are those of all processes, also of the cluster. Bytes
shuffled are what Flink, Spark and Dask count as sent from task to task; Prism and a local build, which hold it in one
process, count none. Of Spark a second table has what each of its jobs took, by its logs of events: the mean of all
rounds.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
from _harness import DATA, ROOT, machine, table
from _large_dump import write_xml
from _spark_events import HEAD as HEAD_OF_SPARK
from _spark_events import applications, event_files
from _spark_events import rows as rows_of_spark

from bertdata.io.console import counted

ENGINES = ("local", "flink", "spark", "prism", "dask")
HEAD = ["engine", "start, s", "build, s", "beyond, s", "times local", "start, CPU-s", "beyond, CPU-s", "times local"]
HEAD += ["largest process", "all processes", "shuffled", "of the input", "sha256 of all shards"]


@dataclass
class Used:
    """What a build took: seconds by the clock and of processors, and the most memory, in bytes."""

    seconds: float = 0.0
    processor: float = 0.0
    largest: int = 0
    together: int = 0


Built = tuple[Used, str, int | None]
"""What a build took, the SHA-256 of all shards, and the bytes that the engine counts as sent."""


@dataclass
class Engine:
    """An engine that runs: the flags of a build on it, the process that it is, and the address of its page."""

    name: str
    flags: list[str]
    process: psutil.Process | None = None
    address: str = ""
    events: str = ""
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))


def main() -> None:
    """Build on each engine, and print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gigabytes", type=float, default=0.25, metavar="N", help="of XML to be made")
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="builds of each kind on each engine")
    parser.add_argument("--engines", nargs="+", choices=ENGINES, default=list(ENGINES), metavar="NAME")
    parser.add_argument("--folder", help="where to build; the XML there is kept (default: a temporary folder)")
    flags = parser.parse_args()
    dumps = sorted((DATA / "wikipedia").glob("*-pages-articles*.xml.bz2"))
    if not dumps:
        sys.exit(f"no dump below {DATA}; set BERTDATA_DATA to a folder with wikipedia/")
    work = Path(flags.folder or tempfile.mkdtemp(prefix="bertdata-benchmark-"))
    path = work / f"wiki-{flags.gigabytes:g}.xml"
    try:
        if not path.exists():
            write_xml(dumps[0], path, int(flags.gigabytes * 1e9), compress=False)
        rows: list[list[str]] = []
        of_spark: list[list[str]] = []
        local: tuple[float, float] | None = None
        build(Engine("local", ["--workers", "2"]), work / "corpus", "--wikipedia", str(path))
        for name in flags.engines:
            with running(name, work) as engine:
                small, _, _ = quickest([build(engine, work / "corpus") for _ in range(flags.rounds)])
                began = time.time()
                builds = [build(engine, work / "corpus", "--wikipedia", str(path)) for _ in range(flags.rounds)]
                whole, digest, sent = quickest(builds)
                if engine.events:
                    jobs = [job for job in applications(engine.events) if job.began > began]
                    of_spark = rows_of_spark(jobs, flags.rounds)
            beyond = whole.seconds - small.seconds, whole.processor - small.processor
            local = beyond if name == "local" else local
            rows.append([*row(name, small, whole, local, sent, path.stat().st_size), digest])
            print(rows[-1], file=sys.stderr, flush=True)
    finally:
        if not flags.folder:
            shutil.rmtree(work)
    rounds = counted(flags.rounds, "round")
    print(f"{flags.gigabytes:g} GB of XML, two workers each, {rounds}; {machine()}, {os.cpu_count()} cores.\n")
    print(table(HEAD, rows))
    if of_spark:
        print(f"\nSpark's jobs:\n\n{table(HEAD_OF_SPARK, of_spark)}")


def quickest(builds: list[Built]) -> Built:
    """Return the build of the least time by the clock; ends where their shards differ."""
    if len({digest for _, digest, _ in builds}) > 1:
        sys.exit(f"the same build has other shards: {builds}")
    return min(builds, key=lambda built: built[0].seconds)


def row(
    name: str, small: Used, whole: Used, local: tuple[float, float] | None, sent: int | None, size: int
) -> list[str]:
    """Return the cells of an engine, but for the digest.

    >>> row("flink", Used(30, 40, 1, 1), Used(90, 100, 10**6, 10**6), (40, 50), 10**5, 10**8)[4:9]
    ['1.50', '40.0', '60.0', '1.20', '1 MB']
    """
    seconds, processor = whole.seconds - small.seconds, whole.processor - small.processor
    times = ["", ""]
    if local:
        times = [f"{mine / theirs:.2f}" for mine, theirs in zip((seconds, processor), local, strict=True)]
    return [
        name,
        f"{small.seconds:.1f}",
        f"{whole.seconds:.1f}",
        f"{seconds:.1f}",
        times[0],
        f"{small.processor:.1f}",
        f"{processor:.1f}",
        times[1],
        f"{whole.largest / 1e6:,.0f} MB",
        f"{whole.together / 1e6:,.0f} MB",
        "" if sent is None else f"{sent / 1e6:.2f} MB",
        "" if sent is None else f"{sent / size:.4%}",
    ]


@contextlib.contextmanager
def running(name: str, work: Path) -> Iterator[Engine]:
    """Start an engine, and end it when the context is left."""
    if name == "local":
        yield Engine(name, ["--workers", "2"])
        return
    said: list[str] = []
    with subprocess.Popen(
        [ROOT / "scripts" / "engines", name, "--cached"], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            for line in process.stdout:
                said.append(line.strip())
                if line.startswith("bertdata build"):
                    break
            else:
                sys.exit(f"{name} does not start")
            flags = ["--", *shlex.split(said[-1].partition(" -- ")[2])]
            address = next((word for word in said[0].split() if word.startswith(("http://127", "tcp://"))), "")
            engine = Engine(name, flags, psutil.Process(process.pid), address)
            if name == "spark":
                engine.events = tempfile.mkdtemp(prefix="events-", dir=work)
                options = f"-Dspark.eventLog.enabled=true -Dspark.eventLog.dir=file://{engine.events}"
                engine.environment["JAVA_TOOL_OPTIONS"] = options
            yield engine
        finally:
            process.terminate()


def build(engine: Engine, output: Path, *sources: str) -> Built:
    """Build from nothing; returns what it took, the shards' digest, and the bytes that the engine sent."""
    shutil.rmtree(output, ignore_errors=True)
    before = sent(engine)
    command = [sys.executable, "-m", "bertdata", "build", *sources, "--output", str(output), "--quiet", *engine.flags]
    began = time.monotonic()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdout=said, stderr=subprocess.STDOUT, env=engine.environment)
        used = watch([root for root in (engine.process, psutil.Process(process.pid)) if root], process)
        used.seconds = time.monotonic() - began
        if process.returncode:
            said.seek(0)
            sys.exit(f"{shlex.join(command)} failed:\n{said.read().decode()}")
    digest = hashlib.sha256()
    for shard in sorted(output.glob("*/data-*.arrow")):
        digest.update(shard.read_bytes())
    now = sent(engine)
    return used, digest.hexdigest()[:10], None if now is None or before is None else now - before


def watch(roots: list[psutil.Process], process: subprocess.Popen[bytes]) -> Used:
    """Wait for a process; returns what the roots and all that they start take meanwhile.

    The processor time of a process that has ended is that of its last look.
    """
    used, first, last = Used(), dict[tuple[int, float], float](), dict[tuple[int, float], float]()
    ended = threading.Event()

    def wait() -> None:
        process.wait()
        ended.set()

    threading.Thread(target=wait, daemon=True).start()
    began = time.time()
    while True:
        is_last, sizes = ended.is_set(), []
        for root in roots:
            with contextlib.suppress(psutil.Error):
                for member in [root, *root.children(recursive=True)]:
                    with contextlib.suppress(psutil.Error):
                        times, key = member.cpu_times(), (member.pid, member.create_time())
                        first.setdefault(key, times.user + times.system if key[1] < began - 1 else 0.0)
                        last[key] = times.user + times.system
                        sizes.append(member.memory_info().rss)
        used.largest, used.together = max([used.largest, *sizes]), max(used.together, sum(sizes))
        if is_last:
            used.processor = sum(seconds - first[key] for key, seconds in last.items())
            return used
        ended.wait(0.2)


def sent(engine: Engine) -> int | None:
    """Return the bytes that an engine counts as sent between tasks so far, None where it counts none."""
    if engine.name == "flink":
        jobs = [job["jid"] for job in page(f"{engine.address}/jobs/overview")["jobs"]]
        vertices = [vertex for job in jobs for vertex in page(f"{engine.address}/jobs/{job}")["vertices"]]
        return int(sum(vertex["metrics"]["write-bytes"] for vertex in vertices))
    if engine.name == "spark":
        lines = (line for file in event_files(engine.events) for line in file.open())
        ends = [json.loads(line) for line in lines if '"SparkListenerTaskEnd"' in line]
        metrics = [end.get("Task Metrics") or {} for end in ends]
        return sum(int(metric.get("Shuffle Write Metrics", {}).get("Shuffle Bytes Written", 0)) for metric in metrics)
    if engine.name == "dask":
        from distributed import Client

        with Client(engine.address, set_as_default=False) as client:
            counts = client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)
        return int(sum(counts.values()))
    return None


def page(url: str) -> Any:
    """Return what an address answers in JSON."""
    with urllib.request.urlopen(url, timeout=30) as answer:
        return json.load(answer)


if __name__ == "__main__":
    main()
