"""`bertdata pretrain`: train an encoder on shards, and show the progress."""

from __future__ import annotations

import argparse
import os
from typing import Any

from bertdata.cli.stop_requests import StopRequests
from bertdata.options.flags import add_cache, add_dry_run, add_flags, add_logging
from bertdata.options.option import require
from bertdata.options.request import settings_from


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata pretrain`; raises MissingExtraError without torch."""
    from bertdata.torch.distillation.settings import DistillationSettings
    from bertdata.torch.models import LIBRARIES
    from bertdata.torch.models.configs import presets
    from bertdata.torch.training.settings import PretrainSettings

    parser.add_argument(
        "shards", help="a finished build, of one length or several, or one of its splits: a folder or a URL"
    )
    parser.add_argument("--output", required=True, help="directory for the model, its checkpoints and log.jsonl")
    parser.add_argument(
        "--config",
        default="",
        help=f"{', '.join(presets())}, or the directory of a model to start from (default: base)",
    )
    parser.add_argument(
        "--library",
        default="bertdata",
        choices=LIBRARIES,
        help="whose model it is; transformers: --config is a directory with the config.json of any of its encoders, or "
        "a model type, such as deberta-v2 (default: bertdata)",
    )
    parser.add_argument(
        "--config-overrides",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME=VALUE",
        help="other values of the config, as global_rope_theta=160000",
    )
    parser.add_argument("--restart", action="store_true", help="start from step 0 instead of the last checkpoint")
    parser.add_argument(
        "--branch",
        default="",
        metavar="CHECKPOINT",
        help="begin with the model and the optimizer of a checkpoint of another run, or with the last one in its "
        "output; in place of --config; steps and all other settings are this run's (keep checkpoints by "
        "--save-total-limit)",
    )
    parser.add_argument(
        "--teacher",
        default="",
        metavar="MODEL",
        help="the directory of a trained model that the model learns from as well (distillation)",
    )
    add_cache(parser)
    add_dry_run(parser)
    add_logging(parser)
    add_flags(parser, PretrainSettings)
    add_flags(parser, DistillationSettings)


def run(arguments: argparse.Namespace) -> dict[str, Any] | int:
    """Pretrain as parsed arguments say, and return the summary; of several processes, all but the first return 0."""
    from bertdata.torch.distillation.settings import DistillationSettings
    from bertdata.torch.training.pretrain import pretrain
    from bertdata.torch.training.settings import PretrainSettings

    settings = settings_from(arguments, PretrainSettings)
    distillation = settings_from(arguments, DistillationSettings)
    require(
        bool(arguments.teacher) or distillation == DistillationSettings(),
        "settings of distillation are given without a teacher; name one by --teacher",
    )
    for given in arguments.config_overrides:
        require("=" in given, f"--config-overrides {given!r} has no value; expected NAME=VALUE")
    require(
        not (arguments.branch and arguments.config),
        "--config has no effect beside --branch, whose checkpoint has the model; leave one of them out",
    )
    overrides = dict(given.split("=", 1) for given in arguments.config_overrides)
    with StopRequests() as stop:
        summary = pretrain(
            arguments.shards,
            arguments.config or "base",
            arguments.output,
            settings,
            library=arguments.library,
            config_overrides=overrides,
            restart=arguments.restart,
            branch=arguments.branch,
            teacher=arguments.teacher,
            distillation=distillation,
            cache=arguments.cache,
            cache_bytes=arguments.cache_bytes,
            dry_run=arguments.dry_run,
            quiet=arguments.quiet,
            stop=stop,
        )
    if summary.get("step") == summary.get("steps"):
        summary.pop("step", None)  # of the last line of the log
    return summary if os.environ.get("RANK", "0") == "0" else 0
