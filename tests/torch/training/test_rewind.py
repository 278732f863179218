"""Going back from a spike: which batches are left out, at which checkpoint, and after a kill at any time."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from bertdata.errors import ConfigError
from bertdata.torch import BertForPreTraining, ShardDataset
from bertdata.torch.data.loader import ResumableLoader
from bertdata.torch.training import checkpoint
from bertdata.torch.training.metrics_log import LogRecord
from bertdata.torch.training.optimization import DivergenceError, SpikeError, make_optimizer, update
from bertdata.torch.training.pretrain import pretrain
from bertdata.torch.training.settings import PretrainSettings
from tests.torch.training.small_runs import SETTINGS, SMALL, log, losses

REWIND = replace(SETTINGS, on_spike="rewind")
PHASES = replace(REWIND, max_steps=10, last_share=0.4, save_steps=100)
"""Steps 1 to 6 on short rows, 7 to 10 on long ones."""
Row = tuple[int, ...]
FORWARD = BertForPreTraining.forward
ITERATE = ResumableLoader.__iter__


def rows_of(input_ids: Tensor) -> list[Row]:
    return [tuple(row[row != 0].tolist()) for row in input_ids]


def taken(monkeypatch: pytest.MonkeyPatch, build: Path, settings: PretrainSettings, output: Path) -> list[list[Row]]:
    """Return the rows of each step of an undisturbed run."""
    rows: list[list[Row]] = []

    def watched(self: BertForPreTraining, *arguments: Any, **batch: Any) -> Any:
        rows.append(rows_of(batch["input_ids"]))
        return FORWARD(self, *arguments, **batch)

    with monkeypatch.context() as patch:
        patch.setattr(BertForPreTraining, "forward", watched)
        pretrain(build, SMALL, output, settings)
    return rows


def spiking(monkeypatch: pytest.MonkeyPatch, bad: Callable[[Row], bool]) -> None:
    """Let the loss of batches with bad rows be no number."""

    def broken(self: BertForPreTraining, *arguments: Any, **batch: Any) -> Any:
        result = FORWARD(self, *arguments, **batch)
        assert result.mlm_loss is not None
        if self.training and any(map(bad, rows_of(batch["input_ids"]))):
            return result._replace(mlm_loss=result.mlm_loss * float("nan"))
        return result

    monkeypatch.setattr(BertForPreTraining, "forward", broken)


def leaving_out(monkeypatch: pytest.MonkeyPatch, first: int, last: int) -> None:
    """Let loaders pass over the batches first to last, counted from 1."""

    def some(self: ResumableLoader) -> Iterator[Any]:
        for number, batch in enumerate(ITERATE(self), 1):
            if not first <= number <= last:
                yield batch

    monkeypatch.setattr(ResumableLoader, "__iter__", some)


def stop_at_record(number: int) -> Callable[[LogRecord], None]:
    """Return a report that interrupts the run at its record of a number, counted from 1."""
    records: list[LogRecord] = []

    def report(record: LogRecord) -> None:
        records.append(record)
        if len(records) == number:
            raise KeyboardInterrupt

    return report


def weights(output: Path) -> bytes:
    return (output / "model.safetensors").read_bytes()


@pytest.fixture(scope="module")
def eighth(tmp_path_factory: pytest.TempPathFactory, dynamic_build: Path) -> Row:
    """A row of the eighth step, after the checkpoint of the fifth."""
    with pytest.MonkeyPatch.context() as patch:
        return taken(patch, dynamic_build, SETTINGS, tmp_path_factory.mktemp("clean"))[7][3]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory, dynamic_build: Path, eighth: Row) -> Path:
    """A run that goes back once, from step 8 to step 5, and is not interrupted."""
    output = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        spiking(patch, eighth.__eq__)
        pretrain(dynamic_build, SMALL, output, REWIND)
    return output


def test_from_a_spike_a_run_goes_back_to_the_checkpoint_and_goes_on_after_the_batch_of_the_spike(
    tmp_path: Path, dynamic_build: Path, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = log(whole)
    assert [record["step"] for record in records] == [*range(1, 13)]
    assert [record["rewinds"] for record in records] == [0] * 5 + [1] * 7
    assert [record["left_out_batches"] for record in records] == [0] * 5 + [3] * 7
    examples = len(ShardDataset(dynamic_build))
    batches = [round(record["epoch"] * examples / 8) for record in records]
    assert batches == [1, 2, 3, 4, 5, 9, 10, 11, 12, 13, 14, 15]
    leaving_out(monkeypatch, 6, 8)
    pretrain(dynamic_build, SMALL, tmp_path, SETTINGS)
    assert losses(tmp_path) == losses(whole)
    assert weights(tmp_path) == weights(whole)


@pytest.mark.costly
@pytest.mark.parametrize(
    "number",
    [7, pytest.param(8, marks=pytest.mark.slow), 10, pytest.param(13, marks=pytest.mark.slow)],
    ids=["before", "first after", "soon after", "next checkpoint"],
)
def test_a_run_killed_before_or_after_it_goes_back_ends_with_the_same_weights(
    tmp_path: Path, dynamic_build: Path, eighth: Row, whole: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    spiking(monkeypatch, eighth.__eq__)
    with pytest.raises(KeyboardInterrupt):
        pretrain(dynamic_build, SMALL, tmp_path, REWIND, report=stop_at_record(number))
    pretrain(dynamic_build, SMALL, tmp_path, REWIND)
    assert losses(tmp_path) == losses(whole)
    assert [line["rewinds"] for line in log(tmp_path)] == [line["rewinds"] for line in log(whole)]
    assert weights(tmp_path) == weights(whole)


def test_a_run_killed_while_it_goes_back_ends_with_the_same_weights(
    tmp_path: Path, dynamic_build: Path, eighth: Row, whole: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*arguments: object) -> None:
        raise KeyboardInterrupt

    spiking(monkeypatch, eighth.__eq__)
    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "continue_from", killed)
        with pytest.raises(KeyboardInterrupt):
            pretrain(dynamic_build, SMALL, tmp_path, REWIND)
    pretrain(dynamic_build, SMALL, tmp_path, REWIND)
    assert weights(tmp_path) == weights(whole)


def test_before_the_first_checkpoint_a_run_goes_back_to_its_beginning(
    tmp_path: Path, dynamic_build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = replace(REWIND, max_steps=5)
    third = taken(monkeypatch, dynamic_build, settings, tmp_path / "clean")[2][0]
    with monkeypatch.context() as patch:
        spiking(patch, third.__eq__)
        pretrain(dynamic_build, SMALL, tmp_path / "whole", settings)
        with pytest.raises(KeyboardInterrupt):
            pretrain(dynamic_build, SMALL, tmp_path / "cut", settings, report=stop_at_record(4))
        assert [path.name for path in (tmp_path / "cut" / "checkpoints").iterdir()] == ["step-000000000"]
        pretrain(dynamic_build, SMALL, tmp_path / "cut", settings)
    leaving_out(monkeypatch, 1, 3)
    pretrain(dynamic_build, SMALL, tmp_path / "without", replace(SETTINGS, max_steps=5))
    assert weights(tmp_path / "cut") == weights(tmp_path / "whole") == weights(tmp_path / "without")


def test_a_branch_that_is_cut_off_before_its_first_checkpoint_goes_on_with_the_rows_of_its_trunk(
    tmp_path: Path, dynamic_build: Path, whole: Path
) -> None:
    settings = replace(REWIND, max_steps=3)
    pretrain(dynamic_build, "base", tmp_path / "whole", settings, branch=whole)
    with pytest.raises(KeyboardInterrupt):
        pretrain(dynamic_build, "base", tmp_path / "cut", settings, branch=whole, report=stop_at_record(2))
    pretrain(dynamic_build, "base", tmp_path / "cut", settings, branch=whole)
    assert losses(tmp_path / "cut") == losses(tmp_path / "whole")
    assert log(tmp_path / "cut")[0]["epoch"] > log(whole)[-1]["epoch"]


@pytest.mark.costly
def test_a_spike_early_in_a_phase_leaves_out_batches_of_that_phase(
    tmp_path: Path, two_lengths: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = taken(monkeypatch, two_lengths, PHASES, tmp_path / "clean")
    assert len(parts) == 6 + 4 * 4, "a batch of long rows has four parts"
    bad = parts[6 + 4][0]
    spiking(monkeypatch, bad.__eq__)
    pretrain(two_lengths, SMALL, tmp_path / "whole", PHASES)
    with pytest.raises(KeyboardInterrupt):
        pretrain(two_lengths, SMALL, tmp_path / "cut", PHASES, report=stop_at_record(9))
    pretrain(two_lengths, SMALL, tmp_path / "cut", PHASES)
    records = log(tmp_path / "cut")
    examples = len(ShardDataset(two_lengths / "48"))
    assert [record["max_seq_length"] for record in records] == [16] * 6 + [48] * 4
    assert [round(record["epoch"] * examples / 8) for record in records[6:]] == [3, 4, 5, 6]
    assert weights(tmp_path / "cut") == weights(tmp_path / "whole")


def test_a_run_goes_back_so_many_times_at_most(
    tmp_path: Path, dynamic_build: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = {row for rows in taken(monkeypatch, dynamic_build, REWIND, tmp_path / "clean")[:7] for row in rows}
    spiking(monkeypatch, lambda row: row not in good)
    settings = replace(REWIND, max_rewinds=2)
    with pytest.raises(DivergenceError, match=r"at step 6, and the run went back 2 times .* from steps 8, 6"):
        pretrain(dynamic_build, SMALL, tmp_path / "out", settings)
    last = checkpoint.newest(str(tmp_path / "out" / "checkpoints"))
    assert last is not None
    assert (last.step, last.rewinds) == (5, ((8, 5), (6, 5)))
    with pytest.raises(DivergenceError, match=r"the run went back 3 times .* from steps 8, 6, 6"):
        pretrain(dynamic_build, SMALL, tmp_path / "out", replace(REWIND, max_rewinds=3))


def test_checkpoints_of_a_run_that_goes_back_stay_as_many_steps_apart(tmp_path: Path, dynamic_build: Path) -> None:
    settings = replace(REWIND, max_steps=2)
    pretrain(dynamic_build, SMALL, tmp_path, settings)
    with pytest.raises(ConfigError, match="save_steps was 5 and is 6"):
        pretrain(dynamic_build, SMALL, tmp_path, replace(settings, save_steps=6))


@pytest.mark.parametrize(
    ("norm", "before", "spike"), [(9.0, 20, True), (9.0, 19, False), (3.9, 20, False), (float("inf"), 0, True)]
)
def test_a_spike_is_over_the_mean_by_the_ratio_or_not_finite(norm: float, before: int, spike: bool) -> None:
    model = nn.Linear(1, 1, bias=False)
    optimizer = make_optimizer(model, 0.0)

    def take(norm: float) -> None:
        model.weight.grad = torch.full_like(model.weight, norm)
        update(model, optimizer, 1.0, 0.1, 0.0, before, 4.0, "rewind")

    for _ in range(before):
        take(1.0)
    weight = model.weight.item()
    if spike:
        with pytest.raises(SpikeError, match=rf"its gradient has norm {norm} at step {before}"):
            take(norm)
    else:
        take(norm)
    assert (model.weight.item() == weight) == spike


@pytest.mark.slow
def test_all_processes_go_back_together(tmp_path: Path, dynamic_build: Path, eighth: Row, whole: Path) -> None:
    code = f"""
import pytest, torch
torch.set_num_threads(1)
from bertdata.torch import BertConfig
from bertdata.torch.training.pretrain import pretrain
from bertdata.torch.training.settings import PretrainSettings
from tests.torch.training.test_rewind import spiking
spiking(pytest.MonkeyPatch(), {eighth!r}.__eq__)
pretrain({str(dynamic_build)!r}, BertConfig(**{asdict(SMALL)}), {str(tmp_path / "out")!r},
         PretrainSettings(**{asdict(REWIND)}))
"""
    (tmp_path / "train.py").write_text(code)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)}
    script: Sequence[str] = [*command, str(tmp_path / "train.py")]
    done = subprocess.run(script, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    assert losses(tmp_path / "out") == pytest.approx(losses(whole), abs=2e-5)
    assert [line["rewinds"] for line in log(tmp_path / "out")] == [line["rewinds"] for line in log(whole)]
