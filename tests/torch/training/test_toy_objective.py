"""A model learns from the rows of an objective from outside the package."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.objectives import toy
from tests.outside import Outside

STEP = """
import json, sys, torch
from bertdata.cli.main import main
from bertdata.torch import BertConfig, BertForPreTraining, PretrainingCollator, ShardDataset
assert not main(json.loads(sys.argv[1]))
dataset = ShardDataset("corpus/train")
batch = PretrainingCollator(dataset, epoch=0)(dataset.__getitems__(list(range(32))))
torch.manual_seed(0)
sizes = dict(hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64)
model = BertForPreTraining(BertConfig(vocab_size=dataset.info.vocab_size, max_position_embeddings=32, **sizes))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
before = model(**batch).loss
before.backward()
optimizer.step()
model.eval()
print(float(before.detach()), float(model(**batch).loss.detach()))
"""


@pytest.mark.costly
def test_a_step_on_rows_of_an_objective_from_outside_lowers_their_loss(tmp_path: Path) -> None:
    outside = Outside.write(tmp_path, "toy_plugin", toy.MODULE)
    build = toy.command(tmp_path, ["--objective", "toy", "--quiet"])
    before, after = map(float, outside.python(STEP, json.dumps(build)).splitlines()[-1].split())
    assert after < before
