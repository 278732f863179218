"""The files that a user names by paths, folders and globs, on this machine and at URLs."""

from __future__ import annotations

import errno
import fnmatch
import glob
import os
from collections.abc import Sequence
from functools import partial
from typing import Any, cast

from bertdata.errors import InputError
from bertdata.io import files, listed, remote
from bertdata.io.listing import is_folder_marker
from bertdata.io.os_errors import input_error
from bertdata.io.paths import naming_part, with_place


def ends_in(name: str, suffixes: Sequence[str]) -> bool:
    """Return whether a name ends in one of some suffixes, whatever its case; a `*` in a suffix stands for anything.

    >>> ends_in("x/A.TFRecord-00001-of-00002", (".tfrecord-*-of-*",)), ends_in("zip://a.txt::b.zip", (".txt",))
    (True, True)
    """
    name = naming_part(name).lower()
    return any(fnmatch.fnmatchcase(name, f"*{suffix}") for suffix in suffixes)


def expand(patterns: Sequence[str], suffixes: Sequence[str]) -> list[str]:
    """Return the files that paths, folders and globs name, sorted, each once.

    A folder gives every file below it whose name ends in one of `suffixes` (see `ends_in`), hidden ones left out.
    Raises InputError where a pattern matches nothing.
    """
    by_real_path: dict[str, str] = {}
    found = iter(remote.at_once(partial(_remote_matches, suffixes), filter(files.is_remote, patterns)))
    for pattern in patterns:
        matches = next(found) if files.is_remote(pattern) else _local_matches(pattern, suffixes)
        if not matches:
            problem = "this path matches nothing; expected a file, a folder or a glob (quote globs)"
            if files.is_remote(pattern):
                problem = remote.missing_bucket(pattern) or problem
            elif closed := closed_folder(pattern):
                raise input_error(PermissionError(errno.EACCES, os.strerror(errno.EACCES)), closed)
            elif os.path.isdir(pattern):
                problem = _nothing_in(pattern, suffixes)
            raise InputError(problem, path=pattern)
        for match in matches:
            by_real_path.setdefault(files.real_path(match), match)
    return sorted(by_real_path.values())


def closed_folder(path: str) -> str:
    """Return the folder on the way to a path, or at it, that may not be read or passed through; "" where there is none.

    >>> closed_folder("no/such/file.txt")
    ''
    """
    folders = path.split(os.sep)
    for depth in range(1, len(folders) + 1):
        folder = os.sep.join(folders[:depth]) or os.sep
        if os.path.isdir(folder) and not os.access(folder, os.R_OK | os.X_OK):
            return folder
    return ""


def _refuse(error: OSError) -> None:
    """Raise the InputError of a folder that cannot be listed."""
    raise input_error(error, str(error.filename)) from error


def _nothing_in(folder: str, suffixes: Sequence[str]) -> str:
    plain = [suffix for suffix in suffixes if suffix.rpartition(".")[0] not in suffixes]  # .csv stands for .csv.gz, too
    endings = ", ".join(plain) + ("" if len(plain) == len(suffixes) else ", plain or compressed")
    if not os.listdir(folder):
        return f"this folder is empty; expected files ending in {endings}"
    return f"this folder holds no file ending in {endings}; check the path"


def _local_matches(pattern: str, suffixes: Sequence[str]) -> list[str]:
    if os.path.isfile(pattern):
        return [pattern]
    matches: list[str] = []
    for root in [pattern] if os.path.isdir(pattern) else glob.glob(pattern, recursive=True):
        if not os.path.isdir(root):
            matches.append(root)
            continue
        for folder, folders, entries in os.walk(root, onerror=_refuse):
            folders[:] = sorted(entry for entry in folders if not entry.startswith("."))
            matches += [
                os.path.join(folder, entry)
                for entry in entries
                if ends_in(entry, suffixes) and not entry.startswith(".")
            ]
    return matches


def _remote_matches(suffixes: Sequence[str], pattern: str) -> list[str]:
    with remote.reading(pattern) as (fs, place):
        named = _of_one(fs, place)
        matches: dict[str, dict[str, Any]] = {}
        roots: dict[str, dict[str, Any]] = {}
        if named is not None and named["type"] == "file":
            matches[place] = named
        else:
            roots = {place: named} if named is not None else fs.glob(place, detail=True)
        for root, info in roots.items():
            if named is None and not _matches(root.strip("/").split("/"), place.strip("/").split("/")):
                continue
            if info["type"] != "directory":
                if not is_folder_marker(root):
                    matches[root] = info
                continue
            depth = root.rstrip("/").count("/") + 1
            matches |= {
                entry: each
                for entry, each in fs.find(root, detail=True).items()
                if ends_in(entry, suffixes)
                and not is_folder_marker(entry)
                and not any(part.startswith(".") for part in entry.split("/")[depth:])
            }
        if not all(listed.is_enough(info) for info in matches.values()):
            matches = dict(zip(matches, remote.at_once(fs.info, matches), strict=True))
        by_url = {with_place(pattern, place, match): info for match, info in matches.items()}
        listed.keep(by_url)
        return list(by_url)


def _matches(parts: Sequence[str], pattern: Sequence[str]) -> bool:
    """Tell whether the parts of a path match those of a glob as on disk: `*` and `**` stand for no hidden names.

    >>> _matches(["in", "a.txt"], ["**", "*.txt"]), _matches(["in", ".cache", "a.txt"], ["in", "**"])
    (True, False)
    """
    if not pattern:
        return not parts
    if pattern[0] == "**" and _matches(parts, pattern[1:]):
        return True
    if not parts or (parts[0].startswith(".") and not pattern[0].startswith(".")):
        return False
    if pattern[0] == "**":
        return _matches(parts[1:], pattern)
    return fnmatch.fnmatchcase(parts[0], pattern[0]) and _matches(parts[1:], pattern[1:])


def _of_one(fs: Any, place: str) -> dict[str, Any] | None:
    """Return what a file system says of the file or the folder at a place, None where there is neither."""
    try:
        return cast("dict[str, Any]", fs.info(place))
    except FileNotFoundError:
        return None
