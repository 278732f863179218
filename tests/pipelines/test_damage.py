"""What was damaged on disk is made again and said so, or is an error: it never goes into another build unnoticed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from bertdata.beam.runner import Runner
from bertdata.corpus.build import build_corpus
from tests.pipelines.builds import ROOT, SAMPLE, SETTINGS, build, digests, with_examples

OTHERS = {
    "seed": with_examples(seed=7),
    "vocabulary": replace(SETTINGS, vocabulary=replace(SETTINGS.vocabulary, vocab_size=1900)),
}


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, str]]:
    """The digests of the shards of undisturbed builds with other settings."""
    place = tmp_path_factory.mktemp("expected")
    for name, settings in OTHERS.items():
        build(place / name, settings)
    return {name: digests(place / name) for name in OTHERS}


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("part", "other"),
    [
        ("tokens/*.arrow", "seed"),
        pytest.param("tokens/*.json", "seed", marks=pytest.mark.slow),
        ("wikipedia/*.parquet", "vocabulary"),
        pytest.param("books/*.parquet", "vocabulary", marks=pytest.mark.slow),
        pytest.param("books/*.json", "seed", marks=pytest.mark.slow),
        ("words/*.arrow", "vocabulary"),
        pytest.param("merged-words/*.arrow", "vocabulary", marks=pytest.mark.slow),
        ("vocabulary/vocab.txt", "seed"),
    ],
)
def test_a_damaged_part_is_made_again_for_the_next_build(
    part: str,
    other: str,
    sample_build: Path,
    expected: dict[str, dict[str, str]],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    output = Path(shutil.copytree(sample_build, tmp_path / "corpus"))
    path = sorted((output / "stages").glob(part))[-1]
    flip(path)
    build_corpus(SAMPLE, str(output), OTHERS[other], Runner(1))
    assert digests(output) == expected[other]
    messages = capsys.readouterr().err
    assert f"{path.with_suffix('')}." in messages
    assert "made again" in messages


@pytest.mark.parametrize(
    "name", ["train/*.arrow", "tokenizer/vocab.txt", "sentences/card.json", "train/state.json", "manifest.json"]
)
def test_a_damaged_file_of_a_finished_build_is_made_again_by_the_same_command(
    name: str, sample_build: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = Path(shutil.copytree(sample_build, tmp_path / "corpus"))
    path = sorted(output.glob(name))[0]
    whole = path.read_bytes()
    flip(path)
    _, worked = build_corpus(SAMPLE, str(output), SETTINGS, Runner(1))
    assert worked
    assert path.read_bytes() == whole
    assert str(path) in capsys.readouterr().err
    assert digests(output) == digests(sample_build)
    assert build_corpus(SAMPLE, str(output), SETTINGS, Runner(1))[1] is False


@pytest.mark.slow
def test_damages_drawn_by_the_script_are_never_silent() -> None:
    command = [sys.executable, str(ROOT / "scripts" / "damage.py"), "--number", "40", "--seed", "3"]
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ), check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "40 damages, 0 silent or with a traceback" in done.stdout
