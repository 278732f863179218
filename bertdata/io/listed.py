"""What a store says of the input files of a build, kept while it is built: sizes and tags are asked for once.

A folder or a glob at a URL is listed to find its files, and the listing has their sizes and tags. Files that are named
one by one are asked for many at once. Without that a build asks about ten times for each file, one after another.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

_LASTING = (str, bytes, int, float, tuple, datetime)
"""The kinds of values that a file system tells of a file, and not of an object in memory."""
_kept: list[dict[str, dict[str, Any]]] = []
"""What stores said, by URL: the same for each context that was entered."""


@contextlib.contextmanager
def kept_listings() -> Iterator[None]:
    """Keep what listings of inputs say until the context is left; of nested ones, the outermost."""
    _kept.append(_kept[-1] if _kept else {})
    try:
        yield
    finally:
        _kept.pop()


def keep(infos: Mapping[str, dict[str, Any]]) -> None:
    """Keep what a store says of files, by their URLs, inside of `kept_listings`."""
    for listing in _kept[-1:]:
        listing.update(infos)


def is_enough(info: Mapping[str, Any]) -> bool:
    """Tell whether a listing says of a file all that a question for it alone would: those of S3 and GCS do.

    >>> is_enough({"name": "b/x", "size": 3, "etag": "CK="}), is_enough({"name": "/x", "size": 3})
    (True, False)
    """
    return "ETag" in info or "etag" in info


def info(url: str) -> dict[str, Any] | None:
    """Return what is kept of a file, None where nothing is."""
    return _kept[-1].get(url) if _kept else None


def tag(fs: Any, info: dict[str, Any]) -> str:
    """Return what changes when a file is replaced, from what its file system says of it.

    It is what fsspec's `ukey` returns, but that needs no request, and an ETag where there is one: the `ukey` of s3fs is
    another one after the folder was listed, and what adlfs says of a file beside its ETag is other in a listing.

    >>> tag(None, {"name": "b/x", "size": 3, "ETag": '"5d41"'})
    '"5d41"'
    """
    from fsspec import AbstractFileSystem
    from fsspec.archive import AbstractArchiveFileSystem  # its ukey is another one each time that it is opened

    if etag := info.get("ETag") or (info.get("etag") if "abfs" in getattr(fs, "protocol", ()) else None):
        return str(etag)
    if type(fs).ukey is not AbstractFileSystem.ukey and not isinstance(fs, AbstractArchiveFileSystem):
        return str(fs.ukey(info["name"]))
    lasting = {key: value for key, value in info.items() if not key.startswith("_") and isinstance(value, _LASTING)}
    return hashlib.sha256(str(sorted(lasting.items())).encode()).hexdigest()
