"""Measures how fast the loader reads: `bertdata bench`."""

from __future__ import annotations

import argparse
from typing import Any

from bertdata.errors import ConfigError
from bertdata.loader.bench import measure
from bertdata.loader.sampling import Sampling
from bertdata.options.flags import add_cache, add_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata bench` to a parser."""
    parser.add_argument(
        "shards",
        nargs="+",
        metavar="SHARDS",
        help="a finished build, or one of its splits; `bench loader SHARDS` is the same as `bench SHARDS`",
    )
    add_cache(parser)
    parser.add_argument("--shuffle-window", type=int, metavar="SHARDS", help="mix the rows of so many shards at a time")
    parser.add_argument(
        "--by-pieces",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="--shuffle-window counts pieces of shards (default: no)",
    )
    parser.add_argument(
        "--tokens-per-gpu",
        type=float,
        metavar="TOKENS",
        help="the tokens that one GPU trains on in a second; then it is printed how many GPUs this machine and the "
        "store can supply with batches",
    )
    parser.add_argument("--batch-size", type=int, default=256, help="rows in a batch (default: 256)")
    parser.add_argument("--bins", type=int, nargs="*", metavar="LENGTH", help="length bins, as 64 128 256 512")
    parser.add_argument("--max-tokens", type=int, help="tokens in a batch, padding included, instead of --batch-size")
    parser.add_argument("--seconds", type=float, default=3.0, help="how long to measure (default: 3)")
    parser.add_argument(
        "--packing",
        action=argparse.BooleanOptionalAction,
        default=False,
        help="one row of examples instead of padding (default: no)",
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> dict[str, Any]:
    """Measure as parsed arguments say and return the summary; raises ConfigError for a time that is not over 0."""
    if not arguments.seconds > 0:
        raise ConfigError(f"--seconds is {arguments.seconds}; expected more than 0, as 3")
    each = arguments.tokens_per_gpu
    if each is not None and not each > 0:
        raise ConfigError(f"--tokens-per-gpu is {each}; expected more than 0, as 500e3")
    named = arguments.shards[:1] == ["loader"] and len(arguments.shards) > 1
    batch_size = None if arguments.max_tokens else arguments.batch_size
    sampling: Sampling = {"max_tokens": arguments.max_tokens, "bins": arguments.bins}
    if arguments.shuffle_window is not None:
        sampling["shuffle_window"] = arguments.shuffle_window
    place = {"cache": arguments.cache, "cache_bytes": arguments.cache_bytes, "by_pieces": arguments.by_pieces}
    shards = arguments.shards[named:]
    measured = measure(shards, batch_size, arguments.packing, arguments.seconds, **place, **sampling)
    return measured if each is None else measured | {"gpus": measured["fed_tokens_per_second"] / each}
