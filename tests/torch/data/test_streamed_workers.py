"""Workers read through a cache that holds two windows and no more, also beside those of a loader that was left."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

import pytest

from bertdata.torch import ResumableBatchSampler, ResumableLoader, ShardDataset
from tests.many_shards import cut
from tests.torch.build import write_build
from tests.torch.data.company.setup import digest

pytestmark = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")
WINDOW = 3


@pytest.mark.costly
@pytest.mark.parametrize(
    ("workers", "persistent", "left"),
    [
        (2, False, 9),
        pytest.param(2, True, 9, marks=pytest.mark.slow),
        pytest.param(0, False, 9, marks=pytest.mark.slow),
        pytest.param(2, False, 0, marks=pytest.mark.slow),
    ],
)
def test_a_run_goes_on_beside_the_workers_of_the_loader_that_was_left(
    workers: int, persistent: bool, left: int, tmp_path: Path
) -> None:
    corpus = cut(write_build(tmp_path / "build", documents=60), tmp_path / "corpus", rows=12)
    largest = max(path.stat().st_size for path in (corpus / "train").iterdir())

    def loader(workers: int, **cache: object) -> ResumableLoader:
        dataset = ShardDataset(corpus / "train", **cache)  # type: ignore[arg-type]
        sampler = ResumableBatchSampler(dataset, 16, seed=4, shuffle_window=WINDOW)
        return ResumableLoader(dataset, sampler, num_workers=workers, persistent_workers=persistent and workers > 0)

    room = {"cache": tmp_path / "cache", "cache_bytes": 2 * WINDOW * largest}
    first, second = loader(workers, **room), loader(2, **room)
    batches = iter(first)  # it and its workers stay as they are
    seen = [digest(batch) for batch in islice(batches, left)]
    second.load_state_dict(first.state_dict())
    assert seen + [digest(batch) for batch in second] == [digest(batch) for batch in loader(0)]
    del batches
