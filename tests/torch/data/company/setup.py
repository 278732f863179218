"""What is loaded in a cell of the matrix, and what an undisturbed run of three epochs gives."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import torch
from torch.utils.data import DataLoader

from bertdata.masking.settings import MaskingConfig
from bertdata.torch import PretrainingCollator, ResumableBatchSampler, ResumableLoader, ShardDataset
from tests.many_shards import cut
from tests.torch.build import write_build

SIZE = 20
ROOM = 60_000
"""Bytes of the cache of shards that are streamed: all of them fit."""
EPOCHS = 3
FALLING = MaskingConfig(mask_schedule=("0=0.60", "1=0.10"))

WORKERS: dict[str, dict[str, Any]] = {
    "0": {},
    "2": {"num_workers": 2},
    "persistent": {"num_workers": 2, "persistent_workers": True},
}


@dataclass(frozen=True)
class Kind:
    """Settings of the sampler and of the collator, how many sets of shards there are, and whether they are streamed."""

    sampling: Mapping[str, Any]
    collating: Mapping[str, Any]
    sets: int = 1
    streamed: bool = False


DATA = {
    "rows": Kind({}, {}),
    "packed": Kind({}, {"packing": True}),
    "bins": Kind({"bins": (16, 24, 32)}, {}),
    "weights": Kind({"weights": (1.0, 3.0)}, {}, sets=2),
    "streamed": Kind({"shuffle_window": 4}, {}, streamed=True),
    "mask schedule": Kind({"run_epochs": EPOCHS}, {"masking": FALLING}),
}

Digests = list[str]


def digest(batch: Mapping[str, Any]) -> str:
    """Return a text that tells batches of tensors apart: the digest of all, and after the colon those of its rows."""
    total = hashlib.sha256()
    for name in sorted(batch):
        total.update(f"{name} {tuple(batch[name].shape)} {batch[name].dtype}".encode())
        total.update(batch[name].contiguous().numpy().tobytes())
    return f"{total.hexdigest()[:16]}:{','.join(_rows(batch))}"


def _rows(batch: Mapping[str, Any]) -> list[str]:
    """Return a digest of the ids and the mask of each row."""
    ids, labels = batch["input_ids"], batch["labels"]
    if "cu_seqlens" in batch:
        ends = batch["cu_seqlens"].tolist()[: len(batch["next_sentence_label"]) + 1]  # then comes padding
        parts = [(ids[0, begin:end], labels[0, begin:end]) for begin, end in pairwise(ends)]
    else:
        parts = [
            (row[mask], label[mask]) for row, label, mask in zip(ids, labels, batch["attention_mask"] == 1, strict=True)
        ]
    return [hashlib.sha256(row.numpy().tobytes() + label.numpy().tobytes()).hexdigest()[:12] for row, label in parts]


def rows_of(digests: Digests) -> Counter[str]:
    """Count the rows of some batches, each with its mask."""
    return Counter(row for digest in digests for row in digest.split(":")[1].split(","))


@dataclass(frozen=True)
class Setup:
    """The data and the workers of a cell; `builds` are two builds on disk, local: not streamed in any case."""

    builds: tuple[Path, Path]
    data: str = "rows"
    workers: str = "0"
    local: bool = False

    @property
    def keywords(self) -> dict[str, Any]:
        """The keywords of a `DataLoader`."""
        return WORKERS[self.workers]

    def dataset(self) -> ShardDataset:
        """Open the shards; those that are streamed are many small ones, through a cache."""
        if DATA[self.data].streamed:
            shards = many_shards(self.builds[0])
            if self.local:
                return ShardDataset(shards / "train")
            return ShardDataset(shards / "train", cache=shards.with_name("cache"), cache_bytes=ROOM)
        return ShardDataset(list(self.builds[: DATA[self.data].sets]))

    def sampler(self, dataset: ShardDataset, **settings: Any) -> ResumableBatchSampler:
        """Return a sampler of one epoch an iteration."""
        return ResumableBatchSampler(dataset, SIZE, seed=5, **{**DATA[self.data].sampling, **settings})

    def collator(self, dataset: ShardDataset) -> PretrainingCollator:
        """Return the collator."""
        return PretrainingCollator(dataset, **DATA[self.data].collating)

    def loader(self, **settings: Any) -> ResumableLoader:
        """Return our loader."""
        dataset = self.dataset()
        return ResumableLoader(dataset, self.sampler(dataset, **settings), self.collator(dataset), **self.keywords)

    def plain(self, kind: Any = DataLoader, **keywords: Any) -> tuple[Any, ResumableBatchSampler]:
        """Return a loader of someone else, a `DataLoader` of torch unless given, and its sampler."""
        dataset = self.dataset()
        sampler = self.sampler(dataset)
        loader = kind(dataset, batch_sampler=sampler, collate_fn=self.collator(dataset), **self.keywords, **keywords)
        return loader, sampler

    @property
    def batches(self) -> int:
        """The number of batches of an epoch."""
        return len(self.undisturbed) // EPOCHS

    @property
    def undisturbed(self) -> Digests:
        """The batches of three epochs in one process, by our loader without workers."""
        return _undisturbed(self.builds, self.data)

    def endless(self, batches: int) -> Digests:
        """The first batches of a run without end, in which batches span epochs."""
        loader = Setup(self.builds, self.data, local=True).loader(epochs=None, rank=0, world_size=1)
        return [digest(batch) for batch in islice(loader, batches)]


@cache
def _undisturbed(builds: tuple[Path, Path], data: str) -> Digests:
    loader = Setup(builds, data, local=True).loader(rank=0, world_size=1)
    return [digest(batch) for _ in range(EPOCHS) for batch in loader]


def write_builds(folder: Path) -> tuple[Path, Path]:
    """Write two builds, and beside the first its rows in many small shards."""
    builds = write_build(folder / "first"), write_build(folder / "second", seed=2)
    cut(builds[0], many_shards(builds[0]), rows=6)
    return builds


def many_shards(build: Path) -> Path:
    """Return where the rows of a build are in many small shards."""
    return build.with_name(f"{build.name}-in-many-shards")


@dataclass(frozen=True)
class Stop:
    """Where a run is stopped and saved: after a number of batches, and `after` their loop has come to its end."""

    batches: int
    after: bool = False


def stops_of(name: str, batches: int) -> list[Stop]:
    """Return the stops of a way to stop, where an epoch has so many batches."""
    return {
        "inside": [Stop(2)],
        "end": [Stop(batches)],
        "after the end": [Stop(batches, after=True)],
        "second epoch": [Stop(batches + 2)],
        "twice": [Stop(2), Stop(batches + 1)],
    }[name]


STOPS = ("inside", "end", "after the end", "second epoch", "twice")

torch.set_num_threads(1)
