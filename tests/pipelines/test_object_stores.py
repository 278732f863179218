"""Builds in S3 and in Google Cloud Storage, through s3fs and gcsfs and a local server; each skips without its packages.

Run: pip install "moto[server,s3]" s3fs gcsfs gcp-storage-emulator; pytest tests/pipelines/test_object_stores.py -m slow
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from bertdata.beam.runner import Runner
from bertdata.loader import numpy_batches
from bertdata.sample import SAMPLE_DUMP
from bertdata.shards import open_shards
from bertdata.shards.cache import ShardCache
from bertdata.shards.verify.build import verify
from bertdata.sources.inputs import Sources
from pipelines.build_corpus import build_corpus
from tests.pipelines.builds import SETTINGS, build

pytestmark = [
    pytest.mark.slow,
    # the servers and clients of others warn of what they themselves use
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def s3(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of an empty bucket in a local S3."""
    server = pytest.importorskip("moto.server", reason="needs moto[server,s3]")
    pytest.importorskip("s3fs", reason="needs s3fs")
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "anything")
    monkeypatch.setenv("AWS_DEFAULT_REGION", "us-east-1")
    running = server.ThreadedMotoServer(port=0)
    running.start()
    host, port = running.get_host_and_port()
    monkeypatch.setitem(fsspec.config.conf, "s3", {"endpoint_url": f"http://{host}:{port}"})
    fsspec.filesystem("s3").mkdir("corpora")
    yield "s3://corpora"
    fsspec.filesystem("s3").clear_instance_cache()
    running.stop()


@pytest.fixture
def gs(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The URL of an empty bucket in a local Google Cloud Storage."""
    module = pytest.importorskip("gcp_storage_emulator.server", reason="needs gcp-storage-emulator")
    monkeypatch.setenv("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")  # it asks Google itself what kind of bucket it is
    pytest.importorskip("gcsfs", reason="needs gcsfs")
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    running = module.create_server("localhost", port, in_memory=True, default_bucket="corpora")
    running.start()
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"http://localhost:{port}")
    monkeypatch.setitem(fsspec.config.conf, "gs", {"token": "anon"})
    yield "gs://corpora"
    fsspec.filesystem("gs").clear_instance_cache()
    running.stop()


@pytest.mark.parametrize("store", ["s3", "gs"])
def test_a_build_in_an_object_store_is_the_local_one_and_is_read_from_there(
    store: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    url = f"{request.getfixturevalue(store)}/build"
    manifest, _ = build_corpus(Sources((SAMPLE_DUMP,)), url, SETTINGS, Runner(1, quiet=True))
    assert manifest == build(tmp_path / "local", sources=Sources((SAMPLE_DUMP,)))
    assert verify(url) == verify(tmp_path / "local")
    remote, local = open_shards(url, cache=ShardCache(str(tmp_path / "cache"))), open_shards(tmp_path / "local")
    assert remote.table.equals(local.table)
    for ours, theirs in zip(numpy_batches(remote, 8, seed=1), numpy_batches(local, 8, seed=1), strict=True):
        assert ours.keys() == theirs.keys()
        assert all((ours[name] == theirs[name]).all() for name in ours)
