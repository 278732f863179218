"""What pages name is there: flags of commands and scripts, files, tests, modules and functions."""

from __future__ import annotations

import argparse
import importlib
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from bertdata.cli import COMMANDS
from bertdata.cli.main import parser_of
from tests.docs.pages import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
_FLAG = re.compile(r"(?<![\w-])--[a-z][a-z0-9-]*[a-z0-9](?!\w)")
_CALL = re.compile(r"(?<![\w./-])bertdata ([a-z-]+)((?:[^\n`|;&#]|\\\n)*)")
_FILE = re.compile(
    r"`((?:bertdata|tests|scripts|benchmarks|examples|runs|pipelines|docs|recipes|vocab|findings)/[\w./*-]+?)`"
)
_TEST = re.compile(r"`(tests/[\w./-]+\.py)::(\w+)")
_DOTTED = re.compile(r"(?<![\w/.-])bertdata(?:\.[A-Za-z_]\w*)+(?![\w/(]*\.py)")
_IMPORT = re.compile(r"^from (bertdata[\w.]*) import (?:\((.*?)\)|([^\n(]+))", re.MULTILINE | re.DOTALL)
OTHER_PROGRAMS = {
    "docker": "build-arg cpus tag target",
    "kubectl": "follow",
    "slurm": "array cpus-per-task dependency gpus-per-node mem nodes ntasks-per-node open-mode parsable requeue signal "
    "time wrap",
    "torchrun": "nnodes nproc-per-node rdzv-backend rdzv-endpoint",
    "beam and gcloud": "detached max-workers metadata-file parallelism parameters region runner "
    "template-file-gcs-location temp-location",
    "dask": "host nthreads nworkers",
    "uv": "torch-backend",
    "aws, hf, trafilatura, trackio": "exclude input-dir local-dir output-dir project repo-type",
}  # fmt: skip
"""The flags of other programs that pages show."""
PLACEHOLDERS = {"scripts/LANGUAGE_abbreviations.txt", "bertdata.json"}


@cache
def flags_of(name: str) -> frozenset[str]:
    """Return the flags of a verb of the command, also those of its own subcommands."""
    if name in ("pretrain", "finetune", "score", "transfer", "average"):
        pytest.importorskip("torch")

    def walk(parser: argparse.ArgumentParser) -> Iterator[str]:
        for action in parser._actions:
            yield from action.option_strings
            for inner in action.choices.values() if isinstance(action.choices, dict) else ():
                if isinstance(inner, argparse.ArgumentParser):
                    yield from walk(inner)

    return frozenset(walk(parser_of(name)))


@cache
def flags_of_scripts() -> frozenset[str]:
    """Return what looks like a flag in benchmarks, scripts, examples and the tests that are run as programs."""
    folders = ("benchmarks", "scripts", "examples", "runs", "tests/torch/data/company", "pipelines")
    paths = [path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in (".py", ".sh", "")]
    return frozenset(flag for path in paths if path.is_file() for flag in _FLAG.findall(path.read_text("utf-8")))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_flag_of_a_page_is_one_of_its_command(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for verb, rest in _CALL.findall(text):
        if verb in COMMANDS:
            unknown = {*_FLAG.findall(rest.partition(" -- ")[0])} - flags_of(verb)
            assert not unknown, f"bertdata {verb}{rest}"
    others = {f"--{flag}" for flags in OTHER_PROGRAMS.values() for flag in flags.split()}
    unknown = {*_FLAG.findall(text)} - others - flags_of_scripts()
    assert not unknown.difference(*map(flags_of, COMMANDS))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_each_file_test_and_name_of_a_page_is_there(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    missing = [name for name in _FILE.findall(text) if name not in PLACEHOLDERS and not any(ROOT.glob(name))]
    missing += [f"{path}::{test}" for path, test in _TEST.findall(text) if not _defines(ROOT / path, test)]
    missing += [name for name in {*_DOTTED.findall(text)} - PLACEHOLDERS if not _is_there(name)]
    for module, several, single in _IMPORT.findall(text):
        names = [name.partition(" as ")[0].strip() for name in (several or single.partition("#")[0]).split(",")]
        missing += [f"{module}.{name}" for name in names if name and not _is_there(f"{module}.{name}")]
    assert not missing


def _defines(path: Path, test: str) -> bool:
    return path.exists() and re.search(rf"def {test}\b", path.read_text(encoding="utf-8")) is not None


@cache
def _is_there(dotted: str) -> bool:
    """Return whether a dotted name can be imported; what needs a package that is not installed counts as there."""
    parts = dotted.split(".")
    for length in range(len(parts), 0, -1):
        try:
            value = importlib.import_module(".".join(parts[:length]))
        except ModuleNotFoundError as error:
            if error.name and not error.name.startswith("bertdata"):
                return True
            continue
        except ImportError:
            return True
        for name in parts[length:]:
            if not hasattr(value, name):
                return False
            value = getattr(value, name)
        return True
    return False


def test_a_name_that_is_not_there_is_noticed() -> None:
    assert not _is_there("bertdata.torch_data.Nothing")
    assert not _is_there("bertdata.errors.NoError")
    assert _is_there("bertdata.errors.InputError")
    assert not _defines(ROOT / "tests" / "docs" / "test_names.py", "test_nothing_of_this_name")
    [(verb, rest)] = _CALL.findall("`bertdata build --sed 3`")
    assert {*_FLAG.findall(rest)} - flags_of(verb) == {"--sed"}
