"""What benchmarks share: an environment for the peers, interleaved rounds on one core, a Markdown table with ratios.

A contestant is a process that prints one JSON line when it is ready, and then one for each line of its input. So the
rounds of all contestants alternate in one run, on the same core, each with its imports and caches warm.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import venv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get("BERTDATA_DATA") or ROOT.parent / "shared" / "data")
"""Where real dumps, books and vocabularies are looked for."""
ENVIRONMENTS = "BERTDATA_BENCHMARK_ENVIRONMENTS"
"""The environment variable with a file that gets the versions of the peers, a JSON object a line."""
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bertdata-benchmarks"


def environment_of(name: str, requirements: Sequence[str], *, pip_flags: Sequence[str] = ()) -> Path:
    """Return the Python of a virtual environment with these packages, made once in the cache folder."""
    tag = hashlib.sha256(json.dumps([list(requirements), sys.version, list(pip_flags)]).encode()).hexdigest()[:12]
    folder = CACHE / f"{name}-{tag}"
    python = folder / "bin" / "python"
    if not (folder / "whole").exists():
        print(f"making the environment of {name} in {folder}", file=sys.stderr, flush=True)
        uv = None if pip_flags else shutil.which("uv")  # links files of its cache, where pip copies gigabytes
        venv.create(folder, with_pip=uv is None, clear=True)
        command = [uv, "pip", "install", "--python"] if uv else []
        command += [str(python), *([] if uv else ["-m", "pip", "install", *pip_flags])]
        subprocess.run([*command, "--quiet", *requirements], check=True)
        (folder / "whole").touch()
    if os.environ.get(ENVIRONMENTS):
        with open(os.environ[ENVIRONMENTS], "a") as file:
            file.write(json.dumps(versions(python, requirements)) + "\n")
    return python


def versions(python: Path, requirements: Sequence[str]) -> dict[str, str]:
    """Return the versions of required packages that an environment holds, by their names."""
    names = [re.split(r"[^\w.-]", requirement, maxsplit=1)[0] for requirement in requirements]
    ask = "import importlib.metadata as m, json, sys; print(json.dumps({n: m.version(n) for n in sys.argv[1:]}))"
    done = subprocess.run([python, "-c", ask, *names], check=True, stdout=subprocess.PIPE, text=True)
    versions_there: dict[str, str] = json.loads(done.stdout)
    return versions_there


def processor_seconds(command: Sequence[str | Path], stdout: int = subprocess.DEVNULL) -> tuple[float, bytes]:
    """Return the processor seconds of a command with those of its processes, and what it printed to a pipe."""
    before = os.times()
    done = subprocess.run(command, check=True, stdout=stdout, cwd=ROOT)
    after = os.times()
    used = after.children_user + after.children_system - before.children_user - before.children_system
    return used, done.stdout or b""


class Contestant:
    """A process that measures one way of doing the work; `first` is what it said when it was ready."""

    def __init__(self, command: Sequence[str | Path], core: int) -> None:
        names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS")
        quiet = {"TOKENIZERS_PARALLELISM": "false", "HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1"}
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115
        self._process = subprocess.Popen(
            [*map(str, command)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            text=True,
            env=os.environ | dict.fromkeys(names, "1") | quiet,
        )
        os.sched_setaffinity(self._process.pid, {core})
        self.first = self._answer()

    def round(self) -> dict[str, Any]:
        """Let it do one round of the work, and return what it says of it."""
        assert self._process.stdin is not None
        self._process.stdin.write("go\n")
        self._process.stdin.flush()
        return self._answer()

    def end(self) -> None:
        """Close its input, wait for it, and close its output."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._errors.close()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._errors.seek(0)
            sys.exit(f"a contestant ended early:\n{self._errors.read().decode()}")
        answer: dict[str, Any] = json.loads(line)
        return answer


def interleaved(contestants: Mapping[str, Contestant], rounds: int) -> dict[str, list[dict[str, Any]]]:
    """Run rounds of all contestants in turn and return what each said."""
    said: dict[str, list[dict[str, Any]]] = {name: [] for name in contestants}
    for _ in range(rounds):
        for name, contestant in contestants.items():
            said[name].append(contestant.round())
    return said


def median(answers: Sequence[Mapping[str, Any]], key: str) -> float:
    """Return the median of a figure over rounds."""
    return statistics.median(float(answer[key]) for answer in answers)


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table, its first column to the left and the others to the right."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def machine() -> str:
    """Return the name of the processor and how many of it there are."""
    try:
        text = Path("/proc/cpuinfo").read_text()
    except OSError:
        text = ""
    names = [line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name")]
    return f"{os.cpu_count()} x {names[0] if names else platform.processor() or platform.machine()}"
