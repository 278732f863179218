"""Mutation testing: change one place of a module at random and see whether a test fails.

Run: python scripts/mutate.py [MODULE ...] [--seed 1] [--number 100]; by default the pure layer
     python scripts/mutate.py --at bertdata/shards/schema.py:120   (every mutation of one line)

It works on a copy of the tree. A mutant is tried by the tests that enter the changed function, in the files that mirror
its module or are the nearest to import it (of a kernel, what imports it), and by its doctests, nearest and fastest
first, until one fails. Where all pass it survived: either an assertion is missing, or the change makes no difference.
Those that make none are in scripts/equivalent_mutants.txt with the reason, and do not count. Kernels run as plain
Python, and what survives that is compiled; in other modules the kernels are compiled first, and plain Python, which
checks the bounds of arrays, comes second. With `--most 15` a hundred take a few minutes; a survivor is then to be tried
again, by `--at`.

mutmut puts a function in front of each that it changes, which numba does not compile, and leaves constants of modules
alone; cosmic-ray starts a new pytest for each mutant, and finds `pipelines` and `vocab`, which lie outside the folder
of the package, in the tree that is installed.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from types import FrameType
from typing import Any

import hypothesis
import nltk  # noqa: F401 - what is imported here need not be for each mutant
import numba.core.config
import pytest
import tokenizers  # noqa: F401
from mutations import Finder, Mutation

ROOT = Path(__file__).resolve().parents[1]
EQUIVALENT = ROOT / "scripts" / "equivalent_mutants.txt"
NOT_PURE = ("bertdata/torch", "bertdata/beam", "bertdata/cli/main.py", "bertdata/__main__.py", "bertdata/sample")
MEMORY_LIMIT = 8 << 30
NOT_PURE_TESTS = ("tests/torch", "tests/beam", "tests/pipelines", "tests/cli/test_main.py")
SLOWEST_AS_PYTHON = 20  # seconds a test may take with kernels that are not compiled


class Recorder:
    """Record for each test how long it takes, whether it passes and which functions of some files it enters."""

    def __init__(self, tree: Path, paths: Iterable[str]) -> None:
        """Watch these files of a tree."""
        self.paths = {str(tree / path): path for path in paths}
        self.tests: dict[str, dict[str, Any]] = {}
        self.fixtures: dict[str, set[tuple[str, int]]] = {}
        self.entered = set[tuple[str, int]]()

    def trace(self, frame: FrameType, event: str, argument: Any) -> None:
        """Note a call."""
        path = self.paths.get(frame.f_code.co_filename)
        if path:
            self.entered.add((path, frame.f_code.co_firstlineno))

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Watch one test."""
        self.entered, before = set(), time.process_time()
        self.tests[item.nodeid] = {"passed": True}
        sys.settrace(self.trace)
        threading.settrace(self.trace)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            for name in getattr(item, "fixturenames", ()):
                self.entered |= self.fixtures.get(name, set())
            seconds = time.process_time() - before
            self.tests[item.nodeid] |= {"seconds": seconds, "entered": sorted(self.entered)}

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Iterator[Any]:
        """Watch what is set up once for many tests, on behalf of all of them."""
        outside, self.entered = self.entered, set()
        try:
            return (yield)
        finally:
            if fixturedef.scope != "function":
                self.fixtures.setdefault(fixturedef.argname, set()).update(self.entered)
            self.entered |= outside

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a test that fails or is skipped."""
        if report.outcome != "passed":
            self.tests[report.nodeid]["passed"] = False


class Chosen:
    """Run some tests only, in a given order, and note the first that fails."""

    def __init__(self, names: Sequence[str]) -> None:
        """Take the names of tests."""
        self.place, self.failed = {name: place for place, name in enumerate(names)}, "cannot be imported"

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Choose and sort."""
        chosen = (item for item in items if item.nodeid in self.place)
        items[:] = sorted(chosen, key=lambda item: self.place[item.nodeid])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failure."""
        if report.failed:
            self.failed = report.nodeid


class Sandbox:
    """A copy of the tree, in which tests run in a fork of this process, which has imported what is slow to import."""

    def __init__(self, folder: str) -> None:
        """Copy the tree, with the machine code that numba has kept beside the sources."""
        self.tree = Path(folder) / "tree"
        ignored = shutil.ignore_patterns(".git", ".venv", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis")
        shutil.copytree(ROOT, self.tree, ignore=ignored, symlinks=True)
        phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
        hypothesis.settings.register_profile("mutate", deadline=None, derandomize=True, database=None, phases=phases)
        hypothesis.settings.load_profile("mutate")

    def run(self, files: Sequence[str], plugin: Any, *, seconds: float, python: bool, options: Sequence[str]) -> Any:
        """Return a recorder's tests, or the first that failed of those chosen, None where all passed."""
        answer = self.tree.parent / "answer.json"
        answer.unlink(missing_ok=True)
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            self._child(files, plugin, answer, seconds, python, options)
        end = time.monotonic() + 10 * seconds + 60
        while not (done := os.waitpid(child, os.WNOHANG))[0] and time.monotonic() < end:
            time.sleep(0.05)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # what the tests left behind
        if not done[0]:
            os.waitpid(child, 0)
        return json.loads(answer.read_text()) if answer.exists() else "does not end, or ends the process"

    def _child(self, files: Any, plugin: Any, answer: Path, seconds: float, python: bool, options: Any) -> None:
        try:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (int(seconds) + 1, int(seconds) + 10))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.chdir(self.tree)
            temporary = self.tree.parent / "tmp"
            temporary.mkdir(exist_ok=True)
            os.environ |= {"PYTHONPATH": str(self.tree), "TMPDIR": str(temporary), "PYTHONDONTWRITEBYTECODE": "1"}
            os.environ["NUMBA_DISABLE_JIT"] = str(int(python))
            numba.core.config.reload_config()
            sys.path[0], sys.dont_write_bytecode, tempfile.tempdir = str(self.tree), True, None
            with (self.tree.parent / "log").open("w", encoding="utf-8") as log:
                os.dup2(log.fileno(), 1)
                os.dup2(log.fileno(), 2)
            quiet = ["-q", "-m", "not slow", "-p", "no:cacheprovider", f"--basetemp={temporary / 'pytest'}"]
            quiet += ["-W", "ignore::pytest.PytestAssertRewriteWarning", "--doctest-modules"]
            code = pytest.main([*files, *quiet, *options], plugins=[plugin])
            result = plugin.tests if isinstance(plugin, Recorder) else plugin.failed if code else None
            answer.write_text(json.dumps(result))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(0)

    def change(self, mutation: Mutation | None, path: str) -> None:
        """Put a mutation, or the original with its time, into the copy."""
        if mutation:
            (self.tree / path).write_bytes(mutation.mutated)
        else:
            shutil.copy2(ROOT / path, self.tree / path)


class Imports:
    """Which modules of this package a file imports."""

    def __init__(self) -> None:
        """Start with nothing read."""
        self.read: dict[str, set[str]] = {}

    def of(self, path: str) -> set[str]:
        """Return the paths of what a file imports, with what the packages and helpers of tests it imports do."""
        if path not in self.read:
            self.read[path] = set()
            names = set()
            for node in ast.walk(ast.parse((ROOT / path).read_bytes())):
                if isinstance(node, ast.ImportFrom) and node.module:
                    names |= {node.module, *(f"{node.module}.{alias.name}" for alias in node.names)}
                elif isinstance(node, ast.Import):
                    names |= {alias.name for alias in node.names}
            places = [
                name.replace(".", "/") for name in names if name.split(".")[0] in ("bertdata", "pipelines", "tests")
            ]
            imported = {
                path for place in places for path in (f"{place}.py", f"{place}/__init__.py") if (ROOT / path).is_file()
            }
            if path.startswith("tests/") and (ROOT / path).with_name("conftest.py").is_file():
                imported.add(str(Path(path).with_name("conftest.py")))
            through = (path for path in imported if path.endswith("__init__.py") or path.startswith("tests/"))
            self.read[path] = imported.union(*(self.of(path) for path in through))
        return self.read[path]

    def rank(self, module: str, test: str) -> int:
        """Return how near a file of tests is: 0 mirrors a module, 1 imports it, 2 imports an importer, to 9."""
        folder, name = os.path.split(module)
        if test in (module, f"{folder.replace('bertdata', 'tests', 1)}/test_{name}"):
            return 0
        seen = near = {path for path in self.of(test) if path.startswith(("bertdata/", "pipelines/"))}
        for rank in range(1, 9):
            if module in near:
                return rank
            near = set[str]().union(*map(self.of, near)) - seen
            seen = seen | near
        return 9


class Tests:
    """The tests of some modules: how they fare without a mutation, and which of them concern one."""

    def __init__(
        self, sandbox: Sandbox, modules: Sequence[str], thorough: bool, given: Sequence[str], most: int
    ) -> None:
        """Run the tests of all the modules once: those of files given, else of those near them."""
        self.sandbox, self.thorough, self.most, self.imports = sandbox, thorough, most, Imports()
        files = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py"))
        files = [path for path in files if thorough or not path.startswith(NOT_PURE_TESTS)]
        self.kernels = {module for module in modules if self.is_kernel(module)}
        self.ranks: dict[tuple[str, str], int] = {}
        for module in modules:
            ranks = {test: self.imports.rank(module, test) for test in [*(given or files), module]}
            least = 2 if thorough or given or module in self.kernels else 1  # kernels lie behind a function
            nearest = max(least, min(rank for test, rank in ranks.items() if test != module))
            self.ranks |= {(module, test): rank for test, rank in ranks.items() if rank <= nearest}
        self.compiled = self.record(modules, False)
        self.python: dict[str, dict[str, dict[str, Any]]] = {}

    def is_kernel(self, module: str) -> bool:
        """Return whether a module is compiled, or imported by one that is."""
        kernels = [path for path in (ROOT / "bertdata").rglob("*.py") if "kernel" in str(path.relative_to(ROOT))]
        line = f"from {module.removesuffix('.py').replace('/', '.')} import"
        return ROOT / module in kernels or any(line in path.read_text(encoding="utf-8") for path in kernels)

    def record(self, modules: Sequence[str], python: bool) -> dict[str, dict[str, Any]]:
        """Return the record of each test that is near one of the modules."""
        files = sorted({test for module, test in self.ranks if module in modules})
        limit = [f"--timeout={SLOWEST_AS_PYTHON if python else 300}"]
        tests: Any = self.sandbox.run(
            files, Recorder(self.sandbox.tree, modules), seconds=3600, python=python, options=limit
        )
        if not isinstance(tests, dict) or not tests:
            log = (self.sandbox.tree.parent / "log").read_text(encoding="utf-8")
            raise SystemExit(f"{log[-4000:]}\nthe tests do not run without a mutation: {tests or 'none was collected'}")
        failed = [name for name, outcome in tests.items() if not outcome["passed"]]
        print(f"{len(tests)} tests of {len(files)} files, {len(failed)} of them skipped or failed without a mutation")
        return tests

    def kill(self, mutation: Mutation) -> tuple[str | None, int]:
        """Return which test kills a mutant, None if none does, and how many were tried."""
        tried = 0
        for python in [mutation.path in self.kernels, mutation.path not in self.kernels]:
            if python and mutation.path not in self.python:
                self.python[mutation.path] = self.record([mutation.path], True)
            names = self.concerned(mutation, python)
            files = list(dict.fromkeys(name.split("::")[0] for name in names))
            tests = self.python[mutation.path] if python else self.compiled
            seconds = 30 + 3 * sum(tests[name]["seconds"] for name in names) + 300 * (mutation.path in self.kernels)
            tried += len(names)
            if not names:
                continue
            self.sandbox.change(mutation, mutation.path)
            try:
                killer = self.sandbox.run(files, Chosen(names), seconds=seconds, python=python, options=["-x"])
            finally:
                self.sandbox.change(None, mutation.path)
            if killer:
                return killer, tried
        return None, tried

    def concerned(self, mutation: Mutation, python: bool) -> list[str]:
        """Return the tests to run, the nearest first: those that enter the function, or all near the module."""
        tests = self.python[mutation.path] if python else self.compiled
        traced = self.python[mutation.path] if mutation.path in self.kernels else self.compiled
        chosen = []
        for name, outcome in tests.items():
            near = self.ranks.get((mutation.path, name.split("::")[0]))
            entered = [tuple(pair) for pair in traced.get(name, {}).get("entered", ())]
            into = any(path == mutation.path and mutation.function in (None, line) for path, line in entered)
            if outcome["passed"] and near is not None:
                chosen.append((not into, near, outcome["seconds"], name))
        entering = [one for one in chosen if not one[0]]  # none enters what runs when the module is imported
        if entering and not self.thorough and mutation.function is not None:
            chosen = entering
        return [name for *_, name in sorted(chosen)][: self.most or None]


def known() -> set[tuple[str, ...]]:
    """Return the mutants that make no difference: path, line before, line after."""
    lines = EQUIVALENT.read_text(encoding="utf-8").splitlines() if EQUIVALENT.is_file() else []
    lines = [line for line in lines if line and not line.startswith("#")]
    return {(a, b.removeprefix("- "), c.removeprefix("+ ")) for a, b, c in zip(*[iter(lines)] * 3, strict=True)}


def mutations(modules: Sequence[str]) -> list[Mutation]:
    """Return all mutations of some modules."""
    return [mutation for path in modules for mutation in Finder(path, (ROOT / path).read_bytes()).found]


def main() -> int:
    """Sample mutations, run their tests and print the survivors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="files or folders; default: the pure layer")
    parser.add_argument("--seed", type=int, default=1, help="which mutations are drawn")
    parser.add_argument("--number", type=int, default=100, help="how many mutations are drawn")
    parser.add_argument("--at", nargs="+", default=[], metavar="FILE:LINE", help="try every mutation of these lines")
    parser.add_argument("--tests", nargs="+", default=[], metavar="FILE", help="use the tests of these files only")
    parser.add_argument("--thorough", action="store_true", help="use every test near the module, also of pipelines")
    parser.add_argument("--most", type=int, default=0, help="how many tests are tried for each mutant (default: all)")
    options = parser.parse_args()
    places = [place.rpartition(":")[::2] for place in options.at]
    if options.at:
        paths = sorted({path for path, _ in places})
    else:
        roots = [ROOT / path for path in options.modules or ["bertdata"]]
        files = [path for path in roots for path in (sorted(path.rglob("*.py")) if path.is_dir() else [path])]
        paths = [str(path.relative_to(ROOT)) for path in files]
        paths = paths if options.modules else [path for path in paths if not path.startswith(NOT_PURE)]
    every, equivalent = mutations(paths), known()
    if options.at:
        at = (mutation for mutation in every if (mutation.path, str(mutation.line)) in places)
        chosen = [mutation for mutation in at if mutation.differs()]
    else:
        random.Random(options.seed).shuffle(every)
        chosen = list(islice((mutation for mutation in every if mutation.differs()), options.number))
    print(f"{len(chosen)} of {len(every)} mutations of {len(paths)} modules, seed {options.seed}", flush=True)
    ends: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="mutate-") as folder:
        tests = Tests(
            Sandbox(folder),
            sorted({mutation.path for mutation in chosen}),
            options.thorough,
            options.tests,
            options.most,
        )
        for mutation in sorted(chosen, key=lambda mutation: (mutation.path, mutation.start)):
            before, after = mutation.lines()
            if (mutation.path, before, after) in equivalent:
                ends["equivalent"] += 1
                continue
            killer, tried = tests.kill(mutation)
            ends["killed" if killer else "survived"] += 1
            title = f"killed by {killer}" if killer else f"SURVIVED {tried} tests"
            print(f"\n{mutation.path}:{mutation.line} {title}\n- {before}\n+ {after}", flush=True)
    matter = ends["killed"] + ends["survived"]
    share = 100 * ends["killed"] / max(1, matter)
    print(
        f"\n{matter} mutants that matter, {ends['killed']} killed ({share:.1f}%), {ends['survived']} survived, ", end=""
    )
    print(f"{ends['equivalent']} make no difference; repeat with --seed {options.seed} --number {options.number}")
    return 1 if ends["survived"] else 0


if __name__ == "__main__":
    sys.exit(main())
