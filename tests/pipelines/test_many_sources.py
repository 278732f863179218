"""A build of more sources than an int8 column numbers."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from bertdata.cli.main import dispatch, run_verb
from bertdata.loader import ShardExamples, numpy_batches
from bertdata.shards import open_shards
from bertdata.sources.inputs import Sources
from bertdata.verify.build import verify
from tests.pipelines.builds import FLAGS

LANGUAGES = [f"l{number:03d}" for number in range(130)]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of 130 sources of two documents each, but for the first, which has 40."""
    folder = tmp_path_factory.mktemp("many")
    for place, name in enumerate(LANGUAGES):
        lines = [
            json.dumps(
                {"text": f"The lamp {place} is of {number}. A keeper of salt {number} has {place} clocks. Bread."}
            )
            for number in range(2 if place else 40)
        ]
        (folder / f"{name}.jsonl").write_text("\n".join(lines))
    paths = [f"{name}={folder / name}.jsonl" for name in LANGUAGES]
    flags = ["--mix-temperature", "0.5", "--validation-fraction", "0", "--workers", "1"]
    assert run_verb("build", ["--output", str(folder / "corpus"), *FLAGS, *flags, "--documents", *paths]) == 0
    return folder / "corpus"


@pytest.mark.costly
def test_each_example_knows_its_source_and_each_source_is_counted(corpus: Path) -> None:
    verify(str(corpus))
    shards = open_shards(str(corpus))
    assert list(shards.info.sources) == LANGUAGES
    assert shards.table.schema.field("source").type == pa.int16()
    rows_of_source = Counter(shards.table["source"].to_pylist())
    counts = json.loads((corpus / "manifest.json").read_text())["splits"]["train"]["counts"]
    assert {name: rows_of_source[number] for number, name in enumerate(LANGUAGES)} == {
        name: counts[f"examples_of_{name}"] for name in LANGUAGES
    }
    assert all(rows_of_source[number] for number in range(130))


def test_a_loader_weighs_each_of_them(corpus: Path) -> None:
    weights = dict.fromkeys(LANGUAGES, 1.0) | {"l129": 129.0}
    sampler = numpy_batches(str(corpus), 8, weights=weights).sampler
    sources = ShardExamples(str(corpus)).sources
    assert sources.max() == 129
    drawn = [number for batch in sampler for _, number in batch]
    assert 0.35 < np.mean(sources[drawn] == 129) < 0.65, "half of them are of the one with half the weight"


@pytest.mark.costly
def test_a_dry_run_shows_the_largest_and_adds_up_the_others(corpus: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = [f"{name}={corpus.parent / name}.jsonl" for name in LANGUAGES]
    assert Sources(documents=tuple(paths)).inputs().names() == LANGUAGES
    assert dispatch(["build", "--output", str(corpus), *FLAGS, "--dry-run", "--documents", *paths]) == 0
    shown = capsys.readouterr().out
    assert "100 smaller sources" in shown
    assert "100 files" in shown
    assert "l000" in shown
