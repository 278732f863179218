"""A step asks its device for nothing: with tensors that have no values, whatever would wait for one is an error."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch._subclasses.fake_tensor import DataDependentOutputException, DynamicOutputShapeException, FakeTensorMode

from bertdata.objectives.settings import ExamplesConfig
from bertdata.torch import ShardDataset
from bertdata.torch.models.configs import resolve_config
from bertdata.torch.models.dropout import attached
from bertdata.torch.models.model_loading import model_class
from bertdata.torch.training import steps
from bertdata.torch.training.arithmetic import Arithmetic
from bertdata.torch.training.distributed import Group
from bertdata.torch.training.optimization import Unread, make_optimizer, update_unread
from bertdata.torch.training.settings import PretrainSettings
from tests.torch.build import write_build

HOST = torch.device("cpu")
FAMILIES = {"tiny": "nsp", "albert-tiny": "sop", "electra-tiny": "single-segment", "modernbert-tiny": "doc-chunks"}
"""A preset of each family, and the objective of the shards that it is trained on."""


@pytest.fixture(scope="module")
def datasets(tmp_path_factory: pytest.TempPathFactory) -> dict[str, ShardDataset]:
    """Rows of different lengths, for each objective."""
    place = tmp_path_factory.mktemp("objectives")
    configs = {name: ExamplesConfig(objective=name, max_seq_length=32) for name in set(FAMILIES.values())}
    return {name: ShardDataset(write_build(place / name, config)) for name, config in configs.items()}


def step_without_values(dataset: ShardDataset, family: str, patch: pytest.MonkeyPatch, **given: Any) -> Tensor:
    """Take a step of two parts as the trainer does on a device that it does not wait for; returns the norm."""
    info, settings = dataset.shards.expect_pretraining(), PretrainSettings(bf16=True, **given)
    config = resolve_config(family, info)
    model = model_class(config, info)(config)
    collator = model.collator(dataset, tokenizer=dataset.shards.tokenizer(), packing=settings.packing)
    rows = [[(0, number) for number in range(first, first + 4)] for first in (0, 4)]
    parts = [collator(dataset.__getitems__(some)) for some in rows]
    draws = attached(model.train())
    mode = FakeTensorMode(allow_non_fake_inputs=True)
    patch.syspath_prepend(Path(__file__).parents[3] / "benchmarks")
    importlib.import_module("roofline").without_values(model, mode)

    def sent(batch: Mapping[str, Any], device: torch.device) -> dict[str, Any]:
        return {name: mode.from_tensor(value) if isinstance(value, Tensor) else value for name, value in batch.items()}

    patch.setattr(steps, "sent", sent)
    optimizer = make_optimizer(model, 0.01, optim=settings.optim)
    run: Any = SimpleNamespace(group=Group(0, 1, HOST), model=model, optimizer=optimizer)
    phase: Any = SimpleNamespace(dataset=dataset)
    arithmetic = Arithmetic(settings, HOST, optimizer)
    loss = steps.gradients(run, model, draws, parts, steps.Interval(0.0), phase, settings, 1, arithmetic)
    with mode:
        return update_unread(model, optimizer, loss, 1e-3, 1.0, 1, Unread(HOST))


@pytest.mark.costly
@pytest.mark.parametrize("packing", [False, True])
@pytest.mark.parametrize("family", FAMILIES)
def test_a_step_waits_for_nothing(
    datasets: dict[str, ShardDataset], family: str, packing: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    norm = step_without_values(datasets[FAMILIES[family]], family, monkeypatch, packing=packing)
    assert norm.shape == ()


def test_without_the_places_that_the_host_knows_the_device_is_asked(
    datasets: dict[str, ShardDataset], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "with_places", lambda batch, pad_token_id, names: dict(batch))
    with pytest.raises((DataDependentOutputException, DynamicOutputShapeException)):
        step_without_values(datasets["nsp"], "tiny", monkeypatch)
