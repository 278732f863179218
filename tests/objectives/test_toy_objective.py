"""An objective is one file: one from outside the package is built, shown, verified and loaded like those built in."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.objectives import toy

Built = tuple[Path, dict[str, str]]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    folder = tmp_path_factory.mktemp("toy")
    environment = toy.environment(folder)
    return toy.build(folder, environment, ["--objective", "toy"]), environment


def test_it_is_offered_by_the_flag_and_its_help(built: Built) -> None:
    shown = " ".join(toy.run(built[1], "-m", "bertdata", "build", "--help-all").split())
    assert "toy: the first two sentences of a document" in shown


def test_its_rows_are_those_it_plans_and_its_drops_are_counted(built: Built) -> None:
    counts = json.loads((built[0] / "manifest.json").read_text())["splits"]["train"]["counts"]
    assert counts["examples"] == 60
    assert 0 < counts["labels_1"] < 60
    assert counts["tokens_dropped_later_sentences"] == counts["tokens"] - counts["tokens_in_examples"] > 0


def test_its_rows_are_shown_with_its_labels_and_verified(built: Built) -> None:
    shown = toy.run(built[1], "-m", "bertdata", "show", str(built[0]), "--count", "20")
    assert "as written: B follows A (next_sentence_label 0)" in shown
    assert "swapped: A follows B (next_sentence_label 1)" in shown
    verified = toy.run(built[1], "-m", "bertdata", "verify", str(built[0]))
    assert "as written" in verified
    assert f"verified: {built[0]}" in verified


def test_its_rows_are_loaded(built: Built) -> None:
    code = (
        "import sys; from bertdata.loader import numpy_batches\n"
        "batch = next(iter(numpy_batches(sys.argv[1], 8)))\n"
        "print(batch['input_ids'].shape, sorted(set(batch['next_sentence_label'].tolist())))"
    )
    assert toy.run(built[1], "-c", code, str(built[0] / "train")).strip() == "(8, 24) [0, 1]"


def test_shards_of_an_objective_that_is_not_there_are_refused_with_the_names_that_are(built: Built) -> None:
    environment = built[1] | {"BERTDATA_PLUGINS": ""}
    with pytest.raises(AssertionError, match=r"there is no objective 'toy'; expected one of nsp, .* BERTDATA_PLUGINS"):
        toy.run(environment, "-m", "bertdata", "show", str(built[0]))
