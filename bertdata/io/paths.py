"""Paths as users give them, as text of ours: where a file lies on this machine, or a URL that fsspec knows."""

from __future__ import annotations

import os
import pathlib
import re
from typing import Any
from urllib.parse import unquote

from bertdata.errors import ConfigError

TEMPORARY = ".bertdata-tmp-"
"""How the names of files begin that are not yet whole."""
_FILE_URL = re.compile(r"(?:file|local):(?://(?P<host>[^/]*))?(?P<path>/.*)", re.IGNORECASE | re.DOTALL)
_IN_NO_NAME = re.compile("[\\\\\0\ud800-\udc7f\udd00-\udfff]")
"""What no name of a file out of a file has: a separator of Windows, the end of a text in C, half a character."""
_LOST_SLASH = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.-]+):/(?P<rest>[^/].*)", re.DOTALL)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?=://)")
_AS_TEXT = "give the URL as text, and set the rest by environment variables or in the configuration files of fsspec"


def is_remote(path: str) -> bool:
    """Return whether a path is a URL.

    >>> is_remote("gs://bucket/x"), is_remote("/data/x")
    (True, False)
    """
    return "://" in path


def path_text(path: str | os.PathLike[str]) -> str:
    """Return a path as text, that of a local file for `file://`; raises ConfigError for what is not a path.

    Paths of universal_pathlib and cloudpathlib are the URLs that they stand for; they are refused where they carry
    options, or a client, that their URL does not tell: those would not reach the workers.

    >>> from pathlib import Path
    >>> path_text(Path("corpus") / "train"), path_text("gs://bucket/corpus"), path_text("file:///data/a%20b")
    ('corpus/train', 'gs://bucket/corpus', '/data/a b')
    """
    text: object = path
    if isinstance(path, pathlib.PurePath):
        text = os.fspath(path)
    elif not isinstance(path, str) and is_path(path):
        url = str(path)
        text = _url_of(path, url) if is_remote(url) else os.fspath(path)
    if not isinstance(text, str):
        hint = ""
        if type(path).__module__.partition(".")[0] == "datasets":
            hint = " of datasets; name the folder that it was loaded from, as 'corpus' or 'corpus/train'"
        raise ConfigError(f"expected a path as text or a pathlib.Path, found {type(path).__name__}{hint}")
    if "\0" in text:
        raise ConfigError(f"the path {text!r} has a NUL character in it; no file has such a name")
    return as_given(text)


def as_given(text: str) -> str:
    """Return the path that a user's text means: of `file://` the local one, with a URL's scheme in small letters.

    Raises ConfigError for a URL that lost a slash, as `pathlib.Path("s3://bucket")` loses it, and for a `file://` of
    another machine.

    >>> as_given("S3://bucket/x"), as_given("file:/data/x")
    ('s3://bucket/x', '/data/x')
    """
    if (match := _FILE_URL.fullmatch(text)) and "::" not in text:
        if (match["host"] or "").lower() not in ("", "localhost"):
            raise ConfigError(
                f"is a file of the machine {match['host']}; expected one of this machine, as file:///folder/file",
                path=text,
            )
        return unquote(match["path"])
    if (match := _LOST_SLASH.fullmatch(text)) and _is_scheme(match["scheme"]):
        url = f"{match['scheme']}://{match['rest']}"
        raise ConfigError(
            f"has one slash after {match['scheme']}:, as pathlib leaves it; give the URL as text: {url}", path=text
        )
    scheme = _SCHEME.match(text)
    return scheme[0].lower() + text[scheme.end() :] if scheme else text


def is_path(value: object) -> bool:
    """Tell whether a value is a path of some kind, which `path_text` takes or refuses, and not rows or an object.

    >>> is_path("a"), is_path(pathlib.Path("a")), is_path({"text": "a"})
    (True, True, False)
    """
    return isinstance(value, str | os.PathLike) or (hasattr(value, "storage_options") and hasattr(value, "protocol"))


def _is_scheme(word: str) -> bool:
    import fsspec

    return word.lower() in (*fsspec.available_protocols(), "https")


def _url_of(path: Any, url: str) -> str:
    """Return the URL of a path object that is not pathlib's; raises ConfigError where it carries more than its URL."""
    kind = type(path)
    if any(base.__name__ == "LocalPath" and base.__module__.startswith("cloudpathlib") for base in kind.__mro__):
        raise ConfigError(
            "is a path of cloudpathlib.local, which stands for a folder of this machine; give that folder", path=url
        )
    options = getattr(path, "storage_options", None)
    if options is not None and dict(options) != dict(kind(url).storage_options):
        raise ConfigError(
            f"is a {kind.__name__} with options that its text does not tell ({', '.join(sorted(options))}); {_AS_TEXT}",
            path=url,
        )
    client = getattr(path, "client", None)
    if client is not None and (kind(url).client is not client or _has_own_endpoint(client)):
        raise ConfigError(f"is a {kind.__name__} with a client of its own settings; {_AS_TEXT}", path=url)
    return url


def _has_own_endpoint(client: Any) -> bool:
    """Tell whether a client of cloudpathlib was made with an endpoint that differs from the environment's."""
    endpoint = getattr(client, "_endpoint_url", None)
    return endpoint is not None and endpoint not in (
        os.environ.get("AWS_ENDPOINT_URL_S3"),
        os.environ.get("AWS_ENDPOINT_URL"),
    )


def naming_part(path: str) -> str:
    """Return the part of a chained URL that names a file; any other path as it is.

    >>> naming_part("zip://a/b.txt::s3://bucket/books.zip"), naming_part("simplecache::s3://bucket/x.jsonl")
    ('zip://a/b.txt', 's3://bucket/x.jsonl')
    """
    if "::" not in path or not is_remote(path):
        return path
    parts = path.split("::")
    return next((part for part in parts[:-1] if not _names_what_the_next_names(part)), parts[-1])


def _names_what_the_next_names(part: str) -> bool:
    """Tell whether a part of a chained URL has no path, and its file system takes that of the next, as a cache does."""
    import fsspec

    try:
        from fsspec.implementations.chained import ChainedFileSystem as Wrapper
    except ImportError:  # before fsspec 2025.9
        from fsspec.implementations.cached import CachingFileSystem as Wrapper
    scheme, _, place = part.partition("://")
    try:
        return not place and issubclass(fsspec.get_filesystem_class(scheme), Wrapper)
    except (ImportError, ValueError):  # of which the file system says more
        return False


def with_place(url: str, place: str, other: str) -> str:
    """Return the URL of another file of the same file system, with all that a URL says beside its path.

    url: a URL, a folder or a glob; place: what its file system makes of it; other: the path in this file system.
    Raises ValueError where that is not below what they share.

    >>> with_place("ftp://me@host:21/in/*", "/in/*", "/in/a.txt")
    'ftp://me@host:21/in/a.txt'
    >>> with_place("abfss://c@account.dfs.core.windows.net/in", "c/in", "c/in/a.txt")
    'abfss://c@account.dfs.core.windows.net/in/a.txt'
    >>> with_place("zip://*.txt::/data/books.zip", "*.txt", "a.txt")
    'zip://a.txt::/data/books.zip'
    """
    part = naming_part(url)
    before, _, after = url.partition(part)
    stem, tail = part.rstrip("/"), place.rstrip("/")
    if part.endswith("://"):  # the root of a file system
        stem = part
    elif "://" not in part and after:  # so is a scheme alone
        stem = f"{part}://"
    shared = 0
    while shared < min(len(stem), len(tail)) and stem[-1 - shared] == tail[-1 - shared]:
        shared += 1
    if shared < len(tail):  # what they share begins at a slash
        slash = tail.find("/", len(tail) - shared)
        shared = len(tail) - slash if slash >= 0 else 0
    outside = tail[: len(tail) - shared]
    if not other.startswith(outside):
        raise ValueError(f"{other} is not below {outside}")
    return before + stem[: len(stem) - shared] + other[len(outside) :] + after


def join(directory: str, *names: str) -> str:
    """Join path parts; URLs keep their slashes, chained ones what follows.

    >>> join("gs://b/out", "train", "x.arrow"), join("zip://in::/data/books.zip", "a.txt")
    ('gs://b/out/train/x.arrow', 'zip://in/a.txt::/data/books.zip')
    """
    if not is_remote(directory):
        return os.path.join(directory, *names)
    part = naming_part(directory)
    before, _, after = directory.partition(part)
    root = part.rstrip("/") if not part.endswith("://") else part[:-1]
    return before + "/".join([root, *names]) + after


def folder(path: str) -> str:
    """Return the folder that a file lies in, "" for one without.

    >>> folder("gs://b/out/x.arrow"), folder("zip://a.txt::/data/books.zip"), folder("x/y.txt")
    ('gs://b/out', 'zip://::/data/books.zip', 'x')
    """
    if not is_remote(path):
        return os.path.dirname(path)
    part = naming_part(path)
    before, _, after = path.partition(part)
    scheme, _, place = part.partition("://")
    return f"{before}{scheme}://{place.rpartition('/')[0]}{after}"


def is_below(name: object) -> bool:
    """Tell whether a name out of a file is a path below the folder of that file: not absolute, not a URL, without "..".

    >>> [is_below(name) for name in ("train/data.arrow", "/etc/passwd", "../x", "s3://bucket/x", "", "a//b", 7)]
    [True, False, False, False, False, False, False]
    """
    parts = name.split("/") if isinstance(name, str) and not is_remote(name) else [""]
    return not ({"", ".", ".."} & {*parts} or _IN_NO_NAME.search(str(name)))


def name(path: str) -> str:
    """Return the last part of a path or URL, of a chained one that of the part which names the file.

    >>> name("gs://bucket/dumps/enwiki.xml.bz2"), name("zip://a/b.txt::/data/books.zip")
    ('enwiki.xml.bz2', 'b.txt')
    """
    return naming_part(path).rstrip("/").rsplit("/", 1)[-1]
