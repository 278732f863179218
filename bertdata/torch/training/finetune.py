"""Fine-tuning on the shards of `bertdata encode-task`: texts, tags of words, questions (BERT section 4), embeddings.

The output directory gets the model, its configuration, its tokenizer, `log.jsonl` (a line for each step),
`scores.json`, the predictions of the test splits, and last `run.json`, which says what was trained. A run takes
minutes; an interrupted one starts again, and one that is finished is not run again.
"""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import nullcontext
from dataclasses import asdict
from typing import Any

import numpy as np
import torch

from bertdata.engine.output_lock import output_lock
from bertdata.errors import ConfigError
from bertdata.finetune.layout import is_unlabelled
from bertdata.finetune.task import TASK_SPLITS
from bertdata.finetune.task_info import TaskInfo
from bertdata.io import files
from bertdata.loader import text_numbers
from bertdata.options.option import stored_values
from bertdata.torch.data.dataset import PretrainingCollator, ShardDataset
from bertdata.torch.data.loader import ResumableBatchSampler, ResumableLoader
from bertdata.torch.data.workers import explaining_workers
from bertdata.torch.models import FAMILIES, LIBRARIES
from bertdata.torch.models.config import EncoderConfig, read_config
from bertdata.torch.models.configs import is_type_of_transformers
from bertdata.torch.models.dropout import Draws
from bertdata.torch.models.lora import peft_library
from bertdata.torch.models.model_loading import Library, check_tokenizer
from bertdata.torch.models.sentence_folder import SentenceSettings, settings_beside
from bertdata.torch.models.weight_files import (
    digests_of_weights,
    require_no_adapter,
    safetensors_torch,
    trained_files,
)
from bertdata.torch.models.weights import PreTrainedModel, save_with_tokenizer
from bertdata.torch.training import HEADS, metrics_log, optimization
from bertdata.torch.training.arithmetic import Arithmetic, set_precision
from bertdata.torch.training.display import shown
from bertdata.torch.training.finetune_settings import FinetuneSettings
from bertdata.torch.training.metrics_log import LogRecord
from bertdata.torch.training.phases import validation_split
from bertdata.torch.training.plan import RunPlan, highest_flops, parameters_of, plan_of_rows
from bertdata.torch.training.recomputation import recompute_layers
from bertdata.torch.training.schedules import learning_rate
from bertdata.torch.training.tasks import SENTENCES, Head, evaluate, task_of

SCORES, RUN = "scores.json", "run.json"


def finetune(
    task: str | os.PathLike[str],
    model: str | os.PathLike[str],
    output: str | os.PathLike[str],
    settings: FinetuneSettings | None = None,
    *,
    library: str = "",
    restart: bool = False,
    cache: str | os.PathLike[str] | None = None,
    cache_bytes: float | None = None,
    dry_run: bool = False,
    quiet: bool = False,
    report: Callable[[LogRecord], None] | None = None,
) -> dict[str, Any]:
    """Train a head and the encoder of a model's directory on a task, and return output, examples, steps and scores.

    The run is shown on stderr, in a notebook below the cell, unless `quiet`. A run that is finished in `output`, with
    the same task, model and settings, is not run again, unless `restart`. `dry_run`: check everything, take no step,
    write nothing, and return what the run would do.

    `task` is a folder that `encode_task` wrote, or its URL. `cache`, a folder that never holds more than `cache_bytes`,
    streams the shards of a URL, as `ShardDataset` does. `library`: whose classes the model is of, one of `LIBRARIES`;
    "": of bertdata where it has the model's type and adapters are not asked for, else of transformers. Scores are those
    of its validation split, if it has one, named as `evaluate` does. `report` is called after each step, and nothing
    else is then shown. Raises ConfigError where the model, its tokenizer and the shards do not fit together.
    """
    settings, directory = settings or FinetuneSettings(), files.path_text(model)
    safetensors_torch()  # else a run of pickled weights would find out when it saves its model
    learned = ShardDataset(
        files.path_text(task), "train", cache=cache, cache_bytes=cache_bytes, by_pieces=settings.by_pieces
    )
    info, place = task_of(learned), files.path_text(output)
    if settings.lora:
        peft_library()
    require_no_adapter(directory)
    chosen = library or library_of(directory, settings, quiet=quiet)
    config = _config_of(chosen, directory, info)
    _check_fit(info, config, directory)
    _check_adapters(chosen, directory, place, settings)
    head, validation = HEADS[info.definition.head], validation_split(learned.shards)
    mismatched = validation_split(learned.shards, "validation_mismatched")
    head.check(info, settings)
    for flag, given in (("--sentence-loss", settings.sentence_loss), ("--distinct-texts", settings.distinct_texts)):
        if given and info.definition.head != SENTENCES:
            raise ConfigError(f"{flag} is for sentence embeddings, and this is {info.task}; leave it out")
    device = optimization.choose_device(settings.device)
    batches = ResumableBatchSampler(
        learned,
        settings.batch_size,
        epochs=settings.epochs,
        seed=settings.seed,
        rank=0,
        world_size=1,
        distinct=text_numbers(learned) if settings.distinct_texts else None,
        shuffle_window=settings.shuffle_window or None,
    )
    locked = nullcontext() if dry_run else output_lock(place, "a fine-tuned model")
    with locked, optimization.own_randomness(device), shown(quiet=quiet or report is not None or dry_run) as progress:
        torch.manual_seed(settings.seed)
        classifier = _made(head, chosen, directory, config, info, settings).to(device)
        identity = identity_of(info, files.path_text(task), directory, settings, chosen) | {"seed": settings.seed}
        predicted = _predicted(head, learned)
        finished = not restart and is_finished(place, identity)
        phase = plan_of_rows(learned, settings.batch_size, classifier, len(batches), settings.epochs)
        plan = RunPlan(
            output=place,
            model=classifier.architecture,
            parameters=parameters_of(classifier),
            device=device.type,
            processes=1,
            batch_size=settings.batch_size,
            steps=len(batches),
            phases=[phase],
            first=len(batches) if finished else 0,
            flops=0.0 if quiet or report else highest_flops(device, 1, 0.0, bf16=settings.bf16),
            weights=directory,
            more={"validation_rows": 0 if validation is None else len(validation)},
        )
        if dry_run:
            return plan.summary()
        progress.begin(plan)
        for doubt in (head.doubt(info), _types_doubt(config, learned)):
            if doubt and not quiet:
                print(f"warning: {doubt}", file=sys.stderr)
        log, scores = files.join(place, metrics_log.LOG), {}
        if finished:
            record, scores = metrics_log.read(log)[-1], files.read_json(files.join(place, SCORES))
        else:
            files.remove(files.join(place, RUN))
            files.write_bytes(log, b"")
            with explaining_workers(learned):
                record = _train(classifier, learned, batches, settings, device, log, report or progress)
            scores = {} if validation is None else evaluate(classifier, validation, settings.batch_size, device)
            if mismatched is not None:
                others = evaluate(classifier, mismatched, settings.batch_size, device)
                scores |= {f"mismatched_{name}": value for name, value in others.items()}
            _predict(head, classifier, predicted, settings.batch_size, device, place, quiet=quiet)
            save_with_tokenizer(classifier, place, learned.shards.tokenizer())
            files.write_json(files.join(place, SCORES), scores)
            files.write_json(files.join(place, RUN), identity)
    return {
        "output": place,
        "task": info.task,
        "train_examples": len(learned),
        "validation_examples": 0 if validation is None else len(validation),
        "steps": int(record["step"]),
        "loss": record["loss"],
        **scores,
        **({"predictions": " ".join(files_of_test)} if (files_of_test := _written(predicted, head, place)) else {}),
    }


def _predicted(head: Head, learned: ShardDataset) -> dict[str, ShardDataset]:
    """Return the test splits of a task, of which predictions are written, by their names."""
    if head.predict is None:
        return {}
    tests = {name: validation_split(learned.shards, name) for name in TASK_SPLITS if is_unlabelled(name)}
    return {name: split for name, split in tests.items() if split is not None}


def _predict(
    head: Head,
    model: PreTrainedModel,
    splits: Mapping[str, ShardDataset],
    batch_size: int,
    device: torch.device,
    output: str,
    *,
    quiet: bool,
) -> None:
    """Write the predictions of test splits into an output, and remove those of an earlier run."""
    model.eval()
    for name in TASK_SPLITS:
        path, text = _path_of(name, head, output), ""
        if name in splits and head.predict is not None:
            with torch.no_grad():
                text = head.predict(model, splits[name], batch_size, device)
            if not text and not quiet:
                print(
                    f"no predictions of {name} are written: its words have no tags, so it is not known which tokens "
                    "begin a word; give each word any tag, as O, and encode again",
                    file=sys.stderr,
                )
        if text:
            files.write_bytes(path, text.encode())
        elif head.predictions:
            files.remove(path)


def _path_of(split: str, head: Head, output: str) -> str:
    return files.join(output, f"predictions_{split}{head.predictions}")


def _written(splits: Iterable[str], head: Head, output: str) -> list[str]:
    return [path for split in splits if files.exists(path := _path_of(split, head, output))]


def library_of(directory: str, settings: FinetuneSettings, *, quiet: bool) -> str:
    """Return the name of the library whose classes fine-tune the model of a folder, and say where it is transformers.

    It is that for types that are not bertdata's, and for adapters. Raises InputError for a folder without a config.
    """
    kind = read_config(directory)[1].get("model_type", "bert")
    if not isinstance(kind, str) or not is_type_of_transformers(kind) or (kind in FAMILIES and not settings.lora):
        return "bertdata"
    if not quiet:
        why = "adapters are" if kind in FAMILIES else f"the type {kind} is"
        print(f"{why} for models of transformers: as by --library transformers", file=sys.stderr)
    return "transformers"


def _config_of(library: str, directory: str, info: TaskInfo) -> EncoderConfig:
    """Return the config of a model by a library; raises ConfigError where that fine-tunes none."""
    models: Library = LIBRARIES[library]
    if models.load_config is None:
        raise ConfigError(f"--library {library} has no models to fine-tune; expected bertdata or transformers")
    return models.load_config(directory, info)


def _check_adapters(library: str, directory: str, output: str, settings: FinetuneSettings) -> None:
    """Raise ConfigError where adapters are asked for and do not go with the library or the output."""
    if not settings.lora:
        return
    if library != "transformers":
        raise ConfigError(f"--lora is for models of transformers, and --library is {library}; leave it out")
    if os.path.realpath(directory) == os.path.realpath(output):
        raise ConfigError("--output is the folder of the model that the adapters belong to; take another", path=output)


def _made(
    head: Head, library: str, directory: str, config: EncoderConfig, info: TaskInfo, settings: FinetuneSettings
) -> PreTrainedModel:
    """Return the model of a task by a library; raises ConfigError where the task has none of it."""
    if LIBRARIES[library].own:
        return head.make(directory, info, settings)
    if library not in head.others:
        raise ConfigError(f"--library {library} has no model for {info.task}; expected --library bertdata")
    return head.others[library](directory, config, info, settings)


def identity_of(
    info: TaskInfo, task: str, model: str, settings: FinetuneSettings, library: str = "bertdata"
) -> dict[str, Any]:
    """Return what a run depends on beside its seed, as JSON.

    `library` is named where it is not bertdata, and what a folder of sentence-transformers says where it is not usual.
    """
    values = {name: value for name, value in stored_values(settings).items() if name not in ("seed", "num_workers")}
    digests = {"config.json": files.sha256(files.join(model, "config.json")), **digests_of_weights(model)}
    run = {"task": files.sha256(files.join(task, "manifest.json")), "model": digests, "settings": values}
    if info.definition.head == SENTENCES and (sentences := settings_beside(model)) != SentenceSettings():
        run["sentences"] = asdict(sentences)
    return run if library == "bertdata" else run | {"library": library}


def is_finished(output: str, identity: Mapping[str, Any]) -> bool:
    """Return whether an output has the model and the scores of a run."""
    path = files.join(output, RUN)
    return (
        files.exists(path)
        and files.read_json(path) == identity
        and bool(trained_files(output))
        and all(files.exists(files.join(output, name)) for name in (SCORES, metrics_log.LOG))
    )


def _check_fit(info: TaskInfo, config: EncoderConfig, directory: str) -> None:
    check_tokenizer(directory, info.tokenizer, info.vocab_size)
    if info.vocab_size > config.vocab_size:
        raise ConfigError(
            f"the shards have {info.vocab_size} tokens, the model {config.vocab_size}: they do not belong together; "
            "encode with the tokenizer the model was trained with",
            path=directory,
        )
    most = config.max_position_embeddings // 8 * 8
    if info.max_seq_length > most:
        raise ConfigError(
            f"the rows have up to {info.max_seq_length} tokens, the model has {config.max_position_embeddings} "
            f"positions; encode with --max-seq-length {most} or less",
            path=directory,
        )


def _types_doubt(config: EncoderConfig, learned: ShardDataset) -> str:
    """Return what to know of a model that cannot tell the two texts of a row by their token types, "" for nothing."""
    type_vocab_size = getattr(getattr(config, "peer", config), "type_vocab_size", 2)
    if type_vocab_size != 1 or not np.any(learned[0].get("token_type_ids", 0)):
        return ""
    return (
        "the model knows one token type, and rows have two, one for each text: it takes all tokens to be of the one, "
        "so it tells the texts apart by the special tokens between them alone"
    )


def _train(
    model: PreTrainedModel,
    dataset: ShardDataset,
    batches: ResumableBatchSampler,
    settings: FinetuneSettings,
    device: torch.device,
    log: str,
    report: Callable[[LogRecord], None],
) -> LogRecord:
    steps, optimizer = len(batches), optimization.make_optimizer(model, settings.weight_decay)
    loader = ResumableLoader(dataset, batches, PretrainingCollator(dataset), num_workers=settings.num_workers)
    record: LogRecord = {}
    arithmetic, draws = Arithmetic(settings, device, optimizer), Draws()
    set_precision(model, settings)
    if settings.gradient_checkpointing:
        recompute_layers(model, draws)
    model.train()
    for step, batch in enumerate(loader, 1):
        optimization.seed_step(settings.seed, step)
        with arithmetic.autocast():
            result = model(**{name: value.to(device) for name, value in batch.items()})
        rate = learning_rate(step - 1, steps, settings.learning_rate, settings.warmup_ratio)
        optimizer.zero_grad(set_to_none=True)
        arithmetic.backward(result.loss)
        loss = float(result.loss.detach())
        norm = arithmetic.update(model, loss, rate, settings.max_grad_norm, step)
        record = {"step": step, "steps": steps, "loss": loss, "learning_rate": rate}
        record |= {"gradient_norm": norm} if math.isfinite(norm) else {}  # JSON has no infinity
        record |= {"overflows": arithmetic.overflows} if settings.fp16 else {}
        metrics_log.append(log, record)
        report(record)
    return record
