"""`ResumableBatchSampler`, the order of a run for a `DataLoader`, and `ResumableLoader`, a `DataLoader` with its state.

The order is that of `bertdata.loader.sampler`. Workers fetch batches ahead of the trainer; the state of
`ResumableLoader` counts those that it handed out. A plain `DataLoader` of the same data set, sampler and collator gives
the same batches, and does not tell the sampler how many were used.
"""

from __future__ import annotations

import multiprocessing
import warnings
from collections.abc import Iterator, Mapping, Sized
from functools import partial
from typing import Any

import numpy as np
import torch.distributed
from torch.utils.data import ConcatDataset, DataLoader, Sampler, StackDataset, Subset, TensorDataset

from bertdata.errors import ConfigError
from bertdata.loader.iteration import GIVE_THE_NUMBER, Counts, Iteration, Row
from bertdata.loader.progress import Progress
from bertdata.loader.run_state import Positions
from bertdata.loader.sampler import EpochBatchSampler
from bertdata.torch.data.dataset import PretrainingCollator, ShardDataset
from bertdata.torch.data.frameworks import (
    BEGINNING,
    BEGINS_ANEW,
    GOES_BACK,
    OUT_OF_ORDER,
    EpochCalls,
    TrainerSteps,
    accelerate_processes,
    is_divided_once_more,
    is_read_ahead_by_ray,
    is_read_out_of_order,
)
from bertdata.torch.data.lightning_loop import LightningLoop
from bertdata.torch.data.workers import begin_worker, explaining_workers, leave_no_cycle, starting_workers

_WRAPPERS = (Subset, ConcatDataset, StackDataset, TensorDataset)


class ResumableBatchSampler(EpochBatchSampler, Sampler[list[Row]]):
    """Yields batches of (epoch, number) pairs, for the `batch_sampler` of a `DataLoader`.

    Settings and batches are those of `bertdata.loader.EpochBatchSampler`; rank and world size are those of
    torch.distributed where it is initialised, which has to be done before, else 0 and 1. Raises ConfigError for
    settings that cannot be met, such as a world size of 0 or no examples, and for a Subset or another wrapper of torch,
    which takes numbers alone.

        sampler = ResumableBatchSampler(dataset, batch_size=256, epochs=None, seed=1)
        for batch in ResumableLoader(dataset, sampler, num_workers=4):
            ...
            state = sampler.state_dict()            # a few integers

    In a `DataLoader` of torch nobody says how many batches were used, so give `state_dict` their number.
    """

    def __init__(self, dataset: Sized, *arguments: Any, **settings: Any) -> None:
        if isinstance(dataset, _WRAPPERS):
            raise ConfigError(
                f"the data set is a {type(dataset).__name__} of torch, which takes numbers, and this sampler yields "
                "(epoch, number), for the masks of an epoch; for several sets of shards give it "
                "ShardDataset([shards, ...]), for a part of the rows a split of the build; or use the wrapper without "
                "this sampler: DataLoader(wrapper, shuffle=True, collate_fn=PretrainingCollator(dataset))"
            )
        kind = type(dataset)
        takes_numbers = isinstance(dataset, torch.Tensor | np.ndarray) or kind.__module__.startswith("datasets.")
        if settings.get("with_epochs", True) and takes_numbers:
            raise ConfigError(
                f"the data set is a {kind.__module__}.{kind.__name__}, which takes numbers, and this sampler yields "
                "(epoch, number), for the masks of an epoch; give it with_epochs=False for numbers, or read shards "
                "with ShardDataset"
            )
        super().__init__(dataset, *arguments, **settings)
        self.calls, self._calls_before, self._unsaid = EpochCalls(), EpochCalls(), False
        self._out_of_order = False

    def _batches_from(self, positions: Positions) -> Iterator[list[Row]]:
        """Yield the batches from some positions on; warn where a run that Accelerate loaded would begin again here.

        Workers of a DataLoader, without which it keeps the order, have begun when the first batch is asked for.
        """
        has_workers = bool(multiprocessing.active_children())
        self._out_of_order = has_workers and not self._progress.is_counted and is_read_out_of_order(self)
        if self._unsaid and not any(positions) and not self.iteration.restored:
            if steps := BEGINNING.steps_before():
                warnings.warn(BEGINS_ANEW.format(steps=steps), UserWarning, stacklevel=2)
        elif self._unsaid:
            BEGINNING.loaded = True
        return super()._batches_from(positions)

    def __iter__(self) -> Iteration:
        """Begin an iteration as `EpochBatchSampler` does.

        Raises ConfigError where Accelerate would skip batches twice, or read an epoch a second time, and where a
        DistributedSampler divides the batches once more.
        """
        calls, self.calls = self.calls, EpochCalls()
        if calls != self.calls:  # with workers a DataLoader begins twice at a time
            self._calls_before = calls
        self._out_of_order = False
        if self.world_size > 1 and not self._progress.is_counted and is_divided_once_more(self):
            raise ConfigError(_DIVIDED_TWICE.format(processes=self.world_size))
        if accelerate_processes() is not None:
            if self._progress.goes_on_uncounted and not calls.by_prepared:
                raise ConfigError(_SKIPPED_TWICE)
            if calls.by_count and calls.again is not None and calls.again == self.announced_epoch:
                raise ConfigError(_READ_AGAIN.format(epoch=calls.again))
            if calls.by_skipping and is_read_out_of_order(self):
                raise ConfigError(OUT_OF_ORDER)
            if calls.by_count and not calls.of_sampler and self.announced_epoch == 0:
                warnings.warn(_SKIPS_IN_EPOCH_0, UserWarning, stacklevel=2)
            self._unsaid = not calls.by_skipping and calls.of_sampler < 2
        return super().__iter__()

    def set_epoch(self, epoch: int) -> None:
        """Begin the next iteration at the beginning of an epoch, as `EpochBatchSampler.set_epoch` does.

        Raises ConfigError where Accelerate runs and a run that went on from a state would go back to before it.
        """
        if accelerate_processes() is not None and self._progress.goes_back(epoch):
            raise ConfigError(GOES_BACK.format(epoch=epoch))
        self.move_to_epoch(epoch)
        self.calls.of_sampler += 1

    def move_to_epoch(self, epoch: int) -> None:
        """Begin the next iteration at the beginning of an epoch; keep whether the last, which skipped, was of it."""
        if self._progress.has_read(epoch) and not self._calls_before.of_sampler:
            self.calls.again = epoch
        super().set_epoch(epoch)

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state; raises ConfigError as `EpochBatchSampler.load_state_dict` does."""
        super().load_state_dict(state)
        self.calls, BEGINNING.loaded = EpochCalls(), True

    def state_dict(self, batches: int | None = None) -> dict[str, int]:
        """Return the state as `EpochBatchSampler.state_dict` does.

        Raises ConfigError where a `DataLoader` with in_order=False reads them.
        """
        if self._out_of_order and self.iteration.begun:
            raise ConfigError(OUT_OF_ORDER)
        return super().state_dict(batches)

    def _counts(self, dataset: Any) -> Counts:
        return Counts.NOBODY

    @property
    def place(self) -> Progress:
        """Where the run is."""
        return self._progress

    def _process(self) -> tuple[int, int]:
        if torch.distributed.is_available() and torch.distributed.is_initialized():
            return torch.distributed.get_rank(), torch.distributed.get_world_size()
        return super()._process()

    @property
    def sampler(self) -> EpochListener:
        """What frameworks call `set_epoch` of that look for it in the sampler of a batch sampler, as Lightning does."""
        return EpochListener(self)

    @property
    def batch_size(self) -> int:
        """An attribute that nobody needs but who divides the batches of a sampler among processes.

        There is none in a single process. On several processes this sampler divides them itself, and reading it is a
        ConfigError, so that nobody does so again: Accelerate's BatchSamplerShard would train on a part of the rows.
        """
        processes = max(self.world_size, self._process()[1])
        if processes > 1:
            raise ConfigError(_DIVIDED_TWICE.format(processes=processes))
        raise AttributeError(f"a {type(self).__name__} has no batch_size; its `bins` have the size of their batches")


_DIVIDED_TWICE = (
    "this sampler divides its batches among the {processes} processes itself, and they would be divided once more, so "
    "that most rows are left out. With Accelerate leave the loader out of prepare: accelerator."
    "register_for_checkpointing(loader) with a ResumableLoader, and send_to_device(batch, accelerator.device), as "
    "examples/with_accelerate.py has it. With Lightning: Trainer(use_distributed_sampler=False); with Fabric: "
    "setup_dataloaders(loader, use_distributed_sampler=False). Put no DistributedSampler around it"
)


_SKIPPED_TWICE = (
    "a state was loaded, so this sampler goes on within an epoch, and its batches are read by something else than a "
    "ResumableLoader or a loader that Accelerate prepared: skip_first_batches, which the Trainer of transformers also "
    "calls, would leave out as many batches once more. Give the Trainer ignore_data_skip=True, and do not call "
    "skip_first_batches; or do not load the state. Where nothing skips, read the batches with a ResumableLoader"
)


_READ_AGAIN = (
    "epoch {epoch} was read to its end, and the loader that Accelerate prepared would read it again, with the same "
    "order and masks: skip_first_batches makes a loader that counts for itself, so the count of the prepared one stays "
    "behind. Call prepared.set_epoch(epoch) before each epoch, and before skip_first_batches; also to read this epoch "
    "again"
)
_SKIPS_IN_EPOCH_0 = (
    "a loader that skips or dispatches batches begins in epoch 0, by its own count. If a run that was stopped in a "
    "later epoch goes on here, call prepared.set_epoch(epoch) before skip_first_batches"
)
_NOT_REACHED = 1000
"""Epochs of an iteration that is meant to have no end. It is the only one, so a framework's count of iterations, which
Lightning raises where `max_steps` ends a run, says nothing of it."""


class EpochListener:
    """Tells a sampler the epochs that a framework counts, where it calls `loader.batch_sampler.sampler.set_epoch`."""

    def __init__(self, sampler: ResumableBatchSampler) -> None:
        self._sampler = sampler

    def set_epoch(self, epoch: int) -> None:
        """Call `set_epoch` of the sampler; raises ConfigError where batches would be lost or used twice."""
        sampler = self._sampler
        sampler.calls.of_listener += 1
        loop = LightningLoop.on_sampler(sampler)
        if sampler.announced_epoch == epoch:
            return  # a loader that Accelerate prepared has just called the sampler's own
        if (processes := accelerate_processes() or 1) > 1:
            raise ConfigError(_DIVIDED_TWICE.format(processes=processes))
        if sampler.epochs is None:
            raise ConfigError(
                "this sampler has epochs=None, so no length, and a framework that counts epochs uses it. Where there "
                "is no length, Lightning reads a batch ahead of what it trains on, and a resumed run would lose it; "
                "give a number of epochs that is not reached, as ResumableBatchSampler(..., epochs=10**6)"
            )
        if loop is not None and (sampler.epochs < _NOT_REACHED or loop.repeats_batches):
            loop.follow(sampler.place, epoch)
        elif sampler.epochs < _NOT_REACHED:
            sampler.move_to_epoch(epoch)


class ResumableLoader(DataLoader[Any]):
    """A `DataLoader` of a data set, a sampler and a collator, with `state_dict` and `load_state_dict`.

    Frameworks use these two (Lightning, Accelerate's `register_for_checkpointing`). It counts the batches that it hands
    out, whatever its workers fetched ahead. After an interrupted iteration, the next one continues after the last batch
    that was handed out. Further keywords are those of `DataLoader`. Where a worker process dies, iteration raises
    InputError that names the shard, if one is truncated or missing, else BertDataError. Raises ConfigError for
    `in_order=False`, for the order of batches is part of the state, for a sampler of another data set, and where
    workers run the script again that starts them.

        loader = ResumableLoader(dataset, ResumableBatchSampler(dataset, 256, epochs=None), num_workers=4)
        for batch in loader:
            ...
            state = loader.state_dict()         # a few integers

    In Lightning, give the sampler a number of epochs (`epochs=10**6` for a run of `max_steps`): where a loader has no
    length, Lightning takes a batch more than it has used, and epochs=None is an error there.
    """

    def __init__(
        self,
        dataset: ShardDataset,
        sampler: ResumableBatchSampler,
        collator: PretrainingCollator | None = None,
        **keywords: Any,
    ) -> None:
        if not keywords.get("in_order", True):
            raise ConfigError("in_order is False, and the order of batches is part of the state; leave it out")
        sampler.check_data(dataset)
        self._order, self._read_ahead, self._steps = sampler, False, TrainerSteps()
        keywords["worker_init_fn"] = partial(begin_worker, keywords.get("worker_init_fn"))
        super().__init__(
            dataset, batch_sampler=sampler, collate_fn=collator or PretrainingCollator(dataset), **keywords
        )

    def __repr__(self) -> str:
        return (
            f"ResumableLoader, {self.num_workers} workers\n  {self.dataset!r}\n  {self._order!r}\n  {self.collate_fn!r}"
        )

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_iterator": None}  # persistent workers stay here

    def __iter__(self) -> Any:
        """Begin an iteration at its first batch, so that `set_epoch` is heard until then."""
        assert isinstance(self.dataset, ShardDataset)
        with explaining_workers(self.dataset):
            context = self.multiprocessing_context or multiprocessing
            with self._order.counting(), starting_workers(self.num_workers, context):
                batches = super().__iter__()
            iteration, self._read_ahead = self._order.iteration, is_read_ahead_by_ray(self)
            steps = self._steps = TrainerSteps(self)

            def used(batch: Any) -> Any:
                steps.take(iteration.used)
                iteration.use()
                return batch

            try:
                yield from map(used, batches)  # a local name would hold the last batch while the next one is made
            except Exception as error:
                if self.num_workers:  # else the frames are those of the user's collator, which a debugger may look at
                    leave_no_cycle(error)
                raise
            iteration.finish()

    def set_epoch(self, epoch: int) -> None:
        """Begin the next iteration at the beginning of an epoch, as the sampler's `set_epoch` does.

        The Trainer of transformers calls it before each epoch.
        """
        self._order.set_epoch(epoch)

    def state_dict(self, batches: int | None = None) -> dict[str, int]:
        """Return the state after the last batch handed out, as `ResumableBatchSampler.state_dict` does.

        Where something takes batches from this loader before they are used, as a thread that copies them to a device or
        what Ray Train's `prepare_data_loader` makes of it, give the number used in this iteration; without it, these
        two are a ConfigError. Inside a step of Lightning, as when an error or a signal ends it, the batch of the step
        was not used, for a resumed run does the step once more.
        """
        if batches is None and self._read_ahead and self._order.iteration.begun:
            raise ConfigError(
                "Ray Train's prepare_data_loader takes a batch from this loader before the last one is used, so what "
                f"was handed out was not all used: {GIVE_THE_NUMBER}"
            )
        iteration = self._order.iteration
        if batches is None and iteration.used:
            batches = self._used_in_steps(iteration)
        return self._order.state_dict(batches)

    def _used_in_steps(self, iteration: Iteration) -> int | None:
        """Return the batches of the steps that a framework has done, None where no step has begun."""
        if untrained := self._steps.untrained(iteration.used):
            return iteration.used - untrained
        if iteration.is_counted_inside and (loop := LightningLoop.on_loader(self)) is not None:
            return max(0, iteration.used - loop.untrained)
        return None

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Continue from a state at the next iteration; raises ConfigError as the sampler's `load_state_dict` does."""
        self._order.load_state_dict(state)
