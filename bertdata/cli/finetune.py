"""`bertdata finetune`: train an encoder with a head on a task, and show the progress."""

from __future__ import annotations

import argparse
from typing import Any

from bertdata.cli.stop_requests import StopRequests
from bertdata.options.flags import add_cache, add_dry_run, add_flags, add_logging
from bertdata.options.option import require
from bertdata.options.request import each_settings_from


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata finetune`; raises MissingExtraError without torch."""
    from bertdata.torch.models import LIBRARIES
    from bertdata.torch.training.finetune_settings import FinetuneSettings

    parser.add_argument("task", help="a folder, or its URL, that `bertdata encode-task` wrote")
    parser.add_argument("--model", required=True, help="directory of a pretrained encoder, of bertdata or transformers")
    parser.add_argument(
        "--library",
        default="",
        choices=LIBRARIES,
        help="whose classes train it; transformers: those of AutoModelForSequenceClassification and so on, for any of "
        "its encoders (default: bertdata for the types that it has, else transformers)",
    )
    parser.add_argument("--output", required=True, help="directory for the model, its log and its scores")
    parser.add_argument(
        "--seeds",
        type=int,
        metavar="N",
        help="runs with N seeds, --seed and those after it: scores with their mean and spread, and the best model",
    )
    parser.add_argument("--restart", action="store_true", help="train again what is trained already")
    add_cache(parser)
    add_dry_run(parser)
    add_logging(parser)
    add_flags(parser, FinetuneSettings)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Fine-tune as parsed arguments say, once or with several seeds, and return the summary."""
    from bertdata.torch.training.finetune import finetune
    from bertdata.torch.training.finetune_settings import FinetuneSettings
    from bertdata.torch.training.seeds import finetune_seeds

    each = each_settings_from(arguments, FinetuneSettings)
    seeds = [settings.seed for settings in each]
    if arguments.seeds is not None:
        require(arguments.seeds > 0, f"--seeds is {arguments.seeds}; expected 1 or more, as 5")
        require(len(seeds) == 1, f"--seed {' '.join(map(str, seeds))} names the seeds; leave out --seeds")
        seeds = list(range(seeds[0], seeds[0] + arguments.seeds))
    names = " ".join(map(str, seeds))
    place = (arguments.task, arguments.model, arguments.output)
    options = {"library": arguments.library, "restart": arguments.restart, "quiet": arguments.quiet}
    options |= {"cache": arguments.cache, "cache_bytes": arguments.cache_bytes}
    with StopRequests():
        if len(seeds) == 1 or arguments.dry_run:
            result = finetune(*place, each[0], dry_run=arguments.dry_run, **options)
            return result if len(seeds) == 1 else result | {"seeds": f"{names}, each such a run"}
        figures = finetune_seeds(*place, seeds, each[0], **options)
    spread = {
        name: f"{mean:.4g} (sd {figures['sd'][name]:.2g}, {figures['min'][name]:.4g} to {figures['max'][name]:.4g})"
        for name, mean in figures["mean"].items()
    }
    saved = f"{figures['saved_seed']}, the best by {figures['chosen_by']}"
    return {"output": arguments.output, "seeds": names, "saved_seed": saved, **spread}
