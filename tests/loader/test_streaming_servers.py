"""Batches of shards that web servers of all kinds send are those of local shards, or one line names what was sent."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest

from bertdata.errors import BertDataError, ConfigError, InputError
from bertdata.io.http import Client
from bertdata.loader import EpochBatchSampler, ShardExamples
from tests.loader.streamed import batches_of, digests
from tests.server import File, Server, serve

WINDOW = 3
SHARD = "/corpus/train/data-00003-of-"


@pytest.fixture(autouse=True)
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tried again is so at once."""
    monkeypatch.setenv("no_proxy", "127.0.0.1,localhost")
    monkeypatch.setattr("bertdata.io.http.Client", partial(Client, sleep=lambda seconds: None))
    monkeypatch.setattr("bertdata.shards.streaming.fetching._WAIT", 0.0)


@pytest.fixture
def server(corpus: Path) -> Iterator[Server]:
    with serve() as running:
        for path in corpus.rglob("*"):
            if path.is_file():
                running.files[f"/corpus/{path.relative_to(corpus)}"] = File(path.read_bytes())
        yield running


@pytest.fixture(scope="module")
def local(corpus: Path) -> list[str]:
    return digests(batches_of(ShardExamples(corpus / "train"), shuffle_window=WINDOW))


def streamed(server: Server, cache: Path) -> list[str]:
    examples = ShardExamples(f"{server.url}/corpus/train", cache=cache, cache_bytes=1e9)
    return digests(batches_of(examples, shuffle_window=WINDOW))


def without_ranges(server: Server) -> None:
    for path, file in server.files.items():
        file.ranges = False
        if path.startswith(SHARD):
            file.faults = [len(file.data) // 2, len(file.data) // 3]


def with_redirects(server: Server) -> None:
    for path, file in list(server.files.items()):
        server.files[f"/elsewhere{path}"] = File(file.data, faults=[len(file.data) // 2])
        if path.endswith(".arrow"):
            file.faults = [(302, {"Location": f"/elsewhere{path}"})] * 9


def in_pieces_of_unknown_length(server: Server) -> None:
    for file in server.files.values():
        file.chunked = True


def with_another_etag_after_a_cut(server: Server) -> None:
    for path, file in server.files.items():
        if path.startswith(SHARD):
            server.files[path] = Changing(file.data, faults=[len(file.data) // 2])


class Changing(File):
    """A file whose ETag is another one at each request, as of servers behind a balance of load."""

    asked = 0

    @property
    def etag(self) -> str:
        """Return a new ETag."""
        self.asked += 1
        return f'"{self.asked}"'

    @etag.setter
    def etag(self, value: str) -> None:
        """Take no ETag."""


@pytest.mark.costly
@pytest.mark.parametrize(
    "change", [without_ranges, with_redirects, in_pieces_of_unknown_length, with_another_etag_after_a_cut]
)
def test_batches_are_those_of_local_shards(
    change: Callable[[Server], None], server: Server, local: list[str], tmp_path: Path
) -> None:
    change(server)
    assert streamed(server, tmp_path) == local


@pytest.mark.costly
def test_a_server_that_compresses_what_was_to_come_as_it_is_is_refused(server: Server, tmp_path: Path) -> None:
    for path, file in server.files.items():
        if path.startswith(SHARD):
            server.files[path] = File(gzip.compress(file.data), headers={"Content-Encoding": "gzip"})
    with pytest.raises(InputError, match=r"data-00003-of-\d+.arrow: the server sends it compressed .*: gzip"):
        streamed(server, tmp_path)


@pytest.mark.costly
def test_a_corpus_that_is_built_again_under_the_same_url(server: Server, local: list[str], tmp_path: Path) -> None:
    first = ShardExamples(f"{server.url}/corpus/train", cache=tmp_path, cache_bytes=1e9)
    state = EpochBatchSampler(first, 16, seed=4, shuffle_window=WINDOW).state_dict()
    manifest = json.loads(server.files["/corpus/manifest.json"].data)
    entries = manifest["splits"]["train"]["shards"]
    by_name = {entry["file"]: server.files[f"/corpus/{entry['file']}"] for entry in entries}
    names = [entry["file"] for entry in entries]
    for name, entry in zip(names, reversed(list(entries)), strict=True):  # the same rows, in other files
        server.files[f"/corpus/{name}"] = by_name[entry["file"]]
    described = [{**entry, "file": name} for name, entry in zip(names, reversed(entries), strict=True)]
    manifest["splits"]["train"]["shards"] = described
    server.files["/corpus/manifest.json"] = File(json.dumps(manifest).encode())
    with pytest.raises(InputError, match=r"/corpus/train/data-\d+-of-\d+.arrow: has (the SHA-256|\d+ bytes)"):
        digests(batches_of(first, shuffle_window=WINDOW))
    again = streamed(server, tmp_path)
    assert again != local
    assert len(again) == len(local)
    rebuilt = ShardExamples(f"{server.url}/corpus/train", cache=tmp_path, cache_bytes=1e9)
    with pytest.raises(ConfigError, match="shards"):
        batches_of(rebuilt, shuffle_window=WINDOW).load_state_dict(state)


@pytest.mark.costly
@pytest.mark.parametrize("answer", [(404, {}), (403, {}), (410, {})])
def test_a_shard_that_is_not_to_be_had_is_named(
    answer: tuple[int, dict[str, str]], server: Server, tmp_path: Path
) -> None:
    for path, file in server.files.items():
        if path.startswith(SHARD):
            file.faults = [answer] * 99
    with pytest.raises(BertDataError, match=r"/corpus/train/data-00003-of-\d+.arrow: ") as raised:
        streamed(server, tmp_path)
    assert len(str(raised.value).splitlines()) == 1
