"""Shards in, batches of NumPy arrays out, for JAX and others; `bertdata.torch` makes tensors of the same batches."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bertdata.registry import loading

if TYPE_CHECKING:
    from bertdata.loader.collator import BatchCollator
    from bertdata.loader.examples import ShardExamples
    from bertdata.loader.next_token import causal_ranks
    from bertdata.loader.numpy_loader import NumpyBatches, numpy_batches
    from bertdata.loader.permutation_collator import PermutationCollator
    from bertdata.loader.sampler import EpochBatchSampler
    from bertdata.loader.text_numbering import text_numbers

__all__ = [
    "BatchCollator",
    "EpochBatchSampler",
    "NumpyBatches",
    "PermutationCollator",
    "ShardExamples",
    "causal_ranks",
    "numpy_batches",
    "text_numbers",
]

__getattr__ = loading(
    __name__,
    {
        "BatchCollator": "collator",
        "EpochBatchSampler": "sampler",
        "NumpyBatches": "numpy_loader",
        "PermutationCollator": "permutation_collator",
        "ShardExamples": "examples",
        "causal_ranks": "next_token",
        "numpy_batches": "numpy_loader",
        "text_numbers": "text_numbering",
    },
)
