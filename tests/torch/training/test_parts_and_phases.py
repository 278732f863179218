from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

from bertdata.errors import ConfigError, InputError
from bertdata.io import files
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig
from bertdata.torch import AlbertConfig, BertConfig, BertForPreTraining, ElectraConfig, ShardDataset
from bertdata.torch.data.dataset import PretrainingCollator
from bertdata.torch.data.loader import ResumableLoader
from bertdata.torch.models.config import Counts
from bertdata.torch.models.dropout import Draws, attached
from bertdata.torch.training import checkpoint
from bertdata.torch.training.losses import add, count
from bertdata.torch.training.optimization import peak_of
from bertdata.torch.training.phases import open_rows, plan_phases, split_steps
from bertdata.torch.training.pretrain import pretrain
from bertdata.torch.training.schedules import learning_rate
from bertdata.torch.training.settings import PretrainSettings
from tests.torch.build import tokenizer_of, write_build
from tests.torch.training.small_runs import SETTINGS as TWELVE_STEPS
from tests.torch.training.small_runs import SMALL, log, losses, stop_at

SETTINGS = replace(TWELVE_STEPS, max_steps=6, save_steps=100)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, dynamic_build: Path) -> Path:
    """A run of one process whose batches are not parted."""
    output = tmp_path_factory.mktemp("whole")
    pretrain(dynamic_build, SMALL, output, SETTINGS)
    return output


@pytest.mark.costly
@pytest.mark.parametrize(
    "changes", [{"gradient_accumulation_steps": 2}, {"gradient_accumulation_steps": 8}, {"packing": True}]
)
def test_a_batch_in_parts_or_packed_learns_what_the_whole_one_learns(
    tmp_path: Path, dynamic_build: Path, whole: Path, changes: dict[str, Any]
) -> None:
    pretrain(dynamic_build, SMALL, tmp_path, replace(SETTINGS, **changes))
    assert losses(tmp_path) == pytest.approx(losses(whole), abs=2e-5)
    ours, theirs = (BertForPreTraining.from_pretrained(place).state_dict() for place in (tmp_path, whole))
    assert all(torch.allclose(ours[name], theirs[name], atol=2e-4) for name in theirs)


def test_on_the_cpu_attentions_dropout_is_by_row_anyway(
    tmp_path: Path, dynamic_build: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn: list[Draws] = []

    def watched(model: nn.Module) -> Draws:
        drawn.append(attached(model))
        return drawn[-1]

    monkeypatch.setattr("bertdata.torch.training.steps.attached", watched)
    pretrain(dynamic_build, SMALL, tmp_path, replace(SETTINGS, attention_dropout_by_row=True))
    assert [draws.explicit for draws in drawn] == [True]
    assert losses(tmp_path) == losses(whole)


@pytest.mark.slow
def test_two_processes_learn_what_one_learns(tmp_path: Path, dynamic_build: Path, whole: Path) -> None:
    code = f"""
import torch
torch.set_num_threads(1)
from bertdata.torch import BertConfig
from bertdata.torch.training.pretrain import pretrain
from bertdata.torch.training.settings import PretrainSettings
pretrain({str(dynamic_build)!r}, BertConfig(**{asdict(SMALL)}), {str(tmp_path / "out")!r},
         PretrainSettings(**{asdict(replace(SETTINGS, gradient_accumulation_steps=2))}))
"""
    (tmp_path / "train.py").write_text(code)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run(
        [*command, str(tmp_path / "train.py")],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert losses(tmp_path / "out") == pytest.approx(losses(whole), abs=2e-5)
    tokens = [record["epoch"] for record in log(tmp_path / "out")]
    assert tokens == [record["epoch"] for record in log(whole)]


def test_a_build_of_two_lengths_is_gone_through_in_two_phases(tmp_path: Path, two_lengths: Path) -> None:
    settings = replace(SETTINGS, max_steps=10, last_share=0.4, gradient_accumulation_steps=1)
    summary = pretrain(two_lengths, SMALL, tmp_path, settings)
    records = log(tmp_path)
    assert [record["max_seq_length"] for record in records] == [16] * 6 + [48] * 4
    assert [record["learning_rate"] for record in records][6] < records[5]["learning_rate"]
    assert summary["step"] == 10
    last = checkpoint.newest(str(tmp_path / "checkpoints"))
    assert last is not None
    optimizer = torch.load(Path(last.directory) / "optimizer.pt", weights_only=True)
    assert {float(state["step"]) for state in optimizer["state"].values()} == {10.0}


def test_each_phase_has_its_mask_rate(tmp_path: Path) -> None:
    for length, rate in ((16, 0.3), (48, 0.05)):
        write_build(
            tmp_path / str(length), ExamplesConfig(max_seq_length=length), masking=MaskingConfig(masked_lm_prob=rate)
        )
    files.write_json(str(tmp_path / "manifest.json"), {"phases": ["16", "48"]})
    pretrain(tmp_path, SMALL, tmp_path / "out", replace(SETTINGS, max_steps=4, last_share=0.5))
    assert [record["max_seq_length"] for record in log(tmp_path / "out")] == [16, 16, 48, 48]
    phases = plan_phases(open_rows(tmp_path), SETTINGS, 8, 1)
    batches = [PretrainingCollator(phase.dataset, epoch=0)(phase.dataset.__getitems__(range(32))) for phase in phases]
    rates = [float((batch["labels"] >= 0).sum() / batch["attention_mask"].sum()) for batch in batches]
    assert rates[0] > 0.2
    assert rates[1] < 0.1


@pytest.mark.parametrize("stop", [*(pytest.param(number, marks=pytest.mark.slow) for number in (4, 6)), 8])
def test_a_run_cut_off_in_either_phase_goes_on_to_the_same_losses(tmp_path: Path, two_lengths: Path, stop: int) -> None:
    settings = replace(SETTINGS, max_steps=10, phase_shares=("0.6", "0.4"), save_steps=2)
    pretrain(two_lengths, SMALL, tmp_path / "whole", settings)
    with pytest.raises(KeyboardInterrupt):
        pretrain(two_lengths, SMALL, tmp_path / "cut", settings, report=stop_at(stop + 1))
    pretrain(two_lengths, SMALL, tmp_path / "cut", settings)
    assert losses(tmp_path / "cut") == losses(tmp_path / "whole")


def test_lines_of_the_log_are_means_and_a_resumed_run_writes_the_same(tmp_path: Path, dynamic_build: Path) -> None:
    settings = replace(SETTINGS, max_steps=12, logging_steps=4, save_steps=6)
    pretrain(dynamic_build, SMALL, tmp_path / "whole", settings)
    assert [record["step"] for record in log(tmp_path / "whole")] == [4, 6, 8, 12]
    with pytest.raises(KeyboardInterrupt):
        pretrain(dynamic_build, SMALL, tmp_path / "cut", settings, report=stop_at(8))
    pretrain(dynamic_build, SMALL, tmp_path / "cut", settings)
    assert losses(tmp_path / "cut") == losses(tmp_path / "whole")
    pretrain(dynamic_build, SMALL, tmp_path / "each", replace(settings, logging_steps=1))
    each = log(tmp_path / "each")
    assert losses(tmp_path / "whole")[0] == pytest.approx(sum(line["loss"] for line in each[:4]) / 4, abs=0.05)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_compiled_blocks_learn_the_same(
    tmp_path: Path, dynamic_build: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: list[str] = []
    compile_module = nn.Module.compile

    def counted(self: nn.Module, *arguments: Any, **options: Any) -> None:
        compiled.append(type(self).__name__)
        compile_module(self, *arguments, **options)

    monkeypatch.setattr(nn.Module, "compile", counted)
    pretrain(dynamic_build, SMALL, tmp_path, replace(SETTINGS, compile=True))
    assert compiled == ["BertEncoder"]
    assert losses(tmp_path) == pytest.approx(losses(whole), abs=2e-5)


def test_parts_that_do_not_fit_and_phases_without_a_step_are_refused(
    tmp_path: Path, dynamic_build: Path, two_lengths: Path
) -> None:
    with pytest.raises(ConfigError, match=r"`batch_size` 8 cannot be split evenly .* multiple of 3"):
        pretrain(dynamic_build, SMALL, tmp_path / "a", replace(SETTINGS, gradient_accumulation_steps=3))
    with pytest.raises(ConfigError, match="6 steps cannot be divided among 2 phases"):
        pretrain(two_lengths, SMALL, tmp_path / "b", replace(SETTINGS, last_share=0.01))
    assert split_steps(PretrainSettings(max_steps=100), 3) == [0, 45, 90, 100]


@pytest.mark.parametrize(
    ("config", "objective", "message"),
    [
        (AlbertConfig.tiny(vocab_size=100), "nsp", "ALBERT learns the order of sentences, .* `objective` sop"),
        (AlbertConfig.tiny(vocab_size=100), "full-sentences", "ALBERT learns the order"),
        (ElectraConfig.tiny(vocab_size=100), "sop", "ELECTRA has no head for pairs, .* `objective` single-segment"),
        (BertConfig.roberta(vocab_size=100), "nsp", "knows 1 token type.*, .* `objective` full-sentences"),
    ],
)
def test_shards_of_another_objective_than_the_head_are_refused(
    tmp_path: Path, config: BertConfig, objective: str, message: str
) -> None:
    build = write_build(tmp_path / "build", ExamplesConfig(objective=objective, max_seq_length=32))
    with pytest.raises(ConfigError, match=message):
        pretrain(build, config, tmp_path / "out", SETTINGS)


def test_a_model_to_start_from_must_have_learned_the_same_pairs_with_the_same_tokenizer(
    tmp_path: Path, whole: Path
) -> None:
    order = write_build(tmp_path / "sop", ExamplesConfig(objective="sop", max_seq_length=32))
    with pytest.raises(ConfigError, match=r"has learned next_sentence_label, .* sentence_order_label"):
        pretrain(order, str(whole), tmp_path / "out", SETTINGS)
    other = tmp_path / "other"
    for name in ("config.json", "model.safetensors"):
        other.mkdir(exist_ok=True)
        (other / name).write_bytes((whole / name).read_bytes())
    words = [f"v{number}" for number in range(95)]
    tokenizer = tokenizer_of().from_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *words])
    tokenizer.save_pretrained(other)
    nsp = write_build(tmp_path / "nsp", seed=5)
    with pytest.raises(ConfigError, match="the model's tokenizer is not the one the shards were made with"):
        pretrain(nsp, str(other), tmp_path / "out2", SETTINGS)


def test_a_model_without_the_heads_that_shards_need_is_refused(tmp_path: Path, dynamic_build: Path) -> None:
    rows = write_build(tmp_path / "rows", ExamplesConfig(objective="full-sentences", max_seq_length=32))
    pretrain(rows, SMALL, tmp_path / "masks", replace(SETTINGS, max_steps=1))
    with pytest.raises(InputError, match=r"has no weight .* expected a checkpoint of BertForPreTraining"):
        pretrain(dynamic_build, str(tmp_path / "masks"), tmp_path / "out", SETTINGS)


def test_counts_are_the_same_padded_and_packed() -> None:
    padded = {
        "input_ids": torch.tensor([[2, 7, 8, 3], [2, 9, 3, 0]]),
        "attention_mask": torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]]),
        "labels": torch.tensor([[-100, 7, -100, -100], [-100, 9, -100, -100]]),
        "next_sentence_label": torch.tensor([0, 1]),
    }
    packed = {
        "input_ids": torch.tensor([[2, 7, 8, 3, 2, 9, 3, 0]]),
        "cu_seqlens": torch.tensor([0, 4, 7, 8], dtype=torch.int32),
        "labels": torch.tensor([[-100, 7, -100, -100, -100, 9, -100, -100]]),
        "next_sentence_label": torch.tensor([0, 1]),
    }
    assert count(padded, "next_sentence_label", 0) == Counts(2, 2, 7, 25)
    assert count(packed, "next_sentence_label", 0) == Counts(2, 2, 7, 25)


def test_arithmetic_is_counted_as_torch_counts_it() -> None:
    from torch.utils.flop_counter import FlopCounterMode

    model = BertForPreTraining(SMALL)
    labels = torch.full((2, 24), -100)
    labels[:, 3:9] = 7
    counter = FlopCounterMode(display=False)
    with counter, torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        result = model(torch.full((2, 24), 9), labels=labels)
        result.loss.backward()
    expected = counter.get_total_flops()
    operations = SMALL.training_flops(Counts(tokens=48, squares=2 * 24 * 24, labelled=12))
    assert operations == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize(
    ("name", "tflops"),
    [
        ("NVIDIA L4", 121),
        ("NVIDIA L40", None),
        ("NVIDIA L40S", 362),
        ("NVIDIA H100 PCIe", 756),
        ("NVIDIA H100 80GB HBM3", 989),
        ("NVIDIA H200", 989),
        ("NVIDIA A100-SXM4-80GB", 312),
        ("NVIDIA A1000", None),
        ("NVIDIA GeForce RTX 4090", 165),
        ("NVIDIA GeForce RTX 4090D", None),
    ],
)
def test_a_devices_peak_is_known_by_its_whole_name(name: str, tflops: float | None) -> None:
    assert peak_of(name) == (tflops and tflops * 1e12)


def test_the_figures_of_the_log_are_those_of_the_steps(
    tmp_path: Path, dynamic_build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rates, epochs, means and speeds, reckoned again from what went through the model."""
    import time

    now, batches = [0.0], []
    forward = BertForPreTraining.forward

    def slow(self: BertForPreTraining, **batch: Any) -> Any:
        now[0] += 2.0
        batches.append(batch)
        return forward(self, **batch)

    fetch = ResumableLoader.__iter__

    def fetched(self: ResumableLoader) -> Any:
        for batch in fetch(self):
            now[0] += 0.5
            yield batch

    monkeypatch.setattr(BertForPreTraining, "forward", slow)
    monkeypatch.setattr(ResumableLoader, "__iter__", fetched)
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    settings = replace(SETTINGS, gradient_accumulation_steps=2, logging_steps=2, max_steps=6, peak_tflops=1e-3)
    summary = pretrain(dynamic_build, SMALL, tmp_path, settings)
    records = log(tmp_path)
    assert [record["step"] for record in records] == [2, 4, 6]
    examples = len(ShardDataset(dynamic_build))
    for number, record in enumerate(records, 1):
        part = batches[4 * number - 4 : 4 * number]
        counts = add([count(batch, "next_sentence_label", 0) for batch in part])
        assert record["learning_rate"] == learning_rate(
            2 * number - 1, 6, settings.learning_rate, settings.warmup_ratio
        )
        assert record["epoch"] == pytest.approx(2 * number * 8 / examples)
        assert record["seconds_per_step"] == pytest.approx(5.0)
        assert record["tokens_per_second"] == pytest.approx(counts.tokens / 10)
        assert record["data_wait_share"] == pytest.approx(0.2)
        assert record["tflops"] == pytest.approx(SMALL.training_flops(counts) / 10 / 1e12)
        assert record["mfu"] == pytest.approx(record["tflops"] / 1e-3)
    assert summary["step"] == 6


def test_only_the_blocks_are_compiled_and_only_where_asked(
    tmp_path: Path, dynamic_build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: list[tuple[str, bool | None]] = []

    def noted(self: nn.Module, dynamic: bool | None) -> None:
        compiled.append((type(self).__name__, dynamic))

    monkeypatch.setattr(nn.Module, "compile", noted)
    once = replace(SETTINGS, max_steps=1)
    pretrain(dynamic_build, SMALL, tmp_path / "a", once)
    assert compiled == []
    pretrain(dynamic_build, SMALL, tmp_path / "b", replace(once, compile=True))
    pretrain(dynamic_build, SMALL, tmp_path / "c", replace(once, compile=True, packing=True))
    assert compiled == [("BertEncoder", None), ("BertEncoder", True)], "packed rows are compiled once for any length"
