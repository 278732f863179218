"""The flags of `bertdata build`; `bertdata.build` has them as keywords (`corpus.in_python`)."""

from __future__ import annotations

import argparse

from bertdata.cli import command_line
from bertdata.corpus.settings import GROUPS
from bertdata.options.flags import add_flags, add_json
from bertdata.options.recipe import recipe_names
from bertdata.plugins import consent_to


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the flags of a build: its sources, its output, its settings, its recipe."""
    for flag, metavar, what in (("--wikipedia", "DUMP", "dumps"), ("--books", "PATH", "books")):
        text = f"{what}: files, folders or globs; NAME={metavar} names their source"
        parser.add_argument(flag, nargs="+", action="extend", default=[], metavar=metavar, help=text)
    command_line.add_documents(parser, required=False)
    parser.add_argument(
        "--source-format",
        nargs="+",
        action="extend",
        type=consent_to,
        default=[],
        metavar="MODULE:NAME",
        help="a source format of your own, which comes before those for the files of --documents; a function of a path "
        "that returns rows reads all of them",
    )
    command_line.add_output(parser, required=False)
    parser.add_argument("--vocab", metavar="PATH", help=f"use this vocabulary: {command_line.VOCABULARY}")
    add_model_length(parser)
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would be done, with an estimate of what it takes, and stop"
    )
    add_json(parser, "the manifest, the seconds and what took them; with --dry-run, what would be done")
    for kind in GROUPS.values():
        add_flags(parser, kind)
    add_recipe(parser)


def add_recipe(parser: argparse.ArgumentParser) -> None:
    """Add --recipe, --phase and --save-recipe."""
    parser.add_argument(
        "--recipe",
        metavar="NAME|FILE",
        help="take the settings of a recipe, which flags given here override: a .toml file, or one of "
        + ", ".join(recipe_names()),
    )
    parser.add_argument(
        "--phase",
        nargs="+",
        action="extend",
        default=[],
        metavar="NAME",
        help="build only these phases of the recipe, or of several lengths; a single one goes into --output itself",
    )
    parser.add_argument(
        "--save-recipe", metavar="FILE", help="write the settings of this command as a recipe, and stop"
    )


def add_model_length(parser: argparse.ArgumentParser) -> None:
    """Add --model-max-length."""
    parser.add_argument(
        "--model-max-length",
        type=int,
        default=0,
        metavar="N",
        help="the longest row, in tokens, that the model for these rows takes: longer ones are refused (default: that "
        "of the recipe, else of the tokenizer_config.json of --vocab)",
    )
