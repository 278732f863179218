"""The files that a user names by paths, folders and globs, on this machine and at URLs."""

from __future__ import annotations

import errno
import fnmatch
import glob
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache, partial
from typing import Any, cast

from bertdata.errors import InputError
from bertdata.io import files, listed, remote
from bertdata.io.engine_outputs import (
    DELTA_LAKE,
    DELTA_LOG,
    MARKER,
    UNCOMMITTED,
    is_mark,
    is_other_output,
    table_of,
    table_problem,
)
from bertdata.io.listing import is_folder_marker
from bertdata.io.os_errors import input_error
from bertdata.io.paths import folder as folder_of
from bertdata.io.paths import naming_part, with_place


def ends_in(name: str, suffixes: Sequence[str]) -> bool:
    """Return whether a name ends in one of some suffixes, whatever its case; a `*` in a suffix stands for anything.

    >>> ends_in("x/A.TFRecord-00001-of-00002", (".tfrecord-*-of-*",)), ends_in("zip://a.txt::b.zip", (".txt",))
    (True, True)
    """
    name = naming_part(name).lower()
    plain, with_signs = _by_signs(tuple(suffixes))
    return name.endswith(plain) or any(fnmatch.fnmatchcase(name, f"*{suffix}") for suffix in with_signs)


@lru_cache(maxsize=64)
def _by_signs(suffixes: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the suffixes that stand for themselves, and those with signs that stand for others."""
    with_signs = tuple(suffix for suffix in suffixes if {*suffix} & {*"*?["})
    return tuple(suffix for suffix in suffixes if suffix not in with_signs), with_signs


def expand(patterns: Sequence[str], suffixes: Sequence[str]) -> list[str]:
    """Return the files that paths, folders and globs name, sorted, each once.

    A folder gives every file below it whose name ends in one of `suffixes` (see `ends_in`), without hidden ones, and
    those of folders in it that bertdata wrote and that hold no documents, as a build's. Raises InputError where a
    pattern matches nothing.
    """
    by_real_path: dict[str, str] = {}
    remote_matches = iter(remote.at_once(partial(_remote_matches, suffixes), filter(files.is_remote, patterns)))
    for pattern in patterns:
        matches = next(remote_matches) if files.is_remote(pattern) else _local_matches(pattern, suffixes)
        if not matches:
            problem = "this path matches nothing; expected a file, a folder or a glob (quote globs)"
            if files.is_remote(pattern):
                problem = remote.missing_bucket(pattern) or problem
            elif closed := closed_folder(pattern):
                raise input_error(PermissionError(errno.EACCES, os.strerror(errno.EACCES)), closed)
            elif os.path.isdir(pattern):
                problem = _nothing_in(pattern, suffixes)
            raise InputError(problem, path=pattern)
        if matches != [pattern] and not os.path.isdir(pattern):
            _refuse_tables_of(pattern, matches)
        for match, real_path in zip(matches, files.real_paths(matches), strict=True):
            by_real_path.setdefault(real_path, match)
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


def _globbed(pattern: str) -> list[str]:
    """Return what a glob names on disk. Python 3.11's names `c/` for `c/**` also where there is no c."""
    return [path for path in glob.glob(pattern, recursive=True) if os.path.lexists(path)]


def walked(root: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the folders of a folder with the names of their files, without outputs of bertdata, hidden files and marks.

    Raises InputError for a table with a log of its own, and for a folder that cannot be listed.
    """
    for folder, folders, entries in os.walk(root, onerror=_refuse):
        if folder != root and is_other_output(files.read_if_there(os.path.join(folder, MARKER))):
            folders.clear()
            continue
        within = os.path.relpath(folder, root).split(os.sep)
        for entry in [*(f"{name}/log" for name in folders), *entries]:
            _refuse_table(root, [*within, *entry.split("/")])
        folders[:] = sorted(entry for entry in folders if not entry.startswith(".") and entry != UNCOMMITTED)
        yield folder, [entry for entry in entries if not entry.startswith(".") and not is_mark(entry)]


def _local_matches(pattern: str, suffixes: Sequence[str]) -> list[str]:
    if os.path.isfile(pattern):
        return [pattern]
    matches: list[str] = []
    for root in [pattern] if os.path.isdir(pattern) else _globbed(pattern):
        if not os.path.isdir(root):
            if not is_mark(files.name(root)):
                matches.append(root)
            continue
        for folder, entries in walked(root):
            matches += [os.path.join(folder, entry) for entry in entries if ends_in(entry, suffixes)]
    return matches


def _refuse_table(root: str, parts: Sequence[str]) -> None:
    """Raise InputError where a path below a folder shows that this is a table with a log of its own."""
    if kind := table_of(parts):
        raise InputError(table_problem(kind), path=root)


def _refuse_tables_of(pattern: str, matches: Sequence[str]) -> None:
    """Raise InputError where files that a glob names lie beside the log of a table."""
    folders = sorted({folder_of(match) for match in matches if ends_in(match, (".parquet",))})
    for folder, is_table in zip(
        folders, remote.at_once(lambda folder: files.exists(files.join(folder, DELTA_LOG)), folders), strict=True
    ):
        if is_table:
            raise InputError(f"names files of {folder}, which {table_problem(DELTA_LAKE)}", path=pattern)


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
                if not is_folder_marker(root) and not is_mark(files.name(root)):
                    matches[root] = info
                continue
            entries = fs.find(root, detail=True)
            outputs = _outputs_within(fs, root, entries)
            for entry, each in entries.items():
                if entry.startswith(outputs):
                    continue
                within = entry.strip("/").removeprefix(root.strip("/")).strip("/").split("/")
                _refuse_table(pattern, within)
                left_out = is_mark(within[-1]) or any(part.startswith(".") or part == UNCOMMITTED for part in within)
                if ends_in(entry, suffixes) and not is_folder_marker(entry) and not left_out:
                    matches[entry] = each
        if not all(listed.is_enough(info) for info in matches.values()):
            matches = dict(zip(matches, remote.asked_of(fs, fs.info, matches), strict=True))
        by_url = {with_place(pattern, place, match): info for match, info in matches.items()}
        listed.keep(by_url)
        return list(by_url)


def _outputs_within(fs: Any, root: str, entries: Iterable[str]) -> tuple[str, ...]:
    """Return the folders below a root, with a slash, that hold other outputs of bertdata than documents."""
    markers = [entry for entry in entries if files.name(entry) == MARKER]
    folders = [marker.removesuffix(MARKER) for marker in markers]
    return tuple(
        folder
        for folder, marker in zip(folders, markers, strict=True)
        if folder.strip("/") != root.strip("/") and is_other_output(fs.cat_file(marker))
    )


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
