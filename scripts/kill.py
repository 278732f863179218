"""Kill builds and pretraining runs at random moments, run them again, and compare with undisturbed runs.

Run: python scripts/kill.py [--kills 200] [--seed 0] [--what build workers pretrain] [--keep FOLDER]

A kill is SIGKILL to the process group, to the main process alone or to one of its workers, SIGTERM or SIGINT to the
group, at a moment drawn from the seed. After up to five kills the same command runs to its end. Checked each time: no
traceback on stderr, no process left; after SIGINT, no temporary folder left; after the last run every file of the build
(every weight of the model) has the bytes of the undisturbed run, and there is no temporary file, lock or failure.
The exit code is 1 if any check fails.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

KINDS = ("SIGKILL group", "SIGKILL main", "SIGKILL worker", "SIGTERM group", "SIGINT group")
WHAT = ("build", "workers", "documents", "again", "stages", "pretrain")
GRACE = 60.0
LEFTOVER = re.compile(r"\.bertdata-tmp-|\.failure$|\.part$|\.lock$")
TIMES = re.compile(rb'"seconds": ?[0-9.e-]+')
TEST_DATA = "The ninth was cracked and rang hollow.\n"  # a sentence of the sample corpus
MAIN = "from bertdata.__main__ import main; main()"


def session_of(process: int) -> int | None:
    """Return the session of a process, None where it is gone or a zombie."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if state[0] == "Z" else int(state[3])


def processes_of(session: int) -> list[int]:
    """Return the processes of a session that are alive."""
    numbers = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [number for number in numbers if session_of(number) == session]


@dataclass
class Job:
    """A command to kill: its arguments, and which files must have the bytes of an undisturbed run."""

    name: str
    arguments: list[str]
    pattern: str
    seconds: float = 0.0
    usual: set[str] = field(default_factory=set)
    """The temporary files that an undisturbed run leaves: caches of torch."""
    wanted: dict[str, str] = field(default_factory=dict)
    again: int = 0
    """How many parts of documents an undisturbed run makes whose texts are read again from their source."""

    def parts_read_again(self, output: str) -> int:
        """Return how many parts of documents of an output have no texts."""
        return sum(b'"rows_of"' in record.read_bytes() for record in Path(output, "stages").rglob("*.json"))

    def digests(self, output: str) -> dict[str, str]:
        """Return the SHA-256 of each file of an output whose name matches, seconds in manifests left out."""
        actual = {}
        for path in sorted(Path(output).rglob("*")):
            name = str(path.relative_to(output))
            if path.is_file() and re.fullmatch(self.pattern, name):
                actual[name] = hashlib.sha256(TIMES.sub(b"", path.read_bytes())).hexdigest()
        return actual


class Killer:
    """Runs jobs in a working folder, kills them, and collects what went wrong."""

    def __init__(self, folder: str, seed: int) -> None:
        self.folder, self.draw = folder, random.Random(seed)
        self.faults: list[str] = []
        self.met: Counter[str] = Counter()
        self.temporary = os.path.join(folder, "tmp")
        self.session = 0

    def start(self, job: Job, output: str) -> tuple[subprocess.Popen[bytes], str]:
        """Start a job in a session and with a folder for temporary files of its own."""
        shutil.rmtree(self.temporary, ignore_errors=True)
        os.makedirs(self.temporary)
        log = os.path.join(self.folder, "log")
        with open(log, "wb") as file:
            process = subprocess.Popen(
                [sys.executable, "-c", MAIN, *job.arguments, "--output", output],
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                env=os.environ | {"TMPDIR": self.temporary, "OMP_NUM_THREADS": "1"},  # threads that spin wait long
                start_new_session=True,
            )
        self.session = process.pid
        return process, log

    def temporaries(self, job: Job) -> list[str]:
        """Return the temporary files that an undisturbed run does not leave."""
        return sorted(set(os.listdir(self.temporary)) - job.usual)

    def close(self) -> None:
        """End what still runs, where this script itself is interrupted."""
        for number in processes_of(self.session) if self.session else []:
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)

    def fault(self, job: Job, what: str, log: str) -> None:
        """Note what went wrong, with the end of the log."""
        log_end = Path(log).read_text(errors="replace")[-2000:]
        self.faults.append(f"{job.name}: {what}\n{log_end}")
        print(f"FAULT {self.faults[-1]}", flush=True)

    def check_log(self, job: Job, what: str, log: str) -> None:
        """Note a traceback in a log, but for that of Python itself where it is interrupted before it runs anything."""
        log_text = Path(log).read_text(errors="replace")
        if "Traceback (most recent call last)" in log_text and "Fatal Python error: init_import_site" not in log_text:
            self.fault(job, f"{what}: a traceback", log)

    def end(self, job: Job, process: subprocess.Popen[bytes], what: str, log: str) -> int | None:
        """Wait for a process and those it started; note those that stay, and end them."""
        most = GRACE + 20 * (job.seconds or GRACE)
        try:
            code: int | None = process.wait(most)
        except subprocess.TimeoutExpired:
            code = None
            self.fault(job, f"{what}: still running after {most:.0f} s", log)
        until = time.monotonic() + GRACE
        while (left := processes_of(process.pid)) and time.monotonic() < until:
            time.sleep(0.1)
        if left:
            self.fault(job, f"{what}: {len(left)} processes stay", log)
            for number in left:
                os.kill(number, signal.SIGKILL)
        process.wait()
        return code

    def undisturbed(self, job: Job) -> None:
        """Run a job to its end for the bytes that every other run must give, and for how long it takes."""
        for place in ("first", "whole"):  # the first compiles kernels
            began = time.monotonic()
            output = os.path.join(self.folder, f"{job.name}-{place}")
            process, log = self.start(job, output)
            if self.end(job, process, "undisturbed", log) != 0:
                self.fault(job, f"undisturbed: ended with {process.returncode}", log)
                raise SystemExit(1)
            job.seconds, actual = time.monotonic() - began, job.digests(output)
            job.usual |= set(os.listdir(self.temporary))
            if place == "whole" and actual != job.wanted:
                self.fault(job, "two undisturbed runs differ", log)
            if (parts := job.parts_read_again(output)) != job.again:
                self.fault(job, f"{parts} parts are read again from their source, not {job.again}", log)
            job.wanted = actual
        print(f"{job.name}: {len(job.wanted)} files in {job.seconds:.1f} s undisturbed", flush=True)

    def kill(self, job: Job, output: str, kind: str, before: int) -> bool:
        """Start a job that was killed some times before and kill it; tells whether it was still running."""
        fresh, began = not os.path.exists(output), time.monotonic()
        process, log = self.start(job, output)
        moment = self.draw.uniform(0, 1.1 * job.seconds / (1 + before))  # what is done already takes no time
        place = self.draw.random()
        try:
            process.wait(moment)
        except subprocess.TimeoutExpired:
            pass
        else:
            if fresh:  # the machine has less to do than it had: the next moment is drawn from a shorter time
                job.seconds = time.monotonic() - began
            return False
        what = f"{kind} after {moment:.2f} s"
        workers = [number for number in processes_of(process.pid) if number != process.pid]
        if kind == "SIGKILL worker" and not workers:
            kind = "SIGKILL group"
        try:
            if kind == "SIGKILL worker":
                os.kill(workers[int(place * len(workers))], signal.SIGKILL)
            elif kind == "SIGKILL main":
                os.kill(process.pid, signal.SIGKILL)
            else:
                os.killpg(process.pid, getattr(signal, kind.split()[0]))
        except ProcessLookupError:
            return False
        finally:
            code = self.end(job, process, what, log)
        self.met[f"{job.name}, {kind}: ended with {code}"] += 1
        self.check_log(job, what, log)
        if kind == "SIGINT group" and (left := self.temporaries(job)):
            self.fault(job, f"{what}: temporary files stay: {', '.join(left[:5])}", log)
        return True

    def round(self, job: Job, number: int, most: int) -> int:
        """Kill one output up to five times, then let the job finish, and compare; returns the number of kills."""
        output = os.path.join(self.folder, f"{job.name}-killed")
        shutil.rmtree(output, ignore_errors=True)
        kills = 0
        for _ in range(min(self.draw.randint(1, 5), most)):
            kills += self.kill(job, output, KINDS[(number + kills) % len(KINDS)], kills)
        began = time.monotonic()
        process, log = self.start(job, output)
        code = self.end(job, process, "the run after kills", log)
        job.seconds = max(job.seconds, time.monotonic() - began)
        self.check_log(job, "the run after kills", log)
        if code != 0:
            self.fault(job, f"the run after kills ended with {code}", log)
        actual = job.digests(output)
        for name in sorted(actual.keys() | job.wanted.keys()):
            if actual.get(name) != job.wanted.get(name):
                self.fault(job, f"{name} is not that of an undisturbed run", log)
        left = [str(path) for path in Path(output).rglob("*") if LEFTOVER.search(path.name)]
        if left := left + self.temporaries(job):
            self.fault(job, f"left behind: {', '.join(left[:5])}", log)
        return kills


def rows_to_read_again(folder: str) -> list[str]:
    """Write JSON lines, Parquet and text files so large that their texts are read again; returns their paths.

    Most bytes are in a column that is not read, and in empty lines. Both tables have some rows.
    """
    sentence, places = "Salt is a mineral. It is white, and it dissolves in water.\n", []
    for name, numbers in (("again.jsonl", range(1800)), ("again.parquet", range(1500, 2300))):
        texts = [f"Row {number} is here.\n" + sentence * (number % 60) for number in numbers]
        skipped = [random.Random(number).randbytes(10_000).hex() for number in numbers]
        columns = {"id": [str(number) for number in numbers], "text": texts, "skipped": skipped}
        places.append(os.path.join(folder, name))
        if name.endswith(".parquet"):
            pq.write_table(pa.table(columns), places[-1], row_group_size=100, compression="none")
            continue
        with open(places[-1], "w") as file:
            file.writelines(json.dumps(row) + "\n" for row in pa.table(columns).to_pylist())
    places.append(os.path.join(folder, "files"))
    os.makedirs(places[-1])
    for number in range(120):
        lines = [f"File {number} has line {line}, and the rain has not ended.\n" for line in range(60)]
        Path(places[-1], f"{number}.txt").write_text("\n".join(lines) + "\n" * 34_000)
    return places


def jobs(folder: str, what: list[str]) -> list[Job]:
    """Return the jobs to kill: builds without and with workers, of documents and with all stages, and pretraining.

    Of the documents some have their texts stored between stages, and some are read again from their source.
    """
    build = ["build", "--shard-bytes", "40000", "--max-seq-length", "64"]
    shards = r"(train|validation|tokenizer|sentences)/.*|[^/]*\.json|README\.md"
    chosen = []
    if "build" in what:
        chosen.append(Job("build", [*build, "--workers", "1"], shards))
    if "workers" in what:
        chosen.append(Job("build with workers", [*build, "--workers", "2", "--range-bytes", "20000"], shards))
    if "documents" in what:
        path, sentence = Path(folder, "rows.jsonl"), "Salt is a mineral. It is white, and it dissolves in water.\n"
        rows = [{"id": str(number), "text": sentence * (number % 60)} for number in range(900)]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        flags = ["--documents", str(path), "--vocab", "bertdata-30k-uncased"]
        flags += ["--workers", "2", "--range-bytes", "60000"]
        chosen.append(Job("build of documents", [*build, *flags], shards))
    if "again" in what:
        flags = ["--documents", *rows_to_read_again(folder), "--whole-files", "--vocab", "bertdata-30k-uncased"]
        flags += ["--dedup", "exact", "--workers", "2", "--range-bytes", "4000000", "--shard-bytes", "200000"]
        chosen.append(Job("build of documents that are read again", [*build, *flags], shards, again=16))
    if "stages" in what:
        test_data = os.path.join(folder, "test-data.txt")
        Path(test_data).write_text(TEST_DATA)
        flags = ["--workers", "2", "--range-bytes", "60000", "--shard-bytes", "120000", "--max-seq-length", "32", "64"]
        flags += ["--template-pages", "--clean", "nfc", "--filter", "gopher-repetition", "--sentences", "auto"]
        flags += ["--dedup", "near", "--dedup-spans", "sentences", "--dedup-spans-min-words", "3"]
        flags += ["--decontaminate", test_data, "--decontaminate-ngram", "5", "--decontaminate-action", "cut"]
        chosen.append(Job("build with all stages", ["build", *flags], r"(?!stages/|\.).*"))
    if "pretrain" in what:
        corpus = os.path.join(folder, "corpus")
        subprocess.run([sys.executable, "-c", MAIN, *build, "--output", corpus], check=True, stdout=subprocess.DEVNULL)
        steps = ["--config", "tiny", "--max-steps", "60", "--batch-size", "4", "--save-steps", "5", "--device", "cpu"]
        rewind = ["--on-spike", "rewind", "--spike-ratio", "1.2", "--max-rewinds", "100"]
        for name, flags in (("pretrain", []), ("pretrain and go back from spikes", rewind)):
            chosen.append(Job(name, ["pretrain", corpus, *steps, *flags], r"(.*/)?model\.safetensors"))
    return chosen


def main() -> int:
    """Kill as often as asked and print what was met; returns 1 where something went wrong."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--what", nargs="+", choices=WHAT, default=WHAT)
    parser.add_argument("--keep", metavar="FOLDER", help="work in this folder and keep it")
    flags = parser.parse_args()
    folder = flags.keep or tempfile.mkdtemp(prefix="bertdata-kill-")
    os.makedirs(folder, exist_ok=True)
    signal.signal(
        signal.SIGINT, signal.default_int_handler
    )  # behind `nohup` it is ignored, by what is started here too
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # so that what was started is ended
    killer, done, number, began = Killer(folder, flags.seed), 0, 0, time.monotonic()
    try:
        works = jobs(folder, flags.what)
        for job in works:
            killer.undisturbed(job)
        while done < flags.kills and len(killer.faults) < 20:
            done += killer.round(works[number % len(works)], done, flags.kills - done)
            number += 1
            print(f"{done} kills, {number} outputs, {len(killer.faults)} faults", flush=True)
    finally:
        killer.close()
        if not flags.keep:
            shutil.rmtree(folder, ignore_errors=True)
        for name, times in sorted(killer.met.items()):
            print(f"{times:5d}  {name}")
        print(f"{killer.met.total()} kills in {time.monotonic() - began:.0f} s: {len(killer.faults)} faults")
    return 1 if killer.faults else 0


if __name__ == "__main__":
    sys.exit(main())
