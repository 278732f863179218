"""Builds in S3 and in Google Cloud Storage, through s3fs and gcsfs and a local server; each skips without its packages.

Run: pytest tests/pipelines/test_object_stores.py -m slow
"""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, BinaryIO

import fsspec
import pytest

import bertdata
from bertdata.beam.runner import Runner
from bertdata.corpus.build import build_corpus
from bertdata.engine import records, remote_lock
from bertdata.engine.output_lock import output_lock
from bertdata.engine.parts import Counters, PartMetadata, Task, read_record, run_once
from bertdata.engine.records import load_all
from bertdata.errors import InputError, OutputError
from bertdata.io import files, listed, listing, patterns, remote
from bertdata.io.listed import kept_listings
from bertdata.loader import numpy_batches
from bertdata.sample import SAMPLE_DUMP
from bertdata.shards import open_shards
from bertdata.shards.cache import ShardCache
from bertdata.sources.inputs import Sources
from bertdata.verify.build import verify
from tests.pipelines.builds import ROOT, SETTINGS, build, command, environment, with_examples
from tests.pipelines.stores import az_store, gs_store, s3_store

WITH_BEAM = True

pytestmark = [
    pytest.mark.slow,
    # the servers and clients of others warn of what they themselves use
    pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]


@pytest.fixture
def s3() -> Iterator[str]:
    """The URL of an empty bucket in a local S3."""
    with s3_store() as store:
        yield store.bucket


@pytest.fixture
def gs() -> Iterator[str]:
    """The URL of an empty bucket in a local Google Cloud Storage."""
    with gs_store() as store:
        yield store.bucket


@pytest.fixture
def az() -> Iterator[str]:
    """The URL of an empty container in a local Azure Blob Storage."""
    with az_store() as store:
        yield store.bucket


@pytest.fixture
def abfss(az: str) -> str:
    """The URL of the same container as Spark and Databricks write it, with the account."""
    return f"abfss://{az.removeprefix('az://')}@devstoreaccount1.dfs.core.windows.net"


@pytest.mark.parametrize("store", ["s3", "gs", "az", "abfss"])
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


@pytest.mark.parametrize("store", ["s3", "gs", "az", "abfss"])
def test_documents_of_a_folder_in_an_object_store_are_made_once(
    store: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    bucket = request.getfixturevalue(store)
    files.write_bytes(f"{bucket}/dumps/{files.name(SAMPLE_DUMP)}", Path(SAMPLE_DUMP).read_bytes())
    ran = []
    for seed in range(3):
        runner = Runner(1, quiet=True)
        build_corpus(Sources((f"{bucket}/dumps",)), f"{bucket}/build", with_examples(seed=seed), runner)
        ran.append([title for title, _ in runner.seconds])
    assert ran[0][0] == "clean wikipedia"
    assert ran[1:] == [["tokenize and write shards"]] * 2


@pytest.mark.parametrize("store", ["s3", "gs", "az", "abfss"])
def test_an_identity_is_the_same_from_a_listing_and_without_one(store: str, request: pytest.FixtureRequest) -> None:
    path = f"{request.getfixturevalue(store)}/dumps/a.txt"
    files.write_bytes(path, b"text")
    alone = files.identity(path)
    for pattern in (path, path.removesuffix("/a.txt"), path.replace("a.txt", "*.txt")):
        with kept_listings():
            assert patterns.expand([pattern], (".txt",)) == [path]
            assert listed.is_enough(listed.info(path) or {})
            assert (files.identity(path), files.size(path)) == (alone, 4)


def test_a_build_in_an_object_store_that_is_killed_goes_on_at_once_to_the_same_shards(
    s3: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    output = f"{s3}/build"
    settings = json.dumps(fsspec.config.conf["s3"])
    killed = subprocess.Popen(
        [*command(Path("unused"), "--output", output, "--wikipedia", SAMPLE_DUMP), "--workers", "1"],
        env=environment() | {"FSSPEC_S3": settings},
        cwd=ROOT,
        stderr=subprocess.DEVNULL,
    )
    while killed.poll() is None and len(listing.names(f"{output}/stages/words")) < 4:
        time.sleep(0.05)
    killed.kill()
    assert killed.wait() == -signal.SIGKILL
    assert files.exists(f"{output}/{remote_lock.LOCK}")
    claim(output)
    assert "waiting up to" not in caplog.text
    manifest, _ = build_corpus(Sources((SAMPLE_DUMP,)), output, SETTINGS, Runner(1, quiet=True))
    assert manifest == build(tmp_path / "local", sources=Sources((SAMPLE_DUMP,)))
    assert verify(output) == verify(tmp_path / "local")
    assert not files.exists(f"{output}/{remote_lock.LOCK}")


@pytest.mark.parametrize("store", ["s3", "gs"])
def test_records_in_an_object_store_come_from_the_index_until_they_change(
    store: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    folder = f"{request.getfixturevalue(store)}/stage"
    some = [Task(folder, f"part-{number:05d}", ".arrow", f"f{number}", 1, None) for number in range(40)]
    read_records = [run_once(task, write_name) for task in some]
    assert load_all(some, write_index=True) == read_records
    read: list[str] = []

    def reading(path: str) -> PartMetadata | None:
        read.append(path)
        return read_record(path)

    monkeypatch.setattr(records, "read_record", reading)
    assert load_all(some) == read_records
    assert read == []
    other = replace(some[3], fingerprint="other")
    run_once(other, write_name)
    files.remove_files([some[4].path, some[5].record_path])
    assert [record is not None for record in load_all([*some[:3], other, *some[4:]])] == [
        number not in (4, 5) for number in range(40)
    ]
    assert read == [other.record_path]


def write_name(task: Task, file: BinaryIO) -> Counters:
    file.write(task.name.encode())
    return Counters({"parts": 1})


@pytest.mark.parametrize("store", ["s3", "gs"])
def test_one_build_at_a_time_writes_into_an_object_store(
    store: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    output = f"{request.getfixturevalue(store)}/build"
    monkeypatch.setattr(remote_lock, "BEAT_SECONDS", 0.2)
    with output_lock(output, "build"), pytest.raises(OutputError, match="another build is writing here"):
        claim(output)
    claim(output)
    monkeypatch.setattr(remote_lock, "LEASE_SECONDS", 2.0)
    lock = f"{output}/{remote_lock.LOCK}"
    assert not files.exists(lock)
    files.write_json(lock, {"token": "of one that was killed elsewhere"})
    claim(output)
    if store == "s3":  # the emulator of Google Cloud Storage overwrites in spite of ifGenerationMatch
        files.create(lock, b"{}")
        with pytest.raises(FileExistsError):
            files.create(lock, b"{}")


def claim(output: str) -> None:
    with output_lock(output, "build"):
        pass


@pytest.mark.parametrize("store", ["s3", "gs"])
def test_a_bucket_that_does_not_exist_is_told(store: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    missing = f"{request.getfixturevalue(store).partition('://')[0]}://no-such-bucket"
    with pytest.raises(InputError, match="there is no bucket 'no-such-bucket'"):
        build_corpus(Sources((f"{missing}/dumps",)), str(tmp_path), SETTINGS, Runner(1, quiet=True))
    with pytest.raises(OutputError, match="there is no bucket 'no-such-bucket'"):
        build_corpus(Sources((SAMPLE_DUMP,)), f"{missing}/build", SETTINGS, Runner(1, quiet=True))


def test_a_user_without_credentials_is_told_what_to_set(
    s3: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("HOME", str(tmp_path))
    fsspec.filesystem("s3").clear_instance_cache()
    monkeypatch.setattr(remote, "_answered", set())
    with pytest.raises(
        InputError, match=r"there are no credentials for the bucket 'corpora-\d+' \(.*\); run `aws configu"
    ):
        files.exists(f"{s3}/build")


@pytest.mark.parametrize("scheme", ["s3", "gs"])
@pytest.mark.parametrize("listens", [False, True])
def test_a_server_that_is_down_is_told_within_the_time_limit(
    scheme: str, listens: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip({"s3": "s3fs", "gs": "gcsfs"}[scheme])
    monkeypatch.setattr(remote, "_answered", set())
    monkeypatch.setattr(remote, "ANSWER_SECONDS", 3.0)
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        if listens:
            server.listen()
        options = {"endpoint_url": f"http://127.0.0.1:{server.getsockname()[1]}"}
        monkeypatch.setitem(fsspec.config.conf, scheme, options | ({"token": "anon"} if scheme == "gs" else {}))
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, "anything")
        with pytest.raises(InputError, match="the server of the bucket 'corpora' cannot be reached"):
            files.exists(f"{scheme}://corpora/build")


def test_a_store_without_conditional_writes_and_bulk_deletion_takes_builds(tmp_path: Path) -> None:
    def refuse(method: str, path: str, headers: Mapping[str, str]) -> tuple[int, str] | None:
        if "if-none-match" in headers:
            return 501, "NotImplemented"
        return (400, "MissingContentMD5") if method == "POST" and "delete" in path else None

    sources = Sources((SAMPLE_DUMP,))
    with s3_store() as store:
        store.proxy.refuse = refuse
        url = f"{store.bucket}/build"
        manifest, _ = build_corpus(sources, url, SETTINGS, Runner(1, quiet=True))
        assert manifest == build(tmp_path / "local", sources=sources)
        again, _ = build_corpus(sources, url, SETTINGS, Runner(1, quiet=True), force=True)
        assert again == manifest
        files.create(f"{url}/first", b"1")
        with pytest.raises(FileExistsError):
            files.create(f"{url}/first", b"2")
        assert files.read_bytes(f"{url}/first") == b"1"
        files.remove(url)
        assert not files.exists(url)


def test_what_a_store_refuses_is_said_to_be_refused(tmp_path: Path) -> None:
    with s3_store() as store:
        store.proxy.refuse = lambda method, path, headers: (400, "InvalidRequest") if method == "PUT" else None
        with pytest.raises(
            OutputError, match=r"did not do what it was asked \(OSError: .*; if it is not the cloud's own"
        ):
            files.write_bytes(f"{store.bucket}/x", b"1")


def test_the_folder_of_a_console_is_empty_and_no_file(s3: str) -> None:
    client = fsspec.filesystem("s3")
    for folder in ("out", "in"):
        client.call_s3("put_object", Bucket=s3.removeprefix("s3://"), Key=f"{folder}/", Body=b"")
    files.write_bytes(f"{s3}/in/a.txt", b"Salt.")
    client.invalidate_cache()
    assert listing.names(f"{s3}/out") == []
    for pattern in ("in", "in/*", "in/**", "**"):
        assert patterns.expand([f"{s3}/{pattern}"], (".txt",)) == [f"{s3}/in/a.txt"]
    with output_lock(f"{s3}/out", "a build"):
        assert listing.names(f"{s3}/out") != []


def test_another_package_for_s3_reads_and_writes_the_same_builds(s3: str, tmp_path: Path) -> None:
    obstore = pytest.importorskip("obstore.fsspec", reason="needs obstore")
    rows = "".join(f'{{"id": "{n}", "text": "Salt is white. It is {n} years old."}}\n' for n in range(30))
    files.write_bytes(f"{s3}/in/a.jsonl", rows.encode())
    settings: dict[str, Any] = {
        "vocab": "bertdata-30k-uncased",
        "objective": "full-sentences",
        "quiet": True,
        "workers": 1,
    }
    reference = bertdata.build(tmp_path / "local", documents=f"{s3}/in", **settings)
    registered = fsspec.registry.get("s3")
    endpoint = fsspec.config.conf["s3"]["endpoint_url"]
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(fsspec.config.conf, "s3", {"endpoint": endpoint, "client_options": {"allow_http": True}})
            obstore.register("s3")
            built = bertdata.build(f"{s3}/obstore", documents=f"{s3}/in", **settings)
    finally:
        fsspec.register_implementation("s3", registered, clobber=True)
    assert built["splits"] == reference["splits"]
