"""Narrow arithmetic, layers computed twice and optimizers of one kernel train as the plain float32 run does."""

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
from bertdata.objectives.settings import ExamplesConfig
from bertdata.torch import (
    BertConfig,
    BertForPreTraining,
    FinetuneSettings,
    ModernBertConfig,
    ModernBertForMaskedLM,
    ResumableBatchSampler,
    ShardDataset,
)
from bertdata.torch.models.chunked_loss import chunked_cross_entropy
from bertdata.torch.models.norm import LayerNorm, use_wide_norms
from bertdata.torch.training import arithmetic as module
from bertdata.torch.training import steps
from bertdata.torch.training.arithmetic import Arithmetic
from bertdata.torch.training.losses import sent
from bertdata.torch.training.optimization import DivergenceError, make_adamw, make_optimizer
from bertdata.torch.training.pretrain import _advise_on_attention, pretrain
from bertdata.torch.training.settings import PretrainSettings
from bertdata.torch.training.stable_adamw import StableAdamW
from tests.torch.build import write_build
from tests.torch.training.small_runs import SETTINGS, SMALL, log, losses, stop_at

CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory, dynamic_build: Path) -> Path:
    """The run of float32."""
    output = tmp_path_factory.mktemp("plain")
    pretrain(dynamic_build, SMALL, output, SETTINGS)
    return output


def run(tmp_path: Path, build: Path, name: str = "run", **changes: Any) -> list[float]:
    """Return the losses of a run."""
    pretrain(build, SMALL, tmp_path / name, replace(SETTINGS, **changes))
    return losses(tmp_path / name)


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
            [one.grad.flatten() for one in model.parameters() if one.grad is not None]
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
    with pytest.raises(ConfigError, match="`bf16` and `fp16` are two ways to compute; give one of them"):
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
    found = []
    for recomputed in (False, True):
        settings = replace(SETTINGS, max_steps=3, gradient_checkpointing=recomputed)
        output = tmp_path / str(recomputed)
        pretrain(dynamic_build, "bert", output, settings, library="transformers", config_overrides=overrides)
        found.append(losses(output))
    assert found[0] == found[1]


@pytest.mark.parametrize("objective", ["nsp", "sop", "doc-chunks"])
@pytest.mark.parametrize("bf16", [False, True])
def test_a_loss_in_chunks_trains_as_a_whole_one(
    tmp_path: Path, objective: str, bf16: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three labelled tokens in a chunk; of BERT, ALBERT and ModernBERT, whose decoders stand at different places."""
    config = {"nsp": "tiny", "sop": "albert-tiny", "doc-chunks": "modernbert-tiny"}[objective]
    build = write_build(tmp_path / "build", ExamplesConfig(objective=objective, max_seq_length=32))
    settings, found = replace(SETTINGS, max_steps=4, bf16=bf16, warmup_ratio=0.0, logging_steps=1), []
    for most in (0, 300):
        monkeypatch.setattr(module, "_MOST_LOGITS", most)
        pretrain(build, config, tmp_path / str(most), settings)
        found.append([(record["loss"], record["mlm_accuracy"]) for record in log(tmp_path / str(most))])
    whole, chunked = (torch.tensor(one) for one in found)
    assert torch.allclose(whole, chunked, rtol=0, atol=2e-2 if bf16 else 1e-4)
    assert not torch.equal(whole, chunked)


def test_the_gradients_of_a_loss_in_chunks_are_those_of_the_whole() -> None:
    torch.manual_seed(0)
    decoder, targets = nn.Linear(8, 50).double(), torch.randint(0, 50, (23,))
    states = torch.randn(23, 8, dtype=torch.float64, requires_grad=True)
    whole: Any = nn.functional.cross_entropy(decoder(states), targets, reduction="sum") * 0.25
    whole.backward()
    expected = [one.grad.clone() for one in (states, decoder.weight, decoder.bias) if one.grad is not None]
    for one in (states, decoder.weight, decoder.bias):
        one.grad = None
    chunked = chunked_cross_entropy(states, decoder, targets, 5)
    total: Any = chunked.total * 0.25
    total.backward()
    for one, slope in zip((states, decoder.weight, decoder.bias), expected, strict=True):
        assert one.grad is not None
        assert torch.allclose(one.grad, slope, rtol=1e-5, atol=1e-6)
    assert int(chunked.right) == int((decoder(states).argmax(-1) == targets).sum())
    assert torch.equal(chunked.plain, chunked.total)


def test_a_weighted_loss_in_chunks_has_the_gradients_of_the_whole_and_says_the_plain_one() -> None:
    torch.manual_seed(0)
    decoder, targets, weights = nn.Linear(8, 50), torch.randint(0, 50, (23,)), torch.rand(23) * 5
    found = []
    states = torch.randn(23, 8, requires_grad=True)
    for chunked in (False, True):
        for one in (states, decoder.weight, decoder.bias):
            one.grad = None
        if chunked:
            total, _, plain = chunked_cross_entropy(states, decoder, targets, 5, weights)
        else:
            each = nn.functional.cross_entropy(decoder(states), targets, reduction="none")
            total, plain = (each * weights).sum(), each.sum()
        loss: Any = total * 0.25
        loss.backward()
        found.append([total, plain, states.grad, decoder.weight.grad, decoder.bias.grad])
    for whole, part in zip(*found, strict=True):
        assert whole is not None
        assert part is not None
        assert torch.allclose(whole, part, rtol=1e-5, atol=1e-5)


def stepped(optimizer: torch.optim.Optimizer, weights: list[nn.Parameter]) -> list[Tensor]:
    """Take five steps by drawn gradients, one of them large, and return the weights."""
    generator = torch.Generator().manual_seed(3)
    for number in range(5):
        for weight in weights:
            weight.grad = torch.randn(weight.shape, generator=generator) * (100 if number == 3 else 1)
        optimizer.step()
    return [weight.detach() for weight in weights]


def weights_of() -> list[nn.Parameter]:
    generator = torch.Generator().manual_seed(2)
    return [nn.Parameter(torch.randn(shape, generator=generator)) for shape in ((4, 6), (6,), (3, 2, 5), (1,))]


def by_the_formula(rate: float, betas: tuple[float, float], eps: float, decay: float) -> list[Tensor]:
    """Return what StableAdamW makes of `weights_of` by the gradients of `stepped`, tensor by tensor in float64."""
    generator = torch.Generator().manual_seed(3)
    values = [weight.detach().double() for weight in weights_of()]
    first, second = ([torch.zeros_like(value) for value in values] for _ in range(2))
    for number in range(5):
        for place, value in enumerate(values):
            slope = (torch.randn(value.shape, generator=generator) * (100 if number == 3 else 1)).double()
            first[place] = betas[0] * first[place] + (1 - betas[0]) * slope
            second[place] = betas[1] * second[place] + (1 - betas[1]) * slope**2
            corrected = second[place] / (1 - betas[1] ** (number + 1))
            rms = (slope**2 / corrected.clamp(min=eps**2)).mean().sqrt()
            slower = rate / max(1.0, float(rms))
            update = first[place] / (1 - betas[0] ** (number + 1)) / (corrected.sqrt() + eps)
            values[place] = value * (1 - slower * decay) - slower * update
    return values


def test_stable_adamw_of_all_tensors_together_is_the_formula_of_each() -> None:
    expected = by_the_formula(0.01, (0.9, 0.98), 1e-6, 0.1)
    weights = weights_of()
    found = stepped(StableAdamW(weights, lr=0.01, betas=(0.9, 0.98), eps=1e-6, weight_decay=0.1), weights)
    for one, two in zip(found, expected, strict=True):
        assert torch.allclose(one.double(), two, rtol=1e-6, atol=1e-7)


def test_stable_adamw_launches_few_kernels_a_tensor() -> None:
    """Counted for one tensor more: the kernels of a loop over tensors were about twenty each."""

    def calls(tensors: int) -> int:
        weights = [nn.Parameter(torch.ones(4, 4)) for _ in range(tensors)]
        optimizer = StableAdamW(weights)
        for weight in weights:
            weight.grad = torch.ones_like(weight)
        optimizer.step()
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profile:
            optimizer.step()
        return sum(event.count for event in profile.key_averages() if event.key in ("aten::mul_", "aten::addcmul_"))

    assert calls(9) - calls(8) <= 2 + 2, "two of its own, and on a CPU two inside of the functions for all tensors"


def test_fused_adamw_is_adamw() -> None:
    found = []
    for fused in (False, True):
        weights = weights_of()
        optimizer = make_adamw([{"params": weights, "weight_decay": 0.1}], betas=(0.9, 0.98), eps=1e-6, fused=fused)
        found.append(stepped(optimizer, weights))
        assert optimizer.param_groups[0]["fused"] == (fused or None)
    for one, two in zip(*found, strict=True):
        assert torch.allclose(one, two, rtol=1e-6, atol=1e-7)
    assert make_adamw([{"params": weights_of()}], betas=(0.9, 0.98), eps=1e-6).param_groups[0]["fused"] is None


def test_dropout_of_torch_changes_with_the_parts_of_a_batch_and_that_of_the_row_does_not(
    tmp_path: Path, dynamic_build: Path
) -> None:
    for kind, same in (("row", True), ("torch", False)):
        found = [
            run(
                tmp_path,
                dynamic_build,
                f"{kind}{parts}",
                max_steps=3,
                dropout_by=kind,
                gradient_accumulation_steps=parts,
            )
            for parts in (1, 4)
        ]
        assert (found[0] == pytest.approx(found[1], abs=1e-5)) == same
    with pytest.raises(ConfigError, match="`dropout_by` torch leaves all dropout to torch"):
        replace(SETTINGS, dropout_by="torch", attention_dropout_by_row=True)


def test_muon_takes_the_matrices_of_the_layers_and_adamw_the_rest() -> None:
    model = BertForPreTraining(SMALL)
    optimizer: Any = make_optimizer(model, 0.01, optim="muon")
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    muon, adamw = (
        {names[id(one)] for group in part.param_groups for one in group["params"]} for part in optimizer.parts
    )
    assert muon | adamw == set(names.values())
    assert not muon & adamw
    assert all(name.endswith("weight") and ("encoder.layer" in name or "pooler" in name) for name in muon)
    assert {name for name in adamw if "encoder.layer" in name and "LayerNorm" not in name} <= {
        name for name in names.values() if name.endswith("bias")
    }
    assert [group["weight_decay"] for group in optimizer.param_groups] == [0.01, 0.01, 0.0]


def test_muon_updates_as_torchs_with_the_size_of_adamws() -> None:
    """The update of a matrix is orthogonal: its singular values are alike, and their size is that of AdamW's steps."""
    model: Any = BertForPreTraining(SMALL)
    optimizer = make_optimizer(model, 0.0, optim="muon")
    weight = model.bert.encoder.layer[0].intermediate.dense.weight
    weight.grad = torch.randn(weight.shape, generator=torch.Generator().manual_seed(1))
    before = weight.detach().clone()
    for group in optimizer.param_groups:
        group["lr"] = 0.01
    optimizer.step()
    update = before - weight.detach()
    values = torch.linalg.svdvals(update)
    assert values.max() / values.min() < 2, "those of the gradient differ more"
    assert update.square().mean().sqrt() == pytest.approx(0.01 * 0.2, rel=0.3)


@pytest.mark.parametrize(
    "changes", [{"dropout_by": "torch"}, {"optim": "muon"}, {"optim": "stable_adamw", "max_grad_norm": 0.0}]
)
def test_runs_of_other_optimizers_or_dropout_go_on_exactly(
    tmp_path: Path, dynamic_build: Path, changes: dict[str, Any]
) -> None:
    whole = run(tmp_path, dynamic_build, **changes)
    with pytest.raises(KeyboardInterrupt):
        pretrain(dynamic_build, SMALL, tmp_path / "cut", replace(SETTINGS, **changes), report=stop_at(8))
    pretrain(dynamic_build, SMALL, tmp_path / "cut", replace(SETTINGS, **changes))
    assert losses(tmp_path / "cut") == whole
    assert whole[-1] < whole[0]


def test_an_update_of_so_many_tokens_is_one_of_the_rows_that_fit(tmp_path: Path, dynamic_build: Path) -> None:
    """Rows are those of the order; the loss of the first update is that of the same rows without padding."""
    settings = replace(SETTINGS, packing=True, batch_tokens=256, max_steps=4)
    pretrain(dynamic_build, SMALL, tmp_path / "tokens", settings)
    dataset = ShardDataset(dynamic_build)
    sampler = ResumableBatchSampler(dataset, batch_tokens=256, epochs=None)
    rows = [len(batch) for batch, _ in zip(sampler, range(4), strict=False)]
    assert len({*rows}) > 1, "rows are of different lengths"
    assert [record["epoch"] for record in log(tmp_path / "tokens")] == [
        sum(rows[: number + 1]) / len(dataset) for number in range(4)
    ]
    pretrain(
        dynamic_build, SMALL, tmp_path / "rows", replace(settings, batch_tokens=0, batch_size=rows[0], max_steps=1)
    )
    assert losses(tmp_path / "tokens")[0] == pytest.approx(losses(tmp_path / "rows")[0], abs=1e-5)
    with pytest.raises(KeyboardInterrupt):
        pretrain(dynamic_build, SMALL, tmp_path / "cut", replace(settings, save_steps=2), report=stop_at(3))
    pretrain(dynamic_build, SMALL, tmp_path / "cut", replace(settings, save_steps=2))
    assert losses(tmp_path / "cut") == losses(tmp_path / "tokens")


def test_packed_rows_of_so_many_tokens_have_one_shape(
    tmp_path: Path, two_lengths: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shapes: set[tuple[int, ...]] = set()

    def noted(batch: Any, device: torch.device) -> dict[str, Any]:
        shapes.add(tuple(batch["input_ids"].shape))
        return sent(batch, device)

    monkeypatch.setattr(steps, "sent", noted)
    settings = replace(SETTINGS, packing=True, batch_tokens=256, gradient_accumulation_steps=2, max_steps=6)
    pretrain(two_lengths, SMALL, tmp_path, replace(settings, last_share=0.5))
    assert shapes == {(1, 128)}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"batch_tokens": 64}, "`batch_tokens` 64 are of packed rows; add `packing`, or give `batch_size`"),
        ({"batch_tokens": 100, "packing": True}, "`batch_tokens` 100 cannot be split evenly for 1 processes and"),
        ({"batch_tokens": 16, "packing": True}, "batch_tokens is 16, but the longest row has 32 tokens"),
    ],
)
def test_tokens_of_an_update_that_do_not_fit_are_refused(
    tmp_path: Path, dynamic_build: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        pretrain(dynamic_build, SMALL, tmp_path, replace(SETTINGS, **changes))


def test_what_keeps_packed_rows_from_flash_attention_is_said_with_the_remedy(caplog: pytest.LogCaptureFixture) -> None:
    packed = PretrainSettings(packing=True, bf16=True)
    _advise_on_attention("", SMALL, replace(packed, packing=False))
    _advise_on_attention("", replace(SMALL, attention_probs_dropout_prob=0.0), packed)
    assert not caplog.records
    _advise_on_attention("", SMALL, packed)
    assert "attention_probs_dropout_prob is 0.1, and torch's kernel for packed rows has no dropout" in caplog.text
