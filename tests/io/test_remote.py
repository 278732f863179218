"""Errors of object stores name the bucket and the remedy, and a server that is down is one within a time limit."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable
from typing import Any

import pytest
from fsspec.asyn import get_loop

from bertdata.errors import BertDataError, ConfigError, InputError, OutputError
from bertdata.io import files, listing, remote
from bertdata.io.patterns import expand
from bertdata.io.store_errors import store_problem
from bertdata.io.time_limit import finished_within
from tests.clock import PATIENCE


class NoCredentialsError(Exception):
    """As botocore's."""


class DefaultCredentialsError(Exception):
    """As google-auth's."""


class EndpointConnectionError(Exception):
    """As botocore's."""


class HttpError(Exception):
    """As gcsfs's."""

    code = 401


class Store:
    """A file system whose requests fail with an error, where the bucket exists: once `answers` is set."""

    def __init__(self, error: BaseException | None, *, bucket: bool = True) -> None:
        self.error, self.bucket, self.answers = error, bucket, threading.Event()
        self.answers.set()

    def invalidate_cache(self) -> None:
        pass

    def info(self, path: str) -> Any:
        if path == "corpora" and self.bucket:
            return {"name": path, "type": "directory", "size": 0}
        return self._fail()

    def exists(self, path: str) -> bool:
        try:
            return bool(self.info(path))
        except FileNotFoundError:
            return False

    isfile = isdir = exists

    def size(self, path: str) -> int:
        return int(self.info(path)["size"])

    def glob(self, path: str, detail: bool) -> dict[str, Any]:
        return {}

    def _fail(self, *arguments: Any, **options: Any) -> Any:
        self.answers.wait(PATIENCE)
        raise self.error or FileNotFoundError("http://storage/upload/b/corpora/o")

    ls = find = cat_file = open = put_file = pipe_file = rm = rm_file = _fail


@pytest.fixture(autouse=True)
def nothing_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remote, "_answered", set())


def use(monkeypatch: pytest.MonkeyPatch, store: Store) -> None:
    monkeypatch.setattr(remote, "file_system", lambda url: (store, url.split("://")[1]))


READS: list[Callable[[str], Any]] = [
    files.exists,
    files.size,
    listing.names,
    files.open_raw,
    files.sha256,
    files.identity,
    files.read_if_there,
    files.read_json,
    lambda url: expand([url], (".txt",)),
]
WRITES: list[Callable[[str], Any]] = [
    lambda url: files.write_bytes(url, b"1"),
    lambda url: files.create(url, b"1"),
    files.remove,
    lambda url: files.remove_files([url]),
]


@pytest.mark.parametrize(
    ("scheme", "error", "message"),
    [
        (
            "s3",
            NoCredentialsError("Unable to locate credentials"),
            "there are no credentials for the bucket 'corpora' (Unable to locate credentials); run `aws configure`",
        ),
        (
            "gs",
            DefaultCredentialsError("Your default credentials were not found."),
            "there are no credentials for the bucket 'corpora' (Your default credentials were not found.); run `gcloud",
        ),
        (
            "s3",
            PermissionError("Access Denied"),
            "access to the bucket 'corpora' is denied (Access Denied); the credentials in use need s3:ListBucket",
        ),
        (
            "gs",
            OSError("Forbidden: b/corpora/o\nx does not have storage.objects.get access"),
            "access to the bucket 'corpora' is denied (Forbidden: b/corpora/o); the credentials in use need roles/",
        ),
        ("gs", HttpError("Invalid Credentials, 401"), "the credentials for the bucket 'corpora' are not valid, or not"),
        ("s3", TimeoutError("ExpiredToken"), "the credentials for the bucket 'corpora' are not valid, or not any more"),
        (
            "s3",
            EndpointConnectionError("Could not connect to the endpoint"),
            "the server of the bucket 'corpora' cannot be reached (Could not connect to the endpoint); check the",
        ),
        (
            "s3",
            ValueError("odd"),
            "the store of the bucket 'corpora' did not do what it was asked (ValueError: odd); if it is not",
        ),
    ],
)
@pytest.mark.parametrize("call", [*READS, *WRITES])
def test_an_error_of_a_store_names_the_bucket_and_the_remedy(
    scheme: str, error: Exception, message: str, call: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, Store(error))
    url = f"{scheme}://corpora/enwiki/x.txt"
    with pytest.raises(InputError if call in READS else OutputError) as caught:
        call(url)
    assert str(caught.value).startswith(f"{url}: {message}")


@pytest.mark.parametrize("call", [files.size, files.open_raw, files.sha256, files.read_json, READS[-1], WRITES[0]])
def test_a_bucket_that_does_not_exist_is_told(call: Callable[[str], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Store(None, bucket=False))
    with pytest.raises(BertDataError) as caught:
        call("gs://corpora/enwiki/x.txt")
    assert str(caught.value) == (
        "gs://corpora/enwiki/x.txt: there is no bucket 'corpora'; check its name, or make it: gcloud storage buckets "
        "create gs://corpora"
    )


def test_in_a_bucket_that_exists_the_file_is_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    use(monkeypatch, Store(None))
    with pytest.raises(InputError, match="there is no such file; check the path"):
        files.size("s3://corpora/x")
    with pytest.raises(InputError, match="this path matches nothing"):
        expand(["s3://corpora/x"], (".txt",))
    assert listing.names("s3://corpora/x") == []
    files.remove_files(["s3://corpora/x"])
    files.remove("s3://corpora/x")


def test_a_server_that_does_not_answer_is_an_error_after_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store(None)
    use(monkeypatch, store)
    store.answers.clear()
    monkeypatch.setattr(remote, "ANSWER_SECONDS", 0.1)
    with pytest.raises(InputError, match=r"bucket 'corpora' cannot be reached \(no answer within 0 s\)"):
        files.exists("s3://corpora/x")
    with pytest.raises(OutputError, match="AWS_ENDPOINT_URL if it is set"):
        files.write_bytes("s3://corpora/x", b"1")
    store.answers.set()


def test_a_bucket_that_has_answered_is_not_asked_first_again(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    class Answering(Store):
        def info(self, path: str) -> Any:
            asked.append(path)
            return {"size": 3, "ETag": "x", "type": "file"}

    use(monkeypatch, Answering(None))
    for _ in range(3):
        assert files.size("s3://corpora/x") == 3
    assert len(asked) == 1 + 3


def test_requests_at_once_come_in_order_and_raise_what_one_raises() -> None:
    together = threading.Barrier(20)

    def wait(number: int) -> int:
        together.wait(PATIENCE)
        return number

    assert remote.at_once(wait, range(20)) == list(range(20))
    with pytest.raises(ZeroDivisionError):
        remote.at_once(lambda number: 1 // number, [1, 0])
    assert remote.at_once(abs, []) == []


def test_a_version_is_the_surest_that_the_store_says() -> None:
    assert remote.version({"ETag": '"a"', "LastModified": "Monday"}) == '"a"'
    assert remote.version({"mtime": 12.5, "size": 3}) == "12.5"
    assert remote.version({"size": 3}) == ""


def test_what_is_read_ahead_comes_in_order_and_one_by_one() -> None:
    together, asked = threading.Barrier(20), []

    def wait(number: int) -> int:
        together.wait(PATIENCE)
        return number

    def ask(number: int) -> int:
        asked.append(number)
        return number if number < 99 else number // 0

    assert list(remote.ahead(wait, range(20))) == list(range(20))
    assert next(remote.ahead(ask, range(90))) == 0
    assert len(asked) <= remote.REQUESTS_AT_ONCE
    with pytest.raises(ZeroDivisionError):
        list(remote.ahead(ask, [1, 99]))


def test_azure_without_its_package_without_an_account_and_without_a_container_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def not_installed(*_: Any) -> Any:
        raise ImportError("Install adlfs to access Azure Datalake Gen2 and Azure Blob Storage")

    monkeypatch.setattr("fsspec.core.url_to_fs", not_installed)
    with pytest.raises(ConfigError, match=r'no file system for az:// paths is installed.*pip install "\.\[azure\]"'):
        files.exists("az://corpora/enwiki")
    for text, message in {
        "Must provide either a connection_string or account_name with credentials!!": "there are no credentials for",
        "The specified container does not exist.": "there is no bucket 'corpora'.*az storage container create --name",
    }.items():
        assert re.match(message, store_problem(ValueError(text), "az://corpora/enwiki"))


def test_what_a_file_system_without_an_extra_needs_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(url: str, **_: object) -> None:
        raise ImportError(url)

    monkeypatch.setattr("fsspec.core.url_to_fs", missing)
    with pytest.raises(
        ConfigError, match=r'sftp:// paths is installed; fsspec says: SFTPFileSystem requires "paramiko"'
    ):
        files.exists("sftp://host/a.txt")


def test_the_time_limit_begins_when_there_is_a_client(monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(Store):
        """As s3fs: its client is made by `set_session`, in the loop of fsspec, or by the first request."""

        loop = get_loop()
        has_client = False

        async def set_session(self) -> None:
            self.has_client = True

    store, had_client = Slow(None), []

    def within(seconds: float, work: Callable[[], object], name: str) -> bool:
        had_client.append(store.has_client)
        return finished_within(seconds, work, name)

    use(monkeypatch, store)
    monkeypatch.setattr(remote, "_answered", set())
    monkeypatch.setattr(remote, "finished_within", within)
    assert not files.exists("s3://corpora/x")
    assert had_client == [True]
