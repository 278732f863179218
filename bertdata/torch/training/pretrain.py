"""Pretraining from shards: `ShardDataset`, `ResumableSampler` and `PretrainingCollator` under a plain loop.

The output directory gets `log.jsonl` (a line for each logged step), `curves.svg`, `checkpoints/`, and at the end the
model, its configuration and its tokenizer, which transformers opens. The same command goes on from the last checkpoint,
to the same losses: batches, masks and dropout are functions of the step. A build of several lengths is gone through
from short rows to long ones. Under torchrun each process takes its part of every batch. What this module does not do:
the steps themselves (`steps`), evaluation, models larger than one device.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import torch

from bertdata.engine.output_lock import output_lock
from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.options.flags import add_flags
from bertdata.shards import Shards
from bertdata.torch.data.loader import explaining_workers
from bertdata.torch.data.sampler import ResumableSampler
from bertdata.torch.models import registry
from bertdata.torch.models.config import EncoderConfig
from bertdata.torch.training import checkpoint, metrics_log
from bertdata.torch.training.distributed import Group, joined
from bertdata.torch.training.metrics_log import LogRecord
from bertdata.torch.training.optimization import adamw, check_numbers, own_randomness
from bertdata.torch.training.phases import Phase, longest_info, open_phases
from bertdata.torch.training.progress import shown
from bertdata.torch.training.steps import Run, train

_FREE = (
    "accumulate",
    "checkpoint_every",
    "compile",
    "device",
    "log_every",
    "num_workers",
    "peak_tflops",
    "validate_every",
    "validation_rows",
)
"""Settings that do not change what is learned, but for rounding and on CUDA attention's dropout: a resumed run may
change them."""


def _option(default: Any, text: str) -> Any:
    return field(default=default, metadata={"help": text, "choices": None})


@dataclass(frozen=True)
class PretrainSettings:
    """How a model is pretrained (BERT appendix A.2; its batch is 256 rows for 1,000,000 steps)."""

    steps: int = _option(100_000, "updates of the weights in all")
    batch_size: int = _option(256, "rows of an update, over all processes")
    accumulate: int = _option(
        1,
        "parts in which a batch goes through the model, more for longer rows; changes rounding alone, on "
        "CUDA also attention's dropout",
    )
    last_share: float = _option(0.1, "of a build of several lengths, the share of the steps on the longest rows")
    learning_rate: float = _option(1e-4, "peak of the learning rate")
    warmup: float = _option(0.01, "share of the steps over which the rate rises; then it falls to 0 in a line")
    weight_decay: float = _option(0.01, "AdamW's decay, not on biases and LayerNorm")
    adam_beta2: float = _option(0.999, "AdamW's second beta (RoBERTa: 0.98)")
    clip: float = _option(1.0, "largest norm of the gradient; 0: no limit")
    seed: int = _option(0, "weights, order and dropout are functions of it")
    packing: bool = _option(False, "the examples of a batch one after another in one row, without padding")
    bf16: bool = _option(False, "compute in bfloat16 (autocast); weights stay float32")
    compile: bool = _option(False, "compile the blocks (torch.compile): slower to start, then faster")
    checkpoint_every: int = _option(1000, "steps between checkpoints")
    log_every: int = _option(10, "steps between lines of the log, which are means over these steps")
    validate_every: int = _option(
        1000, "steps between losses on the validation split, where there is one; also at the end; 0: never"
    )
    validation_rows: int = _option(2048, "rows of the validation split that are measured, spread over it; 0: all")
    num_workers: int = _option(2, "processes that prepare batches; 0: this one")
    peak_tflops: float = _option(0.0, "what the device is capable of, for MFU in the log; 0: by its name, if known")
    device: str = _option("auto", "auto, cpu or cuda")

    def __post_init__(self) -> None:
        check_numbers(self)
        for name in ("steps", "batch_size", "accumulate", "checkpoint_every", "log_every"):
            if getattr(self, name) < 1:
                raise ConfigError(f"--{name.replace('_', '-')} is {getattr(self, name)}; expected at least 1")
        for name in ("weight_decay", "clip", "num_workers", "peak_tflops", "validate_every", "validation_rows"):
            if getattr(self, name) < 0:
                raise ConfigError(f"--{name.replace('_', '-')} is {getattr(self, name)}; expected 0 or more")
        if not self.learning_rate > 0:
            raise ConfigError(f"--learning-rate is {self.learning_rate}; expected more than 0, as 1e-4")
        for name in ("warmup", "adam_beta2"):
            if not 0 <= getattr(self, name) < 1:
                raise ConfigError(
                    f"--{name.replace('_', '-')} is {getattr(self, name)}; expected a share: 0 or more, less than 1"
                )
        if not 0 < self.last_share < 1:
            raise ConfigError(f"--last-share is {self.last_share}; expected a share between 0 and 1, as 0.1")


def pretrain(
    shards: str | os.PathLike[str] | Shards,
    config: str | EncoderConfig,
    output: str | os.PathLike[str],
    settings: PretrainSettings | None = None,
    *,
    restart: bool = False,
    report: Callable[[LogRecord], None] | None = None,
) -> dict[str, Any]:
    """Train the model of a config on shards and return a summary: output, steps, and the last line of the log.

    `config` is the name of a preset, a config of the family, or a directory with a model to start from. A run that was
    cut off goes on from its last checkpoint unless `restart`. `report` is called with each record of the log, and with
    that of the first step. Raises ConfigError where the settings do not fit the shards or the checkpoint, and
    DivergenceError where the loss is no longer a number.
    """
    settings, output = settings or PretrainSettings(), os.fspath(output)
    if files.is_remote(output):
        raise ConfigError("checkpoints are written to a local directory; give one, and copy it later", path=output)
    with joined(settings.device) as group:
        phases = open_phases(shards, settings.steps, settings.last_share, rows_of(settings, group), settings.accumulate)
        tokenizer = phases[0].dataset.shards.tokenizer()
        with output_lock(output, "a pretrained model") if group.first else nullcontext(), own_randomness(group.device):
            if restart and group.first:
                files.remove(files.join(output, "checkpoints"))
            group.wait()
            run = _start(config, phases, output, settings, group)
            record = metrics_log.keep(files.join(output, metrics_log.LOG), run.first) if group.first else {}
            for phase in phases:
                if run.first < phase.last:
                    with explaining_workers(phase.dataset):
                        record = train(run, phase, settings, report if group.first else None) or record
            if group.first:
                run.model.save_pretrained(output, run.about)
                tokenizer.save(output)
            group.wait()
    return {"output": output, "steps": settings.steps, **record}


def rows_of(settings: PretrainSettings, group: Group) -> int:
    """Return the rows of a process in an update; raises ConfigError where the batch cannot be parted evenly."""
    parts = group.world_size * settings.accumulate
    if settings.batch_size % parts:
        raise ConfigError(
            f"--batch-size {settings.batch_size} cannot be parted evenly for {group.world_size} processes and "
            f"--accumulate {settings.accumulate}; expected a multiple of {parts}"
        )
    return settings.batch_size // group.world_size


def _start(
    config: str | EncoderConfig, phases: list[Phase], output: str, settings: PretrainSettings, group: Group
) -> Run:
    info = longest_info(phases)
    shape = registry.resolve_config(config, info)
    kind = registry.model_class(shape, info)
    said = {name: value for name, value in asdict(settings).items() if name not in _FREE}
    said |= {"model": kind.__name__, "phases": [phase.name for phase in phases]}
    said |= {f"config.{name}": value for name, value in asdict(shape).items()}
    last = checkpoint.newest(files.join(output, "checkpoints"))
    torch.manual_seed(settings.seed)
    if last is not None:
        checkpoint.check_settings(last, said)
        [phase] = [phase for phase in phases if phase.first < last.step <= phase.last]
        ResumableSampler(phase.dataset, 1, epochs=None, seed=settings.seed).load_state_dict(last.sampler)
        model = kind.from_pretrained(last.directory)
    elif isinstance(config, str) and config not in registry.presets():
        model = registry.from_pretrained(config, info, phases[0].dataset.shards.tokenizer())
    else:
        model = kind(shape)
    model.to(group.device).train()
    optimizer = adamw(model, settings.weight_decay, settings.adam_beta2)
    if last is not None:
        checkpoint.load_optimizer(last, optimizer, group.device)
    return Run(model, optimizer, group, last, output, said, registry.about(info))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata pretrain` to a parser."""
    parser.add_argument("shards", help="a finished build, of one length or several, or one of its splits")
    parser.add_argument("--output", required=True, help="directory for the model, its checkpoints and log.jsonl")
    parser.add_argument(
        "--config",
        default="base",
        help=f"{', '.join(registry.presets())}, or the directory of a model to start from (default: base)",
    )
    parser.add_argument("--restart", action="store_true", help="begin anew instead of going on from a checkpoint")
    add_flags(parser, PretrainSettings)


def run(arguments: argparse.Namespace) -> dict[str, Any] | int:
    """Pretrain as parsed arguments say, show how it goes on, and return the summary.

    Of several processes only the first shows something; the others return 0.
    """
    settings = PretrainSettings(**{one.name: getattr(arguments, one.name) for one in fields(PretrainSettings)})
    first = os.environ.get("RANK", "0") == "0"
    with shown(settings.steps) if first else nullcontext() as report:
        summary = pretrain(
            arguments.shards, arguments.config, arguments.output, settings, restart=arguments.restart, report=report
        )
    return summary if first else 0
