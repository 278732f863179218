"""A masking unit is one line: one from outside the package is built with, shown, verified and drawn by the loaders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.objectives import toy
from tests.outside import Outside

MODULE = """
from bertdata.masking import MASK_UNITS
from bertdata.masking.units import MaskUnit

MASK_UNITS.add("pair", MaskUnit("pair", "two words", lambda config: [0.0, 1.0]))
MASK_UNITS.add("run", MaskUnit("run", "three tokens", lambda config: [0, 0, 1], whole_words=False))
"""
SAME = """
import json, sys, torch
import numpy as np
from bertdata.cli.main import main
from tests.oracles.masking import mask_row
from bertdata.torch import DeviceCollator, PretrainingCollator, ShardDataset

for command in json.loads(sys.argv[1]):
    assert not main(command)
dataset = ShardDataset("corpus/train")
collator, device = PretrainingCollator(dataset, epoch=1), DeviceCollator(dataset, epoch=1)
examples = dataset.__getitems__(list(range(40)))
batch, other = collator(examples), device.finish(device(examples))
assert all((batch[name] == other[name]).all() for name in batch)
masker = collator.masker
for row, example in enumerate(examples):
    ids = example["input_ids"]
    shown, labels, _ = mask_row(
        ids.tolist(), masker.special(ids).tolist(), example["example_id"], config=masker.config, seed=masker.seed,
        epoch=1, mask_token_id=masker.mask_token_id, replacement_ids=masker.choices.tolist(),
        continuation=masker.continuation.tolist(),
    )
    assert batch["input_ids"][row, : len(ids)].tolist() == shown
    assert batch["labels"][row, : len(ids)].tolist() == labels
predicted = (batch["labels"] != -100).numpy()
runs = np.diff(np.flatnonzero(np.diff(np.pad(predicted, ((0, 0), (1, 1))).ravel().astype(int)))[: None])[::2]
print(np.bincount(runs).argmax())
"""


@pytest.mark.costly
@pytest.mark.parametrize(("unit", "tokens"), [("pair", "2"), pytest.param("run", "3", marks=pytest.mark.slow)])
def test_a_unit_from_outside_is_drawn_the_same_by_writer_loader_device_and_reference(
    tmp_path: Path, unit: str, tokens: str
) -> None:
    pytest.importorskip("torch")
    outside = Outside.write(tmp_path, "toy_units", MODULE)
    flags = ["--mask-unit", unit, "--masked-lm-prob", "0.3", "--short-seq-prob", "0"]
    commands = [toy.command(tmp_path, [*flags, "--objective", "doc-sentences"]), ["verify", "corpus"]]
    assert outside.python(SAME, json.dumps(commands)).splitlines()[-1] == tokens


@pytest.mark.slow
def test_a_static_build_with_a_unit_from_outside_is_verified_and_shown(tmp_path: Path) -> None:
    outside = Outside.write(tmp_path, "toy_units", MODULE)
    flags = ["--mask-unit", "pair", "--masked-lm-prob", "0.3", "--masking", "static"]
    *_, shown = outside.bertdata(toy.command(tmp_path, flags), ["verify", "corpus"], ["show", "corpus"])
    assert "[MASK" in shown
