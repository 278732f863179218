"""Batches stay those of local shards where a store fails, is slow or answers wrongly; or one error tells."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import fsspec
import pytest

from bertdata.errors import InputError, OutputError
from bertdata.io.http import Client
from bertdata.loader import ShardExamples
from tests.clock import PATIENCE
from tests.faults import Proxy, faulty
from tests.loader.streamed import batches_of, digests
from tests.pipelines.stores import STORES, Store
from tests.server import File, serve

pytestmark = [
    # the servers and clients of others warn of what they themselves use
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
ROOT = Path(__file__).resolve().parents[2]
WINDOW = 3


@contextlib.contextmanager
def web_store() -> Iterator[Store]:
    """Run an HTTP server that honours ranges."""
    with serve() as server, faulty("127.0.0.1", int(server.url.rpartition(":")[2]), 0.0) as proxy:
        server.files = _Served()
        yield Store(proxy.url, proxy)


class _Served(dict[str, File]):
    """The files below the folder that is served."""

    folder = Path()

    def get(self, path: str, default: Any = None) -> Any:
        file = self.folder / path.removeprefix("/corpus/")
        return File(file.read_bytes()) if file.is_file() else default


@contextlib.contextmanager
def stored(kind: str, corpus: Path) -> Iterator[tuple[str, Proxy]]:
    """Yield the URL of the train split in a store of some kind, and the proxy before it."""
    if kind == "http":
        _Served.folder = corpus
        with web_store() as store:
            yield f"{store.bucket}/corpus/train", store.proxy
        return
    with STORES[kind]() as store:
        fsspec.filesystem(kind).put(str(corpus), f"{store.bucket}/corpus", recursive=True)
        yield f"{store.bucket}/corpus/train", store.proxy


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tried again is so at once."""
    monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")
    monkeypatch.setattr("bertdata.io.http.Client", partial(Client, sleep=lambda seconds: None))
    monkeypatch.setattr("bertdata.shards.streaming.fetching._WAIT", 0.0)


def nothing_half_fetched(cache: Path) -> bool:
    """Tell whether a cache has only whole shards, once what is being fetched ahead has come."""
    deadline = time.monotonic() + PATIENCE
    while left := [name for name in os.listdir(cache) if ".data" in name or name.endswith(".fetching")]:
        if time.monotonic() > deadline:
            return not left
        time.sleep(0.05)
    return True


@pytest.fixture(scope="module")
def local(corpus: Path) -> list[str]:
    return digests(batches_of(ShardExamples(corpus / "train"), shuffle_window=WINDOW))


KINDS = [pytest.param(kind, marks=[] if kind == "http" else [pytest.mark.slow]) for kind in [*STORES, "http"]]


@pytest.mark.parametrize("kind", KINDS)
def test_where_one_request_in_ten_fails_batches_are_those_of_local_shards(
    kind: str, corpus: Path, local: list[str], shard_bytes: int, tmp_path: Path
) -> None:
    with stored(kind, corpus) as (url, proxy):
        proxy.kinds, proxy.share = ("503", "cut before", "cut inside", "cut after"), 0.1
        streamed = ShardExamples(url, cache=tmp_path, cache_bytes=6 * shard_bytes)
        assert digests(batches_of(streamed, shuffle_window=WINDOW)) == local
        assert proxy.faults.total() >= 2
        assert nothing_half_fetched(tmp_path)


@pytest.mark.costly
def test_a_store_that_slows_to_a_hundredth_is_waited_for(
    corpus: Path, local: list[str], shard_bytes: int, tmp_path: Path
) -> None:
    with stored("http", corpus) as (url, proxy):
        streamed = ShardExamples(url, cache=tmp_path, cache_bytes=6 * shard_bytes)
        batches = iter(batches_of(streamed, shuffle_window=WINDOW))
        seen = [digests([next(batches)])[0]]
        proxy.bytes_a_second = shard_bytes / 0.6
        for _ in range(4):
            seen += digests([next(batches)])
        proxy.bytes_a_second = 1e9
        assert seen + digests(batches) == local


@pytest.mark.parametrize("kind", ["s3", "http"])
def test_an_object_that_comes_cut_or_altered_is_fetched_again_and_else_an_error_names_it(
    kind: str, corpus: Path, local: list[str], tmp_path: Path
) -> None:
    came: Counter[str] = Counter()
    wrong_times = 2

    def change(path: str, data: bytes) -> bytes:
        name = path.partition("?")[0].rpartition("/")[2]
        if not name.endswith(".arrow"):
            return data
        came[name] += 1
        if came[name] > wrong_times or not name.startswith(("data-00003", "data-00007")):
            return data
        return data[: len(data) // 2] if "00003" in name else data[:-40] + bytes([data[-40] ^ 1]) + data[-39:]

    with stored(kind, corpus) as (url, proxy):
        proxy.change = change
        streamed = ShardExamples(url, cache=tmp_path / "one", cache_bytes=1e9)
        assert digests(batches_of(streamed, shuffle_window=WINDOW)) == local
        assert {name[:10] for name, times in came.items() if times > 1 and "-00000-" not in name} == {
            "data-00003",
            "data-00007",
        }
        wrong_times = 1000
        streamed = ShardExamples(url, cache=tmp_path / "two", cache_bytes=1e9)
        with pytest.raises(InputError, match=r"/corpus/train/data-0000[37]-of-\d+.arrow: has "):
            digests(batches_of(streamed, shuffle_window=WINDOW))
        assert nothing_half_fetched(tmp_path / "two")


@pytest.mark.costly
@pytest.mark.parametrize("kind", ["memory", "http"])
def test_a_full_disk_is_an_error_of_the_cache_and_not_of_the_store(
    kind: str, corpus: Path, shard_bytes: int, tmp_path: Path
) -> None:
    if os.geteuid() or not shutil.which("unshare"):
        pytest.skip("needs root, to mount a small disk")
    code = (
        "import sys; from tests.loader.test_streaming_faults import full_disk; "
        "full_disk(sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4]))"
    )
    mount = f'mount -t tmpfs -o size={(9 * shard_bytes) >> 10}k none "$1" && exec "$0" -c "$2" "$3" "$4" "$1" "$5"'
    arguments = [sys.executable, str(tmp_path), code, kind, str(corpus), str(100 * shard_bytes)]
    done = subprocess.run(
        ["unshare", "--mount", "sh", "-c", mount, *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    lines = done.stdout.splitlines()
    assert lines[0].startswith(f"{tmp_path}: the cache cannot be written (No space left on device); make room")
    assert lines[1:] == ["nothing left half fetched", "the same batches"]


def full_disk(kind: str, corpus: str, cache: str, room: int) -> None:
    """Stream shards through a cache on a disk that is smaller than it may be, and then through one that fits."""
    with contextlib.ExitStack() as stack:
        url = "memory://corpus/train"
        if kind == "memory":
            fsspec.filesystem("memory").put(corpus, "/corpus", recursive=True)
        else:
            url, _ = stack.enter_context(stored(kind, Path(corpus)))
        try:
            digests(batches_of(ShardExamples(url, cache=cache, cache_bytes=room), shuffle_window=8))
        except OutputError as error:
            print(error)
        print("nothing left half fetched" if nothing_half_fetched(Path(cache)) else os.listdir(cache))
        streamed = ShardExamples(url, cache=cache, cache_bytes=room // 100 * 6)
        local = ShardExamples(f"{corpus}/train")
        seen, expected = (digests(batches_of(examples, shuffle_window=WINDOW)) for examples in (streamed, local))
        print("the same batches" if seen == expected else "other batches")
