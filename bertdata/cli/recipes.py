"""`bertdata recipes`: the recipes that ship with bertdata, and the text of one."""

from __future__ import annotations

import argparse

from bertdata.io.console import table
from bertdata.options.recipe import read_recipe, recipe_names


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata recipes` to a parser."""
    parser.add_argument("action", nargs="?", choices=["list", "show"], default="list", help="(default: list)")
    parser.add_argument("name", nargs="?", metavar="NAME", help="with show, the recipe to print")


def run(arguments: argparse.Namespace) -> int:
    """Print the names of all recipes, or one of them; raises ConfigError for an unknown one."""
    if arguments.action == "show":
        print(read_recipe(arguments.name or "").text, end="")
    else:
        print(table([(name, read_recipe(name).title) for name in recipe_names()]))
        print("\nbertdata recipes show NAME prints one; bertdata build --recipe NAME builds with it.")
    return 0
