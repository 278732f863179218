"""States of all samplers and loaders: the same data continue on any number of ranks, other data are refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import pytest

from bertdata.errors import ConfigError
from bertdata.io import files
from bertdata.loader import EpochBatchSampler, ShardExamples, numpy_batches
from bertdata.masking.settings import MaskingConfig
from bertdata.objectives.settings import ExamplesConfig
from bertdata.shards import open_shards
from bertdata.torch import ResumableBatchSampler, ResumableLoader, ShardDataset
from tests.torch import build as build_module
from tests.torch.build import write_build


class Resumable(Protocol):
    """What all of them have."""

    def state_dict(self) -> dict[str, int]: ...

    def load_state_dict(self, state: dict[str, int]) -> None: ...

    def __iter__(self) -> Iterator[Any]: ...


def _loader(shards: Any, **keywords: Any) -> ResumableLoader:
    dataset = ShardDataset(shards)
    return ResumableLoader(dataset, ResumableBatchSampler(dataset, 4, **keywords))


Make = Callable[..., Resumable]
LOADERS: dict[str, Make] = {
    "EpochBatchSampler": lambda shards, **keywords: EpochBatchSampler(ShardExamples(shards), 4, **keywords),
    "numpy_batches": lambda shards, **keywords: numpy_batches(shards, 4, **keywords),
    "ResumableBatchSampler": lambda shards, **keywords: ResumableBatchSampler(ShardDataset(shards), 4, **keywords),
    "ResumableLoader": _loader,
}
MIXTURES: dict[str, Make] = {
    f"{name}, mixed": lambda shards, make=make, **keywords: make(shards, weights=[1.0, 3.0], **keywords)
    for name, make in LOADERS.items()
}
every_loader = pytest.mark.parametrize("make", LOADERS.values(), ids=LOADERS.keys())
every_mixture = pytest.mark.parametrize("make", MIXTURES.values(), ids=MIXTURES.keys())


def state_of(loader: Resumable, batches: int) -> dict[str, int]:
    """Return the state after so many batches, which a sampler of torch has to be told."""
    return loader.state_dict(batches) if isinstance(loader, ResumableBatchSampler) else loader.state_dict()


def _other_words(directory: Path) -> Path:
    """Write the documents of the build with other words in the same places, so with the same example ids."""
    block_of = build_module.block_of

    def changed(documents: int, seed: int) -> Any:
        block = block_of(documents, seed)
        return replace(block, tokens=np.where(block.tokens == 7, 8, block.tokens).astype(block.tokens.dtype))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(build_module, "block_of", changed)
        return write_build(directory)


def _other_vocabulary(directory: Path) -> Path:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("tests.torch.build.tokenizer_of.__defaults__", (99,))
        return write_build(directory)


def _other_order(directory: Path) -> Path:
    """Write the build with its two shards in the other order."""
    manifest = files.read_json(str(write_build(directory) / "manifest.json"))
    manifest["splits"]["train"]["shards"].reverse()
    files.write_json(str(directory / "manifest.json"), manifest)
    return directory


OTHERS: dict[str, Callable[[Path], Path]] = {
    "words": _other_words,
    "vocabulary": _other_vocabulary,
    "order of shards": _other_order,
    "seed of the documents": lambda directory: write_build(directory, seed=1),
    "seed of the rows": lambda directory: write_build(directory, ExamplesConfig(max_seq_length=32, seed=1)),
    "masking": lambda directory: write_build(directory, masking=MaskingConfig(masked_lm_prob=0.3)),
}


@pytest.fixture(scope="module", params=list(OTHERS.values()), ids=list(OTHERS))
def other_build(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build that differs from `dynamic_build` in one way."""
    path: Path = request.param(tmp_path_factory.mktemp("other"))
    return path


def test_other_words_keep_the_ids_and_lengths_of_all_examples(dynamic_build: Path, tmp_path: Path) -> None:
    ours, theirs = ShardExamples(dynamic_build), ShardExamples(_other_words(tmp_path))
    assert [row["example_id"] for row in ours] == [row["example_id"] for row in theirs]
    assert ours.lengths.tolist() == theirs.lengths.tolist()
    assert any(
        row["input_ids"].tolist() != other["input_ids"].tolist() for row, other in zip(ours, theirs, strict=True)
    )


@every_loader
def test_a_state_of_other_data_is_refused_though_it_has_as_many_examples(
    make: Make, dynamic_build: Path, other_build: Path
) -> None:
    ours, theirs = make(dynamic_build), make(other_build)
    next(iter(theirs))
    state = state_of(theirs, 1) | {"examples": ours.state_dict()["examples"]}
    here = f"{ours.state_dict()['data']:016x}"
    with pytest.raises(ConfigError, match=rf"another data set: .* {state['data']:016x} in the state, .* {here} here"):
        ours.load_state_dict(state)
    assert ours.state_dict()["position"] == 0


@every_mixture
def test_a_state_of_sets_in_another_order_or_with_another_set_is_refused(
    make: Make, dynamic_build: Path, tmp_path: Path
) -> None:
    second, third = write_build(tmp_path / "second", seed=2), _other_words(tmp_path / "third")
    state = make([dynamic_build, second]).state_dict()
    make([dynamic_build, second]).load_state_dict(state)
    for others in ([second, dynamic_build], [third, second]):
        ours = make(others)
        with pytest.raises(ConfigError, match="another data set"):
            ours.load_state_dict(state | {"examples": ours.state_dict()["examples"]})


@pytest.mark.parametrize("make", (LOADERS | MIXTURES).values(), ids=(LOADERS | MIXTURES).keys())
def test_a_state_of_another_seed_is_refused(make: Make, dynamic_build: Path, tmp_path: Path) -> None:
    shards = [dynamic_build, write_build(tmp_path, seed=2)]
    with pytest.raises(ConfigError, match="of seed 3, this run's is 4"):
        make(shards, seed=4).load_state_dict(make(shards, seed=3).state_dict())


@pytest.mark.costly
@pytest.mark.parametrize(("before", "after"), [(1, 3), (3, 1), (2, 2)])
@pytest.mark.parametrize("make", (LOADERS | MIXTURES).values(), ids=(LOADERS | MIXTURES).keys())
def test_a_state_continues_on_another_world_size_with_a_copy_of_the_data(
    make: Make, before: int, after: int, dynamic_build: Path, tmp_path: Path
) -> None:
    shards = [dynamic_build, write_build(tmp_path / "second", seed=2)]
    copies = [write_build(tmp_path / "first copy"), write_build(tmp_path / "second copy", seed=2)]
    whole = _taken(make(shards, seed=5))
    seen: Counter[Any] = Counter()
    states = []
    for rank in range(before):
        ours = make(shards, seed=5, rank=rank, world_size=before)
        running = iter(ours)
        seen += _taken(islice(running, 2))
        states.append(state_of(ours, 2))
    assert all(state == states[0] for state in states)
    for rank in range(after):
        theirs = make(copies, seed=5, rank=rank, world_size=after)
        theirs.load_state_dict(states[0])
        seen += _taken(theirs)
    assert seen == whole


def _taken(batches: Any) -> Counter[Any]:
    """Count what batches hold: pairs, or the rows as they are before masking."""
    seen: Counter[Any] = Counter()
    for batch in batches:
        if isinstance(batch, list):
            seen.update(batch)
            continue
        ids, labels, mask = (np.asarray(batch[name]) for name in ("input_ids", "labels", "attention_mask"))
        rows = np.where(labels == -100, ids, labels)
        seen.update(row[flags == 1].tobytes() for row, flags in zip(rows, mask, strict=True))
    return seen


def test_the_digests_are_those_of_the_manifest_without_a_look_at_the_files(dynamic_build: Path, tmp_path: Path) -> None:
    directory = write_build(tmp_path)
    manifest = files.read_json(str(directory / "manifest.json"))
    entries = manifest["splits"]["train"]["shards"]
    expected = [files.sha256(str(directory / shard["file"])) for shard in entries]
    assert open_shards(directory).digests == expected == open_shards(dynamic_build).digests
    entries[1]["sha256"] = "0" * 64
    files.write_json(str(directory / "manifest.json"), manifest)
    assert open_shards(directory, check=False).digests == [expected[0], "0" * 64]
