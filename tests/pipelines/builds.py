"""Small builds for the pipeline tests: settings, sources, and the digests of what came out."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from bertdata.beam.runner import Runner
from bertdata.cli.main import main
from bertdata.corpus.build import build_corpus
from bertdata.corpus.settings import Settings
from bertdata.objectives.settings import ExamplesConfig
from bertdata.sample import SAMPLE_BOOKS, SAMPLE_DUMP
from bertdata.shards.phases import PhaseConfig
from bertdata.shards.settings import ShardsConfig
from bertdata.sources.inputs import Sources
from bertdata.sources.settings import CleaningConfig
from bertdata.tokenizers.settings import VocabularyConfig

ROOT = Path(__file__).resolve().parents[2]
SETTINGS = Settings(
    CleaningConfig(range_bytes=40_000),
    VocabularyConfig(vocab_size=2000),
    ShardsConfig(shard_bytes=80_000, validation_fraction=0.1),
)
SAMPLE = Sources((SAMPLE_DUMP,), (SAMPLE_BOOKS,))


def build(
    output: Path, settings: Settings = SETTINGS, sources: Sources = SAMPLE, *, workers: int = 1, force: bool = False
) -> dict[str, Any]:
    """Build without progress lines; returns the manifest."""
    return build_corpus(sources, str(output), settings, Runner(workers, quiet=True), force=force)[0]


def with_phase(**changes: Any) -> Settings:
    """Return the test settings with a phase of other settings."""
    return replace(SETTINGS, phases=(PhaseConfig(**changes),))


def with_examples(**changes: Any) -> Settings:
    """Return the test settings with other example settings."""
    return with_phase(examples=ExamplesConfig(**changes))


def digests(output: Path) -> dict[str, str]:
    """Return the SHA-256 of every shard by its path below the output."""
    shards = sorted(output.glob("*/data-*.arrow"))
    return {str(path.relative_to(output)): hashlib.sha256(path.read_bytes()).hexdigest() for path in shards}


FLAGS = ["--range-bytes", "40000", "--vocab-size", "2000", "--shard-bytes", "80000", "--validation-fraction", "0.1"]


def command(output: Path, *flags: str) -> list[str]:
    """Return the command line of the same build in a process of its own."""
    return [sys.executable, "-m", "pipelines.build_corpus", "--output", str(output), *FLAGS, *flags]


def run(output: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """Run the build in a process of its own."""
    return subprocess.run(
        command(output, *flags),
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        env=environment(),
    )


def run_here(output: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    """Run the same command in this process, where importing everything again would take most of the time."""
    arguments = ["build", "--output", str(output), *FLAGS, *flags]
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main(arguments)
        except SystemExit as stop:
            code = int(stop.code or 0)
    return subprocess.CompletedProcess(arguments, code, out.getvalue(), err.getvalue())


def environment() -> dict[str, str]:
    """Return the environment of a build, with the checkout importable."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}
