"""`bertdata finetune`: train an encoder with a head on a task, and show the progress."""

from __future__ import annotations

import argparse
from typing import Any

from bertdata.options.flags import add_flags, from_flags


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata finetune`; raises MissingExtraError without torch."""
    from bertdata.torch.training.settings import FinetuneSettings

    parser.add_argument("task", help="a folder that `bertdata encode-task` wrote")
    parser.add_argument("--model", required=True, help="directory of a pretrained model, of bertdata or transformers")
    parser.add_argument("--output", required=True, help="directory for the model, its log and its scores")
    add_flags(parser, FinetuneSettings)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Fine-tune as parsed arguments say and return the summary."""
    from bertdata.torch.training.finetune import finetune
    from bertdata.torch.training.progress import shown
    from bertdata.torch.training.settings import FinetuneSettings

    settings = from_flags(arguments, FinetuneSettings)
    with shown() as report:
        return finetune(arguments.task, arguments.model, arguments.output, settings, report=report)
