"""Batches of streamed shards, and what tells them apart."""

from __future__ import annotations

import hashlib
from typing import Any

from bertdata.loader import BatchCollator, EpochBatchSampler, NumpyBatches, ShardExamples


def batches_of(examples: ShardExamples, rows: int = 16, **settings: Any) -> NumpyBatches:
    sampler = EpochBatchSampler(examples, rows, seed=4, **settings)
    return NumpyBatches(examples, sampler, BatchCollator(examples))


def digests(batches: Any) -> list[str]:
    return [
        hashlib.sha256(b"".join(batch[name].tobytes() for name in sorted(batch))).hexdigest()[:12] for batch in batches
    ]
