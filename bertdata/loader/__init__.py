"""Shards in, batches of NumPy arrays out, for JAX and others; `bertdata.torch` makes tensors of the same batches.

examples        ShardExamples: examples by number, from memory-mapped shards
sample_order    the order of examples: index permutations, sets mixed by weight
bins            length bins, each with an order of its own
batch_plan      which bin the next batch of each rank is taken from
sampler         EpochBatchSampler: the batches of a rank as numbers of examples; a few integers are its state
collator        BatchCollator: padded or packed int64 arrays, dynamic masks
numpy_loader    numpy_batches: all of these in one call
"""

from bertdata.loader.collator import BatchCollator
from bertdata.loader.examples import ShardExamples
from bertdata.loader.numpy_loader import NumpyBatches, numpy_batches
from bertdata.loader.sampler import EpochBatchSampler

__all__ = ["BatchCollator", "EpochBatchSampler", "NumpyBatches", "ShardExamples", "numpy_batches"]
