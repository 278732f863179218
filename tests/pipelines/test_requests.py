"""What a build at a URL asks of the store outside of its pipelines: as much for many parts as for few."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from bertdata.beam.runner import Runner
from bertdata.corpus.build import build_corpus
from bertdata.corpus.settings import Settings
from bertdata.curation.settings import DedupConfig
from bertdata.io import files
from bertdata.objectives.settings import ExamplesConfig
from bertdata.sample import SAMPLE_BOOKS
from bertdata.shards.phases import PhaseConfig
from bertdata.sources.inputs import Sources
from bertdata.sources.settings import CleaningConfig
from tests.pipelines.builds import SAMPLE, SETTINGS
from tests.store import CountedStore

WITH_BEAM = True

BOOKS = 20
OUTPUT = "counted://corpora/sample"
PARTS = replace(SETTINGS, cleaning=CleaningConfig(range_bytes=12_000), dedup=DedupConfig(dedup="near"))
FOLDERS = 12
"""The folders of a build in which parts or their records lie."""


@dataclass
class Counting(Runner):
    """A runner that counts the requests of its pipelines."""

    requests: int = 0

    def run(self, *arguments: Any) -> None:
        before = CountedStore.requests.total()
        super().run(*arguments)
        self.requests += CountedStore.requests.total() - before


def requests_of(settings: Settings) -> tuple[int, list[str]]:
    """Build; returns the requests outside of pipelines, and what pipelines ran."""
    CountedStore.requests.clear()
    runner = Counting(1, quiet=True)
    build_corpus(SAMPLE, OUTPUT, settings, runner)
    return CountedStore.requests.total() - runner.requests, [title for title, _ in runner.seconds]


@pytest.fixture(scope="module", autouse=True)
def corpus() -> Iterator[None]:
    CountedStore.clear()
    build_corpus(SAMPLE, OUTPUT, PARTS, Runner(1, quiet=True))
    yield
    CountedStore.clear()


@pytest.mark.costly
def test_another_seed_takes_a_few_requests_for_each_folder_of_parts_and_not_for_each_part() -> None:
    records = [path for path in CountedStore.store if "/stages/" in path and path.endswith(".json")]
    assert len({path.rsplit("/", 1)[0] for path in records}) == FOLDERS
    assert len(records) > 5 * FOLDERS
    asked, ran = requests_of(replace(PARTS, phases=(PhaseConfig(examples=ExamplesConfig(seed=7)),)))
    assert ran == ["tokenize and write shards"]
    assert (
        asked <= 4 * FOLDERS + 102
    )  # the tokenizer, the files and two folders beside the shards, the manifest, the origin


def test_a_finished_build_is_known_by_fewer_requests() -> None:
    requests_of(PARTS)
    asked, ran = requests_of(PARTS)
    assert ran == []
    assert asked <= 60


@pytest.mark.costly
@pytest.mark.parametrize(
    ("named", "most"), [(["counted://in/books"], 4), (["counted://in/books/*.txt"], 8), ([], BOOKS + 1)]
)
def test_sizes_and_tags_of_inputs_come_from_one_listing_or_a_request_for_each_file(
    named: list[str], most: int, tmp_path: Path
) -> None:
    book = Path(SAMPLE_BOOKS, sorted(os.listdir(SAMPLE_BOOKS))[0]).read_bytes()
    paths = [f"counted://in/books/{number}.txt" for number in range(BOOKS)]
    for number, path in enumerate(paths):
        files.write_bytes(path, book + b"\n\nThe end of number %d.\n" % number)
    CountedStore.requests.clear()
    runner = Counting(1, quiet=True)
    build_corpus(Sources((), tuple(named or paths)), str(tmp_path / "corpus"), SETTINGS, runner)
    assert CountedStore.requests.total() - runner.requests <= most
    assert runner.requests <= 3 * BOOKS
