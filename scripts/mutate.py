"""Mutation testing: change one place of a module at random and see whether a test fails.

Run: python scripts/mutate.py [MODULE ...] [--seed 1] [--number 100]; by default the pure layer
     python scripts/mutate.py --at bertdata/shards/schema.py:120   (every mutation of one line)

It works on a copy of the tree. A mutant is tried by its doctests and the two nearest files of tests, which are the one
that mirrors its module and those that import it, then by the next nearest, until a test fails that passes without the
mutation. Where none does it survived: either an assertion is missing, or the change makes no difference. Those that
make none are in scripts/equivalent_mutants.txt with the reason, and do not count. Kernels are compiled; what survives
in one of them is tried again as plain Python, which checks the bounds of arrays. With `--folder` the machine code is
kept for the next run. `--most 6 --compiled` is a quick first look; what survived it is tried by more tests with
`--again` and the file of what it printed.

mutmut puts a function in front of each that it changes, which numba does not compile, and leaves constants of modules
alone; cosmic-ray starts a new pytest for each mutant, and finds `pipelines` and `vocab`, which lie outside the folder
of the package, in the tree that is installed.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import importlib
import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path

import hypothesis
import numba.core.config
import pytest
from mutations import Finder, Mutation

ROOT = Path(__file__).resolve().parents[1]
EQUIVALENT = ROOT / "scripts" / "equivalent_mutants.txt"
NOT_PURE = ("bertdata/torch", "bertdata/beam", "bertdata/cli/main.py", "bertdata/__main__.py", "bertdata/sample")
MEMORY_LIMIT = 8 << 30
NOT_PURE_TESTS = ("tests/torch", "tests/beam", "tests/pipelines", "tests/cli/test_main.py")
IMPORTED_ONCE = ("apache_beam", "datasets", "nltk", "pandas", "pyarrow.parquet", "tokenizers", "torch", "transformers")
SLOWEST, SLOWEST_AS_PYTHON = 60, 8  # seconds of the processor that a test may take, and without compiled kernels
MOST_WAITED = 3600  # seconds for the tests of a mutant
IMPORT, NO_TESTS = "cannot be imported", pytest.ExitCode.NO_TESTS_COLLECTED


class FirstFailure:
    """Run tests to the first that fails, and note which. One that takes too long fails; as plain Python it is skipped.

    What counts is time of the processor: the clock on the wall says little on a busy machine.
    """

    def __init__(self, only: str = "", leave_out: Collection[str] = (), *, python: bool = False) -> None:
        """Take the test to run, or those to leave out."""
        self.only, self.leave_out, self.python = only, leave_out, python
        self.failed = IMPORT

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Choose."""
        items[:] = [item for item in items if item.nodeid == (self.only or item.nodeid) not in self.leave_out]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Watch one test."""
        seconds = SLOWEST_AS_PYTHON if self.python else SLOWEST
        end = pytest.skip if self.python else pytest.fail
        signal.signal(signal.SIGPROF, lambda *_: end(f"over {seconds} s of the processor"))
        signal.setitimer(signal.ITIMER_PROF, seconds)
        used = resource.getrusage(resource.RUSAGE_SELF)
        most = int(used.ru_utime + used.ru_stime) + seconds + 20  # ends machine code too
        resource.setrlimit(resource.RLIMIT_CPU, (most, resource.RLIM_INFINITY))
        try:
            return (yield)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note a failure."""
        if report.failed:
            self.failed = report.nodeid


class Sandbox:
    """A copy of the tree, in which tests run in a fork of this process, which has imported what is slow to import."""

    def __init__(self, folder: str) -> None:
        """Copy the tree into a folder, where an earlier copy is replaced."""
        self.tree = Path(folder) / "tree"
        shutil.rmtree(self.tree, ignore_errors=True)
        ignored = shutil.ignore_patterns(".git", ".venv", ".mypy_cache", ".ruff_cache", ".pytest_cache", ".hypothesis")
        shutil.copytree(ROOT, self.tree, ignore=ignored, symlinks=True)
        phases = (hypothesis.Phase.explicit, hypothesis.Phase.generate)
        hypothesis.settings.register_profile("mutate", deadline=None, derandomize=True, database=None, phases=phases)
        hypothesis.settings.load_profile("mutate")
        for name in IMPORTED_ONCE:  # not for each mutant
            with contextlib.suppress(ImportError):
                importlib.import_module(name)

    def run(self, files: Sequence[str], plugin: FirstFailure) -> str | None:
        """Return the first test that fails in these files, None where all pass."""
        answer = self.tree.parent / "answer.json"
        answer.unlink(missing_ok=True)
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            self._child(files, plugin, answer)
        end = time.monotonic() + MOST_WAITED
        while not (done := os.waitpid(child, os.WNOHANG))[0] and time.monotonic() < end:
            time.sleep(0.05)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(child, signal.SIGKILL)  # what the tests left behind
        if not done[0]:
            os.waitpid(child, 0)
        return json.loads(answer.read_text()) if answer.exists() else "does not end, or ends the process"

    def _child(self, files: Sequence[str], plugin: FirstFailure, answer: Path) -> None:
        try:
            os.setsid()
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            os.chdir(self.tree)
            temporary = self.tree.parent / "tmp"
            temporary.mkdir(exist_ok=True)
            os.environ |= {"PYTHONPATH": str(self.tree), "TMPDIR": str(temporary)}
            os.environ["XDG_CACHE_HOME"] = str(self.tree.parent / "cache")  # of kernels, which go with this folder
            os.environ["NUMBA_DISABLE_JIT"] = str(int(plugin.python))
            numba.core.config.reload_config()
            sys.path[0], sys.dont_write_bytecode, tempfile.tempdir = str(self.tree), False, None
            with (self.tree.parent / "log").open("w", encoding="utf-8") as log:
                os.dup2(log.fileno(), 1)
                os.dup2(log.fileno(), 2)
            quiet = ["-q", "-m", "not slow", "-p", "no:cacheprovider", f"--basetemp={temporary / 'pytest'}"]
            quiet += ["-W", "ignore::pytest.PytestAssertRewriteWarning", "--doctest-modules"]
            quiet += ["--timeout=0", "--hypothesis-profile=mutate"]
            code = pytest.main([*files, *quiet, "-x"], plugins=[plugin])
            answer.write_text(json.dumps(plugin.failed if code not in (0, NO_TESTS) else None))
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            os._exit(0)

    def change(self, mutation: Mutation | None, path: str) -> None:
        """Put a mutation, or the original with its time, into the copy."""
        for compiled in (self.tree / path).parent.glob(f"__pycache__/{Path(path).stem}.*.pyc"):
            compiled.unlink()  # it is known by the second in which its source was written
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
    """The tests of a tree, and which of them kill a mutant."""

    def __init__(self, sandbox: Sandbox, given: Sequence[str], most: int, *, thorough: bool, as_python: bool) -> None:
        """Take the files of tests that are given, else all; most: how many are tried for a mutant."""
        self.sandbox, self.most, self.imports = sandbox, most, Imports()
        self.thorough, self.as_python = thorough, as_python
        files = sorted(str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py"))
        self.files = [path for path in given or files if given or thorough or not path.startswith(NOT_PURE_TESTS)]
        self.near: dict[str, list[str]] = {}
        self.bad: dict[bool, set[str]] = {False: set(), True: set()}
        self.good = set[tuple[str, bool]]()

    def nearest(self, module: str) -> list[str]:
        """Return files of tests: what mirrors a module, then those that import it, then what imports an importer.

        Of equally near ones those come first that are in the folder which mirrors the module's.
        """
        if module not in self.near:
            names = {Path(module).stem, Path(module).stem.removesuffix("_kernel")}
            parts = [part for part in Path(module).parent.parts[1:] if part not in ("kernels", "reference")]
            room = "/".join(["tests", *parts])
            mirrors = {f"{room}/test_{name}.py" for name in names} | {f"{room}/test_{parts[-1]}.py" for _ in parts[-1:]}
            ranks = {test: self.imports.rank(module, test) for test in self.files}
            near = [test for test in self.files if ranks[test] <= 4 or test in mirrors]
            self.near[module] = sorted(
                near, key=lambda test: (test not in mirrors, ranks[test], not test.startswith(f"{room}/"), test)
            )
        return self.near[module]

    def is_kernel(self, module: str) -> bool:
        """Return whether a module is compiled, or imported by one that is."""
        kernels = [path for path in (ROOT / "bertdata").rglob("*.py") if "kernel" in str(path.relative_to(ROOT))]
        line = f"from {module.removesuffix('.py').replace('/', '.')} import"
        return ROOT / module in kernels or any(line in path.read_text(encoding="utf-8") for path in kernels)

    def kill(self, mutation: Mutation) -> str | None:
        """Return which test kills a mutant, None if none does."""
        files = self.nearest(mutation.path)[: self.most]
        turns = [([mutation.path, *files[:2]], False), (files[2:], False)]
        if self.thorough or (self.as_python and self.is_kernel(mutation.path)):
            turns.append((files, True))
        return next(
            (killer for some, python in turns if some and (killer := self.try_on(mutation, some, python))), None
        )

    def try_on(self, mutation: Mutation, files: Sequence[str], python: bool) -> str | None:
        """Return the first test that fails with a mutation and passes without, None where there is none."""
        while True:
            self.sandbox.change(mutation, mutation.path)
            try:
                killer = self.sandbox.run(files, FirstFailure(leave_out=self.bad[python], python=python))
            finally:
                self.sandbox.change(None, mutation.path)
            if killer is None or "::" not in killer:
                return killer
            whole = (killer, python) in self.good
            if whole or not self.sandbox.run([killer.split("::")[0]], FirstFailure(killer, python=python)):
                self.good.add((killer, python))
                return killer
            self.bad[python].add(killer)


def known() -> set[tuple[str, ...]]:
    """Return the mutants that make no difference: path, line before, line after."""
    lines = EQUIVALENT.read_text(encoding="utf-8").splitlines() if EQUIVALENT.is_file() else []
    lines = [line for line in lines if line and not line.startswith("#")]
    return {(a, b.removeprefix("- "), c.removeprefix("+ ")) for a, b, c in zip(*[iter(lines)] * 3, strict=True)}


def survived(path: str) -> set[tuple[str, ...]]:
    """Return the mutants that a run printed as survivors: path, line before, line after."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    places = [place for place, line in enumerate(lines) if line.endswith(" SURVIVED")]
    return {(lines[at].rpartition(":")[0], lines[at + 1][2:], lines[at + 2][2:]) for at in places}


def mutations(modules: Sequence[str]) -> list[Mutation]:
    """Return all mutations of some modules."""
    return [mutation for path in modules for mutation in Finder(path, (ROOT / path).read_bytes()).found]


def main() -> int:
    """Sample mutations, run their tests and print the survivors."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="files or folders; default: the pure layer")
    parser.add_argument("--seed", type=int, default=1, help="which mutations are drawn")
    parser.add_argument("--number", type=int, default=100, help="how many mutations are drawn")
    parser.add_argument("--skip", type=int, default=0, help="leave out so many of them: a run that was stopped goes on")
    parser.add_argument(
        "--again", metavar="FILE", help="of those that were drawn, try the survivors in what was printed"
    )
    parser.add_argument("--compiled", action="store_true", help="do not try kernels as plain Python")
    parser.add_argument("--at", nargs="+", default=[], metavar="FILE:LINE", help="try every mutation of these lines")
    parser.add_argument("--tests", nargs="+", default=[], metavar="FILE", help="use the tests of these files only")
    parser.add_argument("--thorough", action="store_true", help="use every test near the module, also of pipelines")
    parser.add_argument("--folder", help="keep the copy of the tree and compiled kernels here")
    parser.add_argument(
        "--most", type=int, default=12, help="how many files of tests are tried for a mutant (default: 12)"
    )
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
        differing = (mutation for mutation in every if mutation.differs())
        chosen = list(islice(differing, options.skip, options.number))
    if options.again:
        survivors = survived(options.again)
        chosen = [mutation for mutation in chosen if (mutation.path, *mutation.lines()) in survivors]
    print(f"{len(chosen)} of {len(every)} mutations of {len(paths)} modules, seed {options.seed}", flush=True)
    ends: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="mutate-") as folder:
        tests = Tests(
            Sandbox(options.folder or folder),
            options.tests,
            options.most,
            thorough=options.thorough,
            as_python=not options.compiled,
        )
        for mutation in chosen:  # in the order they were drawn in: a run that is stopped has tried a sample too
            before, after = mutation.lines()
            if (mutation.path, before, after) in equivalent:
                ends["equivalent"] += 1
                continue
            killer = tests.kill(mutation)
            ends["killed" if killer else "survived"] += 1
            title = f"killed by {killer}" if killer else "SURVIVED"
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
