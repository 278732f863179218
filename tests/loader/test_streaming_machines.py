"""A run that goes on with another number of machines: each row once an epoch, and what a machine fetches for it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from bertdata.loader import EpochBatchSampler, ShardExamples
from bertdata.shards.streaming import StreamedShards
from bertdata.shards.streaming.fetching import copy_shard

ROWS, WINDOW, EPOCHS = 6, 8, 2
State = dict[str, Any]


class Machine:
    """A machine with one rank: a cache of its own, the rows it has read, and the shards it has fetched."""

    def __init__(self, corpus: Path, cache: Path, room: int) -> None:
        self.examples = ShardExamples(corpus / "train", cache=cache, cache_bytes=room)
        self.rows: list[tuple[int, int]] = []
        self.fetched: list[str] = []

    def run(self, rank: int, ranks: int, state: State | None, steps: int | None) -> State:
        """Go on from a state for some steps, None: to the end, and return the state."""
        sampler = EpochBatchSampler(
            self.examples, ROWS, seed=4, shuffle_window=WINDOW, epochs=EPOCHS, rank=rank, world_size=ranks
        )
        if state is not None:
            sampler.load_state_dict(state)
        fetched.now = self.fetched
        for number, batch in enumerate(sampler, 1):
            self.examples.__getitems__(batch)
            self.rows += [(epoch, row) for epoch, row, *_ in batch]
            if number == steps:
                break
        return sampler.state_dict()


def most_shards(machines: int) -> int:
    """Return how many shards of a window one of so many machines reads."""
    return WINDOW if machines == 1 else -(-WINDOW // machines) + 2


class _Fetched:
    """Where the shards that are fetched are noted."""

    now: list[str] = []  # noqa: RUF012


fetched = _Fetched()


@pytest.fixture(autouse=True)
def on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fetch nothing ahead, note what is fetched, and let each rank be a machine."""

    def noted(shard: Any, info: Any, path: str) -> None:
        fetched.now.append(shard.url)
        copy_shard(shard, info, path)

    monkeypatch.setattr("bertdata.shards.streaming.shards.copy_shard", noted)
    monkeypatch.setattr(ShardExamples, "follow", lambda self, coming: None)
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "1")


@pytest.mark.costly
@pytest.mark.parametrize("numbers", [(2, 4), (4, 2), (1, 4, 2), (3, 1)])
def test_each_row_comes_once_an_epoch_and_a_machine_fetches_at_most_its_part_of_the_window_again(
    numbers: tuple[int, ...], corpus: Path, shard_bytes: int, tmp_path: Path
) -> None:
    room = 2 * most_shards(min(numbers)) * shard_bytes
    machines = [Machine(corpus, tmp_path / str(number), room) for number in range(max(numbers))]
    size = len(machines[0].examples)
    shards = len(machines[0].examples.shard_rows[0])
    state: State | None = None
    for ranks in numbers[:-1]:
        states = [machines[rank].run(rank, ranks, state, steps=96 // (ROWS * ranks)) for rank in range(ranks)]
        assert all(state == states[0] for state in states)
        state = states[0]
    ranks = numbers[-1]
    half_window = WINDOW * size // shards // 2 // (ROWS * ranks)
    for rank in range(ranks):
        probe = Machine(corpus, tmp_path / str(rank), room)  # on the cache that the machine has by now
        held = {path.stem for path in (tmp_path / str(rank)).glob("*.arrow")}
        probe.run(rank, ranks, state, steps=half_window)
        assert len(probe.fetched) == len(set(probe.fetched)) <= 2 * most_shards(ranks)
        shards_read = probe.examples.shards
        assert isinstance(shards_read, StreamedShards)
        digests = {shard.url: shard.sha256 for shard in shards_read.files}
        assert not held & {digests[url] for url in probe.fetched}
    for rank in range(ranks):
        machines[rank].run(rank, ranks, state, steps=None)
    seen = Counter(row for machine in machines for row in machine.rows)
    assert seen == Counter((epoch, row) for epoch in range(EPOCHS) for row in range(size))
