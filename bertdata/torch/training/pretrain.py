"""Pretraining from shards: how a run is started, resumed and finished; `steps` has its loop.

The output directory gets `log.jsonl` (a line for each logged step), `curves.svg`, `checkpoints/`, and at the end the
model, its configuration and its tokenizer, which transformers opens. The same command resumes from the last checkpoint
with the same losses, for batches, masks and dropout are functions of the step. In a build of several lengths, short
rows come first. Under torchrun each process has the whole model and takes its part of every batch.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import torch

from bertdata.engine.output_lock import output_lock
from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.loader.opening import cache_folder
from bertdata.masking.training import MASKED
from bertdata.options.option import stored_values
from bertdata.shards import Shards
from bertdata.shards.pretraining_info import PretrainingInfo
from bertdata.torch.data.loader import ResumableBatchSampler
from bertdata.torch.data.workers import explaining_workers
from bertdata.torch.distillation.distilled_model import Lesson
from bertdata.torch.distillation.settings import DistillationSettings
from bertdata.torch.models import LIBRARIES, configs, model_loading
from bertdata.torch.models.attention import activate_newest_flash
from bertdata.torch.models.causal_probe import check_causal_mask
from bertdata.torch.models.config import EncoderConfig
from bertdata.torch.models.from_transformers import TransformersModel
from bertdata.torch.models.model_loading import Library
from bertdata.torch.models.objectives.settings import model_class
from bertdata.torch.models.weight_files import digest_of_weights, main_file, require_no_adapter, safetensors_torch
from bertdata.torch.models.weights import PreTrainedModel, save_with_tokenizer
from bertdata.torch.training import checkpoint, curves, metrics_log, trackers
from bertdata.torch.training.arithmetic import set_precision
from bertdata.torch.training.display import shown
from bertdata.torch.training.distributed import Group, init_distributed
from bertdata.torch.training.metrics_log import LogRecord
from bertdata.torch.training.optimization import make_optimizer, own_randomness
from bertdata.torch.training.parts import explaining_memory, phases_that_fit
from bertdata.torch.training.phases import Phase, longest_info, open_rows, plan_phases
from bertdata.torch.training.plan import plan_of_run
from bertdata.torch.training.run import Run
from bertdata.torch.training.run_length import with_length
from bertdata.torch.training.settings import PretrainSettings
from bertdata.torch.training.steps import train
from bertdata.torch.training.trained_for import check_training
from bertdata.torch.training.words import WordCheckpoints, remove_word_checkpoints

_LOG = logging.getLogger("bertdata")
_FREE = (
    "checkpoint_words",
    "compile",
    "device",
    "eval_phases",
    "eval_steps",
    "gradient_accumulation_steps",
    "gradient_checkpointing",
    "logging_steps",
    "max_epochs",
    "max_rewinds",
    "num_workers",
    "peak_tflops",
    "precision",
    "report_to",
    "save_steps",
    "save_total_limit",
    "validation_rows",
)
"""Settings that a resumed run may change: they have no effect on what is learned, except for rounding and, on CUDA, the
dropout of attention."""
_WEIGHTS = "SHA-256 of the weights in --config"


def pretrain(
    shards: str | os.PathLike[str] | Shards,
    config: str | EncoderConfig,
    output: str | os.PathLike[str],
    settings: PretrainSettings | None = None,
    *,
    library: str = "bertdata",
    config_overrides: Mapping[str, Any] | None = None,
    restart: bool = False,
    branch: str | os.PathLike[str] = "",
    teacher: str | os.PathLike[str] = "",
    distillation: DistillationSettings | None = None,
    cache: str | os.PathLike[str] | None = None,
    cache_bytes: float | None = None,
    dry_run: bool = False,
    quiet: bool = False,
    report: Callable[[LogRecord], None] | None = None,
    stop: Callable[[], bool] = lambda: False,
) -> dict[str, Any]:
    """Train the model of a config on shards and return a summary: output, steps, and the last line of the log.

    The run is shown on stderr, in a notebook below the cell, unless `quiet`: what it will do, then its progress.
    `dry_run`: check everything, take no step, write nothing, and return what the run would do.

    `config` is the name of a preset, an `EncoderConfig`, or a directory with a model to start from. With `library`
    "transformers" it is a directory with a `config.json` of any of its encoders, or a model type.
    `config_overrides` are other values of some of its fields, as a larger `global_rope_theta`. An interrupted run
    is resumed from its last checkpoint unless `restart`. `branch` is a checkpoint of another run, or the output of one
    for its last: its model is taken in place of `config`, and the state of its optimizer; the rows go on where that run
    stood if the shards and the seed are the same; steps are counted from 0, and they and all other settings are of this
    run. So a decay can be tried from several checkpoints of a run with a constant rate. `teacher` is the directory of a
    model that the one of `config` learns from, as `distillation` says; a fresh one begins with layers of it. `cache`, a
    folder that never holds more than `cache_bytes`, streams the shards of a URL, as `ShardDataset` does. `report` is
    called with each record of the log, and with that of the first step; nothing else is then shown. `stop` is asked
    after each step, in every process: where it returns true, the run writes a checkpoint and raises KeyboardInterrupt.
    Raises ConfigError where the settings do not fit the shards, the teacher or the checkpoint, and DivergenceError
    where the loss is not finite.
    """
    settings, output = settings or PretrainSettings(), files.path_text(output)
    if files.is_remote(output):
        raise ConfigError("checkpoints are written to a local directory; give one, and copy it later", path=output)
    configs.refuse_two_meanings(config, output, library)
    for folder in (config, teacher):
        if folder and not isinstance(folder, EncoderConfig):
            require_no_adapter(files.path_text(folder))
    safetensors_torch()  # else a run would find out when it saves its model
    with init_distributed(settings.device) as group:
        fitting = not (settings.gradient_accumulation_steps or settings.batch_tokens)
        parts = settings.gradient_accumulation_steps or 1
        settings = replace(settings, gradient_accumulation_steps=parts)
        batch = rows_of(settings, group)
        rows = open_rows(shards, cache_folder(cache, cache_bytes), by_pieces=settings.by_pieces)
        tokenizer = rows[0].dataset.shards.tokenizer()
        locked = output_lock(output, "a pretrained model") if group.first and not dry_run else nullcontext()
        with locked, own_randomness(group.device):
            newest = None if restart else checkpoint.newest(files.join(output, "checkpoints"))
            settings, length = with_length(settings, rows, newest)
            phases = plan_phases(rows, settings, batch, parts)
            lesson = None
            if teacher:
                learned = (distillation or DistillationSettings(), longest_info(phases), tokenizer, settings)
                lesson = Lesson.of(files.path_text(teacher), *learned, quiet=not group.first)
            place = (LIBRARIES[library], files.path_text(branch), lesson)
            if branch and settings.checkpoint_words:
                raise ConfigError(
                    "--checkpoint-words counts from the first step, and --branch goes on from another run, whose words "
                    "are not known; leave one of them out"
                )
            word_checkpoints = WordCheckpoints.of(phases, settings)
            run = _start(config, config_overrides, phases, output, settings, group, newest, *place)
            run.word_checkpoints = word_checkpoints
            if fitting and run.first < settings.max_steps:
                run.phases = phases = phases_that_fit(run, phases, settings, batch)
            if dry_run:
                return plan_of_run(run, settings, length).summary()
            group.barrier()
            if restart and group.first:  # now that all settings are known to fit
                files.remove(files.join(output, "checkpoints"))
                remove_word_checkpoints(output, [name for _, name in word_checkpoints.names])
            record = metrics_log.keep(files.join(output, metrics_log.LOG), run.first) if group.first else {}
            names = settings.report_to if group.first else ()
            silent = quiet or report is not None or not group.first
            with trackers.opened(names, output, run.settings, run.first) as track, shown(quiet=silent) as progress:
                if not silent:
                    progress.begin(plan_of_run(run, settings, length))
                reports = [report or progress, track] if group.first else []
                for phase in phases:
                    if run.first < phase.last:
                        with explaining_workers(phase.dataset), explaining_memory(phase, settings):
                            record = train(run, phase, settings, reports, progress.step, stop) or record
            if group.first:
                save_with_tokenizer(run.model.final, output, tokenizer, run.about)
            group.barrier()
    return {"output": output, "steps": settings.max_steps, **record}


def _advise_on_attention(flash: str, shape: EncoderConfig, settings: PretrainSettings) -> None:
    """Log which flash attention is taken beside torch's own, and what keeps packed rows from it."""
    if flash:
        _LOG.info("attention is that of %s", flash)
    dropout = getattr(shape, "attention_probs_dropout_prob", 0.0)
    if settings.packing and (settings.bf16 or settings.fp16) and dropout:
        _LOG.warning(
            "attention_probs_dropout_prob is %g, and torch's kernel for packed rows has no dropout, so they are padded "
            "for attention; a fresh model is faster with --config-overrides attention_probs_dropout_prob=0",
            dropout,
        )


def rows_of(settings: PretrainSettings, group: Group) -> int:
    """Return the rows of one process in an update, 0 where it is so many tokens.

    Raises ConfigError where the batch cannot be split evenly.
    """
    parts = group.world_size * settings.gradient_accumulation_steps
    if settings.batch_tokens % (8 * parts):
        raise ConfigError(
            f"--batch-tokens {settings.batch_tokens} cannot be split evenly for {group.world_size} processes and "
            f"--gradient-accumulation-steps {settings.gradient_accumulation_steps}; expected a multiple of {8 * parts}"
        )
    if settings.batch_tokens:
        return 0
    if settings.batch_size % parts:
        raise ConfigError(
            f"--batch-size {settings.batch_size} cannot be split evenly for {group.world_size} processes and "
            f"--gradient-accumulation-steps {settings.gradient_accumulation_steps}; expected a multiple of {parts}"
        )
    return settings.batch_size // group.world_size


def check_weights(shards: Sequence[Shards], kind: type[PreTrainedModel], *, taught: bool) -> None:
    """Raise ConfigError where mask rates are drawn, and the loss of a model has no place for their weights."""
    for shard in shards:
        draw = shard.expect_pretraining().masking.for_split(shard.split).mask_rate_draw
        if draw and (taught or not kind.weighs_loss):
            what = "a student of --teacher" if taught else kind.objective or kind.__name__
            raise ConfigError(
                f"--mask-rate-draw {draw} comes with weights of the loss of masked tokens, for which that of {what} "
                "has no place; take a model for masked tokens alone, or build with a constant --masked-lm-prob",
                path=shard.build,
            )


def _resolved(
    library: Library, config: str | EncoderConfig, info: PretrainingInfo, overrides: Mapping[str, Any], multiple: int
) -> EncoderConfig:
    """Return the config for shards, its vocabulary padded to a multiple of a number of tokens.

    Raises ConfigError where a saved model has weights for another number, and as `resolve_config`.
    """
    shape = library.resolve_config(config, info, overrides)
    size = -(-shape.vocab_size // multiple) * multiple
    if size == shape.vocab_size:
        return shape
    if "vocab_size" in overrides:
        raise ConfigError("--pad-vocab-to and --config-overrides both set vocab_size; give one of them")
    if (
        isinstance(config, str)
        and config not in library.presets()
        and main_file(config.removesuffix("config.json") or ".")
    ):
        raise ConfigError(
            f"this model has weights for {shape.vocab_size} tokens, which is no multiple of --pad-vocab-to {multiple}; "
            "leave it out, or begin with a fresh model",
            path=config,
        )
    return library.resolve_config(config, info, {**overrides, "vocab_size": size})


def _began_with(folder: str, output: str, last: checkpoint.Checkpoint | None) -> dict[str, Any]:
    """Return which weights a run begins with, for a resumed one to be compared by.

    Checkpoints of older versions do not say, and where the model is trained in its own folder, those are replaced.
    """
    in_place = bool(folder) and os.path.realpath(folder) == os.path.realpath(output)
    if last is not None and (in_place or _WEIGHTS not in last.settings):
        return {name: value for name, value in last.settings.items() if name == _WEIGHTS}
    return {_WEIGHTS: digest_of_weights(folder.removesuffix("config.json") or ".") if folder else ""}


def _start(
    config: str | EncoderConfig,
    overrides: Mapping[str, Any] | None,
    phases: list[Phase],
    output: str,
    settings: PretrainSettings,
    group: Group,
    last: checkpoint.Checkpoint | None,
    library: Library,
    branch: str,
    lesson: Lesson | None,
) -> Run:
    info = longest_info(phases)
    parent = checkpoint.of_branch(branch) if branch and last is None else None
    if last is not None and branch:
        config = last.directory
    elif parent is not None:
        config = parent.directory
    shape = _resolved(library, config, info, overrides or {}, settings.pad_vocab_to)
    kind = model_class(
        library.model_class(shape, info), [phase.dataset.shards.expect_pretraining() for phase in phases], settings
    )
    if not library.own and (settings.packing or settings.compile):
        raise ConfigError("--packing and --compile are for bertdata's own models; leave them out for others")
    check_weights([phase.dataset.shards for phase in phases], kind, taught=lesson is not None)
    causal = check_training(phases, kind, taught=lesson is not None)
    if settings.phase_rope_thetas and not shape.rope_field:
        raise ConfigError(
            f"--phase-rope-thetas is for models with rotary positions, and a {shape.model_type} config has no base of "
            "them; expected a ModernBERT of --library bertdata, or leave it out"
        )
    if settings.phase_rope_thetas and shape.rope_field in (overrides or {}):
        raise ConfigError(f"--phase-rope-thetas and --config-overrides both set {shape.rope_field}; give one of them")
    free = {*_FREE} - ({"gradient_accumulation_steps"} if settings.batch_warmup_ratio else set())
    free -= {"save_steps"} if settings.on_spike == "rewind" else set()
    named = {name: value for name, value in stored_values(settings).items() if name not in free}
    if settings.batch_tokens:  # each part has the rows that fit in its share, so their number decides the updates
        named["parts of --batch-tokens, over all processes"] = group.world_size * settings.gradient_accumulation_steps
    named |= {"precision": "fast"} if settings.bf16 and settings.precision == "fast" else {}
    named |= {"model": kind.__name__, "phases": [phase.name for phase in phases]}
    named |= {f"config.{name}": value for name, value in shape.settings().items()}
    if settings.phase_rope_thetas:
        del named[f"config.{shape.rope_field}"]  # each phase sets it
    kinds = [phase.masking(phase.dataset).training for phase in phases]
    named |= {"training": kinds} if {*kinds} != {MASKED} else {}
    if parent is not None:
        named["branch"] = parent.digest
    elif branch and last is not None:
        named["branch"] = checkpoint.digest_of_branch(branch, last)
    named |= lesson.said if lesson else {}
    folder = config if isinstance(config, str) and config not in library.presets() else ""
    if not branch:
        named |= _began_with(folder, output, last)
    torch.manual_seed(settings.seed)
    if last is not None:
        checkpoint.check_settings(last, named)
        phase = next(phase for phase in phases if last.step <= phase.last)
        length = phase.run_epochs(settings)
        window = settings.shuffle_window or None
        sampler = ResumableBatchSampler(
            phase.dataset, 1, epochs=None, run_epochs=length, seed=settings.seed, shuffle_window=window
        )
        sampler.load_state_dict(last.sampler)
        model = kind.from_pretrained(last.directory)
    elif folder:
        model = library.from_pretrained(folder, info, phases[0].dataset.shards.tokenizer(), shape, kind)
    else:
        model = kind(shape)
    if causal and isinstance(model, TransformersModel):
        check_causal_mask(model, info)
    before = last or parent
    if lesson is not None:
        model = lesson.distilled(model, folder, before.directory if before else "")
    set_precision(model, settings)
    if group.device.type == "cuda":
        _advise_on_attention(activate_newest_flash(group.device), shape, settings)
    model.to(group.device).train()
    optimizer = make_optimizer(model, settings.weight_decay, settings.adam_beta2, settings.optim)
    if before:
        checkpoint.load_optimizer(before, optimizer)
    drawn = group.first and curves.available()
    rewinds = [*last.rewinds] if last is not None else []
    about = model_loading.about(info)
    weights = parent.directory if parent else folder or (None if last or lesson else "")
    return Run(model, optimizer, group, phases, last, output, named, about, parent, weights, drawn, rewinds)
