from __future__ import annotations

import argparse
import errno
import math
import tracemalloc
from contextlib import nullcontext
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers

from bertdata.cli import pretrain as command
from bertdata.errors import BertDataError, ConfigError, InputError, OutputError
from bertdata.io import files
from bertdata.io.os_errors import output_error
from bertdata.objectives.settings import ExamplesConfig
from bertdata.tokenizers.wordpiece import WordPieceTokenizer
from bertdata.torch import BertConfig, BertForPreTraining
from bertdata.torch.distillation.settings import DistillationSettings
from bertdata.torch.training import metrics_log, optimization, pretrain, schedules
from bertdata.torch.training.metrics_log import LogRecord
from bertdata.torch.training.optimization import DivergenceError, make_optimizer
from bertdata.torch.training.settings import PretrainSettings
from tests.oracles.masking import draw
from tests.torch.build import tokenizer_of, write_build
from tests.torch.training.small_runs import SETTINGS, SMALL, log, stop_at


def learned(output: Path) -> list[tuple[float, ...]]:
    return [tuple(record[name] for name in ("step", "loss", "gradient_norm", "epoch")) for record in log(output)]


def saved_steps(output: Path) -> list[int]:
    return [int(path.name.removeprefix("step-")) for path in (output / "checkpoints").iterdir()]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, dynamic_build: Path) -> Path:
    """An uninterrupted run of 12 steps."""
    output = tmp_path_factory.mktemp("whole")
    pretrain.pretrain(dynamic_build, SMALL, output, SETTINGS)
    return output


@pytest.mark.costly
@pytest.mark.usefixtures("curves_drawn")
def test_the_loss_falls_and_the_log_says_so(tmp_path: Path, dynamic_build: Path) -> None:
    settings = replace(SETTINGS, max_steps=60, save_steps=1000, logging_steps=10)
    summary = pretrain.pretrain(dynamic_build, SMALL, tmp_path, settings)
    records = log(tmp_path)
    assert [record["step"] for record in records] == [10, 20, 30, 40, 50, 60]
    assert records[-1]["mlm_loss"] < math.log(100) - 1 < records[0]["mlm_loss"] + 1
    assert records[-1]["mlm_accuracy"] > 0.1
    assert summary == {"output": str(tmp_path), "steps": 60, **records[-1]}
    assert (tmp_path / "curves.svg").read_text().count(">training</text>") == 4
    for record in records:
        assert 0 <= record["data_wait_share"] < 1
        assert record["tflops"] > 0
        assert "mfu" not in record
        assert record["loss"] == pytest.approx(record["mlm_loss"] + record["pair_loss"], abs=1e-5)
        assert 0 <= record["pair_accuracy"] <= 1


@pytest.mark.costly
@pytest.mark.parametrize(("stop", "saved"), [(1, 1), (4, 4), (5, 5), (12, None)])
def test_a_run_that_is_asked_to_stop_ends_after_its_step_with_a_checkpoint_and_goes_on(
    tmp_path: Path, dynamic_build: Path, whole: Path, stop: int, saved: int | None
) -> None:
    taken: list[LogRecord] = []
    ended = pytest.raises(KeyboardInterrupt) if saved else nullcontext()
    with ended:
        report, requests = taken.append, lambda: len(taken) + 1 >= stop
        pretrain.pretrain(dynamic_build, SMALL, tmp_path, SETTINGS, report=report, stop=requests)
    assert (tmp_path / "model.safetensors").exists() == (saved is None), "the last step ends the run as ever"
    assert saved is None or max(saved_steps(tmp_path)) == saved
    assert [record["step"] for record in log(tmp_path)] == [*range(1, stop + 1)]
    pretrain.pretrain(dynamic_build, SMALL, tmp_path, SETTINGS)
    assert learned(tmp_path) == learned(whole)
    assert (tmp_path / "model.safetensors").read_bytes() == (whole / "model.safetensors").read_bytes()


def test_a_run_that_goes_back_from_spikes_stops_without_a_checkpoint_of_its_own(
    tmp_path: Path, dynamic_build: Path
) -> None:
    settings = replace(SETTINGS, on_spike="rewind", spike_ratio=5.0)
    asked = iter([False] * 6 + [True])
    with pytest.raises(KeyboardInterrupt):
        pretrain.pretrain(dynamic_build, SMALL, tmp_path, settings, stop=lambda: next(asked))
    assert max(saved_steps(tmp_path)) == 5, "another one would be gone back to"


@pytest.mark.costly
@pytest.mark.parametrize(
    ("stop", "workers"),
    [(8, 0), (5, 2), *(pytest.param(*one, marks=pytest.mark.slow) for one in [(3, 0), (5, 0), (3, 2), (8, 2)])],
)
def test_a_run_cut_off_goes_on_to_the_same_losses(
    tmp_path: Path, dynamic_build: Path, whole: Path, stop: int, workers: int
) -> None:
    settings = replace(SETTINGS, num_workers=workers)
    with pytest.raises(KeyboardInterrupt):
        pretrain.pretrain(dynamic_build, SMALL, tmp_path, settings, report=stop_at(stop))
    assert not (tmp_path / "model.safetensors").exists()
    pretrain.pretrain(dynamic_build, SMALL, tmp_path, settings)
    assert learned(tmp_path) == learned(whole)
    weights = "model.safetensors"
    assert (tmp_path / weights).read_bytes() == (whole / weights).read_bytes()


def test_a_run_cut_off_twice_goes_on_too(tmp_path: Path, dynamic_build: Path, whole: Path) -> None:
    for stop in (7, 11):
        with pytest.raises(KeyboardInterrupt):
            pretrain.pretrain(dynamic_build, SMALL, tmp_path, SETTINGS, report=stop_at(stop))
    pretrain.pretrain(dynamic_build, SMALL, tmp_path, SETTINGS)
    assert learned(tmp_path) == learned(whole)


def test_a_finished_run_is_not_run_again_unless_restarted(dynamic_build: Path, tmp_path: Path) -> None:
    settings = replace(SETTINGS, max_steps=3)
    first = pretrain.pretrain(dynamic_build, SMALL, tmp_path, settings)
    assert pretrain.pretrain(dynamic_build, SMALL, tmp_path, settings, report=stop_at(1)) == first
    assert len(log(tmp_path)) == 3
    with pytest.raises(KeyboardInterrupt):
        pretrain.pretrain(dynamic_build, SMALL, tmp_path, settings, restart=True, report=stop_at(1))


def test_a_restart_with_settings_that_do_not_fit_leaves_the_checkpoints(dynamic_build: Path, tmp_path: Path) -> None:
    settings = replace(SETTINGS, max_steps=3)
    pretrain.pretrain(dynamic_build, SMALL, tmp_path, settings)
    with pytest.raises(ConfigError, match="rotary positions"):
        pretrain.pretrain(dynamic_build, SMALL, tmp_path, replace(settings, phase_rope_thetas=("1e4",)), restart=True)
    assert pretrain.pretrain(dynamic_build, SMALL, tmp_path, settings, report=stop_at(1))["steps"] == 3


def test_the_output_opens_in_transformers_with_its_tokenizer(whole: Path) -> None:
    model = transformers.AutoModel.from_pretrained(whole)
    assert model.config.hidden_size == 32
    assert WordPieceTokenizer.from_pretrained(whole) == tokenizer_of()
    assert transformers.AutoTokenizer.from_pretrained(whole)("w3")["input_ids"] == [2, 8, 3]


def test_the_callers_random_numbers_are_left_alone(tmp_path: Path, dynamic_build: Path) -> None:
    state = torch.random.get_rng_state()
    pretrain.pretrain(dynamic_build, SMALL, tmp_path, replace(SETTINGS, max_steps=1))
    assert torch.equal(torch.random.get_rng_state(), state)


def test_only_the_newest_checkpoint_is_kept_and_a_full_disk_leaves_the_last_good_one(
    tmp_path: Path, dynamic_build: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [path.name for path in (whole / "checkpoints").iterdir()] == ["step-000000012"]
    write = files.write_bytes

    def full(path: str, data: bytes, **more: bool) -> None:
        if "step-000000010" in path and path.endswith("optimizer.pt"):
            raise output_error(OSError(errno.ENOSPC, "full"), path)
        write(path, data, **more)

    with monkeypatch.context() as patch:
        patch.setattr(files, "write_bytes", full)
        with pytest.raises(OutputError, match="no space left"):
            pretrain.pretrain(dynamic_build, SMALL, tmp_path, SETTINGS)
    steps: list[float] = []
    pretrain.pretrain(dynamic_build, SMALL, tmp_path, SETTINGS, report=lambda record: steps.append(record["step"]))
    assert steps[0] == 6
    assert learned(tmp_path) == learned(whole)


def test_a_loss_that_is_no_number_stops_the_run_and_keeps_the_checkpoint(
    tmp_path: Path, dynamic_build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = BertForPreTraining.forward

    def broken(self: BertForPreTraining, *arguments: Any, **keywords: Any) -> Any:
        result = real(self, *arguments, **keywords)
        assert result.mlm_loss is not None
        return result._replace(mlm_loss=result.mlm_loss * float("nan")) if calls.pop() == 7 else result

    calls = list(range(20, 0, -1))
    monkeypatch.setattr(BertForPreTraining, "forward", broken)
    with pytest.raises(DivergenceError, match=r"the loss is nan .* at step 7"):
        pretrain.pretrain(dynamic_build, SMALL, tmp_path, SETTINGS)
    assert [path.name for path in (tmp_path / "checkpoints").iterdir()] == ["step-000000005"]
    assert issubclass(DivergenceError, BertDataError)


@pytest.mark.parametrize("max_grad_norm", [0.0, 1.0])
@pytest.mark.parametrize(
    ("loss", "gradient"), [(1.0, math.inf), (1.0, math.nan), (math.inf, 1.0), (-math.inf, 1.0), (math.nan, 1.0)]
)
def test_a_loss_or_gradient_that_is_not_finite_leaves_the_weights_as_they_were(
    loss: float, gradient: float, max_grad_norm: float
) -> None:
    model = torch.nn.Linear(2, 1)
    before = [parameter.detach().clone() for parameter in model.parameters()]
    optimizer = make_optimizer(model, 0.01)
    for parameter in model.parameters():
        parameter.grad = torch.full_like(parameter, gradient)
    with pytest.raises(DivergenceError, match=r"the loss is .* and its gradient has norm .* at step 3"):
        optimization.update(model, optimizer, loss, 0.1, max_grad_norm, 3)
    assert all(torch.equal(parameter, two) for parameter, two in zip(model.parameters(), before, strict=True))


def test_the_generator_of_a_step_is_seeded_by_seed_step_and_process() -> None:
    seeds = set[int]()
    with optimization.own_randomness(torch.device("cpu")):
        for seed, step, rank in ((3, 5, 0), (3, 5, 1), (3, 6, 0), (4, 5, 0)):
            optimization.seed_step(seed, step, rank)
            assert torch.initial_seed() == draw(seed, "dropout", step, rank) >> 1
            seeds.add(torch.initial_seed())
        optimization.seed_step(3, 5)
        assert torch.initial_seed() == draw(3, "dropout", 5, 0) >> 1
    assert len(seeds) == 4


def test_seeding_a_step_leaves_nothing_in_memory() -> None:
    with optimization.own_randomness(torch.device("cpu")):
        optimization.seed_step(3, 0)
        tracemalloc.start()
        before = tracemalloc.get_traced_memory()[0]
        for step in range(100):
            optimization.seed_step(3, step)
        grown = tracemalloc.get_traced_memory()[0] - before
        tracemalloc.stop()
    assert grown < 20_000


@pytest.mark.parametrize(("max_grad_norm", "scale"), [(0.0, 1.0), (10.0, 1.0), (1.0, 0.2)])
def test_a_step_takes_the_rate_given_and_returns_the_norm_before_it_is_clipped(
    max_grad_norm: float, scale: float
) -> None:
    model = torch.nn.Linear(2, 1, bias=False)
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    before = model.weight.detach().clone()
    model.weight.grad = torch.tensor([[3.0, 4.0]])
    assert optimization.update(model, optimizer, 1.0, 0.1, max_grad_norm, 1) == pytest.approx(5.0)
    torch.testing.assert_close(before - model.weight, 0.1 * scale * torch.tensor([[3.0, 4.0]]))


def test_a_checkpoint_of_other_settings_is_refused_and_named(dynamic_build: Path, whole: Path) -> None:
    with pytest.raises(ConfigError, match=r"learning_rate was 0\.002 and is 0\.1"):
        pretrain.pretrain(dynamic_build, SMALL, whole, replace(SETTINGS, learning_rate=0.1))
    with pytest.raises(ConfigError, match=r"config\.intermediate_size was 64 and is 128"):
        pretrain.pretrain(dynamic_build, replace(SMALL, intermediate_size=128), whole, SETTINGS)
    summary = pretrain.pretrain(dynamic_build, SMALL, whole, replace(SETTINGS, num_workers=1, logging_steps=3))
    assert summary["step"] == 12


def test_a_checkpoint_of_other_shards_is_refused(tmp_path: Path, whole: Path) -> None:
    with pytest.raises(ConfigError, match="another data set"):
        pretrain.pretrain(write_build(tmp_path, seed=3), SMALL, whole, SETTINGS)


def test_a_second_phase_starts_from_the_weights_of_the_first(tmp_path: Path, dynamic_build: Path, whole: Path) -> None:
    settings = replace(SETTINGS, max_steps=1, learning_rate=1e-9)
    pretrain.pretrain(dynamic_build, str(whole), tmp_path, settings)
    before, after = BertForPreTraining.from_pretrained(whole), BertForPreTraining.from_pretrained(tmp_path)
    pairs = zip(before.parameters(), after.parameters(), strict=True)
    assert all(torch.allclose(old, new, atol=1e-6) for old, new in pairs)


@pytest.mark.parametrize("objective", ["sop", "full-sentences"])
@pytest.mark.parametrize("packing", [False, True])
def test_other_objectives_train(tmp_path: Path, objective: str, packing: bool) -> None:
    masking = "static" if objective == "sop" else "dynamic"
    config = ExamplesConfig(objective=objective, masking=masking, max_seq_length=32)
    build = write_build(tmp_path / "build", config)
    settings = replace(SETTINGS, max_steps=2, bf16=True, packing=packing)
    summary = pretrain.pretrain(build, SMALL, tmp_path / "out", settings)
    assert ("pair_loss" in summary) == (objective == "sop")
    assert math.isfinite(summary["loss"])


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (replace(SMALL, vocab_size=99), "the model is for 99 tokens .* the shards have 100"),
        (replace(SMALL, max_position_embeddings=24), "24 positions"),
        ("huge", "`config` is 'huge'; expected tiny, mini, base, large"),
    ],
)
def test_a_model_that_does_not_fit_the_shards_is_refused(
    tmp_path: Path, dynamic_build: Path, config: str | BertConfig, message: str
) -> None:
    with pytest.raises(ConfigError, match=message):
        pretrain.pretrain(dynamic_build, config, tmp_path, SETTINGS)


def test_a_vocabulary_is_padded_to_a_multiple_and_goes_on_in_transformers(tmp_path: Path, dynamic_build: Path) -> None:
    short, padded = replace(SETTINGS, max_steps=2, save_steps=1), tmp_path / "padded"
    pretrain.pretrain(dynamic_build, SMALL, padded, replace(short, pad_vocab_to=64))
    filled = transformers.pipeline("fill-mask", model=str(padded))("w3 [MASK] w5", top_k=3)
    assert [answer["sequence"].count(" ") for answer in filled] == [2, 2, 2]
    assert BertConfig.load(padded) == replace(SMALL, vocab_size=128)
    again = pretrain.pretrain(dynamic_build, str(padded), tmp_path / "again", replace(short, pad_vocab_to=64))
    assert again["loss"] > 0
    with pytest.raises(ConfigError, match="weights for 128 tokens, which is no multiple of `pad_vocab_to` 100"):
        pretrain.pretrain(dynamic_build, str(padded), tmp_path / "out", replace(short, pad_vocab_to=100))
    run, changes = replace(short, pad_vocab_to=64), {"vocab_size": 101}
    with pytest.raises(ConfigError, match="`pad_vocab_to` and `config_overrides` both set vocab_size"):
        pretrain.pretrain(dynamic_build, "tiny", tmp_path / "out", run, config_overrides=changes)
    wider = pretrain.pretrain(dynamic_build, "tiny", tmp_path / "out", short, config_overrides={"vocab_size": 104})
    assert wider["loss"] > 0


@pytest.mark.parametrize("name", ["batch_size", "learning_rate", "logging_steps", "save_steps"])
def test_settings_that_cannot_be_met_are_refused(name: str) -> None:
    changes: dict[str, Any] = {name: 0}
    with pytest.raises(ConfigError, match=f"`{name}` is 0"):
        PretrainSettings(**changes)


def test_biases_and_norms_do_not_decay() -> None:
    model = BertForPreTraining(SMALL)
    names = {id(parameter): name for name, parameter in model.named_parameters()}
    decayed, spared = make_optimizer(model, 0.01).param_groups
    assert (decayed["weight_decay"], spared["weight_decay"]) == (0.01, 0.0)
    assert all(
        "LayerNorm" not in names[id(parameter)] and "bias" not in names[id(parameter)]
        for parameter in decayed["params"]
    )
    assert all("LayerNorm" in names[id(parameter)] or "bias" in names[id(parameter)] for parameter in spared["params"])
    assert len(decayed["params"]) + len(spared["params"]) == len(names)


def test_the_rate_rises_to_its_peak_and_falls_in_a_line() -> None:
    rates = [schedules.learning_rate(step, 100, 1.0, 0.1) for step in range(100)]
    assert rates[:11] == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.0])
    assert rates[10:] == pytest.approx([1 - i / 90 for i in range(90)])
    assert schedules.learning_rate(0, 1, 1.0, 0.5) == 1.0


def test_the_command_line_runs_and_can_switch_booleans_off(tmp_path: Path, dynamic_build: Path) -> None:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    line = f"{dynamic_build} --config tiny --output {tmp_path} --max-steps 1 --batch-size 4 --num-workers 0 --no-bf16"
    arguments = parser.parse_args([*line.split(), "--device", "cpu"])
    summary = command.run(arguments)
    assert isinstance(summary, dict)
    assert summary["steps"] == 1
    assert BertConfig.load(tmp_path) == BertConfig.tiny(vocab_size=100)
    with pytest.raises(ConfigError, match="`device` is 'toaster'"):
        command.run(parser.parse_args([*line.split(), "--device", "toaster"]))


def test_the_command_line_trains_the_base_model_and_resumes_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    parser = argparse.ArgumentParser()
    command.add_arguments(parser)
    given = ["shards", "--output", "out"]
    called: list[Any] = []

    def trained(*said: Any, **_: Any) -> dict[str, Any]:
        called.append(said[:3])
        return {}

    monkeypatch.setattr("bertdata.torch.training.pretrain.pretrain", trained)
    command.run(parser.parse_args(given))
    assert called == [("shards", "base", "out")]
    with pytest.raises(ConfigError, match="`config` has no effect beside `branch`, whose checkpoint has the model"):
        command.run(parser.parse_args([*given, "--config", "base", "--branch", "run"]))
    options = vars(parser.parse_args(given))
    assert (options.pop("shards"), options.pop("output"), options.pop("config")) == ("shards", "out", "")
    assert (options.pop("restart"), options.pop("branch"), options.pop("library")) == (False, "", "bertdata")
    assert (options.pop("dry_run"), options.pop("log_format")) == (False, "text")
    assert (options.pop("config_overrides"), options.pop("teacher"), options.pop("quiet")) == ([], "", False)
    assert (options.pop("cache"), options.pop("cache_bytes")) == (None, None)
    learned = {setting.name: options.pop(setting.name) for setting in fields(DistillationSettings)}
    assert DistillationSettings(**learned) == DistillationSettings()
    assert PretrainSettings(**options) == PretrainSettings()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_grad_norm", float("nan")),
        ("learning_rate", float("inf")),
        ("weight_decay", float("inf")),
        ("warmup_ratio", float("nan")),
        ("adam_beta2", float("nan")),
        ("seed", -1),
        ("seed", 1 << 63),
        ("eval_steps", -1),
        ("validation_rows", -1),
    ],
)
def test_numbers_that_are_none_are_refused(name: str, value: Any) -> None:
    changes: dict[str, Any] = {name: value}
    with pytest.raises(ConfigError, match=f"`{name}` is {value}"):
        PretrainSettings(**changes)
    assert PretrainSettings(seed=(1 << 63) - 1, eval_steps=0, validation_rows=0).seed == (1 << 63) - 1


@pytest.mark.parametrize("name", ["mps", "meta", "toaster", "cpu cuda"])
def test_a_device_that_does_not_train_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match=f"`device` is '{name}'"):
        optimization.choose_device(name)


@pytest.mark.parametrize("value", ["two", "0", "-1", ""])
def test_a_number_of_processes_that_is_none_is_refused(
    tmp_path: Path, dynamic_build: Path, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    monkeypatch.setenv("WORLD_SIZE", value)
    with pytest.raises(ConfigError, match=f"WORLD_SIZE is '{value}'"):
        pretrain.pretrain(dynamic_build, SMALL, tmp_path, SETTINGS)


@pytest.mark.parametrize("line", ["no JSON", "[1]", "{}", '{"step": "1"}'])
def test_a_log_that_is_none_is_named_when_a_run_goes_on(tmp_path: Path, line: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text(f'{{"step": 1}}\n{line}\n{{"step"')
    with pytest.raises(InputError, match=r"log\.jsonl: line 2 is not a line of a log"):
        metrics_log.keep(str(path), 5)
    path.write_text('{"step": 1}\n{"step": 2}\n{"step": 3}\n{"step"')
    assert metrics_log.keep(str(path), 2) == {"step": 2}
    assert path.read_text() == '{"step": 1}\n{"step": 2}\n'
