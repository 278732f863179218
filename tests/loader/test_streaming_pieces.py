"""Shards that are large beside their cache come in pieces: the same batches, whatever the cache or the store does."""

from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import fsspec
import numpy as np
import pytest

from bertdata.errors import ConfigError, InputError
from bertdata.loader import EpochBatchSampler, ShardExamples
from bertdata.loader.bench import measure
from bertdata.shards.streaming import StreamedShards
from tests.clock import PATIENCE
from tests.loader.streamed import batches_of, digests
from tests.loader.test_streaming import train
from tests.loader.test_streaming_faults import hasty, nothing_half_fetched, stored
from tests.many_shards import bytes_in, cut, write_pieces
from tests.torch.build import write_build

__all__ = ["hasty"]
ROOT = Path(__file__).resolve().parents[2]
PIECE_BYTES = 3000
FEW = {"shuffle_window": 3, "epochs": 2}
"""Windows of three pieces."""

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of a few shards of several pieces each."""
    folder = tmp_path_factory.mktemp("large")
    build = cut(write_build(folder / "build", documents=120), folder / "corpus", rows=100, batch_rows=10)
    return write_pieces(build, PIECE_BYTES)


@pytest.fixture(scope="module")
def url(large: Path) -> str:
    fsspec.filesystem("memory").put(str(large), "/large-corpus", recursive=True)
    return "memory://large-corpus/train"


@pytest.fixture(scope="module")
def sizes(large: Path) -> dict[str, int]:
    """The bytes of the largest shard, and of the largest piece."""
    entries = json.loads((large / "pieces/train.json").read_text())["shards"].values()
    pieces = [[size for size, *_ in entry["pieces"]] for entry in entries]
    return {"shard": max(map(sum, pieces)), "piece": max(map(max, pieces))}


@pytest.fixture(scope="module")
def local(large: Path) -> list[str]:
    return digests(batches_of(ShardExamples(large / "train", by_pieces=True), **FEW))


@pytest.fixture
def fetched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Counter[tuple[str, int | None]]:
    """How often each shard or piece was asked for, by its URL and where it begins.

    Only for caches of this test: what reads ahead in another one may not have ended yet.
    """
    counts: Counter[tuple[str, int | None]] = Counter()
    from bertdata.shards.streaming.fetching import copy_shard

    def counted(shard: Any, info: Any, path: str) -> None:
        if Path(path).is_relative_to(tmp_path):
            counts[shard.url, shard.begin] += 1
        copy_shard(shard, info, path)

    monkeypatch.setattr("bertdata.shards.streaming.shards.copy_shard", counted)
    return counts


@pytest.mark.costly
@pytest.mark.parametrize("room", [2, 3])
def test_windows_of_shards_are_those_of_local_ones_and_the_cache_is_bounded_by_the_bytes_of_pieces(
    room: int, large: Path, url: str, sizes: dict[str, int], tmp_path: Path, fetched: Counter[Any]
) -> None:
    streamed = ShardExamples(url, cache=tmp_path, cache_bytes=room * sizes["shard"])
    assert len(streamed.rows.files) > 3 * len(streamed.shard_rows[0])  # type: ignore[union-attr]
    seen, most = [], 0
    for batch in batches_of(streamed, shuffle_window=1, epochs=2):
        seen += digests([batch])
        most = max(most, bytes_in(tmp_path))
    assert seen == digests(batches_of(ShardExamples(large / "train"), shuffle_window=1, epochs=2))
    assert 0 < most <= room * sizes["shard"]
    assert all(begin is not None for _, begin in fetched)


@pytest.mark.parametrize("room", [6, 10])
def test_windows_of_pieces_are_those_of_local_shards_through_a_cache_that_holds_no_shard(
    room: int, url: str, local: list[str], sizes: dict[str, int], tmp_path: Path
) -> None:
    assert room * sizes["piece"] < 3 * sizes["shard"]
    streamed = ShardExamples(url, cache=tmp_path, cache_bytes=room * sizes["piece"], by_pieces=True)
    seen, most = [], 0
    for batch in batches_of(streamed, **FEW):
        seen += digests([batch])
        most = max(most, bytes_in(tmp_path))
    assert seen == local
    assert 0 < most <= room * sizes["piece"]


def test_each_piece_is_fetched_once_where_all_fit(
    url: str, local: list[str], tmp_path: Path, fetched: Counter[Any]
) -> None:
    for _ in range(2):
        streamed = ShardExamples(url, cache=tmp_path, cache_bytes=1e9, by_pieces=True)
        assert digests(batches_of(streamed, **FEW)) == local
    assert set(fetched.values()) == {1}
    assert len(fetched) == len(streamed.rows.files)  # type: ignore[union-attr]


def test_shards_that_are_small_beside_the_cache_come_as_a_whole(
    url: str, sizes: dict[str, int], tmp_path: Path, fetched: Counter[Any]
) -> None:
    streamed = ShardExamples(url, cache=tmp_path, cache_bytes=10 * sizes["shard"])
    digests(batches_of(streamed, shuffle_window=1))
    assert {begin for _, begin in fetched} == {None}


def test_every_row_comes_once_an_epoch_in_windows_of_pieces(large: Path) -> None:
    examples = ShardExamples(large / "train", by_pieces=True)
    pieces = np.cumsum(examples.shard_rows[0])
    sampler = EpochBatchSampler(examples, 16, seed=4, shuffle_window=3, epochs=1)
    numbers = [number for batch in sampler for _, number in batch]
    assert sorted(numbers) == list(range(len(examples)))
    owners = np.searchsorted(pieces, numbers, side="right")
    first, last = (np.array([np.flatnonzero(owners == piece)[end] for piece in range(len(pieces))]) for end in (0, -1))
    assert (last - first).max() < 4 * examples.shard_rows[0].max()


def test_rows_by_number_lengths_and_other_splits_are_those_of_local_shards(
    large: Path, url: str, sizes: dict[str, int], tmp_path: Path
) -> None:
    whole = ShardExamples(large / "train")
    streamed = ShardExamples(url, cache=tmp_path, cache_bytes=2 * sizes["shard"])
    assert streamed.fingerprint == whole.fingerprint
    assert np.array_equal(streamed.lengths, whole.lengths)
    assert all(
        np.array_equal(example["input_ids"], other["input_ids"]) for example, other in zip(streamed, whole, strict=True)
    )
    shards = streamed.shards
    assert isinstance(shards, StreamedShards)
    numbers = (0, 37, 150, -1)
    assert [shards[n]["example_id"] for n in numbers] == [whole.shards[n]["example_id"] for n in numbers]
    assert shards.columns(["example_id"]).equals(whole.shards.columns(["example_id"]))


def test_a_state_of_windows_of_pieces_is_good_for_local_shards_and_not_for_windows_of_shards(
    large: Path, url: str, local: list[str], sizes: dict[str, int], tmp_path: Path
) -> None:
    streamed = ShardExamples(url, cache=tmp_path, cache_bytes=6 * sizes["piece"], by_pieces=True)
    begun = batches_of(streamed, **FEW)
    seen = [digests([batch])[0] for _, batch in zip(range(7), begun, strict=False)]
    state = begun.state_dict()
    going_on = batches_of(ShardExamples(large / "train", by_pieces=True), **FEW)
    going_on.load_state_dict(state)
    assert seen + digests(going_on) == local
    with pytest.raises(ConfigError, match=r"another `?shuffle_window"):
        batches_of(ShardExamples(large / "train"), **FEW).load_state_dict(state)


def test_a_window_that_does_not_fit_is_refused(url: str, sizes: dict[str, int], tmp_path: Path) -> None:
    streamed = ShardExamples(url, cache=tmp_path, cache_bytes=2 * sizes["shard"])
    with pytest.raises(ConfigError, match=r"windows of 2 shards.*smaller `shuffle_window`, or one of pieces"):
        EpochBatchSampler(streamed, 4, shuffle_window=2)
    by_pieces = ShardExamples(url, cache=tmp_path, cache_bytes=5 * sizes["piece"], by_pieces=True)
    with pytest.raises(ConfigError, match=r"windows of 3 pieces of shards.*smaller `shuffle_window`, or raise"):
        EpochBatchSampler(by_pieces, 4, shuffle_window=3)
    with pytest.raises(ConfigError, match=r"the cache may hold .*data-\d+-of-\d+.arrow has a piece of [\d,]+; raise"):
        ShardExamples(url, cache=tmp_path, cache_bytes=1000)


def test_a_build_without_pieces_comes_in_whole_shards_with_one_line(
    large: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    copy = tmp_path / "corpus"
    shutil.copytree(large, copy)
    manifest = json.loads((copy / "manifest.json").read_text()) | {"files": {}}
    (copy / "manifest.json").write_text(json.dumps(manifest))
    monkeypatch.setattr("bertdata.shards.streaming.shards.PIECES_FROM", 1000)
    with caplog.at_level(logging.WARNING, "bertdata"):
        streamed = ShardExamples(copy / "train", cache=tmp_path / "cache", cache_bytes=60_000)
    [record] = caplog.records
    assert record.getMessage().startswith(f"{copy}: shards of ")
    assert record.getMessage().endswith("digests of their pieces; `bertdata verify --piece-bytes` writes them")
    whole = ShardExamples(large / "train")
    assert digests(batches_of(streamed, shuffle_window=1)) == digests(batches_of(whole, shuffle_window=1))
    with pytest.raises(ConfigError, match="has no digests of pieces"):
        EpochBatchSampler(ShardExamples(copy / "train", by_pieces=True), 4, shuffle_window=2)


def test_each_of_two_machines_fetches_its_part_of_a_window(
    large: Path, url: str, sizes: dict[str, int], tmp_path: Path, fetched: Counter[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "1")
    monkeypatch.setattr(ShardExamples, "follow", lambda self, coming: None)
    rows: list[int] = []
    for rank in (0, 1):
        streamed = ShardExamples(url, cache=tmp_path / f"{rank}", cache_bytes=4 * sizes["shard"])
        fetched.clear()
        for batch in EpochBatchSampler(streamed, 8, seed=4, shuffle_window=2, rank=rank, world_size=2):
            rows += streamed.__getitems__(batch).numbers("example_id").tolist()
        windows, pieces = -(-len(streamed.shard_rows[0]) // 2), len(streamed.rows.files)  # type: ignore[union-attr]
        assert set(fetched.values()) == {1}
        assert len(fetched) <= pieces / 2 + windows * 2
    assert len(rows) == len(set(rows)) == len(ShardExamples(large / "train"))


@pytest.mark.parametrize("kind", [pytest.param("s3", marks=pytest.mark.slow), "http"])
def test_where_one_request_in_ten_fails_batches_are_those_of_local_shards(
    kind: str, large: Path, local: list[str], sizes: dict[str, int], tmp_path: Path
) -> None:
    with stored(kind, large) as (place, proxy):
        proxy.kinds, proxy.share = ("503", "cut before", "cut inside", "cut after"), 0.1
        streamed = ShardExamples(place, cache=tmp_path, cache_bytes=6 * sizes["piece"], by_pieces=True)
        assert digests(batches_of(streamed, **FEW)) == local
        assert proxy.faults.total() >= 2
        assert nothing_half_fetched(tmp_path)


@pytest.mark.costly
def test_a_store_that_slows_to_a_hundredth_is_waited_for(
    large: Path, local: list[str], sizes: dict[str, int], tmp_path: Path
) -> None:
    with stored("http", large) as (place, proxy):
        streamed = ShardExamples(place, cache=tmp_path, cache_bytes=6 * sizes["piece"], by_pieces=True)
        batches = iter(batches_of(streamed, **FEW))
        seen = digests([next(batches)])
        proxy.bytes_a_second = sizes["piece"] / 0.6
        for _ in range(4):
            seen += digests([next(batches)])
        proxy.bytes_a_second = 1e9
        assert seen + digests(batches) == local


@pytest.mark.parametrize("kind", [pytest.param("s3", marks=pytest.mark.slow), "http"])
def test_a_range_that_comes_cut_or_altered_is_fetched_again_and_else_an_error_names_it(
    kind: str, large: Path, local: list[str], tmp_path: Path
) -> None:
    came: Counter[str] = Counter()
    wrong_times = 2

    def change(path: str, data: bytes) -> bytes:
        name = path.partition("?")[0].rpartition("/")[2]
        if not name.startswith(("data-00001", "data-00002")):
            return data
        came[name] += 1
        if came[name] > wrong_times:
            return data
        return data[: len(data) // 2] if "00001" in name else data[:-40] + bytes([data[-40] ^ 1]) + data[-39:]

    with stored(kind, large) as (place, proxy):
        proxy.change = change
        streamed = ShardExamples(place, cache=tmp_path / "one", cache_bytes=1e9, by_pieces=True)
        assert digests(batches_of(streamed, **FEW)) == local
        wrong_times = 1000
        streamed = ShardExamples(place, cache=tmp_path / "two", cache_bytes=1e9, by_pieces=True)
        with pytest.raises(
            InputError, match=r"/corpus/train/data-0000[12]-of-\d+.arrow, [\d,]+ bytes from [\d,]+ on: "
        ):
            digests(batches_of(streamed, **FEW))
        assert nothing_half_fetched(tmp_path / "two")


@pytest.mark.costly
@pytest.mark.parametrize("change", ["cut", "altered", "longer"])
def test_an_object_that_was_changed_in_its_store_is_refused_by_the_piece(
    change: str, large: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "corpus"
    shutil.copytree(large, copy)
    [path] = copy.glob("train/data-00001-*.arrow")
    data = path.read_bytes()
    changed = {"cut": data[:-2000], "altered": data[:-40] + b"x" + data[-39:], "longer": b"12345678" + data}
    path.write_bytes(changed[change])
    with stored("http", copy) as (place, _):
        streamed = ShardExamples(place, cache=tmp_path / "cache", cache_bytes=1e9, by_pieces=True)
        with pytest.raises(InputError, match=r"data-00001-of-\d+.arrow, [\d,]+ bytes from [\d,]+ on: has ") as raised:
            digests(batches_of(streamed, **FEW))
    assert len(str(raised.value).splitlines()) == 1


def test_a_server_that_knows_no_ranges_gives_the_same_batches(
    large: Path, local: list[str], sizes: dict[str, int], tmp_path: Path
) -> None:
    with stored("http", large) as (place, _):
        from tests.loader.test_streaming_faults import _Served

        get = _Served.get

        def without_ranges(self: Any, path: str, default: Any = None) -> Any:
            file = get(self, path, default)
            if file is not None:
                file.ranges = False
            return file

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_Served, "get", without_ranges)
            streamed = ShardExamples(place, cache=tmp_path, cache_bytes=6 * sizes["piece"], by_pieces=True)
            assert digests(batches_of(streamed, **FEW)) == local


def test_a_copy_of_a_piece_that_was_damaged_is_fetched_again(
    url: str, local: list[str], tmp_path: Path, fetched: Counter[Any]
) -> None:
    streamed = ShardExamples(url, cache=tmp_path, cache_bytes=1e9, by_pieces=True)
    assert digests(batches_of(streamed, **FEW)) == local
    [path, *_] = sorted(tmp_path.glob("*.arrow"))
    path.write_bytes(b"x" + path.read_bytes()[1:])
    again = ShardExamples(url, cache=tmp_path, cache_bytes=1e9, by_pieces=True)
    assert digests(batches_of(again, **FEW)) == local
    assert sorted(set(fetched.values())) == [1, 2]


@pytest.mark.costly
def test_a_full_disk_is_an_error_of_the_cache_and_not_of_the_store(
    large: Path, sizes: dict[str, int], tmp_path: Path
) -> None:
    if os.geteuid() or not shutil.which("unshare"):
        pytest.skip("needs root, to mount a small disk")
    mount = f'mount -t tmpfs -o size={(9 * sizes["piece"]) >> 10}k none "$1" && exec "$0" -c "$2" "$3" "$1" "$4"'
    code = "import sys; from tests.loader.test_streaming_pieces import full_disk; full_disk(*sys.argv[1:])"
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", mount, sys.executable, str(tmp_path), code, str(large), str(sizes["piece"])],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"{tmp_path}: the cache cannot be written (No space left on device); make room")
    assert lines[1:] == ["nothing left half fetched", "the same batches"]


def full_disk(corpus: str, cache: str, piece_bytes: str) -> None:
    """Stream pieces through a cache on a disk that is smaller than it may be, and then through one that fits."""
    place = f"{corpus}/train"
    try:
        streamed = ShardExamples(place, cache=cache, cache_bytes=100 * int(piece_bytes), by_pieces=True)
        digests(batches_of(streamed, shuffle_window=8))
    except Exception as error:  # printed, and compared by the test
        print(error)
    print("nothing left half fetched" if nothing_half_fetched(Path(cache)) else os.listdir(cache))
    streamed = ShardExamples(place, cache=cache, cache_bytes=6 * int(piece_bytes), by_pieces=True)
    whole = ShardExamples(place, by_pieces=True)
    print("the same batches" if digests(batches_of(streamed, **FEW)) == digests(batches_of(whole, **FEW)) else "others")


@pytest.mark.slow
def test_a_training_that_is_killed_leaves_nothing_that_the_next_one_does_not_clear(
    large: Path, sizes: dict[str, int], tmp_path: Path
) -> None:
    room = 6 * sizes["shard"]
    for _ in range(4):
        killed = train(large, tmp_path, room, pause=0.01)
        assert killed.stdout
        killed.stdout.readline()
        killed.kill()
        killed.wait(PATIENCE)
        killed.stdout.close()
    both = [train(large, tmp_path, room) for _ in range(2)]
    outputs = [process.communicate(timeout=PATIENCE)[0] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert outputs[0] == outputs[1]
    assert len(outputs[0].splitlines()) > 10
    assert bytes_in(tmp_path) <= room
    assert nothing_half_fetched(tmp_path)


def test_bench_measures_windows_of_pieces(url: str, sizes: dict[str, int], tmp_path: Path) -> None:
    place: dict[str, Any] = {"cache": str(tmp_path), "cache_bytes": 6 * sizes["piece"], "by_pieces": True}
    measured = measure([url], 8, False, 0.05, shuffle_window=3, **place)
    assert measured["store_tokens_per_second"] > 0
    assert measured["fed_tokens_per_second"] > 0
    assert bytes_in(tmp_path) <= place["cache_bytes"]
