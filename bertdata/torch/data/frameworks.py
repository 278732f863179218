"""What other people's frameworks say of themselves in this process, and what their calls of `set_epoch` say of them."""

from __future__ import annotations

import gc
import sys
import weakref
from dataclasses import dataclass
from typing import Any

from bertdata.io.console import counted

_ACCELERATOR = "accelerate.accelerator", "Accelerator"
_TRAINER = "transformers.trainer", "Trainer"
_LOADER = "torch.utils.data.dataloader", "DataLoader"
_DIVIDING = "torch.utils.data.distributed", "DistributedSampler"
_RAY = "ray.train.torch.train_loop_utils", "_WrappedDataLoader"


GOES_BACK = (
    "this run went on from a state, and set_epoch({epoch}) would go back to before it: a Trainer of transformers that "
    "begins again after an error of memory (auto_find_batch_size) loads its checkpoint once more, and this state has "
    "to be loaded once more as well. To read an epoch again, load a state of its beginning, or make another sampler"
)
BEGINS_ANEW = (
    "an optimizer or a schedule that Accelerate prepared has done {steps} steps, so a run goes on, and this sampler "
    "begins at the first batch of epoch 0, for no state was loaded and no epoch was said: rows that were used come "
    "again. Save and load a ResumableLoader beside the model, accelerator.register_for_checkpointing(loader); or call "
    "prepared.set_epoch(epoch), and read skip_first_batches(prepared, batches)"
)
OUT_OF_ORDER = (
    "a DataLoader with in_order=False reads this sampler, and hands out the batch that is ready first, so those used "
    "are not the first ones that were asked for, and no number of batches says which they are; leave in_order out"
)


def _kinds(module: str, name: str) -> list[type]:
    """Return a class and its subclasses, none where its module was not loaded."""
    kind = getattr(sys.modules.get(module), name, None)
    kinds = [] if kind is None else [kind]
    for parent in kinds:
        kinds += [child for child in type.__subclasses__(parent) if child not in kinds]
    return kinds


def objects_of(module: str, name: str) -> list[Any]:
    """Return the objects of a class and its subclasses in this process, none where its module was not loaded.

    All objects of the process are visited in C, some ten million in a second: each refers to its class. References to
    them are not counted, so that a worker that was forked copies no memory. They are not visited again as long as the
    classes have as many references as before, of which a new object is one more, and no object of them is gone.
    """
    kinds = _kinds(module, name)
    references, objects = _visited.get((module, name), ((), []))
    alive = [item for item in (reference() for reference in objects) if item is not None]
    if tuple(map(sys.getrefcount, kinds)) == references and len(alive) == len(objects):
        return alive
    alive = [referrer for referrer in gc.get_referrers(*kinds) if type(referrer) in kinds] if kinds else []
    _visited[module, name] = tuple(map(sys.getrefcount, kinds)), list(map(weakref.ref, alive))
    return alive


_visited: dict[tuple[str, str], tuple[tuple[int, ...], list[weakref.ref[Any]]]] = {}
"""By module and name of a class: the references to it and its subclasses when they were counted, and its objects."""


def accelerate_processes() -> int | None:
    """Return the number of processes that Accelerate runs, None where it was not begun."""
    state = sys.modules.get("accelerate.state")
    shared: dict[str, Any] = state.PartialState._shared_state if state else {}
    return shared.get("num_processes")


def is_read_ahead_by_ray(loader: Any) -> bool:
    """Tell whether Ray Train's `prepare_data_loader` was given a loader.

    It takes a batch before the last one is used.
    """
    return any(wrapper.__dict__.get("_dataloader") is loader for wrapper in objects_of(*_RAY))


def is_read_out_of_order(sampler: Any) -> bool:
    """Tell whether workers of a `DataLoader` with in_order=False read the batches of a sampler, or of one around it.

    Such a loader hands out the batch that is ready first, so those used are not the first ones that were asked for.
    """
    loaders = [
        loader for loader in objects_of(*_LOADER) if not getattr(loader, "in_order", True) and loader.num_workers
    ]
    return any(batch_sampler is sampler for loader in loaders for batch_sampler in _batch_samplers(loader))


def is_divided_once_more(sampler: Any) -> bool:
    """Tell whether a DistributedSampler is made of the batches of a sampler, as a DistributedSamplerWrapper is."""
    values = [value for divider in objects_of(*_DIVIDING) for value in vars(divider).values()]
    return any(part is sampler for value in values for part in (value, *getattr(value, "__dict__", {}).values()))


def _batch_samplers(loader: Any) -> list[Any]:
    """Return the batch sampler of a loader, and those within it."""
    samplers: list[Any] = []
    while (loader := getattr(loader, "batch_sampler", None)) is not None:
        samplers.append(loader)
    return samplers


def steps_of_accelerate() -> int:
    """Return the most steps that an optimizer or a schedule which Accelerate prepared has done, here or before.

    1 where an optimizer has a state and does not count its steps.
    """
    steps = [0]
    for accelerator in objects_of(*_ACCELERATOR):
        for optimizer in accelerator._optimizers:
            states = getattr(optimizer, "optimizer", optimizer).state.values()
            steps += [int(state.get("step", 1)) for state in states if isinstance(state, dict)]
        for schedule in accelerator._schedulers:
            steps.append(int(getattr(getattr(schedule, "scheduler", schedule), "last_epoch", 0)))
    return max(steps)


class Beginning:
    """Where the first iteration of a sampler in this process began.

    loaded: whether a state was loaded into any sampler; steps: those that Accelerate's optimizers had done.
    """

    def __init__(self) -> None:
        self.loaded, self._steps = False, -1

    def steps_before(self) -> int:
        """Return the steps that Accelerate loaded where nothing was trained and no state loaded since, else 0."""
        if self._steps == 0 or self.loaded:
            return 0
        steps = steps_of_accelerate()
        self._steps = steps if self._steps < 0 else self._steps
        return steps if steps == self._steps else 0


BEGINNING = Beginning()

_ANEW = (
    "with {setting} it draws the order of that epoch anew, so some rows of it come twice or not at all. Go on from a "
    "checkpoint of the end of an epoch (save_strategy='epoch'), or let get_train_dataloader return a ResumableLoader, "
    "with `bins` for rows of like length"
)
_ELSEWHERE = (
    "it begins after {batches} of epoch {epoch}, while the checkpoint was saved at epoch {used:.6g}: it counts the "
    "steps as if they had had the settings of now, so some rows come twice or not at all. Give it the "
    "per_device_train_batch_size, gradient_accumulation_steps, dataloader_drop_last and number of processes of the run "
    "that saved the checkpoint"
)

_NO_BATCH = 1e-4
"""Less than any part of a batch, and more than a share of an epoch is rounded by."""


class Trainers:
    """The Trainers of transformers that make batches with a collator; pickled, without them.

    They are looked for once, where there are any.
    """

    def __init__(self) -> None:
        self._known: list[weakref.ref[Any]] | None = None
        self._begun = self._last = -1

    def __reduce__(self) -> tuple[type[Trainers], tuple[()]]:
        return Trainers, ()

    def lost_order(self, collator: Any) -> str:
        """Return why a Trainer that goes on from a checkpoint has not the rest of its rows; "" where it has."""
        if self._known is None or any(trainer() is None for trainer in self._known):
            trainers = objects_of(*_TRAINER)
            here = [trainer for trainer in trainers if trainer.__dict__.get("data_collator") is collator]
            self._known = list(map(weakref.ref, here)) if trainers else None
        going_on = filter(self._goes_on, (trainer() for trainer in self._known or []))
        return next(filter(None, map(_lost_order, going_on)), "")

    def _goes_on(self, trainer: Any) -> bool:
        """Tell whether a Trainer loaded a checkpoint and has done no step since.

        That of transformers 4 does not say at which step it began: the first one that is seen, or that does not follow.
        """
        if trainer is None or trainer.args.ignore_data_skip:
            return False
        step = trainer.state.global_step
        if step not in (self._last, self._last + 1):
            self._begun = step
        self._last = step
        return bool(0 < step == getattr(trainer, "_initial_global_step", self._begun))


class TrainerSteps:
    """The steps of the Trainer of transformers that reads a loader, of which there may be none.

    It takes all batches of a step at once (`gradient_accumulation_steps`), and counts the step when it is done.
    """

    def __init__(self, loader: Any = None) -> None:
        trainers = objects_of(*_TRAINER) if loader is not None else []
        handlers = ((trainer, trainer.__dict__.get("callback_handler")) for trainer in trainers)
        reading = (trainer for trainer, handler in handlers if handler and handler.train_dataloader is loader)
        self._trainer = next(map(weakref.ref, reading), None)
        self._step, self._before = -1, 0

    def __reduce__(self) -> tuple[type[TrainerSteps], tuple[()]]:
        return TrainerSteps, ()

    @property
    def _done(self) -> int | None:
        trainer = self._trainer() if self._trainer else None
        return None if trainer is None else int(trainer.state.global_step)

    def take(self, used: int) -> None:
        """Note how many batches were used before the one that is taken now."""
        if (done := self._done) is not None and done != self._step:
            self._step, self._before = done, used

    def untrained(self, used: int) -> int:
        """Return how many of the batches used are of a step that is not done, which a resumed run does once more."""
        return used - self._before if self._done == self._step else 0


def _lost_order(trainer: Any) -> str:
    """Return why the rows of a Trainer that goes on are not the rest of those before it; "" where they are."""
    if elsewhere := _elsewhere(trainer):
        return elsewhere
    if not (trainer.state.epoch or 0.0) % 1:
        return ""
    strategy = getattr(trainer.args, "train_sampling_strategy", "random")
    if strategy == "group_by_length" or getattr(trainer.args, "group_by_length", False):
        return _ANEW.format(setting="group_by_length")
    seeded = getattr(trainer.args.accelerator_config, "use_seedable_sampler", True)
    return "" if seeded or strategy != "random" else _ANEW.format(setting="use_seedable_sampler=False")


def _elsewhere(trainer: Any) -> str:
    """Return where a Trainer goes on if that is not where the checkpoint was saved; "" if it is.

    It counts the batches used from the number of steps, by the settings of now. A checkpoint says what was used: how
    many epochs, with the share of the last one, and the rows of a batch.
    """
    loader, state, accumulated = (
        trainer.callback_handler.train_dataloader,
        trainer.state,
        trainer.args.gradient_accumulation_steps,
    )
    try:
        batches = len(loader)
    except TypeError:  # none, or one without an end
        return ""
    epoch, steps = divmod(state.global_step, max(1, -(-batches // accumulated)))
    skipped, (used, share) = steps * accumulated, divmod(state.epoch or 0.0, 1)
    now = trainer._train_batch_size
    before, processes = state.train_batch_size or now, accelerate_processes() or 1
    if epoch == used:
        rows, needed = len(loader.dataset), skipped * now * processes
        likely = _rows_used(share, rows, before * processes)
        others = range(1, 0 if likely else needed // before + 1)  # of processes
        if (before == now and abs(share * batches - skipped) < _NO_BATCH) or needed in likely:
            return ""
        if any(needed in _rows_used(share, rows, before * number) for number in others):
            return ""
    return _ELSEWHERE.format(batches=counted(skipped, "batch"), epoch=epoch, used=state.epoch)


def _rows_used(share: float, rows: int, size: int) -> set[int]:
    """Return the numbers of rows that a share of an epoch may stand for, of whole batches of a size.

    There are up to two, as the last batch of an epoch may have been left out, and none where no batch ends there.
    """
    numbers = {share * (rows // size), share * -(-rows // size)}
    return {round(number) * size for number in numbers if abs(number - round(number)) < _NO_BATCH}


@dataclass
class EpochCalls:
    """Calls of `set_epoch` since an iteration of a sampler began.

    of_sampler: calls of the sampler's own; of_listener: of that of its `sampler`; again: the epoch that was said though
    a loader that skips batches had just read it to its end. A loader that Accelerate prepared calls both, one that
    dispatches batches or skips some only the second, and the Trainer of transformers, which prepares none of ours, only
    the first.
    """

    of_sampler: int = 0
    of_listener: int = 0
    again: int | None = None

    @property
    def by_prepared(self) -> bool:
        """Whether a loader that Accelerate prepared, and that skips nothing, reads the batches."""
        return 0 < self.of_listener <= self.of_sampler

    @property
    def by_skipping(self) -> bool:
        """Whether a loader that skips or dispatches batches reads them."""
        return self.of_listener > self.of_sampler

    @property
    def by_count(self) -> bool:
        """Whether a loader told its own count of iterations, and nobody told it the epoch."""
        return self.of_listener == 1 and self.of_sampler <= 1
