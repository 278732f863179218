"""Narrow arithmetic and layers computed twice train as the plain float32 run does."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from bertdata.errors import ConfigError
from bertdata.torch import (
    BertConfig,
    BertForPreTraining,
    FinetuneSettings,
    ModernBertConfig,
    ModernBertForMaskedLM,
)
from bertdata.torch.models.norm import LayerNorm, use_wide_norms
from bertdata.torch.training import arithmetic as module
from bertdata.torch.training.arithmetic import Arithmetic
from bertdata.torch.training.optimization import DivergenceError
from bertdata.torch.training.pretrain import pretrain
from bertdata.torch.training.settings import PretrainSettings
from tests.torch.training.small_runs import SETTINGS, SMALL, log, losses, run, stop_at

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory, dynamic_build: Path) -> Path:
    """The run of float32."""
    output = tmp_path_factory.mktemp("plain")
    pretrain(dynamic_build, SMALL, output, SETTINGS)
    return output


def test_norms_round_their_input_and_result_to_bfloat16_and_nothing_between() -> None:
    norm = LayerNorm(64)
    nn.init.normal_(norm.weight)
    hidden = 50 + torch.randn(5, 64, generator=torch.Generator().manual_seed(1))  # a mean that bfloat16 sums lose
    with torch.autocast("cpu", torch.bfloat16):
        narrow = norm(hidden)
    exact = nn.functional.layer_norm(hidden.bfloat16().float(), (64,), norm.weight.bfloat16().float())
    assert narrow.dtype == torch.bfloat16
    assert torch.allclose(narrow.float(), exact, rtol=2**-7, atol=2**-9)
    use_wide_norms(norm)
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(norm(hidden), nn.LayerNorm.forward(norm, hidden))


@pytest.mark.parametrize("family", ["bert", "modernbert"])
def test_the_residual_stream_is_bfloat16_and_losses_and_gradients_are_those_of_float32(family: str) -> None:
    torch.manual_seed(0)
    sizes: dict[str, Any] = {"vocab_size": 100, "num_hidden_layers": 8}
    bert, modernbert = BertConfig.tiny(**sizes), ModernBertConfig.tiny(**sizes, local_attention=8)
    model: Any = BertForPreTraining(bert) if family == "bert" else ModernBertForMaskedLM(modernbert)
    model.eval()
    ids = torch.randint(5, 100, (8, 32))
    labels = torch.where(torch.rand(8, 32) < 0.2, ids, -100)

    def found(*, half: bool) -> tuple[Tensor, Tensor]:
        model.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            output = model(ids, labels=labels)
        assert output.hidden_states.dtype == (torch.bfloat16 if half and not wide else torch.float32)
        output.loss.backward()
        return output.loss.detach(), torch.cat(
            [parameter.grad.flatten() for parameter in model.parameters() if parameter.grad is not None]
        )

    wide = False
    (exact, slope), (fast, fast_slope) = found(half=False), found(half=True)
    assert abs(fast - exact) < 0.01
    assert nn.functional.cosine_similarity(fast_slope, slope, dim=0) > 0.999
    use_wide_norms(model)
    wide = family == "modernbert"  # BERT's last norm gets the sum of a bfloat16 and a float32 there, too
    reference = found(half=True)[0] if wide else exact
    assert abs(fast - reference) < 0.01


def test_a_run_in_bfloat16_goes_on_with_the_arithmetic_that_it_began_with(tmp_path: Path, dynamic_build: Path) -> None:
    settings = replace(SETTINGS, bf16=True, precision="reference", max_steps=8)
    with pytest.raises(KeyboardInterrupt):
        pretrain(dynamic_build, SMALL, tmp_path, settings, report=stop_at(6))
    with pytest.raises(ConfigError, match="precision was 'reference' and is 'fast'"):
        pretrain(dynamic_build, SMALL, tmp_path, replace(settings, precision="fast"))
    pretrain(dynamic_build, SMALL, tmp_path, settings)
    assert len(log(tmp_path)) == 8


@pytest.mark.costly
def test_float16_learns_what_float32_does_and_keeps_its_scale_in_checkpoints(
    tmp_path: Path, dynamic_build: Path, plain: Path
) -> None:
    whole = run(tmp_path, dynamic_build, fp16=True)
    assert whole == pytest.approx(losses(plain), abs=0.02)
    assert whole != losses(plain)
    with pytest.raises(KeyboardInterrupt):
        pretrain(dynamic_build, SMALL, tmp_path / "cut", replace(SETTINGS, fp16=True), report=stop_at(8))
    pretrain(dynamic_build, SMALL, tmp_path / "cut", replace(SETTINGS, fp16=True))
    assert losses(tmp_path / "cut") == whole
    assert {record["overflows"] for record in log(tmp_path / "cut")} == {0}


def test_an_overflow_of_float16_leaves_the_update_out_and_halves_the_scale() -> None:
    weight = nn.Parameter(torch.ones(3))
    optimizer = torch.optim.SGD([weight], lr=0.1)
    narrow = Arithmetic(PretrainSettings(fp16=True), CPU, optimizer)
    for step, slope in enumerate([1.0, float("inf"), 1.0], 1):
        optimizer.zero_grad()
        narrow.backward((weight * slope).sum())
        before = weight.detach().clone()
        narrow.update(nn.ParameterList([weight]), 1.0, 0.1, 0.0, step)
        assert torch.equal(weight, before) == (step == 2)
    assert torch.allclose(weight, torch.full((3,), 0.8)), "gradients are those of the loss itself"
    assert narrow.overflows == 1
    again = Arithmetic(PretrainSettings(fp16=True), CPU, optimizer)
    assert narrow.scaler is not None
    assert again.scaler is not None
    assert again.scaler.state_dict() == narrow.scaler.state_dict()
    assert again.scaler.get_scale() == 65536 / 2


def test_the_log_of_an_overflow_is_json_and_counts_it(
    tmp_path: Path, dynamic_build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.amp, "GradScaler", partial(torch.amp.GradScaler, init_scale=2.0**40))
    run(tmp_path, dynamic_build, fp16=True, max_steps=3)
    lines = (tmp_path / "run" / "log.jsonl").read_text().splitlines()
    records = [json.loads(line, parse_constant=pytest.fail) for line in lines]
    assert [record["overflows"] for record in records] == [1, 2, 3]
    assert not any("gradient_norm" in record for record in records)


def test_float16_that_overflows_without_a_scale_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    weight = nn.Parameter(torch.ones(1))
    narrow = Arithmetic(PretrainSettings(fp16=True), CPU, torch.optim.SGD([weight], lr=0.1))
    monkeypatch.setattr(module, "_LOWEST_SCALE", 30_000.0)

    def overflow(step: int) -> None:
        narrow.backward((weight * float("nan")).sum())
        narrow.update(nn.ParameterList([weight]), 1.0, 0.1, 0.0, step)

    overflow(1)
    with pytest.raises(DivergenceError, match="float16 overflows at step 2, though"):
        overflow(2)


@pytest.mark.parametrize("kind", [PretrainSettings, FinetuneSettings])
def test_two_narrow_arithmetics_are_refused(kind: Callable[..., Any]) -> None:
    with pytest.raises(ConfigError, match="`bf16` and `fp16` are two ways to compute"):
        kind(bf16=True, fp16=True)


@pytest.mark.parametrize("changes", [{}, {"packing": True}, {"gradient_accumulation_steps": 2}])
def test_layers_computed_twice_drop_the_same_and_learn_the_same(
    tmp_path: Path, dynamic_build: Path, changes: dict[str, Any]
) -> None:
    once = run(tmp_path, dynamic_build, "once", max_steps=4, **changes)
    assert run(tmp_path, dynamic_build, "twice", max_steps=4, gradient_checkpointing=True, **changes) == once


def test_a_run_may_begin_to_compute_layers_twice_and_phases_do_not_nest(tmp_path: Path, two_lengths: Path) -> None:
    whole = replace(SETTINGS, max_steps=6, save_steps=2, last_share=0.5)
    pretrain(two_lengths, SMALL, tmp_path / "whole", whole)
    with pytest.raises(KeyboardInterrupt):
        pretrain(two_lengths, SMALL, tmp_path / "cut", whole, report=stop_at(3))
    pretrain(two_lengths, SMALL, tmp_path / "cut", replace(whole, gradient_checkpointing=True))
    assert losses(tmp_path / "cut") == losses(tmp_path / "whole")


def test_of_each_layer_its_input_alone_is_kept(dynamic_build: Path, tmp_path: Path) -> None:
    kept: list[int] = []

    def noted(tensor: Tensor) -> Tensor:
        kept[-1] += tensor.numel()
        return tensor

    for recomputed in (False, True):
        kept.append(0)
        settings = replace(SETTINGS, max_steps=1, gradient_checkpointing=recomputed)
        with torch.autograd.graph.saved_tensors_hooks(noted, lambda tensor: tensor):
            pretrain(dynamic_build, replace(SMALL, num_hidden_layers=6), tmp_path / str(recomputed), settings)
    assert kept[1] < kept[0] / 3, "of tensors that the backward pass of a layer needs, its input alone is kept"


def test_models_of_transformers_compute_their_layers_twice_too(tmp_path: Path, dynamic_build: Path) -> None:
    overrides = {"num_hidden_layers": 2, "hidden_size": 32, "num_attention_heads": 2, "intermediate_size": 64}
    factors = []
    for recomputed in (False, True):
        settings = replace(SETTINGS, max_steps=3, gradient_checkpointing=recomputed)
        output = tmp_path / str(recomputed)
        pretrain(dynamic_build, "bert", output, settings, library="transformers", config_overrides=overrides)
        factors.append(losses(output))
    assert factors[0] == factors[1]
