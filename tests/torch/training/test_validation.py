from __future__ import annotations

from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from bertdata.io import files
from bertdata.objectives.settings import ExamplesConfig
from bertdata.torch import BertConfig, BertForPreTraining, ElectraConfig, PretrainingCollator, ShardDataset
from bertdata.torch.training import pretrain as module
from bertdata.torch.training.distributed import Group
from bertdata.torch.training.losses import chosen_rows
from bertdata.torch.training.metrics_log import LogRecord
from bertdata.torch.training.pretrain import pretrain
from bertdata.torch.training.settings import PretrainSettings
from tests.torch.build import write_build
from tests.torch.training.small_runs import log

SIZES: dict[str, Any] = {
    "vocab_size": 100,
    "hidden_size": 32,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 64,
    "max_position_embeddings": 32,
}
SETTINGS = PretrainSettings(
    max_steps=6, batch_size=8, learning_rate=1e-3, logging_steps=4, eval_steps=3, num_workers=0, device="cpu"
)


def build_of(directory: Path, objective: str = "nsp", length: int = 32) -> Path:
    """Write a build whose validation split has the rows of its second shard."""
    write_build(directory, ExamplesConfig(objective=objective, max_seq_length=length))
    manifest = files.read_json(str(directory / "manifest.json"))
    first, second = manifest["splits"]["train"]["shards"]
    manifest["splits"] = {"train": {"shards": [first]}, "validation": {"shards": [second]}}
    files.write_json(str(directory / "manifest.json"), manifest)
    return directory


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_of(tmp_path_factory.mktemp("validated"))


def test_the_validation_loss_is_logged_at_the_steps_asked_for_and_is_that_of_the_model(
    tmp_path: Path, build: Path
) -> None:
    pretrain(build, BertConfig(**SIZES), tmp_path, replace(SETTINGS, max_steps=7))
    assert [(line["step"], "validation_loss" in line) for line in log(tmp_path)] == [
        (3, True),
        (4, False),
        (6, True),
        (7, True),
    ]
    held = ShardDataset(build, "validation")
    batch = PretrainingCollator(held)(held.__getitems__([(0, number) for number in range(len(held))]))
    result = BertForPreTraining.from_pretrained(tmp_path).eval()(**batch)
    last = log(tmp_path)[-1]
    assert last["validation_loss"] == pytest.approx(result.loss.item(), abs=1e-5)
    assert last["validation_mlm_loss"] == pytest.approx(result.mlm_loss.item(), abs=1e-5)
    assert last["validation_pair_loss"] == pytest.approx(result.pair_loss.item(), abs=1e-5)
    right = (result.prediction_logits.argmax(-1) == batch["labels"][batch["labels"] != -100]).double().mean()
    assert last["validation_mlm_accuracy"] == pytest.approx(right.item())


@pytest.mark.parametrize(
    ("config", "objective"),
    [
        pytest.param(BertConfig(**SIZES), "nsp", id="bert", marks=pytest.mark.slow),
        pytest.param(ElectraConfig(**SIZES, embedding_size=16), "single-segment", id="electra"),
    ],
)
def test_measuring_changes_nothing_of_what_is_learned(tmp_path: Path, config: BertConfig, objective: str) -> None:
    build = build_of(tmp_path / "build", objective)
    for every in (0, 2):
        settings = replace(SETTINGS, eval_steps=every, logging_steps=1)
        pretrain(build, config, tmp_path / str(every), settings)
    with_, without = log(tmp_path / "2"), log(tmp_path / "0")
    assert [line["loss"] for line in with_] == [line["loss"] for line in without]
    assert [line["step"] for line in with_ if "validation_loss" in line] == [2, 4, 6]
    assert not any("validation_loss" in line for line in without)
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("0", "2")]
    assert weights[0] == weights[1]


@pytest.mark.costly
@pytest.mark.parametrize(
    ("config", "objective"),
    [(BertConfig(**SIZES), "nsp"), (ElectraConfig(**SIZES, embedding_size=16), "single-segment")],
    ids=["bert", "electra"],
)
def test_masks_are_the_same_each_time_however_the_rows_are_split(
    tmp_path: Path, config: BertConfig, objective: str
) -> None:
    """At a rate of nearly 0 the model stays as it is, and so does its validation loss."""
    build = build_of(tmp_path / "build", objective)
    settings = replace(SETTINGS, learning_rate=1e-12, eval_steps=2)
    changed: list[dict[str, Any]] = [{}, {"gradient_accumulation_steps": 4}, {"packing": True}]
    losses = []
    for number, changes in enumerate(changed):
        pretrain(build, config, tmp_path / str(number), replace(settings, **changes))
        losses += [line["validation_loss"] for line in log(tmp_path / str(number)) if "validation_loss" in line]
    assert losses == pytest.approx([losses[0]] * 9, rel=1e-5)


def test_as_many_rows_are_measured_as_asked_for_spread_over_the_split(tmp_path: Path, build: Path) -> None:
    assert chosen_rows(7, 3) == [0, 2, 4]
    assert chosen_rows(0, 3) == []
    settings = replace(SETTINGS, learning_rate=1e-12, eval_steps=6)
    losses = []
    for most in (0, 5000, 5):
        pretrain(build, BertConfig(**SIZES), tmp_path / str(most), replace(settings, validation_rows=most))
        losses.append(log(tmp_path / str(most))[-1]["validation_loss"])
    assert losses[0] == losses[1] != losses[2]
    held = ShardDataset(build, "validation")
    chosen = [(0, number) for number in chosen_rows(len(held), 5)]
    result = BertForPreTraining.from_pretrained(tmp_path / "5").eval()(
        **PretrainingCollator(held)(held.__getitems__(chosen))
    )
    assert losses[2] == pytest.approx(result.loss.item(), abs=1e-5)


class Pair(Group):
    """The first of two processes, whose other one always has the same numbers; `waits` counts withheld gradients."""

    def all_reduce_sum(self, values: Any) -> list[float]:
        return [2 * value for value in values]

    def all_reduce_max(self, values: Any) -> list[float]:
        return list(values)

    def sum_of(self, value: torch.Tensor) -> torch.Tensor:
        return 2 * value

    def parallel(self, model: Any) -> Any:
        outer = self

        class Wrapped(type(model)):  # type: ignore[misc]
            def no_sync(self) -> Any:
                outer.waits.append(1)  # type: ignore[attr-defined]
                return nullcontext()

        model.__class__ = Wrapped
        return model

    def barrier(self) -> None:
        pass


def test_gradients_are_exchanged_once_a_step_and_rows_are_shared(
    tmp_path: Path, build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pair = Pair(0, 2, torch.device("cpu"))
    object.__setattr__(pair, "waits", [])

    @contextmanager
    def init_distributed(device: str) -> Any:
        yield pair

    monkeypatch.setattr(module, "init_distributed", init_distributed)
    monkeypatch.setattr(BertForPreTraining, "architecture", "BertForPreTraining")
    measured: list[int] = []
    fetch = ShardDataset.__getitems__

    def counted(self: ShardDataset, numbers: Any) -> Any:
        if self.shards.split == "validation":
            measured.extend(number for _, number in numbers)
        return fetch(self, numbers)

    monkeypatch.setattr(ShardDataset, "__getitems__", counted)
    pretrain(
        build,
        BertConfig(**SIZES),
        tmp_path,
        replace(SETTINGS, gradient_accumulation_steps=4, validation_rows=5, max_steps=3),
    )
    assert len(pair.waits) == 3 * 3  # type: ignore[attr-defined]
    chosen = chosen_rows(len(ShardDataset(build, "validation")), 5)
    assert measured == chosen[::2]


def test_builds_without_rows_for_validation_are_trained_on_without(tmp_path: Path, build: Path) -> None:
    directory = write_build(tmp_path / "build")
    manifest = files.read_json(str(directory / "manifest.json"))
    for number in range(2):
        manifest["splits"] |= {"validation": {"shards": []}} if number else {}
        files.write_json(str(directory / "manifest.json"), manifest)
        pretrain(directory, BertConfig(**SIZES), tmp_path / str(number), SETTINGS)
        assert not any("validation_loss" in line for line in log(tmp_path / str(number)))
    pretrain(build / "validation", BertConfig(**SIZES), tmp_path / "held", SETTINGS)
    assert not any("validation_loss" in line for line in log(tmp_path / "held"))


@pytest.fixture(scope="module")
def phases(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of rows of 16 and of 32 tokens, both with a validation split."""
    place = tmp_path_factory.mktemp("phases")
    for length in (16, 32):
        build_of(place / str(length), length=length)
    files.write_json(str(place / "manifest.json"), {"phases": ["16", "32"]})
    return place


def loss_on(build: Path, model: Path) -> float:
    """Return the loss of a model on all rows of a validation split, with the masks of epoch 0."""
    held = ShardDataset(build, "validation")
    batch = PretrainingCollator(held)(held.__getitems__([(0, number) for number in range(len(held))]))
    loss: Tensor = BertForPreTraining.from_pretrained(model).eval()(**batch).loss
    return loss.item()


@pytest.mark.costly
@pytest.mark.usefixtures("curves_drawn")
def test_the_splits_of_all_phases_are_measured_at_the_end_of_each(tmp_path: Path, phases: Path) -> None:
    settings = replace(SETTINGS, max_steps=8, last_share=0.5, eval_steps=2, save_steps=4, save_total_limit=0)
    pretrain(phases, BertConfig(**SIZES), tmp_path, settings)
    records = [
        (
            line["step"],
            [name for name in ("validation_loss", "validation_16/loss", "validation_32/loss") if name in line],
        )
        for line in log(tmp_path)
    ]
    every = ["validation_loss", "validation_16/loss", "validation_32/loss"]
    assert records == [(2, every[:2]), (4, every), (6, [every[0], every[2]]), (8, every)]
    for step, own in ((4, 16), (8, 32)):
        [record] = [line for line in log(tmp_path) if line["step"] == step]
        assert record["validation_loss"] == record[f"validation_{own}/loss"]
        for length in (16, 32):
            expected = loss_on(phases / str(length), tmp_path / "checkpoints" / f"step-{step:09d}")
            assert record[f"validation_{length}/loss"] == pytest.approx(expected, abs=1e-5)
            assert 0 <= record[f"validation_{length}/mlm_accuracy"] <= 1
    picture = (tmp_path / "curves.svg").read_text()
    assert picture.count(">validation 16</text>") == picture.count(">validation 32</text>") == 4


@pytest.mark.costly
def test_all_phases_can_be_measured_each_time_without_effect_on_what_is_learned(tmp_path: Path, phases: Path) -> None:
    settings = replace(SETTINGS, max_steps=6, last_share=0.5, eval_steps=2)
    for name in ("ends", "all"):
        pretrain(phases, BertConfig(**SIZES), tmp_path / name, replace(settings, eval_phases=name))
    weights = [(tmp_path / name / "model.safetensors").read_bytes() for name in ("ends", "all")]
    assert weights[0] == weights[1]
    measured = [line for line in log(tmp_path / "all") if "validation_loss" in line]
    assert [line["step"] for line in measured] == [2, 3, 4, 6]
    assert all(line.keys() >= {"validation_16/loss", "validation_32/loss"} for line in measured)


def test_a_phase_without_a_split_has_no_validation_loss_of_its_own(tmp_path: Path, build: Path) -> None:
    write_build(tmp_path / "build" / "16", ExamplesConfig(max_seq_length=16))
    build_of(tmp_path / "build" / "32")
    files.write_json(str(tmp_path / "build" / "manifest.json"), {"phases": ["16", "32"]})
    pretrain(tmp_path / "build", BertConfig(**SIZES), tmp_path / "out", replace(SETTINGS, last_share=0.5))
    names_at = {line["step"]: {name for name in line if name.endswith("/loss")} for line in log(tmp_path / "out")}
    assert names_at[3] == names_at[6] == {"validation_32/loss"}
    assert ["validation_loss" in line for line in log(tmp_path / "out") if line["step"] in (3, 6)] == [False, True]


@pytest.mark.costly
@pytest.mark.usefixtures("curves_drawn")
def test_curves_have_a_panel_for_each_measure_and_are_drawn_before_the_end(tmp_path: Path, build: Path) -> None:
    drawn: list[str] = []

    def look(record: LogRecord) -> None:
        if (tmp_path / "curves.svg").exists():
            drawn.append((tmp_path / "curves.svg").read_text())

    pretrain(build, BertConfig(**SIZES), tmp_path, replace(SETTINGS, save_steps=2), report=look)
    assert drawn
    picture = (tmp_path / "curves.svg").read_text()
    assert drawn[-1] != picture
    for name in ("mlm_loss", "pair_loss", "mlm_accuracy", "pair_accuracy"):
        assert f">{name}</text>" in picture
    assert picture.count(">validation</text>") == picture.count(">training</text>") == 4
