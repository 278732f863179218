"""Loops that ask a loader for batches: plain, ours, torchdata's, and what Accelerate and Fabric make of one."""

from __future__ import annotations

import pickle
import queue
import threading
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from bertdata.loader import EpochBatchSampler
from tests.torch.data.company.setup import DATA, EPOCHS, SIZE, Digests, Setup, Stop, digest

Begin = Callable[[int], Iterable[Any]]
"""Returns the batches of an epoch."""


class Reading:
    """A loop over epochs up to a stop.

    used: the batches; here: how many of them came in the last iteration.
    """

    def __init__(self, begin: Begin, epoch: int, steps: int, after: bool) -> None:
        self.used: Digests = []
        self.here = 0
        self._batches: Iterator[Any] = iter(())
        while len(self.used) < steps:
            self._batches, self.here = iter(begin(epoch)), 0
            for batch in self._batches:
                self.used.append(digest(batch))
                self.here += 1
                if len(self.used) == steps:
                    break
            epoch += 1
        if after:
            assert next(self._batches, None) is None


Segment = Callable[[Setup, Any, int, int, bool, Path], tuple[Digests, Any]]
"""Goes on from a state (None at first) after so many batches, takes some steps, and returns the batches and a state."""


def run(segment: Segment, setup: Setup, stops: list[Stop], folder: Path) -> Digests:
    """Run three epochs, stopped and gone on from a state as often as said."""
    state: Any = None
    seen: Digests = []
    for number, stop in enumerate([*stops, Stop(EPOCHS * setup.batches)]):
        place = folder / str(number)
        place.mkdir(parents=True)
        used, state = segment(setup, state, len(seen), stop.batches - len(seen), stop.after, place)
        seen += used
        state = pickle.loads(pickle.dumps(state))
    return seen


def resumable(setup: Setup, state: Any, taken: int, steps: int, after: bool, folder: Path) -> tuple[Digests, Any]:
    """Our loader."""
    loader = setup.loader()
    if state is not None:
        loader.load_state_dict(state)
    reading = Reading(lambda epoch: loader, 0, steps, after)
    return reading.used, loader.state_dict()


def _plain(counted: bool) -> Segment:
    def segment(setup: Setup, state: Any, taken: int, steps: int, after: bool, folder: Path) -> tuple[Digests, Any]:
        loader, sampler = setup.plain()
        if state is not None:
            sampler.load_state_dict(state)

        def begin(epoch: int) -> Any:
            sampler.set_epoch(epoch)
            return loader

        reading = Reading(begin, taken // setup.batches, steps, after)
        return reading.used, sampler.state_dict(reading.here if counted else None)

    return segment


def _stateful(**keywords: Any) -> Segment:
    def segment(setup: Setup, state: Any, taken: int, steps: int, after: bool, folder: Path) -> tuple[Digests, Any]:
        from torchdata.stateful_dataloader import StatefulDataLoader

        loader, _ = setup.plain(StatefulDataLoader, **keywords)
        if state is not None:
            loader.load_state_dict(state)
        reading = Reading(lambda epoch: loader, 0, steps, after)
        return reading.used, loader.state_dict()

    return segment


def _accelerator(stateful: bool = False) -> Any:
    from accelerate import Accelerator
    from accelerate.utils import DataLoaderConfiguration

    return Accelerator(cpu=True, dataloader_config=DataLoaderConfiguration(use_stateful_dataloader=stateful))


def _prepared(counted: bool) -> Segment:
    def segment(setup: Setup, state: Any, taken: int, steps: int, after: bool, folder: Path) -> tuple[Digests, Any]:
        loader, sampler = setup.plain()
        prepared = _accelerator().prepare(loader)
        if state is not None:
            sampler.load_state_dict(state)
            prepared.iteration = sampler.epoch
        reading = Reading(lambda epoch: prepared, 0, steps, after)
        return reading.used, sampler.state_dict(reading.here if counted else None)

    return segment


def skipping(setup: Setup, state: Any, taken: int, steps: int, after: bool, folder: Path) -> tuple[Digests, Any]:
    """A loader that Accelerate prepared, whose first batches it skips."""
    from accelerate import skip_first_batches

    loader, _ = setup.plain()
    prepared = _accelerator().prepare(loader)
    first, used_before = divmod(taken, setup.batches)

    def begin(epoch: int) -> Any:
        prepared.set_epoch(epoch)
        return skip_first_batches(prepared, used_before) if epoch == first and used_before else prepared

    return Reading(begin, first, steps, after).used, None


def registered(setup: Setup, state: Any, taken: int, steps: int, after: bool, folder: Path) -> tuple[Digests, Any]:
    """Our loader, which Accelerate saves with the rest."""
    accelerator, loader = _accelerator(), setup.loader()
    accelerator.register_for_checkpointing(loader)
    if state is not None:
        accelerator.load_state(state)
    reading = Reading(lambda epoch: loader, 0, steps, after)
    accelerator.save_state(str(folder / "state"))
    return reading.used, str(folder / "state")


def _accelerated_stateful(iteration: bool) -> Segment:
    def segment(setup: Setup, state: Any, taken: int, steps: int, after: bool, folder: Path) -> tuple[Digests, Any]:
        loader, _ = setup.plain()
        prepared = _accelerator(stateful=True).prepare(loader)
        if state is not None:
            prepared.load_state_dict(state)
            if iteration:
                prepared.iteration = taken // setup.batches
        reading = Reading(lambda epoch: prepared, 0, steps, after)
        return reading.used, prepared.state_dict()

    return segment


def _fabric(counted: bool) -> Segment:
    def segment(setup: Setup, state: Any, taken: int, steps: int, after: bool, folder: Path) -> tuple[Digests, Any]:
        from lightning.fabric import Fabric

        loader = setup.loader()
        prepared = Fabric(accelerator="cpu", devices=1).setup_dataloaders(loader)
        if state is not None:
            loader.load_state_dict(state)
            if counted:
                prepared._num_iter_calls = taken // setup.batches
        reading = Reading(lambda epoch: prepared, 0, steps, after)
        return reading.used, loader.state_dict()

    return segment


def _nodes(counted: bool, wrapper: str = "IterableWrapper") -> Segment:
    """Nodes of torchdata, which save the state of what they iterate over with each request."""

    def segment(setup: Setup, state: Any, taken: int, steps: int, after: bool, folder: Path) -> tuple[Digests, Any]:
        from torchdata import nodes

        dataset = setup.dataset()
        collator = setup.collator(dataset)
        order: Any = setup.sampler(dataset)
        if counted:
            dataset.read_ahead = False
            order = EpochBatchSampler(dataset, SIZE, seed=5, **DATA[setup.data].sampling)
        node = nodes.ParallelMapper(
            getattr(nodes, wrapper)(order),
            lambda rows: collator(dataset.__getitems__(rows)),
            num_workers=max(1, setup.keywords.get("num_workers", 0)),
            method="thread",
        )
        loader = nodes.Loader(nodes.Prefetcher(node, 2))
        if state is not None:
            loader.load_state_dict(state)
        reading = Reading(lambda epoch: loader, 0, steps, after)
        return reading.used, loader.state_dict()

    return segment


def _in_thread(batches: Iterable[Any]) -> Iterator[Any]:
    """Yield batches that a thread takes, two of them before they are wanted."""
    taken: queue.Queue[Any] = queue.Queue(2)

    def take() -> None:
        for batch in batches:
            taken.put(batch)
        taken.put(None)

    thread = threading.Thread(target=take, daemon=True)
    thread.start()
    yield from iter(taken.get, None)
    thread.join()


def _by_ray(loader: Any) -> Any:
    """Return what Ray Train's `prepare_data_loader` makes of a loader on one worker without a GPU."""
    import torch
    from ray.train.torch import train_loop_utils

    return train_loop_utils._WrappedDataLoader(loader, torch.device("cpu"), False)


def _ahead(counted: bool, wrap: Callable[[Any], Iterable[Any]]) -> Segment:
    """Our loader, whose batches something takes ahead of the loop."""

    def segment(setup: Setup, state: Any, taken: int, steps: int, after: bool, folder: Path) -> tuple[Digests, Any]:
        loader = setup.loader()
        if state is not None:
            loader.load_state_dict(state)
        wrapped: list[Iterable[Any]] = []

        def begin(epoch: int) -> Iterable[Any]:
            wrapped[:] = [wrap(loader)]  # which lives as long as the loop
            return (batch for batch in wrapped[0])  # Ray's takes one more at each `iter`

        reading = Reading(begin, 0, steps, after)
        return reading.used, loader.state_dict(reading.here if counted else None)

    return segment


def checkpointed(setup: Setup, state: Any, taken: int, steps: int, after: bool, folder: Path) -> tuple[Digests, Any]:
    """Our loader in a checkpoint of torch.distributed.checkpoint, beside a model."""
    import torch
    from torch.distributed.checkpoint import state_dict_loader, state_dict_saver

    loader, model = setup.loader(), torch.nn.Linear(1, 1)
    if state is not None:
        state_dict_loader.load({"loader": loader, "model": model}, checkpoint_id=state)
    reading = Reading(lambda epoch: loader, 0, steps, after)
    state_dict_saver.save({"loader": loader, "model": model}, checkpoint_id=str(folder / "saved"))
    return reading.used, str(folder / "saved")


PULLED: dict[str, Segment] = {
    "resumable": resumable,
    "plain, counted": _plain(counted=True),
    "plain": _plain(counted=False),
    "stateful": _stateful(),
    "stateful, every 3": _stateful(snapshot_every_n_steps=3),
    "accelerate, registered": registered,
    "accelerate, counted": _prepared(counted=True),
    "accelerate, skipping": skipping,
    "accelerate": _prepared(counted=False),
    "accelerate stateful, iteration": _accelerated_stateful(iteration=True),
    "accelerate stateful": _accelerated_stateful(iteration=False),
    "fabric, counted": _fabric(counted=True),
    "fabric": _fabric(counted=False),
    "nodes": _nodes(counted=True),
    "nodes, our batch sampler": _nodes(counted=False),
    "nodes, sampler wrapper": _nodes(counted=True, wrapper="SamplerWrapper"),
    "torch checkpoint": checkpointed,
    "thread, counted": _ahead(counted=True, wrap=_in_thread),
    "thread": _ahead(counted=False, wrap=_in_thread),
    "ray, counted": _ahead(counted=True, wrap=_by_ray),
    "ray": _ahead(counted=False, wrap=_by_ray),
}


def _prepared_by(**keywords: Any) -> Segment:
    """Our loader, wrongly prepared by Accelerate on several processes."""

    def segment(setup: Setup, state: Any, taken: int, steps: int, after: bool, folder: Path) -> tuple[Digests, Any]:
        from accelerate import Accelerator
        from accelerate.utils import DataLoaderConfiguration

        prepared = Accelerator(cpu=True, dataloader_config=DataLoaderConfiguration(**keywords)).prepare(setup.loader())
        return Reading(lambda epoch: prepared, 0, steps, after).used, None

    return segment


def distributed(setup: Setup, state: Any, taken: int, steps: int, after: bool, folder: Path) -> tuple[Digests, Any]:
    """Our loader beside a model in DistributedDataParallel."""
    import torch
    from torch.nn.parallel import DistributedDataParallel

    DistributedDataParallel(torch.nn.Linear(1, 1))
    return resumable(setup, state, taken, steps, after, folder)


def sharded(setup: Setup, state: Any, taken: int, steps: int, after: bool, folder: Path) -> tuple[Digests, Any]:
    """Our loader beside a model in FSDP2, both in checkpoints of torch.distributed.checkpoint."""
    import torch
    import torch.distributed as dist
    from torch.distributed.checkpoint import state_dict_loader, state_dict_saver
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    loader, model = setup.loader(), torch.nn.Linear(8, 8)
    fully_shard(model, mesh=init_device_mesh("cpu", (dist.get_world_size(),)))
    if state is not None:
        state_dict_loader.load({"loader": loader, "model": model}, checkpoint_id=state)
    reading = Reading(lambda epoch: loader, 0, steps, after)
    state_dict_saver.save({"loader": loader, "model": model}, checkpoint_id=str(folder))
    return reading.used, str(folder)


def _fabrics(**keywords: Any) -> Segment:
    def segment(setup: Setup, state: Any, taken: int, steps: int, after: bool, folder: Path) -> tuple[Digests, Any]:
        import torch.distributed as dist
        from lightning.fabric import Fabric

        loader = setup.loader()
        fabric = Fabric(accelerator="cpu", devices=dist.get_world_size(), strategy="ddp")
        fabric.launch()
        prepared = fabric.setup_dataloaders(loader, **keywords)
        if state is not None:
            loader.load_state_dict(state)
            prepared._num_iter_calls = taken // setup.batches
        reading = Reading(lambda epoch: prepared, 0, steps, after)
        return reading.used, loader.state_dict()

    return segment


PULLED_TOGETHER: dict[str, Segment] = {
    "DDP": distributed,
    "FSDP2": sharded,
    "plain, counted": _plain(counted=True),
    "plain": _plain(counted=False),
    "stateful": _stateful(),
    "accelerate, registered": registered,
    "accelerate": _prepared_by(),
    "accelerate stateful": _prepared_by(use_stateful_dataloader=True),
    "accelerate dispatching": _prepared_by(dispatch_batches=True),
    "fabric, use_distributed_sampler=False": _fabrics(use_distributed_sampler=False),
    "fabric": _fabrics(),
}
"""Those on several processes."""
