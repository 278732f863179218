"""Pretraining from shards: a plain loop over `ShardDataset`, `ResumableSampler` and `PretrainingCollator`.

The output directory gets `log.jsonl` (one line for each logged step), `checkpoints/`, and at the end the model, its
configuration and its tokenizer, which transformers opens. The same command goes on from the last checkpoint, to the
same losses: batches, masks and dropout are functions of the step. What this module does not do: several devices,
gradient accumulation, evaluation.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import torch
from torch import Tensor
from torch.utils.data import DataLoader

from bertdata import config as flags
from bertdata import files
from bertdata.errors import ConfigError, OutputError
from bertdata.examples.masking import IGNORE_INDEX
from bertdata.output import claimed
from bertdata.shards import Shards
from bertdata.shards.schema import ShardInfo
from bertdata.torch import checkpoint
from bertdata.torch.bert import BertForPreTraining, PretrainingOutput
from bertdata.torch.collator import PretrainingCollator
from bertdata.torch.config import PRESETS, BertConfig
from bertdata.torch.dataset import ShardDataset
from bertdata.torch.optimization import adamw, choose_device, learning_rate, own_randomness, seed_step, update
from bertdata.torch.sampler import ResumableSampler

LogRecord = dict[str, float]
_FREE = ("checkpoint_every", "log_every", "num_workers", "device")
"""Settings that do not change what is learned, so a resumed run may change them."""


def _option(default: Any, text: str) -> Any:
    return field(default=default, metadata={"help": text, "choices": None})


@dataclass(frozen=True)
class PretrainSettings:
    """How a model is pretrained (BERT appendix A.2; its batch is 256 rows for 1,000,000 steps)."""

    steps: int = _option(100_000, "updates of the weights in all")
    batch_size: int = _option(256, "rows in a batch")
    learning_rate: float = _option(1e-4, "peak of the learning rate")
    warmup: float = _option(0.01, "share of the steps over which the rate rises; then it falls to 0 in a line")
    weight_decay: float = _option(0.01, "AdamW's decay, not on biases and LayerNorm")
    clip: float = _option(1.0, "largest norm of the gradient; 0: no limit")
    seed: int = _option(0, "weights, order and dropout are functions of it")
    bf16: bool = _option(False, "compute in bfloat16 (autocast); weights stay float32")
    checkpoint_every: int = _option(1000, "steps between checkpoints")
    log_every: int = _option(10, "steps between lines of the log")
    num_workers: int = _option(2, "processes that prepare batches; 0: this one")
    device: str = _option("auto", "auto, cpu or cuda")

    def __post_init__(self) -> None:
        for name in ("steps", "batch_size", "checkpoint_every", "log_every"):
            if getattr(self, name) < 1:
                raise ConfigError(f"--{name.replace('_', '-')} is {getattr(self, name)}; expected at least 1")
        for name in ("weight_decay", "clip", "num_workers"):
            if getattr(self, name) < 0:
                raise ConfigError(f"--{name.replace('_', '-')} is {getattr(self, name)}; expected 0 or more")
        if not self.learning_rate > 0:
            raise ConfigError(f"--learning-rate is {self.learning_rate}; expected more than 0, as 1e-4")
        if not 0 <= self.warmup < 1:
            raise ConfigError(f"--warmup is {self.warmup}; expected a share of the steps: 0 or more, and less than 1")


def pretrain(
    shards: str | os.PathLike[str] | Shards,
    config: str | BertConfig,
    output: str | os.PathLike[str],
    settings: PretrainSettings | None = None,
    *,
    restart: bool = False,
    report: Callable[[LogRecord], None] | None = None,
) -> dict[str, Any]:
    """Train a `BertForPreTraining` and return a summary: output, steps, and the last line of the log.

    `config` is tiny, base or large, a `BertConfig`, or a directory with a model to start from. A run that was cut off
    goes on from its last checkpoint unless `restart`. `report` is called with each record of the log. Raises
    ConfigError where the settings do not fit the shards or the checkpoint, and DivergenceError where the loss is no
    longer a number.
    """
    settings, output = settings or PretrainSettings(), os.fspath(output)
    if files.is_remote(output):
        raise ConfigError("checkpoints are written to a local directory; give one, and copy it later", path=output)
    dataset = ShardDataset(shards)
    tokenizer = dataset.shards.tokenizer()
    device = choose_device(settings.device)
    sampler = ResumableSampler(dataset, settings.batch_size, epochs=None, seed=settings.seed, rank=0, world_size=1)
    with claimed(output, "a pretrained model"), own_randomness(device):
        if restart:
            files.remove(files.join(output, "checkpoints"))
        run = _start(config, dataset.info, output, settings, sampler, device)
        record = _keep_log(files.join(output, "log.jsonl"), run.first)
        if run.first < settings.steps:
            collator = PretrainingCollator(dataset, tokenizer=tokenizer)
            record = _train(run, dataset, collator, sampler, settings, report)
        run.model.save_pretrained(output)
        tokenizer.save(output)
    return {"output": output, "steps": settings.steps, **record}


@dataclass(frozen=True)
class _Run:
    """A run at its start: the model and optimizer, the steps taken before, where it writes, what it is."""

    model: BertForPreTraining
    optimizer: torch.optim.Optimizer
    device: torch.device
    first: int
    output: str
    settings: dict[str, Any]


def _start(
    config: str | BertConfig,
    info: ShardInfo,
    output: str,
    settings: PretrainSettings,
    sampler: ResumableSampler,
    device: torch.device,
) -> _Run:
    shape = _shape(config, info)
    said = {name: value for name, value in asdict(settings).items() if name not in _FREE}
    said |= {f"config.{name}": value for name, value in asdict(shape).items()}
    last = checkpoint.newest(files.join(output, "checkpoints"))
    torch.manual_seed(settings.seed)
    if last is not None:
        checkpoint.check_settings(last, said)
        sampler.load_state_dict(last.sampler)
        model = BertForPreTraining.from_pretrained(last.directory)
    elif isinstance(config, str) and config not in PRESETS:
        model = BertForPreTraining.from_pretrained(config)
    else:
        model = BertForPreTraining(shape)
    model.to(device).train()
    optimizer = adamw(model, settings.weight_decay)
    if last is not None:
        checkpoint.load_optimizer(last, optimizer, device)
    return _Run(model, optimizer, device, 0 if last is None else last.step, output, said)


def _train(
    run: _Run,
    dataset: ShardDataset,
    collator: PretrainingCollator,
    sampler: ResumableSampler,
    settings: PretrainSettings,
    report: Callable[[LogRecord], None] | None,
) -> LogRecord:
    loader: DataLoader[Any] = DataLoader(
        dataset,
        batch_sampler=sampler,
        collate_fn=collator,
        num_workers=settings.num_workers,
        pin_memory=run.device.type == "cuda",
    )
    record: LogRecord = {}
    began, tokens, logged = time.perf_counter(), 0, run.first
    for step, host_batch in enumerate(loader, run.first + 1):
        seed_step(settings.seed, step)
        tokens += int(host_batch["attention_mask"].sum())
        batch = {name: value.to(run.device, non_blocking=True) for name, value in host_batch.items()}
        rate = learning_rate(step - 1, settings.steps, settings.learning_rate, settings.warmup)
        with torch.autocast(run.device.type, torch.bfloat16, enabled=settings.bf16):
            result: PretrainingOutput = run.model(**batch)
        assert result.loss is not None
        norm = update(run.model, run.optimizer, result.loss, rate, settings.clip, step)
        state = sampler.state_dict(step - run.first)
        if step % settings.log_every == 0 or step == settings.steps:
            seconds = time.perf_counter() - began
            record = {
                "step": step,
                "epoch": state["position"] / len(dataset),
                "learning_rate": rate,
                "gradient_norm": norm,
                **measures(result, batch, dataset.info.label),
                "tokens_per_second": tokens / seconds,
                "seconds_per_step": seconds / (step - logged),
            }
            _append(files.join(run.output, "log.jsonl"), record)
            began, tokens, logged = time.perf_counter(), 0, step
            if report is not None:
                report(record)
        if step % settings.checkpoint_every == 0 or step == settings.steps:
            root = files.join(run.output, "checkpoints")
            checkpoint.save(root, step, run.model, run.optimizer, state, run.settings)
        if step == settings.steps:
            break
    return record


def measures(result: PretrainingOutput, batch: dict[str, Tensor], label: str | None) -> LogRecord:
    """Return loss, mlm_loss, mlm_accuracy, and pair_loss and pair_accuracy where the objective has pairs."""
    targets = batch["labels"][batch["labels"] != IGNORE_INDEX]
    assert result.seq_relationship_logits is not None
    logits, pairs = result.prediction_logits.detach().float(), result.seq_relationship_logits.detach().float()
    found = {"mlm_accuracy": float((logits.argmax(-1) == targets).float().mean()) if len(targets) else 0.0}
    total = 0.0 if result.loss is None else float(result.loss.detach())
    found |= {"loss": total, "mlm_loss": total}
    if label is not None:
        found["pair_loss"] = float(torch.nn.functional.cross_entropy(pairs, batch[label]))
        found["pair_accuracy"] = float((pairs.argmax(-1) == batch[label]).float().mean())
        found["mlm_loss"] = total - found["pair_loss"]
    return found


def _shape(config: str | BertConfig, info: ShardInfo) -> BertConfig:
    length = info.examples.max_seq_length
    if isinstance(config, BertConfig):
        shape = config
    elif config in PRESETS:
        shape: BertConfig = PRESETS[config](vocab_size=info.vocab_size, pad_token_id=info.pad_token_id)
        shape = replace(shape, max_position_embeddings=max(shape.max_position_embeddings, -(-length // 8) * 8))
    else:
        if not files.exists(files.join(config, "config.json")):
            raise ConfigError(
                f"--config is {config!r}; expected {', '.join(PRESETS)}, or a directory with a saved model"
            )
        shape = BertConfig.load(config)
    if shape.model_type != "bert":
        raise ConfigError(f"--config is for {shape.family}; this loop trains BERT")
    if shape.vocab_size != info.vocab_size or shape.pad_token_id != info.pad_token_id:
        raise ConfigError(
            f"the model is for {shape.vocab_size} tokens with [PAD] at {shape.pad_token_id}, the shards have "
            f"{info.vocab_size} with [PAD] at {info.pad_token_id}; use shards and a model of one vocabulary"
        )
    if -(-length // 8) * 8 > shape.max_position_embeddings:
        raise ConfigError(
            f"the rows have up to {length} tokens, padded to a multiple of 8, and the model "
            f"{shape.max_position_embeddings} positions; build shorter rows, or raise max_position_embeddings"
        )
    return shape


def _keep_log(path: str, step: int) -> LogRecord:
    """Cut the log back to the lines up to a step, and return the last of them."""
    lines: list[LogRecord] = []
    if step and files.exists(path) and files.size(path):
        with files.open_decompressed(path) as file:
            for line in file:
                if line.endswith(b"\n") and (record := json.loads(line))["step"] <= step:
                    lines.append(record)
    files.write_bytes(path, "".join(json.dumps(record) + "\n" for record in lines).encode())
    return lines[-1] if lines else {}


def _append(path: str, record: LogRecord) -> None:
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
    except OSError as error:
        raise OutputError(
            f"the log cannot be written ({error.strerror}); make room and run again", path=path
        ) from error


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata pretrain` to a parser."""
    parser.add_argument("shards", help="a finished build, or one of its splits")
    parser.add_argument("--output", required=True, help="directory for the model, its checkpoints and log.jsonl")
    parser.add_argument(
        "--config", default="base", help="tiny, base, large, or the directory of a model to start from (default: base)"
    )
    parser.add_argument("--restart", action="store_true", help="begin anew instead of going on from a checkpoint")
    flags.add_flags(parser, PretrainSettings)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Pretrain as parsed arguments say, with a progress bar on a terminal, and return the summary."""
    from tqdm import tqdm

    settings = PretrainSettings(**{one.name: getattr(arguments, one.name) for one in fields(PretrainSettings)})
    with tqdm(total=settings.steps, unit="step", disable=None) as bar:

        def report(record: LogRecord) -> None:
            bar.update(int(record["step"]) - bar.n)
            bar.set_postfix(loss=f"{record['loss']:.3f}", tokens_s=f"{record['tokens_per_second']:.0f}", refresh=False)

        return pretrain(
            arguments.shards, arguments.config, arguments.output, settings, restart=arguments.restart, report=report
        )
