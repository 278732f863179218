"""`numpy_batches`: shards to batches of NumPy arrays in one call, for JAX and others.

The next batch is made in a thread while the last one is used: reading and masking release the GIL.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Unpack

from bertdata.loader.collator import BatchCollator
from bertdata.loader.examples import ShardExamples
from bertdata.loader.iteration import Row
from bertdata.loader.layouts import Batch
from bertdata.loader.opening import Source
from bertdata.loader.padding import MULTIPLE
from bertdata.loader.sampler import EpochBatchSampler
from bertdata.loader.sampling import Sampling
from bertdata.masking.settings import MaskingConfig


class NumpyBatches:
    """Batches of a sampler and a collator, with a `state_dict`.

    `ahead` batches are made in advance; the state counts those that were taken. After an interrupted iteration, the
    next one continues after the last batch that was taken.
    """

    def __init__(
        self, examples: ShardExamples, sampler: EpochBatchSampler, collator: BatchCollator, *, ahead: int = 2
    ) -> None:
        self.examples, self.sampler, self.collator, self.ahead = examples, sampler, collator, ahead

    def __repr__(self) -> str:
        return f"NumpyBatches\n  {self.examples!r}\n  {self.sampler!r}\n  {self.collator!r}"

    def __len__(self) -> int:
        return len(self.sampler)

    def __iter__(self) -> Iterator[Batch]:
        with self.sampler.counting():
            indices = iter(self.sampler)
        with ThreadPoolExecutor(1, "bertdata-batches") as pool:
            waiting: list[Future[Batch]] = []

            def ask() -> None:
                if (index := next(indices, None)) is not None:
                    waiting.append(pool.submit(self._make, index))

            for _ in range(self.ahead + 1):
                ask()
            while waiting:
                batch = waiting.pop(0).result()
                ask()
                indices.use()
                yield batch
            indices.finish()

    def state_dict(self, batches: int | None = None) -> dict[str, int]:
        """Return the state after the last batch taken, as `EpochBatchSampler.state_dict` does.

        Where a thread takes batches before they are used, give the number used in this iteration; without it, the state
        is a ConfigError.
        """
        return self.sampler.state_dict(batches)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state at the next iteration; raises ConfigError as the sampler's `load_state_dict` does."""
        self.sampler.load_state_dict(state)

    def _make(self, indices: Sequence[Row]) -> Batch:
        return self.collator.arrays(self.examples.__getitems__(indices))


def numpy_batches(
    shards: Source | Sequence[Source],
    batch_size: int | None = None,
    *,
    masking: MaskingConfig | None = None,
    pad_to_multiple_of: int = MULTIPLE,
    packing: bool = False,
    **sampling: Unpack[Sampling],
) -> NumpyBatches:
    """Open shards and return their batches; the settings are those of `EpochBatchSampler` and `BatchCollator`.

    In each process of JAX:

        batches = numpy_batches("corpus/train", 256, epochs=None, rank=jax.process_index(),
                                world_size=jax.process_count())
        for batch in batches:  # input_ids, token_type_ids, attention_mask, labels, next_sentence_label: int64
            ...
            state = batches.state_dict()
    """
    examples = ShardExamples(shards)
    if masking is not None and masking.mask_schedule and sampling.get("run_epochs") is None:
        sampling["run_epochs"] = sampling.get("epochs", 1)
    sampler = EpochBatchSampler(examples, batch_size, **sampling)
    collator = BatchCollator(examples, masking=masking, pad_to_multiple_of=pad_to_multiple_of, packing=packing)
    return NumpyBatches(examples, sampler, collator)
