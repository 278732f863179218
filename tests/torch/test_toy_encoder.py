"""A family from outside the package is pretrained, resumed, saved, opened and fine-tuned by the commands."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.outside import Outside
from tests.torch.build import write_build
from tests.torch.training.test_finetune import encoded, texts

COMMANDS = """
import json, sys
from pathlib import Path
import torch
from bertdata.cli.main import dispatch
from bertdata.errors import ConfigError
from bertdata.torch.models import FAMILIES, configs
from bertdata.torch.models.heads import BertForSequenceClassification
from bertdata.torch.training import checkpoint
from tests.outside import Outside

place = Path(sys.argv[1])
small = ["--max-steps", "4", "--save-steps", "2", "--logging-steps", "1", "--batch-size", "8", "--num-workers", "0"]
pretrain = ["pretrain", str(place / "build"), "--config", "toy-small", "--gradient-accumulation-steps", "2", *small]
pretrain += ["--device", "cpu", "--output"]
save = checkpoint.save


def save_and_stop(*arguments, **keywords):
    save(*arguments, **keywords)
    raise KeyboardInterrupt


dispatch([*pretrain, str(place / "whole")])
checkpoint.save = save_and_stop
try:
    dispatch([*pretrain, str(place / "cut")])
except KeyboardInterrupt:
    checkpoint.save = save
assert not (place / "cut" / "model.safetensors").exists()
dispatch([*pretrain, str(place / "cut")])
finetune = ["finetune", str(place / "task/shards"), "--model", str(place / "cut"), "--output", str(place / "tuned")]
dispatch([*finetune, "--epochs", "1", "--device", "cpu"])

config, ids = configs.load_config(place / "cut"), torch.tensor([[2, 7, 3]])
model = FAMILIES["toy"].pretraining(config, None).from_pretrained(place / "cut").eval()
classifier = BertForSequenceClassification.from_pretrained(place / "tuned").eval()
found = {
    "config": [type(config).__name__, config.kernel_size],
    "logits": list(model(ids).prediction_logits.shape),
    "classifier": [classifier.architecture, type(classifier.encoder).__name__, list(classifier(ids).logits.shape)],
}
(place / "found.json").write_text(json.dumps(found))
"""


@pytest.mark.costly
def test_a_family_from_outside_goes_through_all_commands(tmp_path: Path) -> None:
    write_build(tmp_path / "build")
    encoded(tmp_path / "task", "classification", texts, (40, 10))
    code = Path(__file__).with_name("toy_encoder.py").read_text()
    printed = Outside.write(tmp_path, "outside_encoder", code).python(COMMANDS, tmp_path)

    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("whole", "cut")]
    assert weights[0] == weights[1]
    records = [json.loads(line) for line in (tmp_path / "cut" / "log.jsonl").read_text().splitlines()]
    assert [record["step"] for record in records] == [1, 2, 3, 4]
    assert all(record["mlm_loss"] == record["loss"] > 0 and record["tflops"] > 0 for record in records)
    assert ">mlm_accuracy</text>" in (tmp_path / "cut" / "curves.svg").read_text()
    assert "accuracy" in printed
    assert json.loads((tmp_path / "found.json").read_text()) == {
        "config": ["ToyConfig", 5],
        "logits": [1, 3, 100],
        "classifier": ["ToyForSequenceClassification", "ToyModel", [1, 2]],
    }
