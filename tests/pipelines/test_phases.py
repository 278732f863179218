"""Several row lengths in one command: one token store, a whole build of each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import datasets
import pytest

from bertdata.beam.runner import Runner
from bertdata.corpus.build import build_corpus
from bertdata.corpus.summary import build_rows
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
from bertdata.shards.phases import PhaseConfig
from bertdata.verify.build import verify
from tests.pipelines.builds import SAMPLE, SETTINGS, build, digests, with_examples

BOTH = replace(SETTINGS, phases=tuple(PhaseConfig(ExamplesConfig(max_seq_length=length)) for length in (64, 128)))


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("phases") / "corpus"
    manifest = build(output, BOTH)
    assert list(manifest["phases"]) == ["64", "128"]
    names = [name for name, _ in build_rows(manifest)]
    assert names.count("vocabulary") == 1
    assert names.count("train: examples") == 2
    return output


@pytest.mark.costly
def test_a_phase_has_the_bytes_of_a_build_of_its_length_alone(both: Path, sample_build: Path, tmp_path: Path) -> None:
    build(tmp_path, with_examples(max_seq_length=64))
    assert digests(both / "64") == digests(tmp_path)
    assert digests(both / "128") == digests(sample_build)


def test_everything_reads_a_phase_as_a_build(both: Path) -> None:
    verify(both)
    for length in (64, 128):
        folder = both / str(length)
        loaded = datasets.load_from_disk(str(folder))["train"]
        shards = open_shards(folder)
        assert len(loaded) == len(shards) > 50
        assert loaded[0]["input_ids"] == shards[0]["input_ids"].tolist()
        assert max(map(len, loaded["input_ids"])) == length


def test_the_tokens_are_made_once_and_a_finished_build_is_left_alone(both: Path) -> None:
    store = both / "stages" / "tokens"
    before = {path: path.stat().st_mtime_ns for path in store.iterdir()}
    manifest, worked = build_corpus(SAMPLE, str(both), BOTH, Runner(1, quiet=True))
    assert not worked
    assert list(manifest["phases"]) == ["64", "128"]
    (both / "64" / "manifest.json").unlink()
    manifest, worked = build_corpus(SAMPLE, str(both), BOTH, Runner(1, quiet=True))
    assert worked
    assert {path: path.stat().st_mtime_ns for path in store.iterdir()} == before
    verify(both)


@pytest.mark.costly
def test_another_number_of_lengths_leaves_nothing_of_the_other_behind(tmp_path: Path) -> None:
    def names() -> set[str]:
        return {path.name for path in tmp_path.iterdir() if not path.name.startswith(".bertdata")}

    build(tmp_path, BOTH)
    assert names() == {"64", "128", "README.md", "manifest.json", "sentences", "stages"}
    build(tmp_path, with_examples(max_seq_length=64))
    verify(tmp_path)
    assert not names() & {"64", "128"}
    build(tmp_path, BOTH)
    verify(tmp_path)
    assert names() == {"64", "128", "README.md", "manifest.json", "sentences", "stages"}
