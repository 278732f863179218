"""Object stores on this machine: moto's S3, an emulator of Google Cloud Storage, and Azurite, Azure's.

A share of their requests may fail. The first two come with pip install -e ".[stores]", Azurite with npm install -g
azurite;
a test that has not got them is skipped.
"""

from __future__ import annotations

import contextlib
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass

import fsspec
import pytest

from tests.clock import PATIENCE
from tests.faults import Proxy, faulty


@dataclass(frozen=True)
class Store:
    """A running store: the URL of an empty bucket in it, and the proxy that clients ask."""

    bucket: str
    proxy: Proxy


@contextlib.contextmanager
def s3_store(share: float = 0.0) -> Iterator[Store]:
    """Run moto's S3; `share` of the requests fail."""
    server = pytest.importorskip("moto.server", reason="needs moto[s3] and flask")
    pytest.importorskip("s3fs", reason="needs s3fs")
    running = server.ThreadedMotoServer(port=0)
    running.start()
    host, port = running.get_host_and_port()
    try:
        with faulty(host, port, 0.0) as proxy, pytest.MonkeyPatch.context() as patch:
            for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
                patch.setenv(name, "anything")
            patch.setenv("AWS_DEFAULT_REGION", "us-east-1")
            patch.setitem(fsspec.config.conf, "s3", {"endpoint_url": proxy.url})
            bucket = f"corpora-{port}"  # moto's buckets outlive its server
            fsspec.filesystem("s3").mkdir(bucket)
            proxy.share = share
            yield Store(f"s3://{bucket}", proxy)
            fsspec.filesystem("s3").clear_instance_cache()
    finally:
        running.stop()


@contextlib.contextmanager
def gs_store(share: float = 0.0) -> Iterator[Store]:
    """Run an emulator of Google Cloud Storage; `share` of the requests fail."""
    module = pytest.importorskip("gcp_storage_emulator.server", reason="needs gcp-storage-emulator")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT", "false")  # it asks Google itself what kind of bucket it is
        pytest.importorskip("gcsfs", reason="needs gcsfs")
        with socket.socket() as free:
            free.bind(("localhost", 0))
            port = free.getsockname()[1]
        running = module.create_server("localhost", port, in_memory=True, default_bucket="corpora")
        running.start()
        try:
            with faulty("localhost", port, share) as proxy:
                patch.setenv("STORAGE_EMULATOR_HOST", proxy.url)
                patch.setitem(fsspec.config.conf, "gs", {"token": "anon"})
                yield Store("gs://corpora", proxy)
                fsspec.filesystem("gs").clear_instance_cache()
        finally:
            running.stop()


@contextlib.contextmanager
def az_store(share: float = 0.0) -> Iterator[Store]:
    """Run Azurite, Azure's emulator; `share` of the requests fail. Needs `npm install -g azurite`, and adlfs."""
    pytest.importorskip("adlfs", reason="needs adlfs")
    program = shutil.which("azurite-blob")
    if program is None:
        pytest.skip("needs azurite (npm install -g azurite)")
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    arguments = ["--inMemoryPersistence", "--silent", "--skipApiVersionCheck", "--blobPort", str(port)]
    running = subprocess.Popen([program, *arguments], stdout=subprocess.DEVNULL)
    try:
        wait_for_port(port)
        with faulty("localhost", port, 0.0) as proxy, pytest.MonkeyPatch.context() as patch:
            patch.setenv("AZURE_STORAGE_CONNECTION_STRING", _AZURITE.format(url=f"{proxy.url}/devstoreaccount1"))
            fsspec.filesystem("az").mkdir("corpora")
            proxy.share = share
            yield Store("az://corpora", proxy)
            fsspec.filesystem("az").clear_instance_cache()
    finally:
        running.kill()  # it has nothing to save, and at SIGTERM waits for connections that clients keep
        running.wait()


def wait_for_port(port: int) -> None:
    """Return when something listens at a port of this machine; raises TimeoutError after a long time."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection(("localhost", port), 1):
            return
        time.sleep(0.1)
    raise TimeoutError(f"nothing listens at port {port}")


_AZURITE = (
    "DefaultEndpointsProtocol=http;AccountName=devstoreaccount1;AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSR"
    "Z6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;BlobEndpoint={url};"
)
"""The account that every Azurite has, whose key its documentation gives."""
STORES = {"s3": s3_store, "gs": gs_store, "az": az_store}
