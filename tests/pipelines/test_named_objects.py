"""Objectives, masking units and filters of a module of the user's own, named by module:name."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import bertdata
from bertdata.errors import ConfigError, InputError
from bertdata.masking import MASK_UNITS
from bertdata.objectives import OBJECTIVES
from bertdata.verify.build import verify
from tests.objectives.toy import CLASS, SWAPPED
from tests.outside import Outside
from tests.shards.build import text_of

OWN = f"""{CLASS}
SWAPPED = {SWAPPED.format(name="swapped")}

import pyarrow.compute as pc
from bertdata.curation.filters import Filter
from bertdata.masking.units import MaskUnit

LONG = Filter(help="drops short texts", keep=lambda texts, argument: pc.greater(pc.utf8_length(texts), argument),
    parse=int, default="300")
PAIR = MaskUnit("pair", "two words", lambda config: [0.0, 1.0])
"""


def test_a_build_takes_objects_of_a_module_and_is_verified(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_objects.py").write_text(OWN)
    monkeypatch.syspath_prepend(str(tmp_path))
    rows = [{"id": str(number), "text": text_of(number)} for number in range(60)]
    (tmp_path / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    settings = {"documents": str(tmp_path / "texts.jsonl"), "vocab_size": 300, "workers": 1, "masking": "static"}
    corpus = bertdata.build(
        tmp_path / "corpus",
        objective="my_objects:SWAPPED",
        mask_unit="my_objects:PAIR",
        filter=["my_objects:LONG=280"],
        **settings,  # type: ignore[arg-type]
    )
    verify(tmp_path / "corpus")
    assert corpus["info"]["examples"]["objective"] == "my_objects:SWAPPED"
    assert corpus.train[0]["next_sentence_label"] in (0, 1)
    dropped = sum(len(row["text"]) <= 280 for row in rows)
    assert sum(corpus["sources"]["documents"]["drops"].values()) == dropped > 0
    for registry, name in ((OBJECTIVES, "my_objects:SWAPPED"), (MASK_UNITS, "my_objects:PAIR")):
        with monkeypatch.context() as gone:
            gone.setitem(sys.modules, "my_objects", None)
            registry.forget(name)
            with pytest.raises(
                InputError, match=rf"manifest\.json: the .* '{name}' cannot be imported .*PYTHONPATH"
            ) as recorded_warnings:
                verify(tmp_path / "corpus")
            assert "build again" not in str(recorded_warnings.value)
        verify(tmp_path / "corpus")
    with pytest.raises(ConfigError, match="the objective 'my_objects:SWAPED' cannot be imported"):
        bertdata.build(tmp_path / "other", objective="my_objects:SWAPED", **settings)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def outside(tmp_path_factory: pytest.TempPathFactory) -> Outside:
    """Return a folder with a build `corpus` whose objective and masking unit are objects of a module there."""
    folder = tmp_path_factory.mktemp("outside")
    outside = Outside.write(folder, "objects_of_a_build", OWN)
    (folder / "spawned.py").write_text(SPAWNED)
    rows = [{"id": str(number), "text": text_of(number)} for number in range(40)]
    (folder / "texts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    build = ["build", "--documents", folder / "texts.jsonl", "--vocab-size", "300", "--output", folder / "corpus"]
    named = ["--objective", "objects_of_a_build:SWAPPED", "--mask-unit", "objects_of_a_build:PAIR"]
    outside.without_plugin().bertdata([*build, *named])
    return outside


@pytest.mark.costly
def test_what_reads_a_build_in_another_process_needs_the_consent_to_its_objects(outside: Outside) -> None:
    verbs = ("show", "verify", "stats")
    for verb, refused in zip(verbs, outside.without_plugin().ran(*([verb, "corpus"] for verb in verbs)), strict=True):
        assert (verb, refused.returncode) == (verb, 1)
        assert "'objects_of_a_build:SWAPPED' is code, of the module 'objects_of_a_build'" in refused.stderr
    outside.without_plugin().bertdata(*([verb, "corpus", "--plugin", outside.module] for verb in verbs))
    code = "from bertdata import open_shards; print(len(open_shards('corpus')))"
    assert int(outside.python(code)) > 0


@pytest.mark.slow
def test_workers_of_a_data_loader_that_are_new_processes_have_the_consent(outside: Outside) -> None:
    pytest.importorskip("torch")
    assert outside.without_plugin().python("import spawned; spawned.main()").strip() == "['batch', 'batch']"


SPAWNED = """
import torch
from bertdata import open_shards
from bertdata.torch import PretrainingCollator, ShardDataset

def main():
    dataset = ShardDataset(open_shards("corpus", plugins=["objects_of_a_build"]))
    loader = torch.utils.data.DataLoader(
        dataset, 4, collate_fn=PretrainingCollator(dataset), num_workers=1, multiprocessing_context="spawn"
    )
    batches = iter(loader)
    print(["batch" for _, batch in zip(range(2), batches) if "labels" in batch])
"""
