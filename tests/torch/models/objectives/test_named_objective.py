"""A training objective of another module is named where it is used."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from bertdata.errors import ConfigError
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.torch.models.bert import BertForMaskedLM
from bertdata.torch.models.objectives.settings import ObjectiveSettings, TrainingObjective
from bertdata.torch.models.outputs import PretrainingOutput
from bertdata.torch.models.weights import PreTrainedModel
from bertdata.torch.training.pretrain import pretrain
from bertdata.torch.training.settings import PretrainSettings
from tests.torch.build import write_build
from tests.torch.training.small_runs import SMALL, log


class Doubled(BertForMaskedLM):
    """Has twice the loss."""

    def forward(self, *arguments: Any, **inputs: Any) -> PretrainingOutput:
        output: PretrainingOutput = super().forward(*arguments, **inputs)
        assert output.mlm_loss is not None
        return output._replace(mlm_loss=2 * output.mlm_loss)


def doubled(
    kind: type[PreTrainedModel], infos: Sequence[PretrainingInfo], settings: ObjectiveSettings
) -> type[PreTrainedModel]:
    if kind is not BertForMaskedLM:
        raise ConfigError(f"{kind.__name__} has no double")
    return Doubled


TOY = TrainingObjective("masked tokens, twice", doubled)


def test_an_objective_is_named_by_its_module(tmp_path: Path) -> None:
    build = write_build(tmp_path / "build", ExamplesConfig(objective="full-sentences", max_seq_length=48))
    for name, objective in (("plain", ""), ("doubled", f"{__name__}:TOY")):
        settings = PretrainSettings(
            max_steps=1, batch_size=4, num_workers=0, device="cpu", training_objective=objective
        )
        pretrain(build, SMALL, tmp_path / name, settings)
    plain, twice = (log(tmp_path / name)[0]["mlm_loss"] for name in ("plain", "doubled"))
    assert twice == pytest.approx(2 * plain)
    pairs = write_build(tmp_path / "pairs", ExamplesConfig(objective="nsp", max_seq_length=48))
    with pytest.raises(ConfigError, match="BertForPreTraining has no double"):
        pretrain(pairs, SMALL, tmp_path / "none", settings)
