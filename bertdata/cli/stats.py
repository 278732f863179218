"""`bertdata stats`: what the shards of a build hold, or how a vocabulary fits text."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from bertdata.cli.command_line import VOCABULARY
from bertdata.corpus import summary
from bertdata.errors import ConfigError
from bertdata.finetune.task_info import TaskInfo
from bertdata.inspect.folders import describe, text_of
from bertdata.inspect.stats import figure_rows, measure, measure_vocabulary, vocabulary_rows
from bertdata.inspect.task_figures import measure_task, task_rows
from bertdata.io import files
from bertdata.io.console import Row, table
from bertdata.options.flags import add_json
from bertdata.shards.accounts import account_rows, read_accounts
from bertdata.shards.contents import reading_values
from bertdata.shards.phases import phase_names
from bertdata.shards.reader import open_splits
from bertdata.tokenizers.loading import load_tokenizer


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata stats` to a parser."""
    parser.add_argument(
        "paths",
        nargs="+",
        metavar="PATH",
        help="a finished build or one of its splits, or another folder that bertdata wrote; with --vocab, text files",
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
    if folder := describe(arguments.paths[0]):
        if arguments.json:
            print(json.dumps(asdict(folder), indent=1))
        else:
            print(text_of(folder, arguments.paths[0]))
        return 0
    each = {name: _stats(files.join(arguments.paths[0], name)) for name in _phases(arguments.paths[0])}
    if each and arguments.json:
        print(json.dumps({"phases": {name: values for name, (values, _) in each.items()}}, indent=1))
        return 0
    for name, (values, rows) in (each or {"": _stats(arguments.paths[0])}).items():
        if name:
            print(f"phase {name}")
        _print(values, rows, arguments.json)
    return 0


def _phases(path: str) -> list[str]:
    manifest = files.read_json_if_there(files.join(path, "manifest.json"))
    return phase_names(manifest) if isinstance(manifest, dict) else []


def _stats(path: str) -> tuple[dict[str, object], list[Row]]:
    """Return the figures of shards as JSON and as the rows of a table."""
    splits = open_splits(path)
    info = splits[0].info
    if isinstance(info, TaskInfo):
        of_task = {shards.split: measure_task(shards, info) for shards in splits}
        shown = {split: asdict(of_split) for split, of_split in of_task.items()}
        return {"manifest": splits[0].manifest, "measured": shown}, task_rows(info, of_task)
    measured = {shards.split: measure(shards) for shards in splits}
    derived = ("fill", "unknown_share", "mask_rate")
    values = {
        split: asdict(figures) | {name: getattr(figures, name) for name in derived}
        for split, figures in measured.items()
    }
    manifest = splits[0].manifest
    with reading_values(splits[0].build):
        account = read_accounts(splits[0].build, manifest)
        rows = summary.build_rows(manifest) + account_rows(account)
    for split, figures in measured.items():
        rows += [("", ""), *figure_rows(split, figures)]
    return {"manifest": manifest, "measured": values} | ({"accounts": account} if account else {}), rows


def _print(values: dict[str, object], rows: list[Row], as_json: bool) -> None:
    if as_json:
        print(json.dumps(values, indent=1))
    else:
        print("\n".join(line.rstrip() for line in table(rows).split("\n")))
