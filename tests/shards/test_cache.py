"""Remote shards and their local cache."""

from __future__ import annotations

import errno
import gc
import hashlib
import itertools
import os
import pickle
import shutil
import socket
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import fsspec
import pytest

from bertdata.errors import ConfigError, InputError
from bertdata.io import files
from bertdata.io.http import Client
from bertdata.shards import cache as module
from bertdata.shards import open_shards
from bertdata.shards.cache import ShardCache, ShardFile
from bertdata.shards.reader import shard_files
from bertdata.shards.streaming.folder import CacheFolder
from tests.server import File, Server, serve


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr("bertdata.io.http.Client", partial(Client, attempts=2, sleep=lambda seconds: None))
    with serve() as running:
        yield running


def put(server: Server, build: Path) -> str:
    """Serve a build, and return its URL."""
    for path in sorted(build.rglob("*")):
        if path.is_file() and "stages" not in path.parts:
            server.files[f"/{path.relative_to(build)}"] = File(path.read_bytes())
    return server.url


def shard_names(server: Server) -> list[str]:
    return sorted(name for name in server.files if name.startswith("/train/") and name.endswith(".arrow"))


def held(cache: ShardCache) -> list[Path]:
    return sorted(Path(cache.directory).glob("*.arrow"))


def asked(server: Server) -> list[str]:
    return [path for path in server.paths() if path.endswith(".arrow")]


@pytest.mark.costly
def test_shards_over_http_are_those_of_the_build_and_are_fetched_once(
    dynamic_build: Path, tmp_path: Path, server: Server
) -> None:
    cache = ShardCache(str(tmp_path))
    url = put(server, dynamic_build)
    remote, local = open_shards(url, cache=cache), open_shards(dynamic_build)
    assert remote.table.equals(local.table)
    assert remote.tokenizer() == local.tokenizer()
    assert sorted(asked(server)) == shard_names(server)
    again = pickle.loads(pickle.dumps(remote))
    assert again.table.equals(local.table)
    assert open_shards(f"{url}/train", cache=cache).table.equals(local.table)
    assert len(asked(server)) == len(shard_names(server))
    others = {path.name for path in Path(cache.directory).iterdir() if not path.name.endswith(".arrow")}
    assert others == {".locks", ".pins"}


def test_shards_in_an_object_store_are_those_of_the_build(dynamic_build: Path, tmp_path: Path) -> None:
    fsspec.filesystem("memory").put(str(dynamic_build), "/cached-build", recursive=True)
    cache = ShardCache(str(tmp_path))
    assert open_shards("memory://cached-build", cache=cache).table.equals(open_shards(dynamic_build).table)
    sums = {files.sha256(str(path)) for path in held(cache)}
    assert sums == {path.stem for path in held(cache)}


def test_a_cut_download_goes_on_and_one_that_stays_cut_leaves_no_bad_file(
    dynamic_build: Path, tmp_path: Path, server: Server
) -> None:
    cache = ShardCache(str(tmp_path))
    url = put(server, dynamic_build)
    first, second = shard_names(server)[:2]
    server.files[first].faults = [100]
    server.files[second].faults = [0] * 50
    with pytest.raises(InputError, match=second[1:]):
        open_shards(url, cache=cache)
    good = {files.sha256(str(path)) for path in held(cache)}
    assert good == {path.stem for path in held(cache)}
    assert not [path for path in tmp_path.iterdir() if path.name.endswith(".fetching")]
    server.files[second].faults = []
    assert open_shards(url, cache=cache).table.equals(open_shards(dynamic_build).table)


@pytest.mark.costly
def test_a_server_that_restarts_is_waited_for(
    dynamic_build: Path, tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    connect, calls = socket.create_connection, itertools.count(1)

    def restarting(*arguments: Any) -> socket.socket:
        if next(calls) % 3:
            raise ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused")
        return connect(*arguments)

    url = put(server, dynamic_build)
    monkeypatch.setattr(socket, "create_connection", restarting)
    shards = open_shards(url, cache=ShardCache(str(tmp_path)))
    assert shards.table.equals(open_shards(dynamic_build).table)
    assert next(calls) == 3 * len(server.requests) + 1


def test_a_wrong_checksum_and_a_wrong_length_name_the_shard(
    dynamic_build: Path, tmp_path: Path, server: Server
) -> None:
    url = put(server, dynamic_build)
    name = shard_names(server)[1]
    data = server.files[name].data
    server.files[name] = File(data[:-9] + b"x" + data[-8:])
    with pytest.raises(InputError, match=rf"{name}: has the SHA-256 [0-9a-f]{{64}}, the manifest says"):
        open_shards(url, cache=ShardCache(str(tmp_path / "one")))
    server.files[name] = File(data[:-8])
    with pytest.raises(InputError, match=rf"{name}: has {len(data) - 8} bytes, the manifest says {len(data)}"):
        open_shards(url, cache=ShardCache(str(tmp_path / "two")))
    del server.files[name]
    with pytest.raises(InputError, match=f"{name}: is not there"):
        open_shards(url, cache=ShardCache(str(tmp_path / "three")))
    assert len(held(ShardCache(str(tmp_path / "one")))) == len(shard_names(server))


@pytest.mark.costly
def test_a_file_in_the_cache_that_was_cut_off_is_fetched_again(
    dynamic_build: Path, tmp_path: Path, server: Server
) -> None:
    cache = ShardCache(str(tmp_path))
    url = put(server, dynamic_build)
    open_shards(url, cache=cache)
    os.truncate(held(cache)[0], 10)
    assert open_shards(url, cache=cache).table.equals(open_shards(dynamic_build).table)


def test_the_cache_holds_no_more_than_its_bytes_and_what_was_used_longest_ago_goes_first(
    dynamic_build: Path, static_build: Path, tmp_path: Path
) -> None:
    memory = fsspec.filesystem("memory")
    sizes = {}
    for name, build in (("one", dynamic_build), ("two", static_build)):
        memory.put(str(build), f"/{name}-build", recursive=True)
        for split in ("train", "validation"):
            sizes[name, split] = sum(path.stat().st_size for path in (build / split).glob("*.arrow"))
    cache = ShardCache(str(tmp_path), sum(sizes.values()) - 1)
    order = [("one", "train"), ("two", "validation"), ("one", "validation")]
    for moment, (name, split) in enumerate(order, 1):
        before = set(held(cache))
        open_shards(f"memory://{name}-build", split, cache=cache)
        for path in set(held(cache)) - before:
            os.utime(path, (moment, path.stat().st_mtime))
    used = {path: path.stat().st_atime for path in held(cache)}
    open_shards("memory://two-build", "train", cache=cache)
    kept = set(held(cache))
    assert sum(path.stat().st_size for path in kept) <= cache.max_bytes
    gone = used.keys() - kept
    assert gone
    assert max(used[path] for path in gone) <= min(used[path] for path in used.keys() & kept)


def shards_of(names: str, size: int) -> list[ShardFile]:
    """Put some files into the object store in memory; returns them as shards."""
    memory, paths = fsspec.filesystem("memory"), []
    for name in names:
        data = name.encode() * size
        memory.pipe_file(f"/some-shards/{name}", data)
        paths.append(ShardFile(f"memory://some-shards/{name}", size, hashlib.sha256(data).hexdigest()))
    return paths


def test_what_is_held_counts_before_it_is_there_and_is_never_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = shards_of("ab", 500), shards_of("cd", 500)
    cache = ShardCache(str(tmp_path), 1200)
    inside: list[str] = []
    real = module.fetch

    def fetch_and_hold_others(url: str, path: str) -> None:
        monkeypatch.setattr(module, "fetch", real)
        with pytest.raises(ConfigError, match=r"other processes hold 1,000 bytes of the cache, .* 2,000 of the 1,200"):
            cache.hold(two)
        inside.append(url)
        real(url, path)

    monkeypatch.setattr(module, "fetch", fetch_and_hold_others)
    first = cache.hold(one)
    assert len(inside) == 1
    assert sum(path.stat().st_size for path in held(cache)) == 1000
    again = cache.hold(one[:1])
    assert again == first[:1]
    del first
    gc.collect()
    with pytest.raises(ConfigError, match="other processes hold 500 bytes"):
        cache.hold(two)
    third = cache.hold(two[:1])
    assert {str(path) for path in held(cache)} == {*again, *third}
    del again, third
    gc.collect()
    assert sorted(map(str, held(cache))) != sorted(cache.hold(two)) == sorted(map(str, held(cache)))


def test_what_an_ended_process_held_and_left_half_fetched_goes(tmp_path: Path) -> None:
    [shard] = shards_of("a", 500)
    code = (
        "import os, sys; from bertdata.shards.cache import ShardCache, ShardFile, _pin; "
        "cache = ShardCache(sys.argv[1]); os.makedirs(sys.argv[1] + '/.pins'); "
        "pin = _pin(sys.argv[1], {'x.arrow': 1000}); "
        "open(sys.argv[1] + '/' + 'a' * 64 + '.arrow.fetching', 'w').close(); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    assert len(list((tmp_path / ".pins").iterdir())) == 1
    cached = ShardCache(str(tmp_path), 600).hold([shard])
    assert [path.name for path in tmp_path.iterdir() if path.suffix == ".fetching"] == []
    assert len(list((tmp_path / ".pins").iterdir())) == 1
    assert Path(cached[0]).read_bytes() == b"a" * 500


@pytest.mark.costly
def test_a_file_in_the_cache_with_a_flipped_bit_is_fetched_again(
    dynamic_build: Path, tmp_path: Path, server: Server
) -> None:
    cache = ShardCache(str(tmp_path))
    open_shards(put(server, dynamic_build), cache=cache)
    path = held(cache)[0]
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    assert open_shards(server.url, cache=cache).table.equals(open_shards(dynamic_build).table)
    assert files.sha256(str(path)) == path.stem


def test_a_split_larger_than_the_cache_is_refused_before_anything_is_fetched(
    dynamic_build: Path, tmp_path: Path, server: Server
) -> None:
    url = put(server, dynamic_build)
    with pytest.raises(ConfigError, match=r"the shards have [\d,]+ bytes together, and the cache may hold 1,000"):
        open_shards(url, cache=ShardCache(str(tmp_path), 1000))
    assert asked(server) == []


@pytest.mark.costly
def test_a_split_exactly_as_large_as_the_cache_is_held(dynamic_build: Path, tmp_path: Path, server: Server) -> None:
    size = sum(os.path.getsize(path) for path in open_shards(dynamic_build).paths)
    url = put(server, dynamic_build)
    with pytest.raises(ConfigError, match=f"the shards have {size:,} bytes together"):
        open_shards(url, cache=ShardCache(str(tmp_path), size - 1))
    assert len(open_shards(url, cache=ShardCache(str(tmp_path), size))) > 0


def test_the_default_cache_is_what_the_environment_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("BERTDATA_CACHE", str(tmp_path))
    monkeypatch.setenv("BERTDATA_CACHE_BYTES", "123")
    assert ShardCache.default() == ShardCache(str(tmp_path), 123)
    monkeypatch.setenv("BERTDATA_CACHE_BYTES", "many")
    with pytest.raises(ConfigError, match="BERTDATA_CACHE_BYTES is 'many'"):
        ShardCache.default()


def test_a_build_that_is_not_there_is_an_error_that_says_what_was_expected(tmp_path: Path, server: Server) -> None:
    with pytest.raises(InputError, match="holds no finished build"):
        open_shards(f"{server.url}/nothing", cache=ShardCache(str(tmp_path)))
    shutil.rmtree(tmp_path)


def test_files_of_others_in_the_folder_of_a_cache_stay(tmp_path: Path) -> None:
    others = ["data-00000-of-00001.arrow", "iris.data", "film.fetching", ".pins/mine.json", "needs/mine.json"]
    (tmp_path / "outside").write_bytes(bytes(1000))
    folder = tmp_path / "cache"
    for name in others:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(bytes(1000))
    (folder / f"{'b' * 64}.arrow").symlink_to(tmp_path / "outside")
    (folder / f"{'c' * 64}.fetching").mkdir()
    own = folder / f"{'a' * 64}.arrow"
    bounded = CacheFolder(str(folder), 10)
    for make_room in (partial(ShardCache(str(folder), 10)._make_room, {}), partial(bounded._make_room, 0, -1)):
        own.write_bytes(bytes(1000))
        make_room()
        assert not own.exists()
    there = {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}
    assert {*others, f"{'b' * 64}.arrow"} <= there
    assert (tmp_path / "outside").exists()


@pytest.mark.parametrize(
    "values", [{"sha256": "../../somewhere"}, {"sha256": "A" * 64}, {"bytes": -1}, {"bytes": True}, {"bytes": "12"}]
)
def test_a_manifest_does_not_choose_names_in_a_cache(values: dict[str, object]) -> None:
    entry = {"file": "train/data-00000-of-00001.arrow", "bytes": 12, "sha256": "a" * 64}
    assert shard_files("corpus", "train", {"splits": {"train": {"shards": [entry]}}})[0].size == 12
    with pytest.raises(InputError, match="does not say what the shards of train are"):
        shard_files("corpus", "train", {"splits": {"train": {"shards": [entry | values]}}})
