"""`bertdata bench`: how fast one core turns shards into padded, dynamically masked int64 batches.

It measures the order, reading, masks and padding, in this process and on one thread. Of shards that are streamed it
also measures how fast their store hands them over, and says what both feed, and how many GPUs that is.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Unpack

from bertdata.errors import ConfigError
from bertdata.io import machine
from bertdata.loader.read_ahead import AT_ONCE
from bertdata.loader.sampling import Sampling
from bertdata.shards.streaming import StreamedShards


def measure(
    shards: list[str],
    batch_size: int | None,
    packing: bool,
    seconds: float,
    *,
    cache: str | None = None,
    cache_bytes: float | None = None,
    by_pieces: bool = False,
    **sampling: Unpack[Sampling],
) -> dict[str, Any]:
    """Make batches for a time; returns tokens per second (without padding), and the figures it is calculated from.

    first_batch_seconds: from the call to the first batch, opening the shards and loading compiled code included.
    tokens_per_second: of one core; of streamed shards it is the time that the core works which counts, as they may have
    to be waited for. fed_tokens_per_second: what all cores that this process may use feed, and the store if there is
    one. store_bytes_per_second: what comes from it and is checked, `AT_ONCE` shards at once.
    """
    began = time.perf_counter()
    from bertdata.loader import BatchCollator, EpochBatchSampler, ShardExamples

    examples = ShardExamples(shards, cache=cache, cache_bytes=cache_bytes, by_pieces=by_pieces)
    rate = 0.0
    if cache is not None:  # before reading, which keeps the cache full of what comes next
        asked = time.perf_counter()
        rate = _store_rate([shard_set for shard_set in examples.sets if isinstance(shard_set, StreamedShards)], seconds)
        began += time.perf_counter() - asked
    clock = time.perf_counter if cache is None else time.thread_time
    sampling["epochs"] = None
    if examples.follows_schedule:
        sampling["run_epochs"] = 1.0
    sampler = iter(EpochBatchSampler(examples, batch_size, **sampling))
    collator = BatchCollator(examples, packing=packing)
    collator.arrays(examples.__getitems__(next(sampler)))
    first = time.perf_counter() - began
    batches = tokens = places = rows = 0
    began, worked = time.perf_counter(), clock()
    while time.perf_counter() - began < seconds or not batches:
        pairs = next(sampler)
        batch_rows = examples.__getitems__(pairs)
        batch = collator.arrays(batch_rows)
        batches += 1
        rows += len(pairs)
        tokens += sum(map(len, batch_rows.lists("input_ids")))
        places += batch["input_ids"].size
    spent = clock() - worked
    cores = machine.cores()
    fed, of_store = tokens / spent * cores, {}
    if cache is not None:
        stored = sum(shard.size for shard_set in examples.sets for shard in getattr(shard_set, "files", ()))
        fed = min(fed, rate * examples.tokens / stored)
        of_store = {
            "store_bytes_per_second": round(rate),
            "store_tokens_per_second": round(rate * examples.tokens / stored),
        }
    return {
        "examples": len(examples),
        "rows_per_batch": rows / batches,
        "tokens_per_second": round(tokens / spent),
        "batches_per_second": batches / spent,
        "padding_share": 1 - tokens / places,
        "first_batch_seconds": first,
        **of_store,
        "cores": cores,
        "fed_tokens_per_second": round(fed),
    }


def _store_rate(sets: Sequence[StreamedShards], seconds: float) -> float:
    """Return the bytes a second that shards come with, several at once, for a time or until each came once.

    None of them stays, so that what is measured next begins with a store that has to be asked.
    """
    every = [(shard_set, number) for shard_set in sets for number in range(len(shard_set.files))]
    began = time.perf_counter()

    def fetch(place: tuple[StreamedShards, int]) -> int:
        shard_set, number = place
        if time.perf_counter() - began > seconds:
            return 0
        shard_set.folder.drop(shard_set.files[number])
        if shard_set.folder.has(shard_set.files[number]) or not shard_set.fetch(number):
            return 0
        shard_set.folder.drop(shard_set.files[number])
        return shard_set.files[number].size

    with ThreadPoolExecutor(AT_ONCE, "bertdata-bench") as pool:
        total = sum(pool.map(fetch, every))
    if not total:
        raise ConfigError(
            "no shard could be fetched, for all in the cache are used by others; give a folder of its own by --cache"
        )
    return total / (time.perf_counter() - began)
