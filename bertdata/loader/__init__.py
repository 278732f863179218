"""The loader without PyTorch: batches of NumPy arrays for JAX and others, and what `bertdata.torch` is made of.

    examples    ShardExamples: examples by number, from memory-mapped shards
    lines       the order of examples: index permutations, length bins, sets mixed by weight
    sampler     EpochBatchSampler: which examples are the next batch of a rank; a few integers are its state
    collator    BatchCollator: padded or packed int64 arrays, dynamic masks
    batches     numpy_batches: all of these in a row

Importing it imports neither torch nor Beam, and compiles nothing.
"""

from bertdata.loader.collator import BatchCollator
from bertdata.loader.examples import ShardExamples
from bertdata.loader.numpy_loader import NumpyBatches, numpy_batches
from bertdata.loader.sampler import EpochBatchSampler

__all__ = ["BatchCollator", "EpochBatchSampler", "NumpyBatches", "ShardExamples", "numpy_batches"]
