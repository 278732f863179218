"""`bertdata bench`: how fast one core turns shards into padded, dynamically masked int64 batches.

It measures the order, reading, masks and padding, in this process and on one thread.
"""

from __future__ import annotations

import argparse
import time
from typing import Any, Unpack

from bertdata.errors import ConfigError
from bertdata.loader.sampler import Sampling
from bertdata.options.flags import add_json


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `bertdata bench` to a parser."""
    parser.add_argument(
        "shards",
        nargs="+",
        metavar="SHARDS",
        help="a finished build, or one of its splits; `loader` may stand before it",
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
    named = arguments.shards[:1] == ["loader"] and len(arguments.shards) > 1
    batch_size = None if arguments.max_tokens else arguments.batch_size
    sampling: Sampling = {"max_tokens": arguments.max_tokens, "bins": arguments.bins}
    return measure(arguments.shards[named:], batch_size, arguments.packing, arguments.seconds, **sampling)


def measure(
    shards: list[str], batch_size: int | None, packing: bool, seconds: float, **sampling: Unpack[Sampling]
) -> dict[str, Any]:
    """Make batches for a time; returns tokens per second (without padding), and the figures it is calculated from.

    first_batch_seconds: from the call to the first batch, opening the shards and loading compiled code included.
    """
    began = time.perf_counter()
    from bertdata.loader import BatchCollator, EpochBatchSampler, ShardExamples

    examples = ShardExamples(shards)
    sampling["epochs"] = None
    if examples.follows_schedule:
        sampling["run_epochs"] = 1.0
    sampler = iter(EpochBatchSampler(examples, batch_size, **sampling))
    collator = BatchCollator(examples, packing=packing)
    collator.arrays(examples.__getitems__(next(sampler)))
    first = time.perf_counter() - began
    batches = tokens = places = rows = 0
    began = time.perf_counter()
    while (spent := time.perf_counter() - began) < seconds or not batches:
        pairs = next(sampler)
        found = examples.__getitems__(pairs)
        batch = collator.arrays(found)
        batches += 1
        rows += len(pairs)
        tokens += sum(map(len, found.lists("input_ids")))
        places += batch["input_ids"].size
    return {
        "examples": len(examples),
        "rows_per_batch": rows / batches,
        "tokens_per_second": round(tokens / spent),
        "batches_per_second": batches / spent,
        "padding_share": 1 - tokens / places,
        "first_batch_seconds": first,
    }
