"""What the loop of Lightning's Trainer says of itself: where it goes on, and which batch it has not trained on.

Its checkpoints hold the state of a loader beside counts of its own.
"""

from __future__ import annotations

import warnings
from typing import Any

from bertdata.io.console import counted
from bertdata.loader.progress import Progress
from bertdata.options.option import require
from bertdata.torch.data.frameworks import objects_of

_FIT_LOOPS = (("lightning.pytorch.loops.fit_loop", "_FitLoop"), ("pytorch_lightning.loops.fit_loop", "_FitLoop"))


_LAST_STEP = (
    "the checkpoint was saved inside the last step of an epoch, as when an error ended it, and Lightning does not do "
    "that step again: its batch is left out of the epoch. A checkpoint of an earlier step has it"
)


class LightningLoop:
    """The loop of a Trainer that trains on a loader."""

    def __init__(self, loop: Any) -> None:
        self._loop = loop

    @classmethod
    def on_loader(cls, loader: Any) -> LightningLoop | None:
        """Return the loop that trains on a loader, None where there is none."""
        return next((cls(loop) for loop in _loops() if any(reading is loader for reading in _loaders(loop))), None)

    @classmethod
    def on_sampler(cls, sampler: Any) -> LightningLoop | None:
        """Return the loop that trains on the batches of a sampler, None where there is none."""
        reading = ((loop, getattr(loader, "batch_sampler", None)) for loop in _loops() for loader in _loaders(loop))
        return next((cls(loop) for loop, batch_sampler in reading if batch_sampler is sampler), None)

    @property
    def repeats_batches(self) -> bool:
        """Whether each epoch is to have the batches of the first (`overfit_batches`)."""
        return bool(self._loop.trainer.overfit_batches)

    @property
    def cycles(self) -> bool:
        """Whether shorter loaders are read again before the longest ends, so their epochs are not those of the loop."""
        loader = self._loop._combined_loader
        return bool(loader._mode == "max_size_cycle" and len(loader.flattened) > 1)

    @property
    def goes_on(self) -> bool:
        """Whether the loop goes on from a checkpoint, whose state the loader has."""
        return bool(self._loop.restarting)

    @property
    def has_ended_epoch(self) -> bool:
        """Whether the last step of the epoch was begun, whose batch may be an earlier one than the loader's last."""
        return bool(self._loop.epoch_loop.batch_progress.is_last_batch)

    @property
    def untrained(self) -> int:
        """The batches that were taken and are not trained on: that of a step, which a resumed run does once more.

        One more is taken ahead where another loader that is read beside this one has no length.

        Steps that take batches themselves (`dataloader_iter`) do not say which of them they have trained on.
        """
        fetcher = self._loop._data_fetcher
        if fetcher is None or type(fetcher).__name__ == "_DataLoaderIterDataFetcher":
            return 0
        return max(0, int(fetcher.fetched) - int(self._loop.epoch_loop.batch_progress.current.processed))

    @property
    def _in_step(self) -> bool:
        batches = self._loop.epoch_loop.batch_progress.current
        return bool(batches.ready > batches.processed)

    def follow(self, place: Progress, epoch: int) -> None:
        """Move a place to where the loop is, which begins or goes on in an epoch.

        What it saved beside the state of the loader says whether the state is the end of an epoch that it had finished,
        of which nothing is left, or is in the one before, of which `limit_train_batches` left batches out.
        """
        epoch = 0 if self.repeats_batches else epoch
        if place.is_over:
            place.drop_state()
        if place.is_loaded and self.goes_on:
            there, at_start = place.where
            ended = self.has_ended_epoch
            if ended and self._in_step:
                warnings.warn(_LAST_STEP, UserWarning, stacklevel=4)
            if ended and (self.repeats_batches or self.cycles or there < epoch):
                place.drop_state()
            elif (there, at_start) == (epoch + 1, True) or (ended and (there, at_start) == (epoch, False)):
                place.end_epoch()
                return
            elif self.cycles:
                return
            elif there == epoch:
                self._check_rest(max(place.plan.count(place.current.walk.begin)))
        place.set_epoch(epoch)

    def _check_rest(self, rest: int) -> None:
        """Raise ConfigError where the loop would end the epoch before the batches that are left of it."""
        used, batches = self._loop.epoch_loop.batch_progress.current.processed, self._loop.max_batches
        limited = self._loop.trainer.limit_train_batches != 1.0 or self._loop._combined_loader._mode == "min_size"
        require(
            limited or not used < batches < used + rest,
            f"Lightning counts batches, {counted(used, 'batch')} of this epoch behind it and {batches} in all, and the "
            f"state that was loaded has {counted(rest, 'batch')} left, so rows would be left out: the run that was "
            "stopped had smaller batches or fewer processes. Resume with those, or from a checkpoint of the end of an "
            "epoch; a sampler of epochs=10**6, with Lightning's max_steps, goes on with any",
        )


def _loops() -> list[Any]:
    return [loop for place in _FIT_LOOPS for loop in objects_of(*place)]


def _loaders(loop: Any) -> list[Any]:
    """Return the loaders that a loop trains on, none before it has begun."""
    return loop._combined_loader.flattened if loop._combined_loader is not None else []
