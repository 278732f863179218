"""The `bertdata` command: it finds its subcommands, stays light, and fails in one line."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from bertdata import __version__
from bertdata.cli import COMMANDS, main
from bertdata.cli.main import dispatch
from bertdata.engine import processes
from bertdata.errors import BertDataError
from bertdata.tokenizers.loading import pretrained_names
from tests.clock import child_seconds
from tests.small_build import write_build

ROOT = Path(__file__).resolve().parents[2]


def bertdata(*arguments: str, pipe_to: str | None = None) -> subprocess.CompletedProcess[str]:
    """Run the command as a process of its own, in the checkout."""
    command = [sys.executable, "-m", "bertdata", *arguments]
    if pipe_to:
        line = " ".join(command) + f" | {pipe_to}"
        command = ["bash", "-o", "pipefail", "-c", line]
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    if name in ("pretrain", "finetune", "score", "transfer", "average"):
        pytest.importorskip("torch")
    with pytest.raises(SystemExit) as stop:
        dispatch([name, "--help"])
    assert stop.value.code == 0
    assert capsys.readouterr().out.startswith(f"usage: bertdata {name} ")


@pytest.mark.parametrize("name", ["build", "build-shards", "encode-task", "stats", "tokenize"])
def test_commands_that_take_a_vocabulary_name_those_that_come_with_bertdata(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        dispatch([name, "--help-all"])
    shown = "".join(capsys.readouterr().out.split())
    assert all(name in shown for name in pretrained_names())


def test_help_lists_every_command_and_version_says_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    for flag in ("--help", "-h", "--version"):
        with pytest.raises(SystemExit) as stop:
            dispatch([flag])
        assert stop.value.code == 0
    shown = capsys.readouterr().out
    assert all(f"\n  {name} " in shown for name in COMMANDS)
    assert shown.endswith(f"bertdata {__version__}\n")


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "from bertdata.cli.main import dispatch\n"
        "try:\n"
        "    dispatch(['--help'])\n"
        "except SystemExit:\n"
        "    print('loaded', *sys.modules)\n"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True).stdout
    loaded = {name.split(".")[0] for name in shown.rsplit("loaded", 1)[1].split()}
    assert not loaded & {"numpy", "pyarrow", "numba", "torch", "apache_beam", "tokenizers", "nltk", "fsspec", "tqdm"}


def test_help_takes_less_than_three_tenths_of_a_second() -> None:
    assert min(child_seconds(lambda: bertdata("--help")) for _ in range(5)) < 0.3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["shwo"], "there is no command 'shwo', did you mean 'show'?"),
        (["build_shards"], "did you mean 'build-shards'?"),
        (["xyzzy"], "there is no command 'xyzzy'; bertdata --help"),
        ([], "a command is missing"),
        (["--quiet", "show"], "unrecognized arguments: --quiet"),
        (["show"], "required: DIR"),
        (["show", "x", "--indx", "1"], "there is no --indx, did you mean --index?"),
        (
            ["build", "--dedup", "ner"],
            "error: --dedup is 'ner'; expected one of none, exact, near, did you mean 'near'?",
        ),
        (["build", "--objective", "ns"], "doc-chunks, joined-chunks, did you mean 'nsp'?"),
        (["build", "--seed", "x"], "error: --seed is 'x'; expected a whole number; see bertdata build --help"),
        (["nope"], "there is no command 'nope'; bertdata --help"),
        (["build", "--dedup", "xyzzy"], "expected one of none, exact, near; see bertdata build --help"),
    ],
)
def test_a_wrong_call_is_code_2_with_a_hint(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stop:
        dispatch(arguments)
    assert stop.value.code == 2
    assert message in capsys.readouterr().err


def test_an_error_of_ours_is_one_line_and_code_1(tmp_path: Path) -> None:
    done = bertdata("show", str(tmp_path / "nothing"))
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


def test_a_reader_that_stops_early_is_no_traceback(tmp_path: Path) -> None:
    write_build(tmp_path / "build", documents=30)
    done = bertdata("stats", str(tmp_path / "build"), "--json", pipe_to="head -c 1")
    assert done.stdout == "{"
    assert done.stderr == ""


def test_a_summary_is_printed_as_a_table(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    summary = {"steps": 12000, "loss": 2.345678, "output": "model", "resumed": True, "accuracy": None}
    stub: Any = SimpleNamespace(add_arguments=lambda parser: parser.add_argument("shards"), run=lambda _: summary)
    monkeypatch.setitem(sys.modules, "bertdata.cli.pretrain", stub)
    assert dispatch(["pretrain", "x"]) == 0
    assert capsys.readouterr().out.split("\n") == [
        "steps     12,000",
        "loss      2.346",
        "output    model",
        "resumed   yes",
        "accuracy  -",
        "",
    ]


@pytest.mark.costly
@pytest.mark.parametrize(
    ("arguments", "started"),
    [
        (["--workers", "3"], [2]),
        (["--output", "new", "--workers=2"], [1]),
        (["--workers", "1"], []),
        ([], []),
        (["--workers", "two"], []),
        (["--workers"], []),
        (["--workers", "3", "--", "--runner=FlinkRunner"], []),
    ],
)
def test_the_workers_that_a_build_is_told_start_before_its_module_is_imported(
    arguments: list[str], started: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    worker_starts: list[tuple[int, list[str]]] = []

    @contextlib.contextmanager
    def start(number: int, modules: list[str]) -> Iterator[None]:
        worker_starts.append((number, modules))
        yield

    def import_module(name: str) -> Any:
        assert name == "bertdata.cli.build"
        raise BertDataError("here the module is imported")

    monkeypatch.setattr(processes, "started_early", start)
    monkeypatch.setattr("bertdata.cli.main.importlib.import_module", import_module)
    with pytest.raises(BertDataError, match="here"):
        dispatch(["build", *arguments])
    assert worker_starts == [(number, ["bertdata.cli.build"]) for number in started]


@pytest.mark.costly
def test_the_plan_of_a_build_comes_through_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert dispatch(["build", "--dry-run", "--output", str(tmp_path / "out")]) == 0
    assert "clean wikipedia" in capsys.readouterr().out
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", COMMANDS)
def test_help_names_no_empty_default_and_cuts_no_word_at_80_columns(
    name: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    if name in ("pretrain", "finetune", "score", "transfer", "average"):
        pytest.importorskip("torch")
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit):
        dispatch([name, "--help-all"])
    shown = capsys.readouterr().out
    assert "(default: )" not in shown
    assert "(default: None)" not in shown
    cut = [line for line in shown.splitlines() if re.search(r"[a-z]-$", line)]
    assert not cut


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["clean-books", "x", "--output", "y", "--min-words", "3"], "there is no --min-words"),
        (["clean-wikipedia", "x", "--output", "y", "--split-chapters"], "there is no --split-chapters"),
    ],
)
def test_a_stage_takes_no_flag_that_it_does_not_read(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        dispatch(arguments)
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--vocab", "bertdata-30k-uncased", "--vocab-size", "9000"], "--vocab-size has no effect: the vocabulary is"),
        (["--vocab=bertdata-30k-uncased", "--no-do-lower-case"], "--no-do-lower-case has no effect"),
        (["--max-ngram=2"], "--max-ngram has no effect: it is for --mask-unit ngram or token-ngram, not token"),
        (["--mask-unit", "ngram", "--max-span", "4"], "--max-span has no effect"),
        (["--ngram-weights", "1", "1"], "--ngram-weights has no effect: it is for --mask-unit ngram or token-ngram"),
        (["--mask-unit=ngram", "--max-ngram=2", "--ngram-weights", "1"], "--max-ngram has no effect: --ngram-weights"),
        (
            ["--mask-unit=token", "--similar-words", "t.tsv"],
            "--similar-words replaces whole words, and --mask-unit token",
        ),
        (["--replace-unit", "unit"], "--replace-unit has no effect: it is for --mask-unit word or ngram or"),
        (["--single-segment-prob", "0.2"], "--single-segment-prob has no effect"),
        (
            ["--min-seq-length", "12"],
            "--min-seq-length has no effect: it is for --objective doc-chunks or joined-chunks, not nsp",
        ),
        (["--objective", "doc-chunks", "--short-seq-prob", "0"], "--short-seq-prob has no effect: it is for"),
        (["--objective", "joined-chunks", "--short-seq-prob", "0.1"], "--short-seq-prob has no effect: it is for"),
        (["--objective", "sentence-pair-nsp", "--short-seq-prob", "0.1"], "--short-seq-prob has no effect: it is for"),
        (
            ["--objective", "tests.objectives.test_objectives:REGISTERED", "--short-seq-prob", "0"],
            "--short-seq-prob has no effect: it is for",
        ),
        (["--dedup-spans-words-left", "9"], "--dedup-spans-words-left has no effect"),
        (
            ["--dedup-spans", "paragraphs", "--dedup-spans-sentences-left", "2"],
            "--dedup-spans-sentences-left has no effect: it is for --dedup-spans sentences, not paragraphs",
        ),
        (["--dedup", "exact", "--dedup-threshold", "0.9"], "--dedup-threshold has no effect"),
        (["--text-column", "body"], "--text-column has no effect"),
    ],
)
def test_a_build_refuses_a_flag_that_nothing_reads(flags: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(BertDataError, match=re.escape(message)):
        dispatch(["build", "--output", str(tmp_path / "out"), *flags])
    assert not (tmp_path / "out").exists()


def test_a_caller_of_the_command_gets_its_exit_code_and_lives_on(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main.main(["show", str(tmp_path / "nothing")]) == 1
    assert main.main(["build", "--dry-run", "--output", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().err.startswith("error: ")


def test_pipelines_of_someone_elses_are_not_taken_for_ours(tmp_path: Path) -> None:
    (tmp_path / "pipelines").mkdir()
    for name in ("__init__", "clean_books"):
        (tmp_path / "pipelines" / f"{name}.py").write_text("def main(arguments): return 7")
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-m", "bertdata", "clean-books", "--help"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": path},
        check=False,
    )
    assert (done.returncode, "usage: bertdata clean-books" in done.stdout) == (0, True)


INTERRUPTS = """
import os, signal, sys


class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)
            for _ in range(1000):
                pass


sys.meta_path.insert(0, Interrupt())
signal.signal(signal.SIGINT, signal.default_int_handler)
from bertdata.__main__ import main
sys.argv = ["bertdata", "--version"]
main()
"""


@pytest.mark.parametrize("module", ["bertdata.cli", "dataclasses", "argparse", "bertdata.errors"])
def test_an_interrupt_while_python_imports_is_one_line_and_code_130(module: str) -> None:
    code = INTERRUPTS.format(module=module)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "interrupted: run the same command again to go on; what is done is kept\n"


def test_nothing_is_imported_before_an_interrupt_is_caught() -> None:
    code = "import sys; before = set(sys.modules); import bertdata.__main__; print(*(set(sys.modules) - before))"
    shown = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert set(shown.stdout.split()) - {"__future__"} == {"bertdata", "bertdata.__main__"}
