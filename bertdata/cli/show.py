"""Prints examples of a build as text: `bertdata show`."""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict
from functools import partial

from bertdata.corpus.summary import choice_text
from bertdata.errors import ConfigError
from bertdata.finetune.task_info import TaskInfo
from bertdata.inspect.dropped import dropped_lines, stored_texts
from bertdata.inspect.examples import level_at, read_examples
from bertdata.inspect.folders import describe, text_of
from bertdata.inspect.grep import counted_rows, opened, rows_with
from bertdata.inspect.show import SIMILAR, legend, notations, render
from bertdata.inspect.task_figures import task_example_text, task_examples
from bertdata.io import files
from bertdata.shards import Shards, open_shards
from bertdata.shards.contents import reading_values
from bertdata.shards.phases import phase_names


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata show` to a parser."""
    parser.add_argument(
        "shards", metavar="DIR", help="a finished build, one of its splits, a task, or another folder of bertdata"
    )
    parser.add_argument("--split", help="train or validation (default: train)")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--index", type=int, metavar="N", help="only this example; negative numbers count from the end")
    which.add_argument(
        "--count",
        type=int,
        default=3,
        metavar="N",
        help="the first N examples; with --dropped, N documents for each reason (default: 3)",
    )
    parser.add_argument("--epoch", type=int, metavar="N", help="draw dynamic masks of this epoch (default: 0)")
    parser.add_argument(
        "--at",
        type=float,
        metavar="SHARE",
        help="draw masks of this share of the run, with --mask-schedule (default: 0)",
    )
    parser.add_argument(
        "--dropped",
        metavar="REASON",
        nargs="?",
        const="",
        help="show samples of the dropped documents instead of examples, with the values that dropped them, for all "
        "reasons or for one",
    )
    parser.add_argument(
        "--grep", metavar="TEXT", help="count the rows of all splits that have these words, and show the first ones"
    )
    parser.add_argument("--color", choices=("auto", "always", "never"), default="auto", help="default: auto")


def run(arguments: argparse.Namespace) -> int:
    """Print examples as parsed arguments say."""
    if arguments.count < 1:
        raise ConfigError(f"--count is {arguments.count}; expected at least 1")
    if not arguments.split and (folder := describe(arguments.shards)):
        print(text_of(folder, arguments.shards))
        return 0
    if arguments.grep is not None:
        for split in opened(arguments.shards, arguments.split):
            rows = rows_with(split, arguments.grep).tolist()
            print(counted_rows(split, arguments.grep, len(rows)))
            if rows:
                _print_examples(split, rows[: arguments.count], arguments)
        return 0
    folder_of_phase, note = _of_phases(arguments.shards)
    if note:
        print(note)
    shards = open_shards(folder_of_phase, arguments.split)
    numbers = [arguments.index] if arguments.index is not None else range(min(arguments.count, len(shards)))
    if isinstance(shards.info, TaskInfo):
        texts = (
            task_example_text(task_example, len(shards)) for task_example in task_examples(shards, shards.info, numbers)
        )
        print("\n\n".join(texts) or f"{shards.split} holds no examples")
        return 0
    if arguments.dropped is not None:
        width = shutil.get_terminal_size((100, 24)).columns
        texts_of = partial(stored_texts, shards.build)
        with reading_values(shards.build):
            lines = dropped_lines(shards.manifest, arguments.dropped, arguments.count, texts_of, width)
        print("\n".join(lines))
        return 0
    if not len(shards):
        print(f"{shards.split} holds no examples")
        return 0
    _print_examples(shards, numbers, arguments)
    return 0


def _print_examples(shards: Shards, numbers: Sequence[int], arguments: argparse.Namespace) -> None:
    """Print examples, a legend before them."""
    color = arguments.color == "always" or (arguments.color == "auto" and wants_color())
    width = shutil.get_terminal_size((100, 24)).columns
    for place, example in enumerate(read_examples(shards, numbers, epoch=arguments.epoch, at=arguments.at)):
        if not place:
            similar = [SIMILAR] if shards.expect_pretraining().masking.similar_words else []
            print(legend([*notations(shards.tokenizer()), *similar], color=color))
            masking = shards.expect_pretraining().masking
            if schedule := masking.rate_text:
                rate = masking.for_split(shards.split).at(level_at(shards, arguments.at)).masked_lm_prob
                print(f"{rate:.1%} of the tokens are predicted here; in train the rate is {schedule}")
            if choice := choice_text(asdict(shards.expect_pretraining().masking.for_split(shards.split))):
                print(f"Tokens to predict are {choice}")
        print("\n" + render(example, len(shards), width, color=color))


def _of_phases(build: str) -> tuple[str, str]:
    """Return the folder of the first phase of a build, and a line that names the others; `build`, "" without phases."""
    names = phase_names(files.read_json_if_there(files.join(build, "manifest.json")))
    if not names:
        return build, ""
    others = ", ".join(files.join(build, name) for name in names[1:])
    return files.join(build, names[0]), f"The phase {names[0]}, the first. The others: {others}"


def wants_color() -> bool:
    """Return whether standard output is a terminal with colours and NO_COLOR is not set."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
