"""What a run of training will do, told before its first step, and by `--dry-run` in its place."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import torch

from bertdata.errors import arguments_for_flags, names_flags
from bertdata.io.console import byte_size, counted, figure
from bertdata.torch.data.dataset import ShardDataset
from bertdata.torch.models.config import Counts
from bertdata.torch.models.weights import PreTrainedModel
from bertdata.torch.training.optimization import peak_flops
from bertdata.torch.training.phases import rows_a_step
from bertdata.torch.training.run import Run
from bertdata.torch.training.settings import PretrainSettings

_SIZE = 512
"""Rows and columns of the matrices whose product is timed."""
_BYTES = 12
"""Of a parameter in a checkpoint: the weight and two moments of AdamW in float32."""
_UNITS = (("days", 86400.0), ("hours", 3600.0), ("minutes", 60.0), ("seconds", 1.0))


@dataclass(frozen=True)
class PhasePlan:
    """The steps of a run on the rows of a phase: how many, of how many tokens on average, and the epochs they make.

    max_seq_length: the length that rows can have; operations: of a step, forward and backward.
    """

    name: str
    rows: int
    max_seq_length: int
    steps: int
    epochs: float
    tokens: float
    operations: float


@dataclass(frozen=True)
class RunPlan:
    """A run: what is trained, where, on which rows, and how long.

    first: the steps taken before, by the run that is resumed; length: who says how many steps there are, "" for
    `max_steps`; flops: the operations per second that the devices cannot pass, 0 where they are not known; weights: the
    folder that the first ones are read from, "" where they are drawn, None where that is not said.
    """

    output: str
    model: str
    parameters: int
    device: str
    processes: int
    batch_size: int
    steps: int
    phases: Sequence[PhasePlan]
    first: int = 0
    length: str = ""
    flops: float = 0.0
    weights: str | None = None
    more: dict[str, Any] = field(default_factory=dict)

    @property
    def finished(self) -> bool:
        """Whether all steps were taken before."""
        return self.first >= self.steps

    @property
    def epochs(self) -> float:
        """Times that the whole run goes through the rows."""
        return sum(phase.epochs for phase in self.phases)

    @property
    def least_seconds(self) -> float:
        """The seconds that the steps take at least, by their operations; 0 where that is not known."""
        begin, operations, end = self.first, 0.0, 0
        for phase in self.phases:
            end += phase.steps
            operations += max(0, end - max(begin, end - phase.steps)) * phase.operations
        return operations / self.flops if self.flops else 0.0

    def lines(self) -> list[str]:
        """Return what is said before the first step: a line for the model and the rows, and one for each phase."""
        if self.finished:
            return [f"nothing to do: {self.output} is trained, {self.steps:,} of {counted(self.steps, 'step')}"]
        where = self.device + (f", {self.processes} processes" if self.processes > 1 else "")
        new, of = "new " if self.weights == "" else "", f" of {self.weights}" if self.weights else ""
        head = f"{self.model} on {where}: {self.parameters:,} {new}parameters{of}"
        begun = f", from step {self.first + 1:,}" if self.first else ""
        length = f" ({spoken(self.length)})" if self.length else ""
        end = f"{counted(self.steps, 'step')}{begun}, {epochs_text(self.epochs)}{length}"
        at_least = f"; {duration(self.least_seconds)} or more" if self.least_seconds >= 60 else ""
        if len(self.phases) == 1:
            return [f"{head}; {self._rows(self.phases[0])}; {end}{at_least}"]
        return [
            f"{head}; {end}{at_least}",
            *(
                f"  {phase.name}: {self._rows(phase)}; {counted(phase.steps, 'step')}, {epochs_text(phase.epochs)}"
                for phase in self.phases
            ),
        ]

    def _rows(self, phase: PhasePlan) -> str:
        """Return the rows of a phase and the tokens of a step as text."""
        return f"{counted(phase.rows, 'row')} of up to {phase.max_seq_length} tokens, {phase.tokens:,.0f} tokens a step"

    def summary(self) -> dict[str, Any]:
        """Return the plan by names, for `--dry-run`."""
        begins = f"after {counted(self.first, 'step')}, where it was left" if self.first else "at the first step"
        summary: dict[str, Any] = {
            "output": self.output,
            "begins": "nothing to do: all steps are taken" if self.finished else begins,
            "device": self.device,
            "processes": self.processes,
            "model": self.model,
            "parameters": self.parameters,
        }
        summary |= {} if self.weights is None else {"weights": self.weights or "new"}
        summary["rows_a_step"] = self.batch_size
        for phase in self.phases:
            of = f" {phase.name}" if phase.name else ""
            summary |= {
                f"rows{of}": phase.rows,
                f"tokens_a_step{of}": round(phase.tokens),
                f"steps{of}": phase.steps,
                f"epochs{of}": phase.epochs,
            }
        if len(self.phases) > 1:
            summary |= {"steps": self.steps, "epochs": self.epochs}
        summary |= {"length": spoken(self.length)} if self.length else {}
        summary |= {"time": f"{duration(self.least_seconds)} or more"} if self.flops else {}
        return summary | self.more


def plan_of_run(run: Run, settings: PretrainSettings, length: str) -> RunPlan:
    """Return what a run will do. length: who says how many steps it has, as `with_length` returns it."""
    phases = [
        replace(
            plan_of_rows(
                phase.dataset,
                rows_a_step(phase.dataset, settings),
                run.model,
                phase.last - phase.first,
                phase.epochs(settings),
            ),
            name=phase.name,
        )
        for phase in run.phases
    ]
    number = parameters_of(run.model)
    texts = {0: "all are kept", 1: "the last is kept"}
    keeping = texts.get(settings.save_total_limit, f"the last {settings.save_total_limit} are kept")
    checkpoints = f"{byte_size(_BYTES * number)} each, every {counted(settings.save_steps, 'step')}; {keeping}"
    return RunPlan(
        output=run.output,
        model=run.model.architecture,
        parameters=number,
        device=run.group.device.type,
        processes=run.group.world_size,
        batch_size=round(rows_a_step(run.phases[0].dataset, settings)),
        steps=settings.max_steps,
        phases=phases,
        first=run.first,
        length=length,
        flops=highest_flops(run.group.device, run.group.world_size, settings.peak_tflops, bf16=settings.bf16),
        weights=run.weights,
        more={"checkpoints": checkpoints},
    )


def plan_of_rows(
    dataset: ShardDataset, batch_size: float, model: PreTrainedModel, steps: int, epochs: float
) -> PhasePlan:
    """Return the plan of steps on a data set; a step has as many tokens as its rows have on average."""
    shards, length = dataset.shards, int(dataset.info.max_seq_length)
    counts = shards.manifest["splits"][shards.split].get("counts", {})
    each, labelled = dataset.tokens / len(dataset), counts.get("predictions", 0) / len(dataset)
    of_step = Counts(labelled * batch_size, batch_size, each * batch_size, each * each * batch_size)
    return PhasePlan("", len(dataset), length, steps, epochs, each * batch_size, model.training_flops(of_step))


def parameters_of(model: PreTrainedModel) -> int:
    """Return the number of parameters that are trained."""
    return sum(parameter.numel() for parameter in model.parameters() if parameter.requires_grad)


def highest_flops(device: torch.device, processes: int, peak_tflops: float, *, bf16: bool) -> float:
    """Return the operations per second that the devices of a run cannot pass, 0 where they are not known.

    On a CPU it is the speed of products of matrices, which takes some hundredths of a second to measure.
    """
    peak = peak_tflops * 1e12 or peak_flops(device) or 0.0
    if not peak and device.type == "cpu":
        peak = _flops_of_products(torch.bfloat16 if bf16 else torch.float32)
    return peak * processes


@cache
def _flops_of_products(kind: torch.dtype) -> float:
    factor, seconds = torch.ones(_SIZE, _SIZE, dtype=kind), []
    for _ in range(10):
        began = time.perf_counter()
        torch.mm(factor, factor)
        seconds.append(time.perf_counter() - began)
    return 2 * _SIZE**3 / min(seconds)


def spoken(text: str) -> str:
    """Return a text with flags as they are on the command line, as arguments of Python elsewhere."""
    return text if names_flags() else arguments_for_flags(text)


def epochs_text(epochs: float) -> str:
    """Return a number of epochs as text.

    >>> epochs_text(40.0), epochs_text(0.0123), epochs_text(1.0)
    ('40 epochs', '0.0123 epochs', '1 epoch')
    """
    return "1 epoch" if epochs == 1 else f"{figure(round(epochs, 2) if epochs > 1 else epochs)} epochs"


def duration(seconds: float) -> str:
    """Return a length of time as text, with its two leading digits.

    >>> duration(330.0), duration(7200.0), duration(400_000.0), duration(0.5)
    ('5.5 minutes', '2 hours', '4.6 days', 'a second')
    """
    for unit, size in _UNITS:
        if seconds >= 2 * size or (unit == "seconds" and seconds > 1):
            number = seconds / size
            return f"{number:,.0f} {unit}" if number >= 10 else f"{number:.1f}".removesuffix(".0") + f" {unit}"
    return "a second"
