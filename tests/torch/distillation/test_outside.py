"""A distillation from outside the package is selected by its name, or by that of its module."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

import pytest
from torch import Tensor
from torch.nn import functional

from bertdata.errors import ConfigError
from bertdata.torch.distillation.base import Distillation
from bertdata.torch.distillation.reading import Rows, States
from bertdata.torch.distillation.settings import DistillationSettings
from bertdata.torch.training.pretrain import pretrain
from tests.torch.training.small_runs import SETTINGS, SMALL, log


class SameStates(Distillation):
    """The mean squared error of the last hidden states, as in docs/architectures.md."""

    help = "the mean squared error of the last hidden states"
    weights: ClassVar[Mapping[str, float]] = {"states": 3.0, "mlm": 1.0}

    def terms(self, student: States, teacher: States, rows: Rows) -> Sequence[tuple[str, Tensor, str]]:
        error = functional.mse_loss(student.hidden[rows.real], teacher.hidden[rows.real])
        return [("states", error, "tokens")]


@pytest.mark.costly
def test_a_distillation_from_outside_trains(build: Path, teacher: Path, tmp_path: Path) -> None:
    settings = DistillationSettings(distillation=f"{__name__}:SameStates")
    pretrain(build, SMALL, tmp_path, SETTINGS, teacher=teacher, distillation=settings)
    records = log(tmp_path)
    assert records[0]["loss"] == pytest.approx(records[0]["mlm_loss"] + 3 * records[0]["states_loss"])
    assert records[-1]["states_loss"] < records[0]["states_loss"]


def test_an_unknown_distillation_is_refused() -> None:
    with pytest.raises(ConfigError, match="`distillation` is 'bigbert'"):
        DistillationSettings(distillation="bigbert")
    with pytest.raises(ConfigError, match="cannot be imported"):
        DistillationSettings(distillation=f"{__name__}:Nothing")
    with pytest.raises(ConfigError, match="is of the type function; expected a child of Distillation"):
        DistillationSettings(distillation=f"{__name__}:test_an_unknown_distillation_is_refused")
