"""An objective is one file: one from outside the package is built, shown, verified and loaded like those built in."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.objectives import toy
from tests.outside import Outside


@dataclass(frozen=True)
class Built:
    """A build with the toy objective, and what the commands printed that were run on it."""

    outside: Outside
    helped: str
    shown: str
    verified: str

    @property
    def corpus(self) -> Path:
        return self.outside.folder / "corpus"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    outside = Outside.write(tmp_path_factory.mktemp("toy"), "toy_plugin", toy.MODULE)
    helped, _, shown, verified = outside.bertdata(
        ["build", "--help-all"],
        toy.command(outside.folder, ["--objective", "toy", "--workers", "2"]),
        ["show", "corpus", "--count", "20"],
        ["verify", "corpus"],
    )
    return Built(outside, helped, shown, verified)


@pytest.mark.costly
def test_it_is_offered_by_the_flag_and_its_help(built: Built) -> None:
    assert "toy: the first two sentences of a document" in " ".join(built.helped.split())


def test_its_rows_are_those_it_plans_and_its_drops_are_counted(built: Built) -> None:
    counts = json.loads((built.corpus / "manifest.json").read_text())["splits"]["train"]["counts"]
    assert counts["examples"] == 60
    assert 0 < counts["labels_1"] < 60
    assert counts["tokens_dropped_later_sentences"] == counts["tokens"] - counts["tokens_in_examples"] > 0


def test_its_rows_are_shown_with_its_labels_and_verified(built: Built) -> None:
    assert "as written: B follows A (next_sentence_label 0)" in built.shown
    assert "swapped: A follows B (next_sentence_label 1)" in built.shown
    assert "as written" in built.verified
    assert "verified: corpus" in built.verified


@pytest.mark.costly
def test_its_rows_are_loaded(built: Built) -> None:
    code = (
        "import sys; from bertdata.loader import numpy_batches\n"
        "batch = next(iter(numpy_batches(sys.argv[1], 8)))\n"
        "print(batch['input_ids'].shape, sorted(set(batch['next_sentence_label'].tolist())))"
    )
    assert built.outside.python(code, built.corpus / "train").strip() == "(8, 24) [0, 1]"


def test_shards_of_an_objective_that_is_not_there_are_refused_with_the_names_that_are(built: Built) -> None:
    [shown] = built.outside.without_plugin().ran(["show", "corpus"])
    assert shown.returncode == 1
    assert re.search(r"there is no objective 'toy'; expected one of nsp, .* BERTDATA_PLUGINS", shown.stderr)
