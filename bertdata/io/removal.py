"""Delete files and folders, local or at URLs."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterable
from typing import Any

from bertdata.io import remote
from bertdata.io.paths import TEMPORARY, is_remote


def remove_temporaries(directory: str) -> int:
    """Delete the files that interrupted `atomic_write`s left below a local directory; returns their number."""
    if is_remote(directory):
        return 0
    paths = [
        os.path.join(folder, entry)
        for folder, _, entries in os.walk(directory)
        for entry in entries
        if entry.startswith(TEMPORARY)
    ]
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(path)
    return len(paths)


def remove(path: str) -> None:
    """Delete a file or a whole directory, if it is there."""
    if is_remote(path):
        with contextlib.suppress(FileNotFoundError), remote.writing(path) as (fs, place):
            fs.invalidate_cache()
            if fs.find(place, withdirs=True):
                _remove_tree(fs, place)
    elif os.path.isdir(path):
        shutil.rmtree(path)
    elif os.path.exists(path):
        os.unlink(path)


def _remove_tree(fs: Any, place: str) -> None:
    """Delete all below a place: by requests for many objects each, or one by one where the store refuses those."""
    try:
        fs.rm(place, recursive=True)
    except FileNotFoundError:
        raise
    except OSError:  # as those that want a Content-MD5 of such requests, or do not have them
        fs.invalidate_cache()
        remote.asked_of(fs, fs.rm_file, fs.find(place))


def remove_files(paths: Iterable[str]) -> None:
    """Delete files, those that are there; at URLs by one request each, many at once."""
    remote.at_once(_remove_file, paths)


def _remove_file(path: str) -> None:
    with contextlib.suppress(FileNotFoundError, NotADirectoryError):
        if is_remote(path):
            with remote.writing(path) as (fs, place):
                fs.rm_file(place)
        else:
            os.unlink(path)
