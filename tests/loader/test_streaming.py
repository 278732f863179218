"""Batches of streamed shards are those of the same shards on this machine, through a cache that stays bounded."""

from __future__ import annotations

import json
import multiprocessing
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest

from bertdata.errors import ConfigError, InputError
from bertdata.loader import EpochBatchSampler, ShardExamples
from bertdata.shards.stamps import mark_whole
from bertdata.shards.streaming import CacheFolder, StreamedShards
from tests.clock import PATIENCE
from tests.loader.streamed import batches_of, digests
from tests.many_shards import bytes_in

ROOT = Path(__file__).resolve().parents[2]
ROWS = 12


@pytest.fixture(scope="module")
def url(corpus: Path) -> str:
    fsspec.filesystem("memory").put(str(corpus), "/streamed-corpus", recursive=True)
    return "memory://streamed-corpus/train"


FORKS = pytest.mark.filterwarnings("ignore:.*use of fork:DeprecationWarning")


@pytest.mark.costly
@pytest.mark.parametrize("window", [1, 3, 8])
def test_batches_are_those_of_local_shards_and_the_cache_stays_bounded(
    corpus: Path, url: str, shard_bytes: int, window: int, tmp_path: Path
) -> None:
    room = max(4, 2 * window) * shard_bytes
    streamed = ShardExamples(url, cache=tmp_path, cache_bytes=room)
    assert len(streamed.shard_rows[0]) > 20
    seen, most = [], 0
    for batch in batches_of(streamed, shuffle_window=window, epochs=2):
        seen += digests([batch])
        most = max(most, bytes_in(tmp_path))
    assert seen == digests(batches_of(ShardExamples(corpus / "train"), shuffle_window=window, epochs=2))
    assert 0 < most <= room


def test_a_shuffle_over_all_shards_has_the_batches_of_local_ones_and_fetches_each_once(
    corpus: Path, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched: Counter[str] = Counter()
    copy = "bertdata.shards.streaming.shards.copy_shard"
    from bertdata.shards.streaming.fetching import copy_shard

    def counted(shard: Any, info: Any, path: str) -> None:
        fetched[shard.url] += 1
        copy_shard(shard, info, path)

    monkeypatch.setattr(copy, counted)
    local = ShardExamples(corpus / "train")
    for _ in range(2):
        streamed = ShardExamples(url, cache=tmp_path, cache_bytes=1e9)
        assert digests(batches_of(streamed, epochs=2)) == digests(batches_of(local, epochs=2))
    assert set(fetched.values()) == {1}
    assert len(fetched) == len(streamed.shard_rows[0])
    assert streamed.fingerprint == local.fingerprint
    assert streamed.tokens == local.tokens
    assert np.array_equal(streamed.lengths, local.lengths)


def test_a_run_goes_on_from_its_state_on_local_shards_and_back(
    corpus: Path, url: str, shard_bytes: int, tmp_path: Path
) -> None:
    local = ShardExamples(corpus / "train")
    whole = digests(batches_of(local, shuffle_window=4, epochs=2))
    streamed = ShardExamples(url, cache=tmp_path, cache_bytes=8 * shard_bytes)
    seen: list[str] = []
    state = None
    for examples, steps in ((streamed, 5), (local, 9), (streamed, 1000)):
        batches = batches_of(examples, shuffle_window=4, epochs=2)
        if state is not None:
            batches.load_state_dict(state)
        for _, batch in zip(range(steps), batches, strict=False):
            seen += digests([batch])
        state = json.loads(json.dumps(batches.state_dict()))
    assert seen == whole


def test_pickled_it_reads_the_same(url: str, tmp_path: Path) -> None:
    streamed = ShardExamples(url, cache=tmp_path, cache_bytes=1e9)
    again = pickle.loads(pickle.dumps(streamed))
    assert np.array_equal(again[33]["input_ids"], streamed[33]["input_ids"])


@pytest.mark.costly
def test_length_bins_and_weights_stream_too(corpus: Path, url: str, shard_bytes: int, tmp_path: Path) -> None:
    local = ShardExamples(corpus / "train")
    streamed = ShardExamples(url, cache=tmp_path, cache_bytes=13 * shard_bytes)
    binned: dict[str, Any] = {"rows": 4, "bins": (16, 24, 32), "shuffle_window": 4, "epochs": 2}
    assert digests(batches_of(streamed, **binned)) == digests(batches_of(local, **binned))
    both: dict[str, Any] = {"weights": (1.0, 3.0), "shuffle_window": 2}
    sets = ShardExamples([local.shards, local.shards]), ShardExamples([local.shards, streamed.shards])
    assert digests(batches_of(sets[1], **both)) == digests(batches_of(sets[0], **both))


def test_what_does_not_fit_is_refused_before_it_begins(url: str, shard_bytes: int, tmp_path: Path) -> None:
    streamed = ShardExamples(url, cache=tmp_path, cache_bytes=4 * shard_bytes)
    with pytest.raises(ConfigError, match=r"over all shards.*give `shuffle_window`"):
        EpochBatchSampler(streamed, 4)
    with pytest.raises(ConfigError, match=r"windows of 3 shards.*smaller `shuffle_window`"):
        EpochBatchSampler(streamed, 4, shuffle_window=3)
    EpochBatchSampler(streamed, 4, shuffle_window=2)
    with pytest.raises(ConfigError, match="the cache may hold"):
        ShardExamples(url, cache=tmp_path, cache_bytes=shard_bytes // 2)
    for cache, cache_bytes in ((tmp_path, None), (None, 1e9)):
        with pytest.raises(ConfigError, match="both `cache`"):
            ShardExamples(url, cache=cache, cache_bytes=cache_bytes)
    with pytest.raises(ConfigError, match="a folder of this machine"):
        ShardExamples(url, cache="s3://bucket", cache_bytes=1e9)


@pytest.mark.costly
def test_an_object_that_was_altered_is_refused_by_its_name(corpus: Path, tmp_path: Path) -> None:
    memory = fsspec.filesystem("memory")
    memory.put(str(corpus), "/altered-corpus", recursive=True)
    name = sorted(memory.ls("/altered-corpus/train", detail=False))[3]
    data = bytearray(memory.cat_file(name))
    data[-40] ^= 1
    memory.pipe_file(name, bytes(data))
    streamed = ShardExamples("memory://altered-corpus/train", cache=tmp_path, cache_bytes=1e9)
    with pytest.raises(InputError, match=r"altered-corpus/train/data-00003-of-\d+.arrow: has the SHA-256"):
        for _ in batches_of(streamed):
            pass
    assert not [path.name for path in tmp_path.iterdir() if path.suffix in (".data", ".fetching")]


TRAIN = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
from bertdata.loader import BatchCollator, EpochBatchSampler, NumpyBatches, ShardExamples
corpus, cache, room, pause = sys.argv[1], sys.argv[2], float(sys.argv[3]), float(sys.argv[4])
examples = ShardExamples(corpus, cache=cache, cache_bytes=room)
sampler = EpochBatchSampler(examples, 16, seed=4, shuffle_window=3)
for batch in NumpyBatches(examples, sampler, BatchCollator(examples)):
    print(" ".join(map(str, batch["input_ids"].sum(axis=1).tolist())), flush=True)
    time.sleep(pause)
"""


def train(corpus: Path, cache: Path, room: int, pause: float = 0.0) -> subprocess.Popen[str]:
    arguments = [str(corpus / "train"), str(cache), str(room), str(pause)]
    return subprocess.Popen(
        [sys.executable, "-c", TRAIN, *arguments], stdout=subprocess.PIPE, text=True, cwd=ROOT, env=dict(os.environ)
    )


@pytest.mark.costly
def test_two_trainings_on_one_cache_folder_have_the_same_batches(
    corpus: Path, shard_bytes: int, tmp_path: Path
) -> None:
    room = 9 * shard_bytes
    both = [train(corpus, tmp_path, room) for _ in range(2)]
    outputs = [process.communicate(timeout=PATIENCE)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert outputs[0] == outputs[1]
    assert len(outputs[0].splitlines()) > 10
    assert bytes_in(tmp_path) <= room


@pytest.mark.slow
@pytest.mark.parametrize("ended_by", [signal.SIGKILL, signal.SIGTERM])
def test_a_training_that_is_ended_leaves_nothing_that_the_next_one_does_not_clear(
    ended_by: signal.Signals, corpus: Path, shard_bytes: int, tmp_path: Path
) -> None:
    room = 6 * shard_bytes
    for pause in (0.0, 0.02, 0.05, 0.1):
        killed = train(corpus, tmp_path, room, pause=0.01)
        assert killed.stdout
        killed.stdout.readline()
        time.sleep(pause)
        killed.send_signal(ended_by)
        killed.wait(PATIENCE)
        killed.stdout.close()
    (tmp_path / f"{'0' * 64}.fetching").write_bytes(b"0" * shard_bytes)  # of processes that were killed as they fetched
    (tmp_path / f"{'0' * 64}.data").write_bytes(b"0" * shard_bytes)
    (tmp_path / f"{'1' * 64}.data.part").write_bytes(b"0" * shard_bytes)
    after = train(corpus, tmp_path, room)
    assert len(after.communicate(timeout=PATIENCE)[0].splitlines()) > 10
    assert after.returncode == 0
    CacheFolder(str(tmp_path), room)
    left = {
        path.suffix for path in tmp_path.iterdir() if path.is_file() and path.name not in ("lock", "crowded", "turn")
    }
    assert left == {".arrow"}
    assert not list((tmp_path / "needs").iterdir())


@pytest.mark.costly
def test_two_trainings_on_a_cache_with_room_for_one_have_the_same_batches_too(
    corpus: Path, shard_bytes: int, tmp_path: Path
) -> None:
    room = 6 * shard_bytes
    both = [train(corpus, tmp_path, room, pause) for pause in (0.0, 0.02)]
    outputs = [process.communicate(timeout=PATIENCE)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert outputs[0] == outputs[1]
    assert len(outputs[0].splitlines()) > 10
    assert bytes_in(tmp_path) <= room


def reads_all_beside(corpus: Path, cache: Path, room: int) -> bool:
    """Tell whether a reader that others leave no room has the batches of local shards in the end."""
    streamed = ShardExamples(corpus / "train", cache=cache, cache_bytes=room)
    expected = digests(batches_of(ShardExamples(corpus / "train"), shuffle_window=3))
    return digests(batches_of(streamed, shuffle_window=3)) == expected


def test_a_reader_that_stopped_inside_an_epoch_leaves_the_room_to_those_that_read(
    corpus: Path, shard_bytes: int, tmp_path: Path
) -> None:
    room = 6 * shard_bytes
    stopped = ShardExamples(corpus / "train", cache=tmp_path, cache_bytes=room)
    assert len([stopped[12 * shard]["input_ids"].copy() for shard in range(6)]) == 6
    assert reads_all_beside(corpus, tmp_path, room)
    assert np.array_equal(stopped[30]["input_ids"], ShardExamples(corpus / "train")[30]["input_ids"])


@FORKS
def test_a_process_that_was_forked_does_not_keep_what_its_parent_had_open(
    corpus: Path, shard_bytes: int, tmp_path: Path
) -> None:
    room = 6 * shard_bytes
    opened = ShardExamples(corpus / "train", cache=tmp_path, cache_bytes=room)
    assert len([opened[12 * shard]["input_ids"].copy() for shard in range(5)]) == 5
    forking = multiprocessing.get_context("fork")
    ended = forking.Event()
    child = forking.Process(target=ended.wait, daemon=True)
    child.start()
    try:
        assert reads_all_beside(corpus, tmp_path, room)
        assert child.is_alive()
    finally:
        ended.set()
        child.join(PATIENCE)


@FORKS
def test_a_process_that_is_forked_while_a_shard_comes_does_not_keep_it(
    corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    streamed = ShardExamples(corpus / "train", cache=tmp_path, cache_bytes=1e9)
    shards = streamed.shards
    assert isinstance(shards, StreamedShards)
    is_locked = threading.Event()

    def mark_slowly(descriptor: int, digest: str) -> None:
        is_locked.set()
        time.sleep(0.3)
        mark_whole(descriptor, digest)

    monkeypatch.setattr("bertdata.shards.streaming.folder.mark_whole", mark_slowly)
    fetching = threading.Thread(target=shards.fetch, args=(7,))
    fetching.start()
    assert is_locked.wait(PATIENCE)
    forking = multiprocessing.get_context("fork")
    ended = forking.Event()
    child = forking.Process(target=ended.wait, daemon=True)
    child.start()
    try:
        fetching.join(PATIENCE)
        assert shards.folder.has(shards.files[7])
        shards.folder.drop(shards.files[7])
        assert not shards.folder.has(shards.files[7])
        assert child.is_alive()
    finally:
        ended.set()
        child.join(PATIENCE)
