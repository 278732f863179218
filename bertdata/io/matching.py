"""Which files a path, a folder or a glob stands for, on this machine or on a file system of fsspec."""

from __future__ import annotations

import fnmatch
import glob
import os
from collections.abc import Sequence
from typing import Any


def ends_in(name: str, suffixes: Sequence[str]) -> bool:
    """Tell whether a name ends in one of some suffixes, whatever its case; a `*` in a suffix stands for anything.

    >>> ends_in("x/A.TFRecord-00001-of-00002", (".tfrecord-*-of-*",))
    True
    """
    return any(fnmatch.fnmatchcase(name.lower(), f"*{suffix}") for suffix in suffixes)


def local_matches(pattern: str, suffixes: Sequence[str]) -> list[str]:
    """Return the file of a path, those below a folder that end in one of the suffixes, or those of a glob."""
    if os.path.isfile(pattern):
        return [pattern]
    result: list[str] = []
    for root in [pattern] if os.path.isdir(pattern) else glob.glob(pattern, recursive=True):
        if not os.path.isdir(root):
            result.append(root)
        for folder, folders, files in os.walk(root):
            folders[:] = sorted(name for name in folders if not name.startswith("."))
            result += [
                os.path.join(folder, name) for name in files if ends_in(name, suffixes) and not name.startswith(".")
            ]
    return result


def remote_matches(fs: Any, place: str, suffixes: Sequence[str]) -> list[str]:
    """Return the same of a place on a file system, as URLs."""
    if fs.isfile(place):
        return [fs.unstrip_protocol(place)]
    found = {place: fs.info(place)} if fs.isdir(place) else fs.glob(place, detail=True)
    result: list[str] = []
    for root, info in found.items():
        if _name(root).startswith(".") and not _name(place).startswith("."):
            continue
        if info["type"] != "directory":
            result.append(root)
            continue
        hidden = root.rstrip("/").count("/") + 1
        result += [
            entry
            for entry in fs.find(root)
            if ends_in(entry, suffixes) and not any(part.startswith(".") for part in entry.split("/")[hidden:])
        ]
    return [fs.unstrip_protocol(entry) for entry in result]


def _name(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1]
