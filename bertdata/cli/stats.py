"""`bertdata stats`: what the shards of a build hold, or how a vocabulary fits text."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from bertdata.cli.command_line import VOCABULARY
from bertdata.errors import ConfigError
from bertdata.inspect import summary
from bertdata.inspect.stats import figure_rows, measure, measure_vocabulary, vocabulary_rows
from bertdata.io.console import Row, table
from bertdata.options.flags import add_json
from bertdata.shards.contents import reading_values
from bertdata.shards.reader import open_splits
from bertdata.tokenizers.loading import load_tokenizer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata stats` to a parser."""
    parser.add_argument(
        "paths", nargs="+", metavar="PATH", help="a finished build or one of its splits; with --vocab, text files"
    )
    parser.add_argument("--vocab", metavar="PATH", help=f"measure this vocabulary: {VOCABULARY}")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print figures as parsed arguments say."""
    if arguments.vocab:
        tokenizer = load_tokenizer(arguments.vocab)
        fit = measure_vocabulary(tokenizer, arguments.paths)
        shares = ("tokens_per_word", "single_token_share", "unknown_share", "bytes_per_token")
        values = asdict(fit) | {name: getattr(fit, name) for name in shares}
        _print(values | {"vocab_size": tokenizer.vocab_size}, vocabulary_rows(tokenizer, fit), arguments.json)
        return 0
    if len(arguments.paths) > 1:
        raise ConfigError("several paths were given; expected one build, or --vocab and text files")
    splits = open_splits(arguments.paths[0])
    splits[0].expect_pretraining()
    measured = {shards.split: measure(shards) for shards in splits}
    derived = ("fill", "unknown_share", "mask_rate")
    values = {
        split: asdict(figures) | {name: getattr(figures, name) for name in derived}
        for split, figures in measured.items()
    }
    manifest = splits[0].manifest
    with reading_values(splits[0].build):
        rows = summary.build_rows(manifest)
    for split, figures in measured.items():
        rows += [("", ""), *figure_rows(split, figures)]
    _print({"manifest": manifest, "measured": values}, rows, arguments.json)
    return 0


def _print(values: dict[str, object], rows: list[Row], as_json: bool) -> None:
    if as_json:
        print(json.dumps(values, indent=1))
    else:
        print("\n".join(line.rstrip() for line in table(rows).split("\n")))
