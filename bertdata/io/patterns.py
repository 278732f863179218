"""The files that a user names by paths, folders and globs, on this machine and at URLs."""

from __future__ import annotations

import fnmatch
import glob
import os
from collections.abc import Sequence

from bertdata.errors import InputError
from bertdata.io import files, remote


def ends_in(name: str, suffixes: Sequence[str]) -> bool:
    """Return whether a name ends in one of some suffixes, whatever its case; a `*` in a suffix stands for anything.

    >>> ends_in("x/A.TFRecord-00001-of-00002", (".tfrecord-*-of-*",))
    True
    """
    return any(fnmatch.fnmatchcase(name.lower(), f"*{suffix}") for suffix in suffixes)


def expand(patterns: Sequence[str], suffixes: Sequence[str]) -> list[str]:
    """Return the files that paths, folders and globs name, sorted, each once.

    A folder gives every file below it whose name ends in one of `suffixes` (see `ends_in`), hidden ones left out.
    Raises InputError where a pattern matches nothing.
    """
    by_real_path: dict[str, str] = {}
    for pattern in patterns:
        matches = (_remote_matches if files.is_remote(pattern) else _local_matches)(pattern, suffixes)
        if not matches:
            problem = "this path matches nothing; expected a file, a folder or a glob (quote globs)"
            if files.is_remote(pattern):
                problem = remote.missing_bucket(pattern) or problem
            elif os.path.isdir(pattern):
                problem = f"this folder holds no file ending in {', '.join(suffixes)}"
            raise InputError(problem, path=pattern)
        for match in matches:
            by_real_path.setdefault(files.real_path(match), match)
    return sorted(by_real_path.values())


def _local_matches(pattern: str, suffixes: Sequence[str]) -> list[str]:
    if os.path.isfile(pattern):
        return [pattern]
    matches: list[str] = []
    for root in [pattern] if os.path.isdir(pattern) else glob.glob(pattern, recursive=True):
        if not os.path.isdir(root):
            matches.append(root)
        for folder, folders, entries in os.walk(root):
            folders[:] = sorted(entry for entry in folders if not entry.startswith("."))
            matches += [
                os.path.join(folder, entry)
                for entry in entries
                if ends_in(entry, suffixes) and not entry.startswith(".")
            ]
    return matches


def _remote_matches(pattern: str, suffixes: Sequence[str]) -> list[str]:
    with remote.reading(pattern) as (fs, place):
        if fs.isfile(place):
            return [fs.unstrip_protocol(place)]
        matches: list[str] = []
        for root, info in ({place: fs.info(place)} if fs.isdir(place) else fs.glob(place, detail=True)).items():
            if files.name(root).startswith(".") and not files.name(place).startswith("."):
                continue
            if info["type"] != "directory":
                matches.append(root)
                continue
            depth = root.rstrip("/").count("/") + 1
            matches += [
                entry
                for entry in fs.find(root)
                if ends_in(entry, suffixes) and not any(part.startswith(".") for part in entry.split("/")[depth:])
            ]
        return [fs.unstrip_protocol(match) for match in matches]
