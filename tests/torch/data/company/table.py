"""What each loop does in each cell: the table of docs/loader.md, which the tests hold the loops to."""

from __future__ import annotations

from dataclasses import dataclass

from tests.torch.data.company.setup import STOPS

SAME = "same"
REFUSALS = {
    "not counted": "nobody had told the sampler how many of them were used",
    "other count": r"set_epoch\(0\) was called before it was used",
    "no length": "has epochs=None, so no length",
    "divided twice": "would be divided once more",
    "moved": "moved the sampler after|before the iterator of a loader is made",
    "skipped twice": "would leave out as many batches once more",
    "read again": "to its end, and set_epoch",
    "read ahead": "so what (it|was) handed out was not all used",
}
"""Why a loop is refused, and what its error says."""
WARNED = "other masks, warned"
LOST = "rows missing, warned"
_BEGIN, _END = "<!-- the table of tests/torch/data/company -->", "<!-- end of the table -->"


@dataclass(frozen=True)
class Loop:
    """A loop, what it does at each stop in one process, and on several.

    name: in the table; alone: its name among those in one process, "" where it is not one; outcomes: at each stop;
    packages: what it needs; data, workers: what it is run with, all unless given; many: its name among those on several
    processes, "" where it is not one; together: its outcome there.
    """

    name: str
    alone: str
    outcomes: tuple[str, ...] = (SAME,) * len(STOPS)
    packages: str = "torch"
    data: tuple[str, ...] = ()
    workers: tuple[str, ...] = ()
    many: str = ""
    together: str = ""


_LATER = (SAME, *["other count"] * (len(STOPS) - 1))

LOOPS = (
    Loop("`ResumableLoader`; on several processes with torchrun and DDP", "resumable", many="DDP", together=SAME),
    Loop("`DataLoader`, `sampler.state_dict(batches)`", "plain, counted", many="plain, counted", together=SAME),
    Loop("`DataLoader`, `sampler.state_dict()`", "plain", ("not counted",) * 5, many="plain", together="not counted"),
    Loop("`StatefulDataLoader` (torchdata)", "stateful", packages="torchdata", many="stateful", together=SAME),
    Loop("the same, `snapshot_every_n_steps=3`", "stateful, every 3", packages="torchdata"),
    Loop("`torchdata.nodes`, `IterableWrapper(EpochBatchSampler(ShardExamples(...)))`", "nodes", packages="torchdata"),
    Loop(
        "the same with `SamplerWrapper`",
        "nodes, sampler wrapper",
        (SAME, "read again", "read again", SAME, SAME),
        packages="torchdata",
    ),
    Loop(
        "the same with a `ResumableBatchSampler`",
        "nodes, our batch sampler",
        ("not counted",) * 5,
        packages="torchdata",
    ),
    Loop(
        "`torch.distributed.checkpoint` with a `ResumableLoader`; on several processes beside a model in FSDP2",
        "torch checkpoint",
        many="FSDP2",
        together=SAME,
    ),
    Loop(
        "Accelerate, `register_for_checkpointing(ResumableLoader(...))`",
        "accelerate, registered",
        packages="accelerate",
        many="accelerate, registered",
        together=SAME,
    ),
    Loop("Accelerate, `prepare`, `sampler.state_dict(batches)`", "accelerate, counted", packages="accelerate"),
    Loop(
        "Accelerate, `prepare`, `prepared.set_epoch(epoch)`, `skip_first_batches`",
        "accelerate, skipping",
        packages="accelerate",
    ),
    Loop(
        "Accelerate, `prepare`, `sampler.state_dict()`",
        "accelerate",
        ("not counted",) * 5,
        packages="accelerate",
        many="accelerate",
        together="divided twice",
    ),
    Loop(
        "Accelerate, `use_stateful_dataloader`, `prepared.iteration` set",
        "accelerate stateful, iteration",
        packages="accelerate torchdata",
        many="accelerate stateful",
        together="divided twice",
    ),
    Loop("the same, `prepared.iteration` not set", "accelerate stateful", _LATER, packages="accelerate torchdata"),
    Loop(
        "Accelerate, `prepare`, `dispatch_batches`",
        "",
        packages="accelerate",
        many="accelerate dispatching",
        together="divided twice",
    ),
    Loop(
        "Fabric, `setup_dataloaders(ResumableLoader(...), use_distributed_sampler=False)`, `_num_iter_calls` set",
        "fabric, counted",
        packages="lightning",
        many="fabric, use_distributed_sampler=False",
        together=SAME,
    ),
    Loop("the same, `_num_iter_calls` not set", "fabric", _LATER, packages="lightning"),
    Loop("Fabric, `setup_dataloaders` as it is", "", packages="lightning", many="fabric", together="divided twice"),
    Loop(
        "Lightning, checkpoints by steps and of ends of epochs; on several processes `use_distributed_sampler=False`",
        "lightning",
        packages="lightning",
        many="lightning, use_distributed_sampler=False",
        together=SAME,
    ),
    Loop(
        "Lightning on several processes as it is", "", packages="lightning", many="lightning", together="divided twice"
    ),
    Loop("Lightning, `max_steps`, `epochs=10**6`", "lightning, max_steps", packages="lightning"),
    Loop("Lightning, `epochs=None`", "lightning, epochs=None", ("no length",) * 5, packages="lightning"),
    Loop(
        "Lightning, `StatefulDataLoader` without workers",
        "lightning, stateful",
        packages="lightning torchdata",
        data=("rows",),
        workers=("0",),
    ),
    Loop(
        "the same with workers",
        "lightning, stateful, workers",
        ("moved", SAME, "moved", "moved", "moved"),
        packages="lightning torchdata",
        workers=("2",),
    ),
    Loop(
        "Lightning, `DataLoader` without workers",
        "lightning, plain",
        (LOST, SAME, SAME, LOST, LOST),
        packages="lightning",
        data=("rows",),
        workers=("0",),
    ),
    Loop(
        "the same with workers",
        "lightning, plain, workers",
        (LOST, "moved", "moved", "moved", "moved"),
        packages="lightning",
        workers=("2",),
    ),
    Loop(
        "`Trainer`, `get_train_dataloader` returns a `ResumableLoader`",
        "trainer, our loader",
        packages="accelerate",
        many="trainer, our loader",
        together=SAME,
    ),
    Loop(
        "the same without `ignore_data_skip=True`",
        "trainer, our loader, skipping",
        ("skipped twice",) * 5,
        packages="accelerate",
    ),
    Loop(
        "`Trainer`, it returns a `ResumableLoader` of one epoch, and no state is saved or loaded",
        "trainer, our loader by epochs",
        packages="accelerate",
        data=("rows", "packed"),
    ),
    Loop(
        "`Trainer`, its own sampler, `dataset.set_epoch` before it resumes",
        "trainer, told the epoch",
        packages="accelerate",
        data=("rows", "packed"),
    ),
    Loop(
        "the same without `dataset.set_epoch`",
        "trainer",
        (WARNED, SAME, SAME, WARNED, WARNED),
        packages="accelerate",
        data=("rows", "packed"),
    ),
    Loop(
        "a thread that takes batches ahead, `loader.state_dict(batches)`",
        "thread, counted",
        data=("rows",),
    ),
    Loop("the same, `loader.state_dict()`", "thread", ("read ahead",) * 5, data=("rows",)),
    Loop(
        "Ray Train's `prepare_data_loader` on one worker, `loader.state_dict(batches)`",
        "ray, counted",
        packages="ray",
        data=("rows",),
    ),
    Loop("the same, `loader.state_dict()`", "ray", ("read ahead",) * 5, packages="ray", data=("rows",)),
    Loop(
        "Composer, its checkpoints with the state of the loader, `spin_dataloaders=False`, `epochs=10**6`",
        "composer, our state",
        packages="composer",
    ),
    Loop("Composer as it is", "composer", (SAME, SAME, LOST, LOST, LOST), packages="composer"),
)


def table() -> str:
    """Return the table of the page."""
    heads = [
        "loop",
        *(f"stopped {stop}" if stop in ("inside", "twice") else stop for stop in STOPS),
        "2, then 2 or 4 processes",
    ]
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for loop in LOOPS:
        alone = [_words(outcome) if loop.alone else "" for outcome in loop.outcomes]
        lines.append(f"| {' | '.join([loop.name, *alone, _words(loop.together)])} |")
    return "\n".join([_BEGIN, "", *lines, "", _END])


def _words(outcome: str) -> str:
    return f"refused: {outcome}" if outcome in REFUSALS else outcome


def written_into(page: str) -> str:
    """Return a page with the table in its place."""
    before, _, rest = page.partition(_BEGIN)
    return before + table() + rest.partition(_END)[2]
