"""URLs: their file systems, which are fsspec's, and many requests at once.

A request to an object store takes 10 to 100 ms, whatever it asks for, so what asks for many files asks at once.
"""

from __future__ import annotations

import contextlib
import inspect
import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar, cast

from bertdata.errors import BertDataError, ConfigError, InputError, OutputError, install_hint
from bertdata.io.gcs_retries import retry_soon
from bertdata.io.paths import is_remote, naming_part
from bertdata.io.store_errors import base_url, bucket_of, no_bucket, store_problem
from bertdata.io.time_limit import finished_within

REQUESTS_AT_ONCE = 32
CONNECTIONS = 4
"""How many connections are made at once to a server that answers one request on each, such as one of SFTP."""
ANSWER_SECONDS = 30.0
"""How long the first request to a bucket may take, with what its client tries again, once there is a client."""
EXTRAS = {"gs": "gcp", "gcs": "gcp", "s3": "aws", "s3a": "aws", "az": "azure", "abfs": "azure", "abfss": "azure"}
"""The extra that has the file system of a scheme."""
Item = TypeVar("Item")
Result = TypeVar("Result")
_VERSIONS = (
    "ETag",
    "etag",
    "generation",
    "md5Hash",
    "LastModified",
    "Last-Modified",
    "last_modified",
    "mtime",
    "created",
)
"""What file systems call that by which an object's contents are told from those before: the surest first."""
_answered: set[str] = set()
"""The buckets that have answered this process, as scheme://bucket."""


def file_system(url: str) -> tuple[Any, str]:
    """Return the fsspec file system of a URL, and the path in it.

    Raises ConfigError where it is not installed, and InputError where a chained URL names an archive that is not there.
    """
    import fsspec

    logging.getLogger("gcsfs").setLevel(logging.CRITICAL)  # it logs the traceback of each error that it raises
    scheme = base_url(url).split("://", 1)[0]
    try:
        options = _options(scheme)
        fs, path = cast("tuple[Any, str]", fsspec.core.url_to_fs(url, **({scheme: options} if options else {})))
    except FileNotFoundError as error:
        raise InputError(f"there is no {base_url(url)}, the file that it is in; check the path", path=url) from error
    except (ImportError, ValueError) as error:
        if isinstance(error, ValueError) and scheme in fsspec.registry:  # installed, and told nothing of an account
            raise ConfigError(store_problem(error, url), path=url) from error
        extra = EXTRAS.get(scheme)
        hint = f"; {install_hint(extra)}" if extra else _needed(scheme)
        if "::" in url and not extra:
            hint = "; `::` parts the URLs of a chain of file systems; give a file with it in its name another name"
        raise ConfigError(f"no file system for {scheme}:// paths is installed{hint}", path=url) from error
    if _package(type(fs)) == "gcsfs":
        retry_soon(fs)
    return fs, path


def _needed(scheme: str) -> str:
    """Return what fsspec says that the file system of a scheme needs, as the end of a message."""
    from fsspec.registry import known_implementations

    needed = str(known_implementations.get(scheme, {}).get("err", "")).rstrip(".")
    return f"; fsspec says: {needed}" if needed else ""


def _options(scheme: str) -> dict[str, Any]:
    """Return what the file system of a scheme is made with; packages other than s3fs take other options for S3."""
    import fsspec

    if scheme not in ("s3", "s3a") or _package(fsspec.get_filesystem_class(scheme)) != "s3fs":
        return {}
    chosen = fsspec.config.conf.get(scheme, {}).get("config_kwargs", {})
    return {"config_kwargs": {"max_pool_connections": REQUESTS_AT_ONCE} | chosen}  # botocore has 10 by default


def _package(kind: type) -> str:
    return kind.__module__.partition(".")[0]


@contextlib.contextmanager
def reading(url: str) -> Iterator[tuple[Any, str]]:
    """Yield what `file_system` returns, and raise InputError for whatever error of the file system the block raises.

    FileNotFoundError passes through: the caller says what was expected.
    """
    try:
        fs, path = file_system(url)
        _require_answer(fs, path, url)
        yield fs, path
    except (BertDataError, FileNotFoundError, MemoryError):
        raise
    except Exception as error:
        raise InputError(store_problem(error, url), path=url) from error


@contextlib.contextmanager
def writing(url: str) -> Iterator[tuple[Any, str]]:
    """Yield what `file_system` returns, and raise OutputError for whatever error of the file system the block raises.

    FileNotFoundError, which a file to be deleted may raise, and FileExistsError pass through, but where there is no
    such bucket.
    """
    try:
        fs, path = file_system(url)
        _require_answer(fs, path, url)
        yield fs, path
    except FileNotFoundError as error:
        if problem := missing_bucket(url):
            raise OutputError(problem, path=url) from error
        raise
    except (BertDataError, FileExistsError, MemoryError):
        raise
    except Exception as error:
        raise OutputError(store_problem(error, url), path=url) from error


def missing_bucket(url: str) -> str:
    """Return what to tell the user if the bucket of a URL does not exist; "" if it does, or cannot be known.

    To be asked once something was not found: it takes a request.
    """
    if bucket := bucket_of(url):
        with contextlib.suppress(Exception):
            fs, _ = file_system(base_url(url))
            try:
                fs.invalidate_cache()
                fs.info(bucket)
            except FileNotFoundError:
                return no_bucket(url)
    return ""


def _require_answer(fs: Any, path: str, url: str) -> None:
    """Raise the error of the first request of this process to a bucket, or TimeoutError after `ANSWER_SECONDS`.

    The clients try for minutes, as they should once a server has answered.
    """
    place = "/".join(base_url(url).split("/", 3)[:3])
    if bucket_of(url) and place not in _answered:
        _make_client(fs)

        def ask() -> None:
            with contextlib.suppress(FileNotFoundError):
                fs.info(path)

        if not finished_within(ANSWER_SECONDS, ask, "bertdata-first-request"):
            raise TimeoutError(f"no answer within {ANSWER_SECONDS:.0f} s")
        _answered.add(place)


def _make_client(fs: Any) -> None:
    """Make the client of a file system of s3fs: seconds of processor time where many work, and no wait for a store."""
    make = getattr(fs, "set_session", None)
    if inspect.iscoroutinefunction(make):
        from fsspec.asyn import sync

        sync(fs.loop, make)


def by_one_request(fs: Any) -> dict[str, int]:
    """Return the options of `cat_file` by which a file system does not ask for the size of a small file first."""
    parameters = inspect.signature(getattr(fs, "_cat_file", fs.cat_file)).parameters
    return {"max_concurrency": 1} if "max_concurrency" in parameters else {}


def version(info: dict[str, Any]) -> str:
    """Return what tells the contents of an object from others that had its name; "" where the store does not say.

    >>> version({"name": "b/x", "size": 3, "ETag": '"5d41"', "LastModified": "Monday"}), version({"name": "b/x"})
    ('"5d41"', '')
    """
    return next((str(info[name]) for name in _VERSIONS if info.get(name)), "")


def at_once(function: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Return what a function that waits for a store returns for each item, in order; raises the first of its errors.

    >>> at_once(abs, [-1, 2, -3])
    [1, 2, 3]
    """
    listed = list(items)
    if len(listed) < 2:
        return [function(item) for item in listed]
    schemes = {naming_part(item).partition("://")[0] for item in listed if isinstance(item, str) and is_remote(item)}
    most = CONNECTIONS if any(map(_answers_one_by_one, schemes)) else REQUESTS_AT_ONCE
    with ThreadPoolExecutor(min(len(listed), most), "bertdata-requests") as pool:
        return list(pool.map(function, listed))


def asked_of(fs: Any, method: Callable[[Item], Result], items: Iterable[Item]) -> list[Result]:
    """Return what a method of a file system returns for each item, in order: at once, where it takes several threads.

    Those whose requests share a connection take none: answers reach the wrong thread, and the other waits for ever.
    """
    return at_once(method, items) if fs.async_impl else [method(item) for item in items]


def _answers_one_by_one(scheme: str) -> bool:
    """Tell whether each thread that uses the file system of a scheme makes a connection of its own."""
    import fsspec

    try:
        return not fsspec.get_filesystem_class(scheme).async_impl
    except (ImportError, ValueError):  # of which the file system says more
        return False


def ahead(function: Callable[[Item], Result], items: Iterable[Item]) -> Iterator[Result]:
    """Yield what a function that waits for a store returns for each item, in order, while it works on the next ones.

    >>> list(ahead(abs, [-1, 2, -3]))
    [1, 2, 3]
    """
    waiting: deque[Future[Result]] = deque()
    with ThreadPoolExecutor(REQUESTS_AT_ONCE, "bertdata-requests") as pool:
        try:
            for item in items:
                waiting.append(pool.submit(function, item))
                if len(waiting) == REQUESTS_AT_ONCE:
                    yield waiting.popleft().result()
            while waiting:
                yield waiting.popleft().result()
        finally:
            for future in waiting:
                future.cancel()
